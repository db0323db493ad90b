/// @file
/// A model for tests that need no particular one.
#pragma once

#include "bunraku/model/model.hpp"

namespace bunraku::test {

/// Four bodies b0 … b3 on hinges that turn, b2's in all directions; b2 and b3 are both on b1.
Model small_model();

}  // namespace bunraku::test
