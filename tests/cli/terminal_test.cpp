// The prompt of `bunraku op MODEL` as a person at a terminal has it: completion and history.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "program.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// The program at a pseudo-terminal. Nothing waits for longer than a minute in all, whatever the program does.
class Terminal {
 public:
  Terminal(const std::string& model, const std::string& state_folder) {
    winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    process_ = forkpty(&side_, nullptr, nullptr, &size);
    if (process_ == 0) {
      setenv("XDG_STATE_HOME", state_folder.c_str(), 1);
      setenv("HOME", state_folder.c_str(), 1);
      setenv("TERM", "xterm", 1);
      execl(BUNRAKU_PROGRAM, BUNRAKU_PROGRAM, "op", model.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    if (works()) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      close(side_);
    }
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Whether there are pseudo-terminals here.
  bool works() const { return process_ > 0; }
  /// Types at a prompt that is shown: then, or a moment later, the program takes key by key and echoes them itself.
  void type(const std::string& keys) const {
    termios mode{};
    while (tcgetattr(side_, &mode) == 0 && (mode.c_lflag & ICANON) != 0 && milliseconds_left() > 0) {
      poll(nullptr, 0, 1);
    }
    EXPECT_EQ(write(side_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  /// What is shown up to and with a text, or up to the end.
  std::string shown_up_to(const std::string& text) {
    std::string out;
    char c = 0;
    while (!out.ends_with(text) && next(c)) {
      out += c;
    }
    EXPECT_THAT(out, EndsWith(text));
    return out;
  }
  /// Waits for the end; the program's exit status, or -1 where there is none.
  int status() {
    char c = 0;
    while (next(c)) {
    }
    int status = 0;
    while (milliseconds_left() > 0) {
      if (waitpid(process_, &status, WNOHANG) == process_) {
        process_ = 0;
        close(side_);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      poll(nullptr, 0, 1);
    }
    return -1;
  }

 private:
  int milliseconds_left() const {
    const auto left = deadline_ - std::chrono::steady_clock::now();
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
  }
  bool next(char& c) const {
    pollfd ready{.fd = side_, .events = POLLIN, .revents = 0};
    const int left = milliseconds_left();
    return left > 0 && poll(&ready, 1, left) == 1 && read(side_, &c, 1) == 1;
  }

  int side_ = -1;
  pid_t process_ = 0;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

TEST(OpAtATerminal, HasCompletionAndHistory) {
  const std::string prompt = "puppet> ";
  const TemporaryFolder folder;
  {
    Terminal terminal(puppet, folder / "state");
    if (!terminal.works()) {
      GTEST_SKIP() << "there are no pseudo-terminals here";
    }
    const std::string greeting = terminal.shown_up_to(prompt);
    EXPECT_THAT(greeting, HasSubstr("An expression such as H*phi*M*~phi*~H, or `help`; "));
    if (BUNRAKU_PROGRAM_EDITS == 0) {
      EXPECT_THAT(greeting, Not(HasSubstr("Tab completes")));
      GTEST_SKIP() << "built without libedit";
    }
    ASSERT_THAT(greeting, HasSubstr("Tab completes, "));
    terminal.type("latex ph\tt\r");
    terminal.shown_up_to("\\tilde{\\phi}");
    terminal.shown_up_to(prompt);
    terminal.type("V[tor\t]\r");
    terminal.shown_up_to("a stacked vector of body space at torso, 6 numbers");
    terminal.shown_up_to(prompt);
    terminal.type("phy\r");
    terminal.shown_up_to("did you mean 'phi'?");
    terminal.shown_up_to(prompt);
    terminal.type("Minverse = inv(H*phi*M*~phi*~H)\r");
    terminal.shown_up_to("7 × 7, general");
    terminal.shown_up_to(prompt);
    terminal.type("latex Minv\t\r");
    terminal.shown_up_to("\\right)^{-1}");
    terminal.shown_up_to(prompt);
    terminal.type("\x04");
    EXPECT_EQ(terminal.status(), 0);
  }
  Terminal again(puppet, folder / "state");
  ASSERT_TRUE(again.works());
  again.shown_up_to(prompt);
  again.type("\x10\x10\x10\x10\x10\r");  // five lines back
  again.shown_up_to("\\tilde{\\phi}");
  again.shown_up_to(prompt);
  again.type("quit\r");
  EXPECT_EQ(again.status(), 0);
}

}  // namespace
}  // namespace bunraku::test
