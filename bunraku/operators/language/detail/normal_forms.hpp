/// @file
/// Expressions with their adjoints at the symbols, and with derived symbols replaced by what defines them.
#pragma once

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

/// x with all adjoints moved to symbols, and symbols that others define replaced: φ̃, ψ̃, τ, τ̄, E_ψ, Ω, M_C.
Operator expanded(const Operator& x);
/// x with all adjoints moved to symbols, variables and solved blocks.
Operator pushed(const Operator& x);
/// pushed(x) or its adjoint, whichever has fewer adjoints in it, written as ~(…) in the second case; part by part.
Operator tidied(const Operator& x);

}  // namespace bunraku::operators
