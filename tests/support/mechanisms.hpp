/// @file
/// Mechanisms with closed loops, built in code. Their loops are closed at the neutral configuration.
#pragma once

#include "bunraku/model/model.hpp"

namespace bunraku::test {

/// Crank, coupler and rocker in a vertical plane, closed by a revolute hinge: 5 rows of rank 2.
Model four_bar();
/// A platform on six legs, each a universal and a prismatic hinge with a ball joint on top: 18 rows.
Model stewart_platform();
/// A platform on three legs of two links each in a horizontal plane, two of them closed by revolute hinges: 10 rows of
/// rank 4.
Model planar_3rrr();
}  // namespace bunraku::test
