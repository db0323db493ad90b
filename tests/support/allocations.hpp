/// @file
/// Counts allocations, so that a test can show that there are none.
#pragma once

#include <cstddef>

namespace bunraku::test {

/// How many times this thread called operator new. Linking this replaces operator new and delete in the executable.
std::size_t allocations();

}  // namespace bunraku::test
