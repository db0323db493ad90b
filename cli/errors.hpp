/// @file
/// How errors are shown.
#pragma once

#include <exception>
#include <string>

namespace bunraku::cli {

/// `error: what is wrong` with the cure on the next line where there is one; for a wrong expression its place between
/// them, for a model every problem.
std::string error_text(const std::exception& error);

/// The same from its parts.
std::string error_text(const std::string& problem, const std::string& cure);

/// What the system's last call failed for (errno), in words.
std::string system_reason();

/// Sends text to standard error; where even that fails, there is nobody left to tell.
void print_to_stderr(const std::string& text);

}  // namespace bunraku::cli
