/// @file
/// Lines of a file, of a pipe or of standard input, as they come and no longer than is sane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bunraku/error.hpp"

namespace bunraku::cli {

/// A source of lines.
class Lines {
 public:
  /// Opens a file, or standard input for `-`. No more than `most_bytes` are read of it; `cure` is what the message
  /// about a line or a file that is too long suggests. Throws ModelError for a file that cannot be read.
  Lines(const std::string& path, std::uint64_t most_bytes, std::string cure);
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// Takes the next line, without its end and without a byte order mark; false once there are no more. Gives a line of
  /// a pipe as soon as it is there. Throws ModelError where a line or all that was read is too long, or reading fails.
  bool next(std::string& line);
  /// The file and the line taken last, for messages.
  SourceLocation where() const;
  /// Its number alone.
  int line() const;

 private:
  bool fill();

  std::string name_;
  std::string cure_;
  std::uint64_t most_bytes_;
  std::uint64_t read_ = 0;
  std::int64_t number_ = 0;
  int file_;
  std::vector<char> block_;
  std::size_t begin_ = 0;  // what of the block is not taken yet
  std::size_t end_ = 0;
};

}  // namespace bunraku::cli
