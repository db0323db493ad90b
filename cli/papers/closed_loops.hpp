/// @file
/// Closed systems on any tree, C2, C3, C6 and what I1 says of them: each the residual of one statement, against a dense
/// solution of the constrained equations of motion.
#pragma once

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

double closure_matrix(Sample& sample);          ///< A B*φ*H* against differences of node Jacobians.
double closure_rate(Sample& sample);            ///< U against node accelerations at θ̈ = 0.
double closure_velocities_fit(Sample& sample);  ///< A B*φ*H*θ̇ = 0.
double closed_steps(Sample& sample);            ///< Steps A–F: θ̈.
double closed_forces(Sample& sample);           ///< Steps A–D: Y*f̃.
double compact_form(Sample& sample);            ///< (3.13) with U.
double compact_form_printed(Sample& sample);    ///< (3.13) as printed.
double closed_inverse_mass(Sample& sample);     ///< M_C against X(X*𝓜X)⁻¹X*.
double embedded_loops(Sample& sample);          ///< θ̈ with loops embedded.
double closed_inverse(Sample& sample);          ///< T = 𝓜θ̈ + 𝓒 + Y*f̃.
double changed_closure(Sample& sample);         ///< What a changed closure does again beside step D.
double changed_closure_result(Sample& sample);  ///< Its θ̈ against a system made anew.
double doubled_loop(Sample& sample);            ///< θ̈ of a loop closed twice.
double doubled_rank(Sample& sample);            ///< Its rank.

}  // namespace bunraku::cli::papers
