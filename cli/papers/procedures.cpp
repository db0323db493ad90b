#include "papers/procedures.hpp"

#include "papers/closed_loops.hpp"
#include "papers/references.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;

/// Of solves in closure space, which lose digits as directions become weak.
constexpr double closed_tolerance = 1e-10;

constexpr Procedure all[] = {
    {"K3", "d/dt V", "RK92 (21), (25)", "alpha − φ*a_g = dV/dt, by differences of V(t) in the world's axes",
     alpha_by_differences},
    {"K3", "d/dt J", "RK92 (25)", "B*φ*(a − a_g) + a(0) = (dJ/dt)θ̇, by differences of J(t) in the world's axes",
     jacobian_rate_by_differences},
    {"K4", "d/dq", "RK92 (20), RJK89 (2.13)–(2.14)", "B*φ*H* = by differences of the nodes' poses",
     jacobian_by_differences},
    {"K5", "a by d/dt V", "RK88 (2.19), (2.32)", "a = α − E_φ*α − H*θ̈, α by differences of V(t)", a_by_differences},
    {"K5", "b by momentum", "RK88 (2.23)", "Mα + b = the rate of each body's momentum, by differences",
     momentum_by_differences},
    {"K5", "3.21 potential", "RK88 (3.21)", "HφMφ*a_g = ∂/∂θ of the potential energy, by differences",
     gravity_by_differences},
    {"K6", "b.3", "RK88 (b.3)", "q̇ = Λ(q)ω against the library's steps of q, and d/dt R(q) = R ω̃, by differences",
     quaternion_rate, tolerance, mobile4},
    {"K6", "b.3 inverse", "RK88 (b.3) corrected", "ΩΛ = I with Ω = 4Λ*, Λ of the library's steps by differences",
     quaternion_left_inverse, tolerance, mobile4},
    {"K6", "b.3 right", "RK88 (b.3) corrected", "ΛΩ = I − qq*, Λ likewise", quaternion_projection, tolerance, mobile4},
    {"K6", "b.3 printed", "RK88 (b.3)", "ΛΩ = I, from Λ⁻¹ = Ω: Λ is 4×3, Ω is its left inverse alone",
     quaternion_right_inverse, tolerance, mobile4, random_systems, false, Claim::fails},
    {"K6", "74 base", "RK92 (74), RK88 (b.7)", "H(base) = I, number by number", free_joint_map, tolerance, mobile4},
    {"K6", "ball map", "RK88 App. B", "H(ball) = [I 0], number by number", ball_joint_map, tolerance, mobile4},
    {"K6", "sub-manifold", "RK88 App. B, RK92 §VIII",
     "θ̈ with H(base) = C*, 1 to 5 freedoms = θ̈ of the free base held by Lagrange multipliers", base_on_submanifold,
     tolerance, mobile4},
    {"I1", "Lagrange", "RK92 (22)–(23)", "T = Lagrange's equations, by differences of the two energies", lagrange,
     tolerance, slider4},
    {"I2", "30–33", "RK92 (30)–(33)",
     "the elements by the loops r, x, m(i,k) = H(i)x(i), on trees = the matrix of Σ m v_c·v_c + ω·I_c ω",
     composite_elements, tolerance, any, random_systems, true},
    {"F1", "P > 0", "RK92 after (36)", "P = P*, 0 < P ≤ R: largest violation, by eigenvalues", riccati_is_positive},
    {"F4", "sampled factor", "RJK91 §4", "covariance of (I+HφK)D^½w → 𝓜, 200 000 samples: worst z-score, at most 5.5",
     covariance_of_factor, 5.5, branch5, 1},
    {"F4", "sampled forces", "RK88 (4.2), RJK91 §4",
     "covariance of HφM^½w → 𝓜, 200 000 samples: worst z-score, at most 5.5", covariance_of_hinge_forces, 5.5, branch5,
     1},
    {"F4", "sampled innovations", "RJK91 §4", "covariance of (I−HψK)y → D, 200 000 samples: worst z-score, at most 5.5",
     covariance_of_innovations, 5.5, branch5, 1},
    {"F4", "convergence", "RJK91 §4",
     "the error of the covariance falls as N^(−½) from N = 2000 to 200 000: factor off 10, at most 3",
     covariance_converges, 3, branch5, 1},
    {"F5", "mu(T)", "RJK91 §6", "μ = ε − ν̇ does not depend on T, ν̇ by differences", mu_without_torques},
    {"F5", "mu(2 nu)", "RJK91 §6", "μ(2ν) = 4μ(ν) without gravity", mu_quadratic},
    {"F5", "nu* mu", "RJK91 §6", "ν*μ = 0 without gravity", mu_without_work},
    {"F5", "mu formula", "RJK91 §6", "μ = m⁻¹𝓒 − (dm/dt)*θ̇ with m = (I+HφK)D^½, by differences", mu_formula},
    {"D1", "FD1 sweeps", "RK92 (47)–(54), RK88 FD1",
     "θ̈, α, α(0) by the sweeps of algorithm 1, as printed and as the library has them = a dense solve, the motion put "
     "in",
     algorithm_1, tolerance, any, random_systems, true},
    {"D1", "FD2 sweeps", "RK92 (55)–(59), RK88 FD2",
     "θ̈, α, α(0) by the sweeps of algorithm 2, as printed and as the library has them = a dense solve, the motion put "
     "in",
     algorithm_2, tolerance, any, random_systems, true},
    {"D1", "FD3 sweeps", "RK92 (60)–(65), RK88 FD3",
     "θ̈, α, α(0) by the sweeps of algorithm 3, as printed and as the library has them = a dense solve, the motion put "
     "in",
     algorithm_3, tolerance, any, random_systems, true},
    {"D1", "FD4 sweeps", "RK92 (66)–(73), RK88 FD4",
     "θ̈, α, α(0) by the sweeps of algorithm 4, as printed and as the library has them = a dense solve, the motion put "
     "in",
     algorithm_4, tolerance, any, random_systems, true},
    {"D2", "delay", "RK92 end of §VII",
     "the error of θ̈ with V(t − h) is of first order in h: ratio on halving less 2, at most 0.15", delay_is_first_order,
     0.15, slider4, 1},
    {"D2", "simulation", "RK92 end of §VII", "RK4 with V of the step before: order less 1, at most 0.35", delayed_order,
     0.35, slider4, 1},
    {"D2", "no delay", "RK92 end of §VII", "RK4 with V of the same instant: order less 4, at most 0.8", undelayed_order,
     0.8, slider4, 1},
    {"L1", "run level 2", "RK92 Fig. 3", "(I−HΨG)T' with H, Ψ, G applied one by one = at level 1", level_2, tolerance,
     any, random_systems, true},
    {"L1", "run level 3", "RK92 Fig. 3", "(I−HΨG)T' with Ψ as a filter's transition ψE_φ = at level 1", level_3,
     tolerance, any, random_systems, true},
    {"L1", "run level 4", "RK92 Fig. 3", "(I−HΨG)T' by the recursion z = E_ψz + E_φG T' = at level 1", level_4,
     tolerance, any, random_systems, true},
    {"L1", "run level 5", "RK92 Fig. 3", "(I−HΨG)T' by ψ(p,k) and φ(p,k) link by link = at level 1", level_5, tolerance,
     any, random_systems, true},
    {"L1", "run level 6", "RK92 Fig. 3", "(I−HΨG)T' across each hinge, then along each link = at level 1", level_6,
     tolerance, any, random_systems, true},
    {"L1", "run level 7", "RK92 Fig. 3", "(I−HΨG)T' by rotations and shifts of 3-vectors = at level 1", level_7,
     tolerance, any, random_systems, true},
    {"L1", "run to level 7", "RK92 §IX", "θ̈ from level 7 alone, inward and outward = the θ̈ put in",
     level_7_accelerations, tolerance, any, random_systems, true},
    {"C2", "2.15", "RJK89 (2.15)–(2.16)", "A B*φ*H* = differences of the nodes' Jacobians, two branches on a trunk",
     closure_matrix},
    {"C2", "2.16", "RJK89 (2.16)", "A B*φ*H*θ̇ = 0 for velocities that fit", closure_velocities_fit},
    {"C2", "2.17", "RJK89 (2.17) corrected", "U = the nodes' accelerations at θ̈ = 0, their difference, negative",
     closure_rate},
    {"C2", "A–F", "RJK89 (3.5)–(3.12)", "θ̈ by steps A to F = a dense solve of the constrained equations", closed_steps,
     closed_tolerance},
    {"C2", "D", "RJK89 (3.10)–(3.11)", "HφBA*f̃ by steps A to D = a dense solve", closed_forces, closed_tolerance},
    {"C2", "3.13", "RJK89 (3.13) corrected", "θ̈ by the compact form, with U = a dense solve", compact_form,
     closed_tolerance},
    {"C2", "3.13 printed", "RJK89 (3.13)", "θ̈ by the compact form, U dropped = a dense solve", compact_form_printed,
     closed_tolerance, any, random_systems, false, Claim::fails},
    {"C2", "M_C", "RJK89 (3.13)", "M_C = X(X*𝓜X)⁻¹X*, X a basis of what the closures leave", closed_inverse_mass,
     closed_tolerance},
    {"C2", "embedded", "not in the papers", "θ̈ with the loops as clusters of the tree = a dense solve", embedded_loops,
     closed_tolerance},
    {"I1", "closed", "RK92 (22), RJK89 (2.17)", "𝓜θ̈ + 𝓒 + HφBA*f̃ = T with θ̈ and f̃ of steps A to F", closed_inverse,
     closed_tolerance},
    {"C3", "counted", "RJK89 §3", "sweeps and columns that a changed closure does again, beside step D: none",
     changed_closure},
    {"C3", "result", "RJK89 §3", "θ̈ after a closure was changed and changed back = a dense solve",
     changed_closure_result, closed_tolerance},
    {"C6", "rank", "RJK89 §3", "rank and redundant closures of a loop closed twice", doubled_rank},
    {"C6", "motion", "RJK89 §3", "θ̈ of a loop closed twice, by the library and by steps A to F = a dense solve",
     doubled_loop, closed_tolerance},
};

}  // namespace

std::span<const Procedure> procedures() {
  return all;
}

}  // namespace bunraku::cli::papers
