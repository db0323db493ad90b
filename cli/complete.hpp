/// @file
/// What a shell offers when Tab is pressed.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace bunraku::cli {

/// How the last of `words`, which follow the program's name, may go on: a line each, the word and, after a tab, what it
/// means. Commands, options, and the values that an option chooses from; nothing where a file or a number is wanted.
std::string completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace bunraku::cli
