// Internal forces of a grasp, and how contacts share the load.
#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/grasp_data.hpp"
#include "bunraku/dynamics/grasp.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/dynamics/operational_space.hpp"

namespace bunraku {

namespace {

/// What contacts can transmit to the object.
template <class T>
struct ContactMap {
  MatrixX<T> Q;                 // rows of all contacts × 6 a contact, in the contacts' axes
  MatrixX<T> O;                 // QA: rows × the object's freedoms
  MatrixX<T> X;                 // the object's freedoms among its velocities
  VectorX<T> unit;              // of each row: 1 m for forces, a length for moments
  std::vector<int> contact_of;  // of each row
};

/// The contacts' root mean square distance from their middle.
template <class T>
T spread(BasicGrasp<T>& grasp) {
  detail::GraspData<T>& d = grasp.data();
  Vec3<T> middle = Vec3<T>::zero();
  std::vector<Vec3<T>> points;
  for (const Node& node : d.nodes) {
    points.push_back(pose(grasp.object(), node).translation);
    middle += points.back() * (T(1) / static_cast<T>(d.nodes.size()));
  }
  T sum{};
  for (const Vec3<T>& point : points) {
    sum += squared_norm(point - middle) / static_cast<T>(points.size());
  }
  return sum > T(0) ? std::sqrt(sum) : T(1);
}

constexpr double rank_share(double) {
  return 1e-9;
}
constexpr float rank_share(float) {
  return 1e-4F;
}

/// The columns that span what `A` reaches, and what it does not.
template <class T>
struct Ranges {
  MatrixX<T> basis;
  Eigen::Index rank = 0;
};
template <class T>
Ranges<T> ranges(const MatrixX<T>& A) {
  if (A.cols() == 0 || A.rows() == 0) {
    return {MatrixX<T>::Identity(A.rows(), A.rows()), 0};
  }
  Eigen::ColPivHouseholderQR<MatrixX<T>> qr(A);
  qr.setThreshold(rank_share(T{}));
  return {qr.householderQ(), qr.rank()};
}

template <class T>
ContactMap<T> contact_map(BasicGrasp<T>& grasp) {
  detail::GraspData<T>& d = grasp.data();
  detail::ClosedData<T>& closed = d.system.data();
  const MatrixX<T> Y = closure_jacobian(d.system);
  const Eigen::Index first = d.system.first(d.object());
  const Eigen::Index n = grasp.object().model().nv();
  ContactMap<T> out;
  Eigen::Index rows = 0;
  for (std::size_t i = 0; i < d.contacts.size(); ++i) {
    rows += d.closed(i).present ? d.closed(i).rows : 0;
  }
  out.Q = MatrixX<T>::Zero(rows, 6 * grasp.contacts());
  out.unit.resize(rows);
  MatrixX<T> own(rows, n);
  const T length = spread(grasp);
  Eigen::Index row = 0;
  for (std::size_t i = 0; i < d.contacts.size(); ++i) {
    const detail::ClosedClosure<T>& c = d.closed(i);
    for (int r = 0; c.present && r < c.rows; ++r, ++row) {
      const Force<T>& column = c.equations.on_b[static_cast<std::size_t>(r)];
      for (int k = 0; k < 6; ++k) {
        out.Q(row, 6 * static_cast<Eigen::Index>(i) + k) = column[k];
      }
      out.unit(row) = squared_norm(column.moment) > T(0) ? length : T(1);
      own.row(row) = Y.row(c.first + r).segment(first, n);
      out.contact_of.push_back(static_cast<int>(i));
    }
  }
  // what closures of the object's own leave free
  MatrixX<T> within(0, n);
  for (const auto& c : closed.closures) {
    if (c->present && c->a.member == d.object() && c->b.member == d.object()) {
      within.conservativeResize(within.rows() + c->rows, n);
      within.bottomRows(c->rows) = Y.middleRows(c->first, c->rows).middleCols(first, n);
    }
  }
  const Ranges<T> bound = ranges<T>(within.transpose());
  out.X = bound.basis.rightCols(n - bound.rank);
  out.O = own * out.X;
  return out;
}

/// Columns of unit length, so that rank does not depend on what a freedom is measured in.
template <class T>
MatrixX<T> evened(MatrixX<T> A) {
  for (Eigen::Index j = 0; j < A.cols(); ++j) {
    const T size = A.col(j).norm();
    A.col(j) /= size > T(0) ? size : T(1);
  }
  return A;
}

/// Of all λ with O*λ = w the one of least λ*Lλ.
template <class T>
VectorX<T> least(const MatrixX<T>& L, const ContactMap<T>& map, const VectorX<T>& w) {
  const Eigen::Index rows = map.O.rows();
  const Eigen::Index n = map.O.cols();
  MatrixX<T> all = MatrixX<T>::Zero(rows + n, rows + n);
  // rows without units: λ in units of what each row would move
  VectorX<T> s(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    s(i) = L(i, i) > T(0) ? T(1) / std::sqrt(L(i, i)) : T(1);
  }
  MatrixX<T> O = s.asDiagonal() * map.O;
  VectorX<T> t(n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const T size = O.col(j).norm();
    t(j) = size > T(0) ? T(1) / size : T(1);
  }
  O = O * t.asDiagonal();
  all.topLeftCorner(rows, rows) = s.asDiagonal() * L * s.asDiagonal();
  all.topRightCorner(rows, n) = O;
  all.bottomLeftCorner(n, rows) = O.transpose();
  VectorX<T> right = VectorX<T>::Zero(rows + n);
  right.tail(n) = t.cwiseProduct(w);
  Eigen::CompleteOrthogonalDecomposition<MatrixX<T>> solver;
  solver.setThreshold(rank_share(T{}));
  solver.compute(all);
  const VectorX<T> solution = solver.solve(right);
  const T left = (O.transpose() * solution.head(rows) - right.tail(n)).norm();
  constexpr T most = std::is_same_v<T, float> ? T(1e-3) : T(1e-8);
  if (left > most * right.tail(n).norm()) {
    throw Error(
        fmt::format("the contacts cannot do it: {:.2g} of the forces that the object needs are out of their reach",
                    left / right.tail(n).norm()));
  }
  return s.cwiseProduct(solution.head(rows));
}

/// M(C)α + b(C) along the object's freedoms.
template <class T>
VectorX<T> needed(BasicGrasp<T>& grasp, const Input<T>& accelerations, const ContactMap<T>& map) {
  VectorX<T> out(grasp.object().model().nv());
  inverse_dynamics(grasp.object(), accelerations, out);
  return map.X.transpose() * out;
}

}  // namespace

template <class T>
int internal_force_count(BasicGrasp<T>& grasp) {
  const ContactMap<T> map = contact_map(grasp);
  return static_cast<int>(map.O.rows() - ranges<T>(evened<T>(map.unit.asDiagonal() * map.O)).rank);
}

template <class T>
void internal_forces(BasicGrasp<T>& grasp, MatrixOut<T> out) {
  const ContactMap<T> map = contact_map(grasp);
  const Ranges<T> moved = ranges<T>(evened<T>(map.unit.asDiagonal() * map.O));
  const MatrixX<T> basis = map.Q.transpose() * map.unit.asDiagonal() * moved.basis.rightCols(map.O.rows() - moved.rank);
  const auto matrix = detail::wanted(out, basis.rows(), basis.cols(), "internal forces");
  for (Eigen::Index j = 0; j < basis.cols(); ++j) {
    std::copy_n(basis.col(j).data(), basis.rows(), matrix.column(j).begin());
  }
}

namespace {

/// Q*λ into what the caller gave.
template <class T>
void write(const ContactMap<T>& map, const VectorX<T>& lambda, std::span<T> out) {
  const VectorX<T> f = map.Q.transpose() * lambda;
  std::copy_n(f.data(), f.size(), out.begin());
}

}  // namespace

template <class T>
void load_sharing(BasicGrasp<T>& grasp, In<T> object_accelerations, Out<T> out) {
  detail::GraspData<T>& d = grasp.data();
  const std::span<T> forces = detail::wanted(out, 6 * grasp.contacts(), "forces");
  const ContactMap<T> map = contact_map(grasp);
  const VectorX<T> w = needed<T>(grasp, object_accelerations, map);
  // Q𝓦⁻¹Q* = Q J𝓜⁻¹J* Q*, which needs no inverse of an arm that is at a singularity
  MatrixX<T> L = MatrixX<T>::Zero(map.O.rows(), map.O.rows());
  for (int arm = 0; arm < grasp.arms(); ++arm) {
    std::vector<Node> tips;
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < d.contacts.size(); ++i) {
      if (d.arm_of[i] == arm) {
        tips.push_back(detail::aligned_tip(grasp, i));
        held.push_back(i);
      }
    }
    if (tips.empty()) {
      continue;
    }
    const MatrixX<T> all = lambda_inverse(grasp.arm(arm), tips);
    MatrixX<T> own(map.O.rows(), all.rows());
    for (std::size_t k = 0; k < held.size(); ++k) {
      own.middleCols(6 * static_cast<Eigen::Index>(k), 6) = map.Q.middleCols(6 * static_cast<Eigen::Index>(held[k]), 6);
    }
    L += own * all * own.transpose();
  }
  write<T>(map, least<T>(L, map, w), forces);
}

template <class T>
void load_sharing(BasicGrasp<T>& grasp, In<T> object_accelerations, MatrixIn<T> weights, Out<T> out) {
  const std::span<T> forces = detail::wanted(out, 6 * grasp.contacts(), "forces");
  const auto given = detail::given_columns(weights, 6, "weights");
  if (given.cols != 6 * grasp.contacts()) {
    detail::refuse_shape(6, given.cols, 6, 6 * grasp.contacts(), "weights");
  }
  const ContactMap<T> map = contact_map(grasp);
  const VectorX<T> w = needed<T>(grasp, object_accelerations, map);
  MatrixX<T> L = MatrixX<T>::Zero(map.O.rows(), map.O.rows());
  for (int i = 0; i < grasp.contacts(); ++i) {
    Eigen::Matrix<T, 6, 6> weight;
    for (int j = 0; j < 6; ++j) {
      std::copy_n(given.column(6 * i + j).begin(), 6, weight.data() + 6 * j);
    }
    const Eigen::LLT<Eigen::Matrix<T, 6, 6>> factor(weight);
    if (factor.info() != Eigen::Success || !weight.allFinite()) {
      throw ArgumentError(
          fmt::format("the weight of the contact of arm '{}' is not positive definite", grasp.contact(i).arm));
    }
    const MatrixX<T> Q = map.Q.middleCols(6 * static_cast<Eigen::Index>(i), 6);
    L += Q * factor.solve(MatrixX<T>(Q.transpose()));
  }
  write<T>(map, least<T>(L, map, w), forces);
}

#define BUNRAKU_GRASP(T)                                       \
  template int internal_force_count(BasicGrasp<T>&);           \
  template void internal_forces(BasicGrasp<T>&, MatrixOut<T>); \
  template void load_sharing(BasicGrasp<T>&, In<T>, Out<T>);   \
  template void load_sharing(BasicGrasp<T>&, In<T>, MatrixIn<T>, Out<T>);
BUNRAKU_GRASP(double)
BUNRAKU_GRASP(float)
#undef BUNRAKU_GRASP

}  // namespace bunraku
