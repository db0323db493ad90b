/// @file
/// Flexible bodies, X1: RJK89 §4 on chains of which every node has six displacements, the algebra on trees of rigid and
/// flexible bodies, and beams. Each procedure is the residual of one statement.
#pragma once

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

double nodal_velocities(Sample& sample);           ///< (4.1), stacked.
double nodal_recursion(Sample& sample);            ///< (4.1), link by link.
double node_velocities(Sample& sample);            ///< V^f = B*V + h*u̇.
double stacked_velocities(Sample& sample);         ///< (4.3).
double printed_velocities(Sample& sample);         ///< (4.3) with u for u̇.
double undeformed_velocities(Sample& sample);      ///< (4.3) with nodes where they are at rest.
double link_transitions(Sample& sample);           ///< B_kC_k = φ(k,k−1), BC = E_φ.
double transition_sum(Sample& sample);             ///< BCφ = φ − I.
double transition_factor(Sample& sample);          ///< B[I + CφB] = φB.
double nodal_energy(Sample& sample);               ///< ½X*𝓜^fX, with a full m.
double printed_energy(Sample& sample);             ///< The same with (HB; h).
double nodal_mass_matrix(Sample& sample);          ///< 𝓜^f against HφMφ*H*.
double printed_mass_matrix(Sample& sample);        ///< The same with (HB; h).
double modal_velocities(Sample& sample);           ///< Nodes' velocities against B*V + Πη̇ with T.
double modal_velocities_linear(Sample& sample);    ///< The same without T.
double lumps_as_given(Sample& sample);             ///< 𝓜 against the nodes as they were given.
double flexible_forward_dynamics(Sample& sample);  ///< With springs and dampers, against a dense solve.
double clamped_beam(Sample& sample);               ///< Frequencies of a cantilever against closed forms.
double loaded_beam(Sample& sample);                ///< With a body on its tip.
double pinned_beam(Sample& sample);                ///< On a revolute hinge.
double free_beam(Sample& sample);                  ///< In flight.

}  // namespace bunraku::cli::papers
