/// @file
/// Procedures of closed chains: two arms (C1), arms with a common object (C4).
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include "papers/closed_held.hpp"
#include "papers/closed_procedures.hpp"
#include "papers/procedures.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

MatrixXd inverse(const MatrixXd& x) {
  return x.llt().solve(MatrixXd::Identity(x.rows(), x.cols()));
}

double worst(std::initializer_list<double> all) {
  return std::max(all);
}

/// Λ⁻¹ = J𝓜⁻¹J* of one arm.
MatrixXd admittance(const TwoArms& two, int i) {
  return two.J[i] * two.mass[i].llt().solve(two.J[i].transpose());
}

/// J M_C J* of the closed pair at the tip, M_C = X(X*𝓜X)⁻¹X*, X a basis of ker [J₁, −J₂].
MatrixXd closed_admittance(const TwoArms& two) {
  const Eigen::Index n = two.mass[0].rows();
  MatrixXd apart(6, 2 * n);
  apart << two.J[0], -two.J[1];
  MatrixXd mass = MatrixXd::Zero(2 * n, 2 * n);
  mass.topLeftCorner(n, n) = two.mass[0];
  mass.bottomRightCorner(n, n) = two.mass[1];
  const MatrixXd basis = apart.transpose().householderQr().householderQ();
  const MatrixXd X = basis.rightCols(2 * n - 6);
  const MatrixXd J_X = two.J[0] * X.topRows(n);
  return J_X * (X.transpose() * mass * X).llt().solve(J_X.transpose());
}

/// (2.15), (3.1): what both (3.6) and (4.9) start with.
struct Start {
  explicit Start(const Held& h)
      : M_inverse(inverse(h.M_C)),
        T_free(h.T - h.bias),
        a_free(h.a_C - h.A * M_inverse * h.b_C - h.Jd),
        reached(h.mass.llt().solve(h.J.transpose())),
        Omega(h.J * reached + h.A * M_inverse * h.A.transpose()) {}
  MatrixXd M_inverse;
  VectorXd T_free;
  VectorXd a_free;
  MatrixXd reached;  // 𝓜⁻¹J*
  MatrixXd Omega;
};

/// The operators that RCCFD1 to RCCFD3 are made of, by the library.
struct Operators {
  explicit Operators(const Held& h)
      : T_free(h.T - h.matrix("BIAS")),
        W(h.matrix("I-H*Psi88*L88")),
        D_inverse(h.matrix("inv(D)")),
        e(h.matrix("H*psi*B") * h.turn.transpose()),
        J(h.turn * h.matrix("~B*~phi*~H")),
        Jd(h.turn * (h.matrix("~B*~phi*a") + h.dense().node_a())),
        M_inverse(inverse(h.M_C)),
        Omega(h.turn * h.matrix("~B*~psi*~H*inv(D)*H*psi*B") * h.turn.transpose() + h.A * M_inverse * h.A.transpose()),
        a_free(h.a_C - h.A * M_inverse * h.b_C - Jd) {}
  VectorXd T_free;
  MatrixXd W;  // I − HΨL
  MatrixXd D_inverse;
  MatrixXd e;  // HψB
  MatrixXd J;
  VectorXd Jd;
  MatrixXd M_inverse;
  MatrixXd Omega;
  VectorXd a_free;  // a'(C)
};

/// RCCFD1 (6.11), with the sign of (6.11g) as given.
HeldMotion rccfd1(const Held& h, double sign) {
  const Operators o(h);
  HeldMotion out;
  const VectorXd free = o.W.transpose() * (o.D_inverse * (o.W * o.T_free));
  const VectorXd alpha_f = o.J * free + o.Jd;
  out.f = o.Omega.ldlt().solve(alpha_f + h.A * o.M_inverse * h.b_C - h.a_C);
  const VectorXd change = sign * (o.W.transpose() * (o.D_inverse * (o.e * out.f)));
  out.thetadd = free + change;
  out.alpha = alpha_f + o.J * change;
  return out;
}

/// RCCFD2 (6.18), with the adjoint of (6.18e) or without.
HeldMotion rccfd2(const Held& h, bool adjoint) {
  const Operators o(h);
  HeldMotion out;
  out.f = o.Omega.ldlt().solve(o.e.transpose() * (o.D_inverse * (o.W * o.T_free)) - o.a_free);
  const VectorXd filtered = h.matrix("H*psi*S*L88") * o.T_free + o.e * out.f;
  const VectorXd nu = o.D_inverse * (o.T_free - filtered);
  out.thetadd = adjoint ? VectorXd(o.W.transpose() * nu) : VectorXd(o.W * nu);
  return out;
}

}  // namespace

double two_arms_force(Sample& sample) {
  const TwoArms two(sample);
  const VectorXd alpha_1 = two.J[0] * two.mass[0].llt().solve(two.T[0]) + two.Jd[0];
  const VectorXd alpha_2 = two.J[1] * two.mass[1].llt().solve(two.T[1]) + two.Jd[1];
  const VectorXd f = (admittance(two, 0) + admittance(two, 1)).llt().solve(alpha_2 - alpha_1);
  VectorXd all(two.solution.size());
  all << two.mass[0].llt().solve(two.T[0] + two.J[0].transpose() * f),
      two.mass[1].llt().solve(two.T[1] - two.J[1].transpose() * f), f;
  return residual(all, two.solution);
}
double two_arms_inertia(Sample& sample) {
  const TwoArms two(sample);
  return residual(closed_admittance(two), inverse(inverse(admittance(two, 0)) + inverse(admittance(two, 1))));
}
double two_arms_inertia_printed(Sample& sample) {
  const TwoArms two(sample);
  return residual(closed_admittance(two), admittance(two, 0) + admittance(two, 1));
}

double object_accelerations(Sample& sample) {  // V(0) = A V(C) along a motion, by differences
  const Held h(sample, Grip::rigid);
  const HeldMotion motion = h.motion();
  const Vector3d w = h.V_C.head<3>();
  const MatrixXd found = slope([&](double t) -> MatrixXd {
    VectorXd V(h.A.rows());
    for (int i = 0; i < h.arms(); ++i) {
      const Eigen::Matrix3d arm = -h.A.block<3, 3>(6 * i + 3, 0);
      const Vector3d l(arm(2, 1), arm(0, 2), arm(1, 0));
      const Vector3d there = l + t * w.cross(l);  // right to the order that matters
      const VectorXd now = h.V_C + t * motion.alpha_C;
      V.segment<3>(6 * i) = now.head<3>();
      V.segment<3>(6 * i + 3) = now.tail<3>() + Vector3d(now.head<3>()).cross(there);
    }
    return V;
  });
  return worst({residual(h.A * h.V_C, h.J * h.instant().v), residual(h.A * motion.alpha_C + h.a_C, found),
                residual(h.A * motion.alpha_C + h.a_C, motion.alpha)});
}
double object_motion(Sample& sample) {
  const Held h(sample, Grip::rigid);
  const HeldMotion motion = h.motion();
  const MatrixXd back = (h.A.transpose() * h.A).llt().solve(h.A.transpose());
  return worst(
      {residual(back * (h.J * h.instant().v), h.V_C), residual(back * (motion.alpha - h.a_C), motion.alpha_C)});
}
double object_motion_printed(Sample& sample) {  // with one arm, where it fits at all
  const Held h(sample, Grip::rigid);
  const MatrixXd A = h.A.topRows(6);
  return residual((A.transpose() * A).llt().solve(A * (A * h.V_C)), h.V_C);
}

double analytical_solution(Sample& sample) {
  const Held h(sample, Grip::rigid);
  const Start s(h);
  const VectorXd free = h.mass.llt().solve(s.T_free);
  HeldMotion found;
  found.f = s.Omega.ldlt().solve(h.J * free) - s.Omega.ldlt().solve(s.a_free);
  found.thetadd = free - s.reached * s.Omega.ldlt().solve(h.J * free) + s.reached * s.Omega.ldlt().solve(s.a_free);
  return difference(found, h.motion());
}

namespace {

/// (4.9), with α(0) or Δα(0) on the left of (4.9h).
double general_solution(Sample& sample, bool printed) {
  const Held h(sample, Grip::rigid);
  const Start s(h);
  const HeldMotion right = h.motion();
  const VectorXd free = h.mass.llt().solve(s.T_free);
  const VectorXd alpha_f = h.J * free + h.Jd;
  HeldMotion found;
  found.f = s.Omega.ldlt().solve(alpha_f + h.A * s.M_inverse * h.b_C - h.a_C);
  const VectorXd change = -s.reached * found.f;
  found.thetadd = free + change;
  const VectorXd sum = alpha_f + h.J * change;
  return printed ? residual(h.J * change, sum) : worst({difference(found, right), residual(sum, right.alpha)});
}

}  // namespace

double general_algorithm(Sample& sample) {
  return general_solution(sample, false);
}
double general_algorithm_printed(Sample& sample) {
  return general_solution(sample, true);
}
double run_rccfd1(Sample& sample) {
  const Held h(sample, Grip::rigid);
  const HeldMotion found = rccfd1(h, -1);
  const HeldMotion right = h.motion();
  return worst({difference(found, right), residual(found.alpha, right.alpha)});
}
double run_rccfd1_printed(Sample& sample) {
  const Held h(sample, Grip::rigid);
  return residual(rccfd1(h, 1).thetadd, h.motion().thetadd);
}
double run_rccfd2(Sample& sample) {
  const Held h(sample, Grip::rigid);
  return difference(rccfd2(h, true), h.motion());
}
double run_rccfd2_printed(Sample& sample) {
  const Held h(sample, Grip::rigid);
  return residual(rccfd2(h, false).thetadd, h.motion().thetadd);
}
double run_rccfd3(Sample& sample) {
  const Held h(sample, Grip::rigid);
  const Operators o(h);
  const MatrixXd through = o.D_inverse * o.e;
  const VectorXd seen = o.W * o.T_free;
  const VectorXd first =
      o.W.transpose() * (o.D_inverse * seen - through * o.Omega.ldlt().solve(through.transpose() * seen));
  const VectorXd second = o.W.transpose() * (through * o.Omega.ldlt().solve(o.a_free));
  return residual(first + second, h.motion().thetadd);
}
double library_holds(Sample& sample) {
  const Held h(sample, Grip::rigid);
  return difference(h.by_library(), h.motion());
}

}  // namespace bunraku::cli::papers
