/// @file
/// One expression after another, typed at a terminal or from a pipe.
#pragma once

#include "session.hpp"

namespace bunraku::cli {

/// Reads lines from standard input until they end or say `quit`, and answers each. An error in one is shown, and the
/// next is read. Whether all went well; at a terminal always.
bool converse(Session session);

}  // namespace bunraku::cli
