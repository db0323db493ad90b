/// @file
/// The procedures, each the residual of one statement on one system.
#pragma once

#include <functional>

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

/// f'(0) by a central difference of eighth order.
Eigen::MatrixXd slope(const std::function<Eigen::MatrixXd(double)>& f, double h = 4e-3);

double alpha_by_differences(Sample& sample);          ///< α against the slope of V in the world's axes.
double jacobian_rate_by_differences(Sample& sample);  ///< B*φ*(a − a_g) + a(0) against the slope of J, times θ̇.
double jacobian_by_differences(Sample& sample);       ///< J against slopes of the nodes' poses.
double a_by_differences(Sample& sample);              ///< a against α − E_φ*α − H*θ̈ with that slope for α.
double momentum_by_differences(Sample& sample);       ///< Mα + b against the slopes of the bodies' momenta.
double gravity_by_differences(Sample& sample);        ///< Gravity torques against slopes of the potential energy.
double quaternion_rate(Sample& sample);               ///< q̇ = Λ(q)ω against the slope of the rotation.
double quaternion_left_inverse(Sample& sample);       ///< 4Λ*Λ = I.
double quaternion_right_inverse(Sample& sample);      ///< 4ΛΛ* = I, which is false.
double quaternion_projection(Sample& sample);         ///< 4ΛΛ* = I − qq*.
double free_joint_map(Sample& sample);                ///< H(base) = I.
double ball_joint_map(Sample& sample);                ///< H(ball) = [I 0].
double base_on_submanifold(Sample& sample);           ///< H(base) = C* against a base held by forces.
double lagrange(Sample& sample);                      ///< T against Lagrange's equations by differences.
double composite_elements(Sample& sample);            ///< The loops (30)–(33).

double riccati_is_positive(Sample& sample);         ///< P = P*, 0 < P ≤ R.
double covariance_of_factor(Sample& sample);        ///< Sampled (I+HφK)D^½w.
double covariance_of_hinge_forces(Sample& sample);  ///< Sampled HφM^½w.
double covariance_of_innovations(Sample& sample);   ///< Sampled (I−HψK)y.
double covariance_converges(Sample& sample);        ///< Its error as N^(−½).
double mu_without_torques(Sample& sample);          ///< μ = ε − ν̇ does not depend on T.
double mu_quadratic(Sample& sample);                ///< μ(2ν) = 4μ(ν).
double mu_without_work(Sample& sample);             ///< ν*μ = 0.
double mu_formula(Sample& sample);                  ///< μ = m⁻¹𝓒 − ṁ*θ̇.

double algorithm_1(Sample& sample);            ///< FD1 sweep by sweep.
double algorithm_2(Sample& sample);            ///< FD2.
double algorithm_3(Sample& sample);            ///< FD3.
double algorithm_4(Sample& sample);            ///< FD4.
double delay_is_first_order(Sample& sample);   ///< How the error of θ̈ falls with the delay of V.
double delayed_order(Sample& sample);          ///< The order of a simulation with delayed V.
double undelayed_order(Sample& sample);        ///< The order without delay.
double level_2(Sample& sample);                ///< (I−HΨG)T' at level 2 of RK92 Fig. 3.
double level_3(Sample& sample);                ///< At level 3.
double level_4(Sample& sample);                ///< At level 4.
double level_5(Sample& sample);                ///< At level 5.
double level_6(Sample& sample);                ///< At level 6.
double level_7(Sample& sample);                ///< At level 7.
double level_7_accelerations(Sample& sample);  ///< θ̈ from level 7 alone.

}  // namespace bunraku::cli::papers
