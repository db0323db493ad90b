/// @file
/// The procedures of closed chains, each the residual of one statement on some arms.
#pragma once

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

double two_arms_force(Sample& sample);            ///< RJK91 (26) and (23) against a dense solve.
double two_arms_inertia(Sample& sample);          ///< J M_C J* = (Λ₁ + Λ₂)⁻¹.
double two_arms_inertia_printed(Sample& sample);  ///< J M_C J* = Λ₁⁻¹ + Λ₂⁻¹.

double object_accelerations(Sample& sample);       ///< RK88 II (2.7).
double object_motion(Sample& sample);              ///< (2.8).
double object_motion_printed(Sample& sample);      ///< (2.8a) as printed before (3.1).
double analytical_solution(Sample& sample);        ///< (3.6).
double general_algorithm(Sample& sample);          ///< (4.9).
double general_algorithm_printed(Sample& sample);  ///< (4.9h) as printed.
double run_rccfd1(Sample& sample);                 ///< (6.11).
double run_rccfd1_printed(Sample& sample);         ///< (6.11g) as printed, with H put in.
double run_rccfd2(Sample& sample);                 ///< (6.18).
double run_rccfd2_printed(Sample& sample);         ///< (6.18e) as printed.
double run_rccfd3(Sample& sample);                 ///< (6.22).
double library_holds(Sample& sample);              ///< The library's closed systems.

double revolute_contacts(Sample& sample);          ///< (b.4)–(b.9), one freedom a contact.
double ball_contacts(Sample& sample);              ///< Three.
double soft_contacts(Sample& sample);              ///< Two.
double mixed_contacts(Sample& sample);             ///< Some of each.
double contact_rate(Sample& sample);               ///< (dH*(0)/dt)W by the object's ω and by the fingers'.
double contacts_without_rate(Sample& sample);      ///< f(0) without it.
double contact_rows(Sample& sample);               ///< Π by rows Q.
double point_fingers(Sample& sample);              ///< Fingers of three hinges.
double point_fingers_by_omega(Sample& sample);     ///< Ω⁻¹Ω = I of those.
double contact_equations(Sample& sample);          ///< (b.10)–(b.14).
double contact_equations_printed(Sample& sample);  ///< With G₂ as printed.
double contact_equations_nullity(Sample& sample);  ///< What (b.14) leaves open.
double library_holds_contacts(Sample& sample);     ///< The library's closed systems.

}  // namespace bunraku::cli::papers
