/// @file
/// Says how far a long command is.
#pragma once

#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "errors.hpp"

namespace bunraku::cli {

/// A line on the terminal, renewed a few times a second when a person is looking; taken away in the end.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (printed_) {
      print_to_stderr("\r\033[K");
    }
  }

  /// Shows what `text` makes, if it is time.
  template <class Text>
  void show(const Text& text) {
    if (!shown_) {
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::milliseconds(300)) {
      last_ = now;
      printed_ = true;
      print_to_stderr(fmt::format("\r\033[K{}", text()));
    }
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) == 1;
  bool printed_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace bunraku::cli
