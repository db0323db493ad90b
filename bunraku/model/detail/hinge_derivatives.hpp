/// @file
/// Derivatives of one hinge's configurations.
#pragma once

#include "bunraku/model/hinge.hpp"

namespace bunraku {

/// ∂(q1 ⊖ q0)/∂q1 of a hinge, row by row, nv² numbers; see difference_dq1.
void hinge_difference_dq1(const Hinge& hinge, const double* q0, const double* q1, double* out);

}  // namespace bunraku
