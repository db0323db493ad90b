#include "support/long_reference.hpp"

#include <array>

namespace bunraku::test {

namespace {

using Matrix3 = LongReference::Matrix3;
using Vector3 = LongReference::Vector3;

Vector3 wide(const Vec3<double>& v) {
  return {v.x, v.y, v.z};
}

Matrix3 wide(const Rotation<double>& r) {
  Matrix3 out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out(i, j) = r.matrix()(i, j);
    }
  }
  return out;
}

Matrix3 tilde(const Vector3& a) {
  Matrix3 out;
  out << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return out;
}

}  // namespace

LongReference::LongReference(const Model& model, const Eigen::VectorXd& q)
    : mass_(Matrix::Zero(model.nv(), model.nv())), gravity_(Vector::Zero(model.nv())) {
  std::vector<Vector3> origins;
  for (const Body& body : model.bodies()) {
    const bool based = body.parent == world;
    const auto p = static_cast<std::size_t>(based ? 0 : body.parent);
    const Matrix3 R_P = based ? Matrix3(Matrix3::Identity()) : R_[p];
    const Vector3 o_P = based ? Vector3(Vector3::Zero()) : origins[p];
    Matrix J = based ? Matrix(Matrix::Zero(6, model.nv())) : J_[p];
    const double* own = q.data() + body.q_index;
    const Transform<double> X_FM = hinge_pose(body.hinge, own);
    std::array<Motion<double>, max_hinge_velocities> columns{};
    hinge_joint_map(body.hinge, own, columns.data());
    const Matrix3 R_F = R_P * wide(body.X_PF.rotation);
    const Matrix3 R_M = R_F * wide(X_FM.rotation);
    const Matrix3 R = R_M * wide(body.X_MB.rotation);
    const Vector3 o_M = o_P + R_P * wide(body.X_PF.translation) + R_F * wide(X_FM.translation);
    const Vector3 o = o_M + R_M * wide(body.X_MB.translation);
    J.bottomRows(3) -= tilde(o - o_P) * J.topRows(3);
    for (int j = 0; j < body.nv; ++j) {
      const auto c = static_cast<std::size_t>(j);
      const Vector3 w = R_M * wide(columns[c].angular);
      J.col(body.v_index + j).head(3) += w;
      J.col(body.v_index + j).tail(3) += R_M * wide(columns[c].linear) + w.cross(o - o_M);
      mass_(body.v_index + j, body.v_index + j) += body.hinge.dofs[c].armature;
    }
    const Sym3<double>& i = body.inertia.inertia;
    Matrix3 inertia;
    inertia << i.xx, i.xy, i.xz, i.xy, i.yy, i.yz, i.xz, i.yz, i.zz;
    const Vector3 h = R * wide(body.inertia.first_moment);
    Matrix M(6, 6);
    M << R * inertia * R.transpose(), tilde(h), -tilde(h),
        Matrix3::Identity() * static_cast<long double>(body.inertia.mass);
    mass_ += J.transpose() * M * J;
    Vector weight(6);
    weight << h.cross(wide(model.gravity())), wide(model.gravity()) * static_cast<long double>(body.inertia.mass);
    gravity_ -= J.transpose() * weight;
    R_.push_back(R);
    origins.push_back(o);
    J_.push_back(J);
  }
  factor_.compute(mass_);
}

double LongReference::forward_error(const Eigen::VectorXd& torque, const Eigen::VectorXd& a) const {
  const Vector wanted = factor_.solve(torque.cast<long double>() - gravity_);
  return static_cast<double>((a.cast<long double>() - wanted).norm() / wanted.norm());
}

double LongReference::solve_error(const Eigen::VectorXd& b, const Eigen::VectorXd& x) const {
  const Vector wanted = factor_.solve(b.cast<long double>());
  return static_cast<double>((x.cast<long double>() - wanted).norm() / wanted.norm());
}

double LongReference::lambda_inverse_error(int body, const Eigen::MatrixXd& X) const {
  const auto k = static_cast<std::size_t>(body);
  Matrix J = J_[k];
  J.topRows(3) = (R_[k].transpose() * J.topRows(3)).eval();
  J.bottomRows(3) = (R_[k].transpose() * J.bottomRows(3)).eval();
  const Matrix wanted = J * factor_.solve(Matrix(J.transpose()));
  return static_cast<double>((X.cast<long double>() - wanted).norm() / wanted.norm());
}

double LongReference::root_error(const Eigen::VectorXd& b, const Eigen::VectorXd& x) const {
  const Vector wide_b = b.cast<long double>();
  const long double wanted = wide_b.dot(factor_.solve(wide_b));
  return static_cast<double>(std::abs(x.cast<long double>().squaredNorm() - wanted) / wanted);
}

double LongReference::condition() const {
  const Vector scale = mass_.diagonal().cwiseSqrt().cwiseInverse();
  const Matrix scaled = scale.asDiagonal() * mass_ * scale.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> parts(scaled, Eigen::EigenvaluesOnly);
  return static_cast<double>(parts.eigenvalues().maxCoeff() / parts.eigenvalues().minCoeff());
}

}  // namespace bunraku::test
