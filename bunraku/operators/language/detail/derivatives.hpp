/// @file
/// Derivatives carried out: expressions in which no diff and no dt is left.
#pragma once

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

/// x with its derivatives carried out, the innermost first. Throws OperatorError, naming the symbol, where there is no
/// rule.
BUNRAKU_API Operator differentiated(const Operator& x);

}  // namespace bunraku::operators
