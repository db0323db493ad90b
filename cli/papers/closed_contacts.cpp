/// @file
/// Procedures of contacts that are not rigid: C5.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>

#include "papers/closed_held.hpp"
#include "papers/closed_procedures.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// (b.4), (b.7b).
struct Contacts {
  explicit Contacts(const Held& held)
      : h(held),
        M_inverse(h.M_C.llt().solve(MatrixXd::Identity(6, 6))),
        reached(h.mass.llt().solve(h.J.transpose())),
        Omega(h.J * reached + h.A * M_inverse * h.A.transpose()),
        G1(h.A * M_inverse * h.b_C + h.Jd + h.Hd_W - h.a_C - reached.transpose() * h.bias),
        driven(reached.transpose() * h.T) {}

  /// Π of (b.7b).
  MatrixXd projected() const {
    const Eigen::LDLT<MatrixXd> factor(Omega);
    const MatrixXd inverse = factor.solve(MatrixXd::Identity(Omega.rows(), Omega.cols()));
    const MatrixXd through = h.H0 * inverse;
    return inverse - through.transpose() * (through * h.H0.transpose()).ldlt().solve(through);
  }
  /// Π by rows.
  MatrixXd by_rows() const { return h.Q.transpose() * (h.Q * Omega * h.Q.transpose()).ldlt().solve(h.Q); }

  const Held& h;
  MatrixXd M_inverse;
  MatrixXd reached;  // 𝓜⁻¹J*
  MatrixXd Omega;
  VectorXd G1;
  VectorXd driven;  // J𝓜⁻¹T
};

/// (b.9) by Ω⁻¹.
double by_omega(Sample& sample, Grip grip) {
  const Held h(sample, grip);
  const Contacts c(h);
  const MatrixXd through = c.Omega.ldlt().solve(h.H0.transpose()).transpose();  // H(0)Ω⁻¹
  HeldMotion found;
  found.Wd = -(through * h.H0.transpose()).ldlt().solve(through * (c.driven + c.G1));
  found.f = c.projected() * (c.driven + c.G1);
  found.thetadd = h.mass.llt().solve(h.T - h.bias) - c.reached * found.f;
  const VectorXd other = c.Omega.ldlt().solve(c.driven + h.H0.transpose() * found.Wd + c.G1);  // (b.6b)
  const HeldMotion right = h.motion();
  return std::max(difference(found, right), residual(other, right.f));
}

/// Both rows of (b.14) with the motion put in; `sign` of J𝓜⁻¹C in G₂.
double both_rows(Sample& sample, double sign) {
  const Held h(sample, Grip::mixed);
  const Contacts c(h);
  const HeldMotion right = h.motion();
  const MatrixXd through = c.Omega.ldlt().solve(h.H0.transpose()).transpose();
  const MatrixXd Pi = c.projected();
  const MatrixXd seen = h.A * c.M_inverse * h.A.transpose() * Pi;
  const VectorXd G2 = through * (seen * c.G1 - c.G1 + sign * (c.reached.transpose() * h.bias));
  const VectorXd G3 = -h.J.transpose() * c.Omega.ldlt().solve(c.G1) - h.bias;
  VectorXd left(h.H0.rows() + h.mass.rows());
  left << through * h.H0.transpose() * right.Wd + through * h.J * right.thetadd,
      (through * h.J).transpose() * right.Wd + h.mass * right.thetadd;
  VectorXd given(left.size());
  given << through * seen * c.driven + G2, h.T - h.J.transpose() * c.Omega.ldlt().solve(c.driven) + G3;
  return residual(left.head(h.H0.rows()), given.head(h.H0.rows())) +
         residual(left.tail(h.mass.rows()), given.tail(h.mass.rows()));
}

}  // namespace

double revolute_contacts(Sample& sample) {
  return by_omega(sample, Grip::revolute);
}
double ball_contacts(Sample& sample) {
  return by_omega(sample, Grip::ball);
}
double soft_contacts(Sample& sample) {
  return by_omega(sample, Grip::soft);
}
double mixed_contacts(Sample& sample) {
  return by_omega(sample, Grip::mixed);
}
double contact_rate(Sample& sample) {
  const Held h(sample, Grip::mixed);
  return residual(h.Hd_W, h.Hd_tip);
}
double contacts_without_rate(Sample& sample) {
  const Held h(sample, Grip::soft);
  Held still = h;
  still.Hd_W.setZero();
  return residual(still.motion().f, h.motion().f);
}
double contact_rows(Sample& sample) {
  const Held h(sample, Grip::mixed);
  const Contacts c(h);
  return residual(c.by_rows(), c.projected());
}
double point_fingers(Sample& sample) {  // Ω is singular
  const Held h(sample, Grip::ball, 3);
  const Contacts c(h);
  HeldMotion found;
  found.f = c.by_rows() * (c.driven + c.G1);
  found.thetadd = h.mass.llt().solve(h.T - h.bias) - c.reached * found.f;
  return difference(found, h.motion());
}
double point_fingers_by_omega(Sample& sample) {
  const Held h(sample, Grip::ball, 3);
  const Contacts c(h);
  return residual(c.Omega.ldlt().solve(c.Omega), MatrixXd::Identity(c.Omega.rows(), c.Omega.cols()));
}
double contact_equations(Sample& sample) {
  return both_rows(sample, -1);
}
double contact_equations_printed(Sample& sample) {
  return both_rows(sample, 1);
}
double contact_equations_nullity(Sample& sample) {
  const Held h(sample, Grip::ball);
  const Contacts c(h);
  const MatrixXd through = c.Omega.ldlt().solve(h.H0.transpose()).transpose();
  MatrixXd all(h.H0.rows() + h.mass.rows(), h.H0.rows() + h.mass.rows());
  all << through * h.H0.transpose(), through * h.J, (through * h.J).transpose(), h.mass;
  // rows without units
  const VectorXd scale = all.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd even = scale.asDiagonal() * all * scale.asDiagonal();
  const VectorXd sigma = even.jacobiSvd().singularValues();
  const Eigen::Index nullity = (sigma.array() < 1e-10 * sigma(0)).count();
  return std::abs(static_cast<double>(nullity - std::max<Eigen::Index>(0, h.H0.rows() - 6)));
}
double library_holds_contacts(Sample& sample) {
  double out = 0;
  for (const Grip grip : {Grip::revolute, Grip::ball, Grip::soft, Grip::mixed}) {
    const Held h(sample, grip);
    out = std::max(out, difference(h.by_library(), h.motion()));
  }
  const Held fingers(sample, Grip::ball, 3);
  return std::max(out, difference(fingers.by_library(), fingers.motion()));
}

}  // namespace bunraku::cli::papers
