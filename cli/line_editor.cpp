#include "line_editor.hpp"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "limits.hpp"

#ifdef BUNRAKU_LIBEDIT
#include <histedit.h>
#endif

namespace bunraku::cli {

#ifdef BUNRAKU_LIBEDIT

namespace {

constexpr int history_size = 2000;

/// Where the lines of earlier runs are kept, or empty where there is no home.
std::filesystem::path history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state == '/') {  // a relative one is to be ignored, says the XDG specification
    folder = state;
  } else if (home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".local" / "state";
  } else {
    return {};
  }
  return folder / "bunraku" / "history";
}

std::string common_start(const std::vector<std::string>& words) {
  std::string out = words.front();
  for (const std::string& word : words) {
    out.resize(
        static_cast<std::size_t>(std::mismatch(out.begin(), out.end(), word.begin(), word.end()).first - out.begin()));
  }
  return out;
}

}  // namespace

/// libedit, and its callbacks.
struct LineEditor::Terminal {
  Terminal(std::string prompt_text, Completer words) : prompt(std::move(prompt_text)), completer(std::move(words)) {
    if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) {
      std::setlocale(LC_CTYPE, "C.UTF-8");  // Greek letters can be typed then, too
    }
    editor = el_init("bunraku", stdin, stdout, stderr);
    lines = history_init();
    if (editor == nullptr || lines == nullptr) {
      return;
    }
    el_set(editor, EL_CLIENTDATA, this);
    el_set(editor, EL_PROMPT, &show_prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_SIGNAL, 1);
    el_set(editor, EL_HIST, &history, lines);
    // the wide form: el_set would copy the texts and never free them
    el_wset(editor, EL_ADDFN, L"bunraku-complete", L"Complete a name", &complete);
    el_set(editor, EL_BIND, "^I", "bunraku-complete", nullptr);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor, nullptr);
    HistEvent event;
    history(lines, &event, H_SETSIZE, history_size);
    history(lines, &event, H_SETUNIQUE, 1);
    if (!file.empty()) {
      history(lines, &event, H_LOAD, file.c_str());
    }
  }
  ~Terminal() {
    if (lines != nullptr) {
      save();
      history_end(lines);
    }
    if (editor != nullptr) {
      el_end(editor);
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool works() const { return editor != nullptr && lines != nullptr; }

  std::optional<std::string> next() {
    int length = 0;
    const char* text = el_gets(editor, &length);
    if (text == nullptr || length <= 0) {
      std::puts("");
      return std::nullopt;
    }
    std::string line(text, static_cast<std::size_t>(length));
    line.erase(line.find_last_not_of("\r\n") + 1);
    if (line.find_first_not_of(" \t") != std::string::npos) {
      HistEvent event;
      history(lines, &event, H_ENTER, line.c_str());
    }
    return line;
  }

  /// Without a place to write there is no history the next time, and no harm.
  void save() const {
    std::error_code problem;
    std::filesystem::create_directories(file.parent_path(), problem);
    if (!file.empty() && !problem) {
      HistEvent event;
      history(lines, &event, H_SAVE, file.c_str());
    }
  }

  static Terminal& of(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }

  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  /// Adds what all words that fit have in common; lists them where that is nothing.
  static unsigned char complete(EditLine* editor, int /*key*/) {
    const LineInfo* line = el_line(editor);
    const std::string before(line->buffer, line->cursor);
    const Completions found = of(editor).completer(before);
    if (found.words.empty()) {
      return CC_ERROR;
    }
    const std::string added = common_start(found.words).substr(before.size() - found.start);
    if (!added.empty()) {
      return el_insertstr(editor, added.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    }
    if (found.words.size() == 1) {
      return CC_NORM;
    }
    std::puts("");
    fmt::print("{}\n", fmt::join(found.words, "  "));
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  std::string prompt;
  Completer completer;
  EditLine* editor = nullptr;
  History* lines = nullptr;
  std::filesystem::path file = history_file();
};

LineEditor::LineEditor(std::string prompt, Completer completer)
    : prompt_(std::move(prompt)),
      at_terminal_(isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1),
      lines_("-", most_streamed, "write one expression a line") {
  if (at_terminal_) {
    terminal_ = std::make_unique<Terminal>(prompt_, std::move(completer));
    if (!terminal_->works()) {
      terminal_.reset();
    }
  }
}

#else

/// Without libedit the terminal's own line discipline has to do.
struct LineEditor::Terminal {
  static std::optional<std::string> next() { return std::nullopt; }
};

LineEditor::LineEditor(std::string prompt, Completer /*completer*/)
    : prompt_(std::move(prompt)),
      at_terminal_(isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1),
      lines_("-", most_streamed, "write one expression a line") {}

#endif

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::next() {
  if (terminal_ != nullptr) {
    return terminal_->next();
  }
  if (at_terminal_) {
    fmt::print("{}", prompt_);
    std::fflush(stdout);
  }
  std::string line;
  if (!lines_.next(line)) {
    return std::nullopt;
  }
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return line;
}

}  // namespace bunraku::cli
