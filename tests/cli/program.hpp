/// @file
/// Runs the program as a script would.
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/files.hpp"

namespace bunraku::test {

/// What a run gave.
struct Result {
  int status;
  std::string out;
  std::string err;
};

inline const std::string puppet = std::string(BUNRAKU_SOURCE_DIR) + "/models/puppet.urdf";

class Cli : public testing::Test {
 protected:
  /// Runs the program through a shell; `arguments` must be quoted for it.
  Result run(const std::string& arguments, const std::string& input = "") const {
    const std::string in = folder.write("in", input);
    // from the project's root, where the documents' examples are
    const std::string command = fmt::format("cd '{}' && '{}' {} <'{}' >'{}' 2>'{}'", BUNRAKU_SOURCE_DIR,
                                            BUNRAKU_PROGRAM, arguments, in, folder / "out", folder / "err");
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a test's own command
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder / "out"), read_text(folder / "err")};
  }
  TemporaryFolder folder;
};

}  // namespace bunraku::test
