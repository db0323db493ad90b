/// @file
/// Procedures of S3 to S5: elements of sensitivities, and Christoffel symbols.
#pragma once

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

double inertial_turns(Sample& sample);               ///< (5.48).
double inertial_forces(Sample& sample);              ///< (5.49).
double elements_first_form(Sample& sample);          ///< (5.52), first form, all i, j, k.
double elements_third_form(Sample& sample);          ///< (5.52), third form corrected.
double elements_third_form_printed(Sample& sample);  ///< With ℍ*_𝕀(k) in its last case, as printed.
double elements_at_base_printed(Sample& sample);     ///< With R_𝕀 of (5.50), as printed.
double christoffel_bias(Sample& sample);             ///< 𝓒(i) = θ̇*ℂ_iθ̇.
double christoffel_properties(Sample& sample);       ///< The four after (5.53).
double christoffel_reach(Sample& sample);            ///< ℂ_i(j,k) is a function of θ(1) … θ(m − 1).
double christoffel_composite(Sample& sample);        ///< Lemma 5.4.
double christoffel_alternative(Sample& sample);      ///< Lemma 5.5 with its gaps closed.
double mobile_bias(Sample& sample);                  ///< 𝓒 from (5.53) and the bracket of unit velocities.
double mobile_bias_printed(Sample& sample);          ///< From (5.53) alone.

}  // namespace bunraku::cli::papers
