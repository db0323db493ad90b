/// @file
/// Random arms and objects for closed systems.
#pragma once

#include <string>

#include "bunraku/model/builder.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// A serial arm of `n` turning hinges on the world somewhere around `base`, links about 0.3 m long, with a node `tip`
/// on the last one.
Model random_arm(int n, Random& random, const std::string& name = "arm");

/// A free body, and for each of `more` another body that turns on it, with bodies named b0, b1, …
Model random_object(int more, Random& random);

}  // namespace bunraku::test
