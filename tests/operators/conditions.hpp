/// @file
/// Systems on which what simplify makes of an expression is tried.
#pragma once

#include "bunraku/operators/rewriting/identities.hpp"
#include "operators/dense_system.hpp"

namespace bunraku::test {

/// A model that has what the conditions say, at a state, in dense matrices.
SystemAndDense system_for(const Conditions& conditions);

/// Loops that carry something between bodies, as an expression stands.
std::size_t sweeps(const System& system, const Operator& x);

}  // namespace bunraku::test
