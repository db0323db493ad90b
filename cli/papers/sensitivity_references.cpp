/// @file
/// Sensitivities against slopes of the dense references: S2 to S5.
#include "bunraku/model/configuration.hpp"
#include "papers/procedures.hpp"
#include "papers/references.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using enum Systems;

/// Of differences of matrices whose derivative is small beside them.
constexpr double slope_tolerance = 1e-9;

/// The matrix that a derivative is taken of.
using Made = MatrixXd (*)(const Dense& dense);
/// Axes in which it is held while it is differentiated.
using Axes = MatrixXd (*)(const Dense& dense);

MatrixXd own_axes(const Dense& dense) {
  MatrixXd out = MatrixXd::Zero(6 * dense.bodies(), 6 * dense.bodies());
  for (int k = 0; k < dense.bodies(); ++k) {
    out.block<3, 3>(6 * k, 6 * k) = out.block<3, 3>(6 * k + 3, 6 * k + 3) = dense.axes(k);
  }
  return out;
}

MatrixXd parents_axes(const Dense& dense) {
  MatrixXd out = MatrixXd::Identity(6 * dense.bodies(), 6 * dense.bodies());
  for (int k = 0; k < dense.bodies(); ++k) {
    if (dense.parent(k) != world) {
      out.block<3, 3>(6 * k, 6 * k) = out.block<3, 3>(6 * k + 3, 6 * k + 3) = dense.axes(dense.parent(k));
    }
  }
  return out;
}

MatrixXd no_axes(const Dense& dense) {
  const int n = dense.instant().model.nv();
  return MatrixXd::Identity(n, n);
}

/// Where the configuration has moved along a velocity.
Dense moved(const Dense& dense, const VectorXd& u, double t) {
  Instant there = dense.instant();
  there.q = integrate(there.model, there.q, u, t);
  return Dense(there);
}

constexpr double step = 1e-2;

/// The derivative of components in the bodies' axes.
MatrixXd own_rate(const Dense& dense, const VectorXd& u, Made f) {
  return slope([&](double t) { return f(moved(dense, u, t)); }, step);
}

/// JR03's: of components in the world's axes, then turned into the bodies'.
MatrixXd world_rate(const Dense& dense, const VectorXd& u, Made f, Axes left, Axes right) {
  const MatrixXd rate = slope(
      [&](double t) {
        const Dense there = moved(dense, u, t);
        return MatrixXd(left(there) * f(there) * right(there).transpose());
      },
      step);
  return left(dense).transpose() * rate * right(dense);
}

VectorXd hinge_1(const Sample& s) {
  return VectorXd::Unit(s.dense().instant().model.nv(), 1);
}
const VectorXd& rates(const Sample& s) {
  return s.dense().instant().v;
}

MatrixXd phi_of(const Dense& d) {
  return d.phi();
}
MatrixXd E_of(const Dense& d) {
  return d.E_phi();
}
MatrixXd delta_of(const Dense& d) {
  return d.Delta_phi();
}
MatrixXd map_of(const Dense& d) {
  return d.H().transpose();
}
MatrixXd M_of(const Dense& d) {
  return d.M();
}
MatrixXd R_of(const Dense& d) {
  return d.R();
}
MatrixXd mass_of(const Dense& d) {
  return d.mass_matrix();
}
MatrixXd map_times_phi_of(const Dense& d) {
  return d.H() * d.phi();
}
MatrixXd gram_of(const Dense& d) {
  const MatrixXd phi = d.phi();
  return phi * d.M() * phi.transpose();
}
MatrixXd inverse_of(const Dense& d) {
  const int n = d.instant().model.nv();
  return d.mass_matrix().llt().solve(MatrixXd::Identity(n, n));
}
MatrixXd jacobian_of(const Dense& d) {
  return d.jacobian();
}
MatrixXd V_of(const Dense& d) {
  return d.V();
}

constexpr const char* in_world = "[the derivative in the world's axes, by differences of what poses give]";
constexpr const char* derivative_of_numbers = "[the derivative of its numbers, by differences of what poses give]";
constexpr const char* with_energy = "[the matrix of Σ m v_c·v_c + ω·I_c ω and its derivative, by differences]";
constexpr const char* of_energy = "[the derivative of the matrix of Σ m v_c·v_c + ω·I_c ω, by differences]";

constexpr Reference all[] = {
    {"S2", "rate of M", "JR03 (3.33)", "M+OM*M-M*OM",
     "[M and its derivative in the world's axes, by differences of what poses give]",
     [](Sample& s) { return MatrixXd(s.dense().M() + world_rate(s.dense(), rates(s), M_of, own_axes, own_axes)); }, any,
     slope_tolerance},
    {"S2", "rate of H", "JR03 (3.32)", "OM_s*~H", in_world,
     [](Sample& s) { return world_rate(s.dense(), rates(s), map_of, own_axes, no_axes); }, revolute4, slope_tolerance},
    {"S2", "rate of Delta_phi", "JR03 (3.30)", "OM_p*Delta_phi-Delta_phi*OM_s", in_world,
     [](Sample& s) { return world_rate(s.dense(), rates(s), delta_of, parents_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S2", "rate of E_phi", "JR03 (3.31)", "OM*E_phi-E_phi*OM_s", in_world,
     [](Sample& s) { return world_rate(s.dense(), rates(s), E_of, own_axes, own_axes); }, revolute4, slope_tolerance},
    {"S2", "rate of phi", "JR03 (3.34)", "phi*OM_d*phi+OM_s*phi-phi*OM", in_world,
     [](Sample& s) { return world_rate(s.dense(), rates(s), phi_of, own_axes, own_axes); }, revolute4, slope_tolerance},
    {"S2", "rate of H phi", "JR03 (3.41)", "H*phi*(OM_d*phi-OM)", in_world,
     [](Sample& s) { return world_rate(s.dense(), rates(s), map_times_phi_of, no_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S2", "M_i", "JR03 (3.40)", "HH_i*M-M*HH_i", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), M_of, own_axes, own_axes); }, revolute4, slope_tolerance},
    {"S2", "H_i", "JR03 (3.39)", "HH_s*~H", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), map_of, own_axes, no_axes); }, revolute4,
     slope_tolerance},
    {"S2", "Delta_phi_i", "JR03 (3.35)", "TURN*HH_s*~TURN*Delta_phi-Delta_phi*HH_s", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), delta_of, parents_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S2", "E_phi_i", "JR03 (3.36)", "HH_i*E_phi-E_phi*HH_s", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), E_of, own_axes, own_axes); }, revolute4, slope_tolerance},
    {"S2", "phi_i", "JR03 (3.37)", "phi*HH_d*phi-phi*HH_i+HH_s*phi", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), phi_of, own_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S2", "H phi_i", "JR03 (3.41)", "H*phi*(HH_d*phi-HH_i)", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), map_times_phi_of, no_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S2", "phi M phi*_i", "JR03 (4.42)", "(phi*HH_d+HH_s)*phi*M*~phi-phi*M*~phi*(HH_d*~phi+HH_s)", in_world,
     [](Sample& s) { return world_rate(s.dense(), hinge_1(s), gram_of, own_axes, own_axes); }, revolute4,
     slope_tolerance},
    {"S3", "energy", "JR03 (4.43)", "H*phi*(HH_d*phi*M-M*~phi*HH_d)*~phi*~H", of_energy,
     [](Sample& s) { return own_rate(s.dense(), hinge_1(s), mass_of); }, revolute4, slope_tolerance},
    {"S3", "energy, articulated", "JR03 lemma 4.3", "H*phi*(HH_d*(I+phi*K*H)*P-P*~(I+phi*K*H)*HH_d)*~phi*~H", of_energy,
     [](Sample& s) { return own_rate(s.dense(), hinge_1(s), mass_of); }, revolute4, slope_tolerance},
    {"S3", "energy, composite", "JR03 (5.51)", "H*(phi*(HH_d*R-R*HH_d)*~phi+phi*HH_d*phit*R-R*~phit*HH_d*~phi)*~H",
     of_energy, [](Sample& s) { return own_rate(s.dense(), hinge_1(s), mass_of); }, revolute4, slope_tolerance},
    {"S5", "E_phi", "JR03 (3.36) for any hinge", "diff(E_phi,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), E_of); }, any, slope_tolerance},
    {"S5", "Delta_phi", "JR03 (3.35) for any hinge", "diff(Delta_phi,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), delta_of); }, any, slope_tolerance},
    {"S5", "phi", "JR03 (3.37) for any hinge", "diff(phi,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), phi_of); }, any, slope_tolerance},
    {"S5", "H phi", "JR03 (3.41) for any hinge", "diff(H*phi,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), map_times_phi_of); }, any, slope_tolerance},
    {"S5", "phi M phi*", "JR03 (4.42) for any hinge", "diff(phi*M*~phi,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), gram_of); }, any, slope_tolerance},
    {"S5", "R'", "JR03 (5.44) for any hinge", "diff(R,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), R_of); }, any, slope_tolerance},
    {"S5", "energy", "JR03 (4.43) for any hinge", "MASS+diff(MASS,x)", with_energy,
     [](Sample& s) { return MatrixXd(s.mass() + own_rate(s.dense(), s.x(), mass_of)); }, any, slope_tolerance},
    {"S5", "energy dt", "JR03 (4.43) for any hinge", "MASS+dt(MASS)", with_energy,
     [](Sample& s) { return MatrixXd(s.mass() + own_rate(s.dense(), rates(s), mass_of)); }, any, slope_tolerance},
    {"S5", "energy on trees", "JR03 (4.43) for any hinge", "diff(MASS,x)", of_energy,
     [](Sample& s) { return own_rate(s.dense(), s.x(), mass_of); }, branch5, slope_tolerance},
    {"S5", "energy on chains", "JR03 (4.43) for any hinge", "diff(MASS,x)", of_energy,
     [](Sample& s) { return own_rate(s.dense(), s.x(), mass_of); }, chain4, slope_tolerance},
    {"S5", "inverse energy", "JR03 (4.43) for any hinge", "diff(inv(MASS),x)",
     "[the derivative of the inverse of that matrix, by differences]",
     [](Sample& s) { return own_rate(s.dense(), s.x(), inverse_of); }, chain4, slope_tolerance},
    {"S5", "Jacobian'", "RK92 (20)", "~B*~phi*~H+diff(~B*~phi*~H,x)", "[J and its derivative, by differences of nodes]",
     [](Sample& s) { return MatrixXd(s.dense().jacobian() + own_rate(s.dense(), s.x(), jacobian_of)); }, any,
     slope_tolerance},
    {"S5", "V'", "RK92 (21)", "diff(V,x)", derivative_of_numbers,
     [](Sample& s) { return own_rate(s.dense(), s.x(), V_of); }, any, slope_tolerance},
};

}  // namespace

std::span<const Reference> sensitivity_references() {
  return all;
}

}  // namespace bunraku::cli::papers
