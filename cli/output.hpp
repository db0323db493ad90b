/// @file
/// Output that appears whole or not at all.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace bunraku::cli {

/// Whoever read standard output has gone, as `head` does once it has its lines: nothing is left to say, nor to whom.
class ReaderGone : public std::exception {
 public:
  /// The exit status that a shell gives a program that a broken pipe ends: 128 + SIGPIPE.
  static constexpr int status = 141;
};

/// Sends text to standard output. Throws Error when that fails, ReaderGone when it is a pipe that nobody reads.
void print(std::string_view text);

/// Collects text, in memory first and in a temporary file once there is much of it; `commit` sends it to standard
/// output. Without `commit` nothing appears, so that an error halfway leaves no partial answer.
class WholeOutput {
 public:
  WholeOutput();
  ~WholeOutput();
  WholeOutput(const WholeOutput&) = delete;
  WholeOutput& operator=(const WholeOutput&) = delete;

  /// Adds text. Throws Error when the temporary file cannot be written.
  void write(std::string_view text);
  /// Sends all of it to standard output. Throws as print.
  void commit();

 private:
  void spill();

  std::string memory_;
  std::FILE* file_ = nullptr;
};

}  // namespace bunraku::cli
