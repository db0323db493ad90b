/// @file
/// Lines typed at a terminal, with editing, history and completion; or read from a pipe as they are.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lines.hpp"

namespace bunraku::cli {

/// How a line may go on.
struct Completions {
  std::size_t start = 0;           ///< Where the word under the cursor starts.
  std::vector<std::string> words;  ///< What it may become.
};
/// Finds them from what stands before the cursor.
using Completer = std::function<Completions(std::string_view before)>;

/// A source of lines.
class LineEditor {
 public:
  /// Of standard input. The prompt is for a terminal.
  LineEditor(std::string prompt, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// The next line, without its end; nothing once there are no more. Throws ModelError for one that is far too long.
  std::optional<std::string> next();
  /// Whether a person types the lines.
  bool at_terminal() const { return at_terminal_; }
  /// Whether lines can be edited, with history and completion.
  bool edits() const { return terminal_ != nullptr; }

 private:
  struct Terminal;

  std::string prompt_;
  bool at_terminal_;
  Lines lines_;  // where nothing edits them
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace bunraku::cli
