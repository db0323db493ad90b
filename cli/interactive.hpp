/// @file
/// One expression after another, typed at a terminal or from a pipe.
#pragma once

#include <string>
#include <vector>

#include "bunraku/operators/system.hpp"
#include "bunraku/operators/text.hpp"

namespace bunraku::cli {

/// What the lines are about.
struct Session {
  System system;                   ///< The model at its state.
  std::vector<std::string> nodes;  ///< The nodes of B.
  Variables variables;             ///< Names beside the symbols.
  Order order = Order::file;       ///< Of matrices.
};

/// Reads lines from standard input until they end or say `quit`, and answers each. An error in one is shown, and the
/// next is read. Whether all went well; at a terminal always.
bool converse(Session session);

}  // namespace bunraku::cli
