/// @file
/// Questions about the numbers of a program, asked when its sweeps have run.
#pragma once

#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// Throws Error naming the hinge where some D has no inverse, OperatorError where X or A of a family is not symmetric.
/// For Evaluator::on_riccati.
template <class S>
void check_riccati(const void* context, Evaluator<S>& evaluator);

/// Throws OperatorError: a block or matrix has no inverse or root. The context is the evaluator. For
/// Evaluator::on_refusal.
template <class S>
void refuse_matrix(const void* context, const NoInverse& found);

}  // namespace bunraku::operators
