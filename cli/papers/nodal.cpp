#include "papers/nodal.hpp"

#include "bunraku/spatial/eigen.hpp"
#include "papers/dense.hpp"

namespace bunraku::cli::papers {

namespace {

/// Σ (−z)^k / (2k + n)! and its derivative by z: with z = |x|² and n = 1, 2, 3 the coefficients of Exp and T.
struct Series {
  Series(int n, double z) {
    double term = 1;  // (−z)^k / (2k + n)!
    for (int i = 2; i <= n; ++i) {
      term /= i;
    }
    double slope = 0;  // k (−1)^k z^(k−1) / (2k + n)!
    for (int k = 0; k < 24; ++k) {
      value += term;
      derivative += slope;
      const double next = -1.0 / ((2.0 * k + n + 1) * (2.0 * k + n + 2));
      slope = next * (term + z * slope);  // d(next z term) = next term + next z d(term)
      term *= next * z;
    }
  }
  double value = 0;
  double derivative = 0;
};

Motion<double> motion_of(const Eigen::Matrix<double, 6, 1>& x) {
  return {{x(0), x(1), x(2)}, {x(3), x(4), x(5)}};
}

}  // namespace

Transform<double> NodalMotion::pose() const {
  Mat3<double> axes;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      axes(i, j) = R(i, j);
    }
  }
  return {Rotation<double>(axes), {r.x(), r.y(), r.z()}};
}

Motion<double> NodalMotion::column(int i) const {
  return motion_of(map.col(i));
}

Motion<double> NodalMotion::bias() const {
  return motion_of(rate);
}

Eigen::MatrixXd rotations(const ModalShape& shape) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(3, shape.modes());
  for (std::size_t i = 0; i < shape.rotation.size(); ++i) {
    out.col(static_cast<Eigen::Index>(i)) = to_eigen(shape.rotation[i]);
  }
  return out;
}

NodalMotion nodal_motion(const ModalShape& shape, const double* eta, const double* rates) {
  const int n = shape.modes();
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(eta, n);
  const Eigen::VectorXd xd = Eigen::Map<const Eigen::VectorXd>(rates, n);
  const Eigen::MatrixXd turn = rotations(shape);
  Eigen::MatrixXd shift(3, n);
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    shift.col(i) = to_eigen(shape.translation[static_cast<std::size_t>(i)]);
    for (int j = 0; j < n && !shape.shortening.empty(); ++j) {
      S(i, j) += shape.shortening[static_cast<std::size_t>(i * n + j)] / 2;
      S(j, i) += shape.shortening[static_cast<std::size_t>(i * n + j)] / 2;
    }
  }
  const Eigen::Vector3d e = to_eigen(shape.shortening_axis);
  const Eigen::Vector3d angle = turn * x;
  const Eigen::Vector3d speed = turn * xd;
  const double z = angle.squaredNorm();
  const Series s(1, z);
  const Series a(2, z);
  const Series b(3, z);
  const Eigen::Matrix3d K = tilde(angle);
  const Eigen::Matrix3d one = Eigen::Matrix3d::Identity();
  NodalMotion out;
  out.R = one + s.value * K + a.value * K * K;
  out.r = shift * x - e * (x.dot(S * x) / 2);
  out.map.resize(6, n);
  out.map.topRows(3) = (one - a.value * K + b.value * K * K) * turn;  // R*T(x) = T(−x)
  out.map.bottomRows(3) = out.R.transpose() * (shift - e * (S * x).transpose());
  const double zd = 2 * angle.dot(speed);
  const Eigen::Vector3d across = angle.cross(speed);
  const Eigen::Vector3d w = out.map.topRows(3) * xd;
  out.rate.head<3>() =
      zd * (b.derivative * angle.cross(across) - a.derivative * across) + b.value * speed.cross(across);
  const Eigen::Vector3d v = out.map.bottomRows(3) * xd;
  out.rate.tail<3>() = v.cross(w) - out.R.transpose() * e * xd.dot(S * xd);
  return out;
}

}  // namespace bunraku::cli::papers
