/// @file
/// Kinematics and dynamics of trees, open and closed, in O(N) sweeps: a state, and functions over it.
#pragma once

#include "bunraku/dynamics/articulated.hpp"
#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/closed_derivatives.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/embedded.hpp"
#include "bunraku/dynamics/equilibrium.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/dynamics/grasp.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/dynamics/linearization.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"
#include "bunraku/dynamics/momentum.hpp"
#include "bunraku/dynamics/operational_space.hpp"
#include "bunraku/dynamics/sensitivities.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/dynamics/steps.hpp"
#include "bunraku/dynamics/vibrations.hpp"
