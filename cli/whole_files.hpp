/// @file
/// Files that appear whole or not at all, all of them or none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

/// Files in one folder, written side by side. Until `commit` they have no names where the system can do that, and
/// hidden ones where not; without it nothing is left, even of a program that is killed, but in the second case.
class WholeFiles {
 public:
  /// Files in a folder, which is made if it is not there, the folders on the way to it, too. Throws Error.
  explicit WholeFiles(std::string folder);
  /// Without commit, takes away all that was made, folders too.
  ~WholeFiles();
  WholeFiles(const WholeFiles&) = delete;
  WholeFiles& operator=(const WholeFiles&) = delete;

  /// Adds a file, which takes the place of one of that name in the end; returns its number. Throws Error.
  std::size_t add(const std::string& name);
  /// Writes at the end of a file. Throws Error that names it.
  void write(std::size_t file, std::string_view bytes);
  /// Writes over the start of a file. Throws Error that names it.
  void write_start(std::size_t file, std::string_view bytes);
  /// Gives the files their names. Throws Error that names the one that cannot have its own; then none is there.
  void commit();

 private:
  struct File {
    std::string path;       // as it is to be
    std::string temporary;  // as it is; empty while it has no name
    int descriptor = -1;
    bool named = false;  // as it is to be
  };

  static std::string temporary_name(const std::string& path);
  static void name(File& file);
  void take_folders_away();

  std::string folder_;
  std::vector<std::string> made_;  // folders, outermost first
  std::vector<File> files_;
};

}  // namespace bunraku::cli
