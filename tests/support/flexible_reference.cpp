#include "support/flexible_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <Eigen/Dense>

namespace bunraku::test {

namespace {

using Eigen::Index;
using Quaternion4 = Eigen::Matrix<long double, 4, 1>;  // w, x, y, z

LongVector3 of(const Vec3<double>& x) {
  return {x.x, x.y, x.z};
}

LongVector3 direction(const Vec3<double>& x) {
  return of(x).normalized();
}

LongPose of(const Transform<double>& X) {
  LongPose out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out.rotation(i, j) = X.rotation(i, j);
    }
  }
  out.translation = of(X.translation);
  return out;
}

LongMatrix3 cross_matrix(const LongVector3& w) {
  LongMatrix3 out;
  out << 0, -w.z(), w.y(), w.z(), 0, -w.x(), -w.y(), w.x(), 0;
  return out;
}

/// Σ (−s)^k / (2k + m)!: sin θ/θ, (1 − cos θ)/θ² and (θ − sin θ)/θ³ of s = θ² for m = 1, 2, 3.
long double series(long double s, int m) {
  long double term = 1;
  for (int i = 2; i <= m; ++i) {
    term /= i;
  }
  long double sum = term;
  for (int k = 1; k < 60 && std::abs(term) > 1e-25L * std::abs(sum); ++k) {
    term *= -s / ((2 * k + m - 1) * (2 * k + m));
    sum += term;
  }
  return sum;
}

/// I + a r̃ + b r̃².
LongMatrix3 turn_of(const LongVector3& r, long double a, long double b) {
  const long double x = r.data()[0];
  const long double y = r.data()[1];
  const long double z = r.data()[2];
  LongMatrix3 out;
  long double* m = out.data();  // column by column
  m[0] = 1 - b * (y * y + z * z);
  m[1] = b * x * y + a * z;
  m[2] = b * x * z - a * y;
  m[3] = b * x * y - a * z;
  m[4] = 1 - b * (x * x + z * z);
  m[5] = b * y * z + a * x;
  m[6] = b * x * z + a * y;
  m[7] = b * y * z - a * x;
  m[8] = 1 - b * (x * x + y * y);
  return out;
}

/// exp of the rotation vector r.
LongMatrix3 turned(const LongVector3& r) {
  const long double* x = r.data();
  const long double s = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  return turn_of(r, series(s, 1), series(s, 2));
}

/// ∫ exp(r t) dt from 0 to 1.
LongMatrix3 average_turn(const LongVector3& r) {
  return turn_of(r, series(r.squaredNorm(), 2), series(r.squaredNorm(), 3));
}

LongMatrix3 turned(const LongVector3& axis, long double angle) {
  return turn_of(axis, std::sin(angle), 1 - std::cos(angle));
}

LongMatrix3 turned(const Quaternion4& given) {
  const Quaternion4 q = given.normalized();
  return turn_of(q.tail<3>(), 2 * q[0], 2);
}

/// q times the quaternion of the rotation vector r.
Quaternion4 turned_on(const Quaternion4& given, const LongVector3& r) {
  const Quaternion4 q = given.normalized();
  const long double quarter = r.squaredNorm() / 4;
  const long double w = 1 - quarter * series(quarter, 2);  // cos(θ/2) = 1 − (θ/2)² (1 − cos)/(θ/2)²
  const LongVector3 x = r / 2 * series(quarter, 1);
  Quaternion4 out;
  out[0] = q[0] * w - q.tail<3>().dot(x);
  out.tail<3>() = q[0] * x + w * q.tail<3>() + cross_matrix(q.tail<3>()) * x;
  return out;
}

bool plain_in_reference(HingeType type) {
  return type != HingeType::planar && type != HingeType::spherical && type != HingeType::free;
}

/// w of the matrix w̃ + something symmetric.
LongVector3 skew_part(const LongMatrix3& W) {
  return LongVector3(W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)) / 2;
}

}  // namespace

testing::AssertionResult is_within(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return testing::AssertionFailure() << a.rows() << "×" << a.cols() << " against " << b.rows() << "×" << b.cols();
  }
  const double largest = b.size() == 0 ? 0 : b.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  const double apart = b.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (apart <= tolerance * largest) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "differ by " << apart / largest << " of " << largest << ", " << tolerance
                                     << " allowed:\n"
                                     << a << "\nagainst\n"
                                     << b;
}

LongPose operator*(const LongPose& a, const LongPose& b) {
  LongMatrix3 rotation;
  LongVector3 translation;
  const long double* A = a.rotation.data();  // column by column
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const long double* B = b.rotation.data() + 3 * j;
      rotation.data()[3 * j + i] = A[i] * B[0] + A[3 + i] * B[1] + A[6 + i] * B[2];
    }
    const long double* t = b.translation.data();
    translation.data()[i] = A[i] * t[0] + A[3 + i] * t[1] + A[6 + i] * t[2] + a.translation.data()[i];
  }
  return {rotation, translation};
}

Eigen::Matrix4d LongPose::matrix() const {
  Eigen::Matrix4d out = Eigen::Matrix4d::Identity();
  out.topLeftCorner<3, 3>() = rotation.cast<double>();
  out.topRightCorner<3, 1>() = translation.cast<double>();
  return out;
}

FlexibleReference::FlexibleReference(const Model& model) : FlexibleReference(model, {}) {}

FlexibleReference::FlexibleReference(const Model& model, const std::vector<FlexibleSource>& sources) : model_(model) {
  for (const Body& body : model.bodies()) {
    Carrier carrier;
    carrier.parent = body.parent;
    carrier.before = of(body.X_PF);
    carrier.after = of(body.X_MB);
    carrier.type = body.hinge.type;
    if (has_axis(body.hinge.type)) {
      carrier.axis = direction(body.hinge.axis);
    }
    if (has_second_axis(body.hinge.type)) {
      carrier.axis2 = direction(body.hinge.axis2);
    }
    carrier.pitch = body.hinge.pitch;
    if (body.hinge.type == HingeType::modal) {
      add_shape(carrier, *body.hinge.modal);
    }
    carrier.q_index = body.q_index;
    if (body.leader != world) {
      carrier.q_index = model.body(body.leader).q_index;
      carrier.ratio = body.leader_ratio;
      carrier.offset = body.leader_offset;
    }
    const bool given_apart = std::any_of(sources.begin(), sources.end(), [&](const FlexibleSource& source) {
      return body.name == source.body || body.name.rfind(source.body + ".", 0) == 0;
    });
    if (!given_apart) {
      add_points(carrier, body.inertia);
    }
    carriers_.push_back(std::move(carrier));
  }
  for (const FlexibleSource& source : sources) {
    const int frame = model.body_index(source.body);
    add_points(carriers_[static_cast<std::size_t>(frame)], source.inertia);
    add_points(carriers_[static_cast<std::size_t>(frame)], source.flexible.inertia);
    for (const FlexibleNode& node : source.flexible.nodes) {
      Carrier lump;
      lump.parent = frame;
      lump.before.translation = of(node.place);
      if (source.flexible.modes() > 0) {
        lump.type = HingeType::modal;
        add_shape(lump, node.shape);
        lump.q_index = model.body(model.hinge_index(source.body + ".modes")).q_index;
      }
      add_points(lump, node.inertia);
      carriers_.push_back(std::move(lump));
    }
  }
  gather_weights();
}

void FlexibleReference::add_shape(Carrier& carrier, const ModalShape& shape) {
  const int n = shape.modes();
  carrier.turns = carrier.moves = Eigen::Matrix<long double, 3, Eigen::Dynamic>::Zero(3, n);
  carrier.shortening = LongMatrix::Zero(n, n);
  carrier.draws = of(shape.shortening_axis);
  for (int i = 0; i < n; ++i) {
    carrier.moves.col(i) = of(shape.translation[static_cast<std::size_t>(i)]);
    if (!shape.rotation.empty()) {
      carrier.turns.col(i) = of(shape.rotation[static_cast<std::size_t>(i)]);
    }
    for (int j = 0; j < n && !shape.shortening.empty(); ++j) {
      carrier.shortening(i, j) = shape.shortening[static_cast<std::size_t>(i * n + j)];
    }
  }
}

void FlexibleReference::add_points(Carrier& carrier, const RigidInertia<double>& inertia) {
  // ∫ x x* dm of the inertia about the origin
  LongMatrix3 J;
  J << inertia.inertia.xx, inertia.inertia.xy, inertia.inertia.xz, inertia.inertia.xy, inertia.inertia.yy,
      inertia.inertia.yz, inertia.inertia.xz, inertia.inertia.yz, inertia.inertia.zz;
  const LongMatrix3 second = J.trace() / 2 * LongMatrix3::Identity() - J;
  const LongVector3 first = of(inertia.first_moment);
  // ten points of unit distances: at e_i + e_j for products, at ±e_i for squares and first moments, and at the origin
  Eigen::Matrix<long double, 3, 10> points = Eigen::Matrix<long double, 3, 10>::Zero();
  Eigen::Matrix<long double, 10, 1> weights;
  int next = 0;
  LongMatrix3 square = second;
  LongVector3 moment = first;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) {
      points.col(next) = LongVector3::Unit(i) + LongVector3::Unit(j);
      weights[next] = second(i, j);
      square -= weights[next] * points.col(next) * points.col(next).transpose();
      moment -= weights[next] * points.col(next);
      ++next;
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (const int sign : {1, -1}) {
      points.col(next) = sign * LongVector3::Unit(i);
      weights[next] = (square(i, i) + sign * moment[i]) / 2;
      ++next;
    }
  }
  weights[next] = inertia.mass - weights.head<9>().sum();
  for (int i = 0; i < 10; ++i) {
    if (weights[i] != 0) {  // of a point mass, the last alone
      const Index count = carrier.weights.size() + 1;
      carrier.points.conservativeResize(3, count);
      carrier.weights.conservativeResize(count);
      carrier.points.col(count - 1) = points.col(i);
      carrier.weights[count - 1] = weights[i];
    }
  }
}

LongPose FlexibleReference::hinge_pose(const Carrier& carrier, const LongVector& all) {
  const auto q = [&](Index i) { return carrier.ratio * all[carrier.q_index + i] + carrier.offset; };
  const auto quaternion = [&] { return Quaternion4(all.segment<4>(carrier.q_index)); };
  LongPose out;
  switch (carrier.type) {
    case HingeType::fixed:
      break;
    case HingeType::revolute:
    case HingeType::continuous:
      out.rotation = turned(carrier.axis, q(0));
      break;
    case HingeType::prismatic:
      out.translation = carrier.axis * q(0);
      break;
    case HingeType::helical:
      out.rotation = turned(carrier.axis, q(0));
      out.translation = carrier.axis * (carrier.pitch * q(0) / (2 * std::numbers::pi_v<long double>));
      break;
    case HingeType::cylindrical:
      out.rotation = turned(carrier.axis, q(0));
      out.translation = carrier.axis * q(1);
      break;
    case HingeType::universal:
      out.rotation = turned(carrier.axis, q(0)) * turned(carrier.axis2, q(1));
      break;
    case HingeType::planar:
      out.rotation = turned(carrier.axis, q(2));
      out.translation = carrier.axis2 * q(0) + carrier.axis.cross(carrier.axis2) * q(1);
      break;
    case HingeType::spherical:
      out.rotation = turned(quaternion());
      break;
    case HingeType::translational:
      out.translation = LongVector3(q(0), q(1), q(2));
      break;
    case HingeType::free:
      out.rotation = turned(quaternion());
      out.translation = LongVector3(q(4), q(5), q(6));
      break;
    case HingeType::modal: {
      const Index n = carrier.moves.cols();
      const long double* eta = all.data() + carrier.q_index;
      LongVector3 turn = LongVector3::Zero();
      long double drawn_in = 0;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          drawn_in += eta[i] * carrier.shortening.data()[j * n + i] * eta[j] / 2;
        }
        for (Index j = 0; j < 3; ++j) {
          turn.data()[j] += carrier.turns.data()[3 * i + j] * eta[i];
          out.translation.data()[j] += carrier.moves.data()[3 * i + j] * eta[i];
        }
      }
      for (Index j = 0; j < 3; ++j) {
        out.translation.data()[j] -= carrier.draws.data()[j] * drawn_in;
      }
      out.rotation = turned(turn);
      break;
    }
    case HingeType::custom:
      throw std::invalid_argument("the reference knows no custom hinges");
  }
  return out;
}

LongVector FlexibleReference::moved(const LongVector& q, const LongVector& v, long double t) const {
  LongVector out = q;
  for (const Body& body : model_.bodies()) {
    if (body.nq == 0) {
      continue;
    }
    const Index i = body.q_index;
    const Index j = body.v_index;
    switch (body.hinge.type) {
      case HingeType::spherical:
        out.segment<4>(i) = turned_on(q.segment<4>(i), v.segment<3>(j) * t);
        break;
      case HingeType::free: {
        const LongVector3 turn = v.segment<3>(j) * t;
        out.segment<4>(i) = turned_on(q.segment<4>(i), turn);
        out.segment<3>(i + 4) += turned(Quaternion4(q.segment<4>(i))) * average_turn(turn) * v.segment<3>(j + 3) * t;
        break;
      }
      case HingeType::planar: {  // in the plane's own axes: x, y and the normal
        const LongVector3 start = LongVector3::UnitZ() * q[i + 2];
        const LongVector3 turn = LongVector3::UnitZ() * v[j + 2] * t;
        const LongVector3 way = turned(start) * average_turn(turn) * LongVector3(v[j], v[j + 1], 0) * t;
        out[i] += way.x();
        out[i + 1] += way.y();
        out[i + 2] += v[j + 2] * t;
        break;
      }
      default:
        out.segment(i, body.nq) += v.segment(j, body.nv) * t;
    }
  }
  return out;
}

std::vector<LongPose> FlexibleReference::poses(const LongVector& q) const {
  std::vector<LongPose> out;
  out.reserve(carriers_.size());
  for (const Carrier& carrier : carriers_) {
    const LongPose local = carrier.before * hinge_pose(carrier, q) * carrier.after;
    out.push_back(carrier.parent == world ? local : out[static_cast<std::size_t>(carrier.parent)] * local);
  }
  return out;
}

LongVector FlexibleReference::positions(const LongVector& q) const {
  LongVector out(weights_.size());
  const std::vector<LongPose> all = poses(q);
  Index next = 0;
  for (std::size_t k = 0; k < carriers_.size(); ++k) {
    const long double* R = all[k].rotation.data();  // column by column
    const long double* t = all[k].translation.data();
    for (Index p = 0; p < carriers_[k].points.cols(); ++p, next += 3) {
      const long double* x = carriers_[k].points.data() + 3 * p;
      for (Index i = 0; i < 3; ++i) {
        out.data()[next + i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2] + t[i];
      }
    }
  }
  return out;
}

void FlexibleReference::gather_weights() {
  std::vector<long double> all;
  for (const Carrier& carrier : carriers_) {
    for (Index p = 0; p < carrier.weights.size(); ++p) {
      all.insert(all.end(), 3, carrier.weights[p]);
    }
  }
  weights_ = Eigen::Map<const LongVector>(all.data(), static_cast<Index>(all.size()));
  weight_forces_ = weights_;
  const LongVector3 g = of(model_.gravity());
  for (Index i = 0; i < weight_forces_.size(); i += 3) {
    weight_forces_.segment<3>(i).array() *= g.array();
  }
}

LongMatrix FlexibleReference::positions_jacobian(const LongVector& q) const {
  // eighth order in steps of 0.01 rad: 1e-19 is cut off, 1e-17 is rounding
  constexpr long double h = 0.01L;
  constexpr std::array<long double, 4> parts = {4.0L / 5 / h, -1.0L / 5 / h, 4.0L / 105 / h, -1.0L / 280 / h};
  const Index rows = weights_.size();
  LongMatrix out = LongMatrix::Zero(rows, nv());
  for (int i = 0; i < nv(); ++i) {
    const LongVector unit = LongVector::Unit(nv(), i);
    long double* column = out.data() + rows * i;
    for (int k = 1; k <= 4; ++k) {
      const LongVector after = positions(moved(q, unit, k * h));
      const LongVector before = positions(moved(q, unit, -k * h));
      for (Index j = 0; j < rows; ++j) {
        column[j] += parts[static_cast<std::size_t>(k - 1)] * (after.data()[j] - before.data()[j]);
      }
    }
  }
  return out;
}

LongMatrix FlexibleReference::adjoint_times(const LongMatrix& J, const LongMatrix& x) {
  LongMatrix out(J.cols(), x.cols());
  for (Index i = 0; i < J.cols(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      const long double* a = J.data() + J.rows() * i;
      const long double* b = x.data() + J.rows() * j;
      long double sum = 0;
      for (Index k = 0; k < J.rows(); ++k) {
        sum += a[k] * b[k];
      }
      out(i, j) = sum;
    }
  }
  return out;
}

LongVector FlexibleReference::positions_rate(const LongVector& q, const LongVector& v) const {
  return eighth_order_difference([&](long double s) { return positions(moved(q, v, s)); }, step(v) / 4);
}

LongVector FlexibleReference::positions_bias(const LongVector& q, const LongVector& v) const {
  return twelfth_order_second_difference([&](long double s) { return positions(moved(q, v, s)); }, step(v));
}

long double FlexibleReference::step(const LongVector& v) {
  // Turns add up along a chain, so that |v|₁ is about the fastest. A tenth of a radian of it cuts off 1e-15 of an
  // acceleration in twelfth order, and rounding is 1e-16 of it; in larger systems, where |v|₁ is far more than any
  // turn, rounding becomes 1e-14.
  return 0.1L / (1 + v.lpNorm<1>());
}

LongPose FlexibleReference::pose(const LongVector& q, int body) const {
  LongPose out;
  while (body != world) {
    const Carrier& carrier = carriers_[static_cast<std::size_t>(body)];
    out = carrier.before * hinge_pose(carrier, q) * carrier.after * out;
    body = carrier.parent;
  }
  return out;
}

LongPose FlexibleReference::pose(const LongVector& q, const Node& node) const {
  return pose(q, node.body) * of(node.X_BN);
}

Eigen::Matrix<long double, 3, 4> FlexibleReference::frame(const LongVector& q, const Node& node) const {
  const LongPose X = pose(q, node);
  Eigen::Matrix<long double, 3, 4> out;
  out << X.rotation, X.translation;
  return out;
}

LongVector FlexibleReference::velocity(const LongVector& q, const LongVector& v, const Node& node) const {
  const LongPose now = pose(q, node);
  const Eigen::Matrix<long double, 3, 4> rate =
      eighth_order_difference([&](long double s) { return frame(moved(q, v, s), node); }, step(v) / 4);
  LongVector out(6);
  out << skew_part(now.rotation.transpose() * rate.leftCols<3>()), now.rotation.transpose() * rate.col(3);
  return out;
}

LongVector FlexibleReference::bias_acceleration(const LongVector& q, const LongVector& v, const Node& node) const {
  const LongPose now = pose(q, node);
  const Eigen::Matrix<long double, 3, 4> bend =
      twelfth_order_second_difference([&](long double s) { return frame(moved(q, v, s), node); }, step(v));
  LongVector out(6);
  out << skew_part(bend.leftCols<3>() * now.rotation.transpose()), bend.col(3);  // R̈ = (ω̇~ + ω̃²)R
  return out;
}

LongMatrix FlexibleReference::jacobian(const LongVector& q, const Node& node) const {
  LongMatrix out(6, nv());
  for (int i = 0; i < nv(); ++i) {
    out.col(i) = velocity(q, LongVector::Unit(nv(), i), node);
  }
  return out;
}

LongMatrix FlexibleReference::bodies_mass(const LongVector& q) const {
  const LongMatrix J = positions_jacobian(q);
  return adjoint_times(J, weights_.asDiagonal() * J);
}

LongVector FlexibleReference::armature() const {
  LongVector out = LongVector::Zero(nv());
  for (const Body& body : model_.bodies()) {
    const int first = body.leader == world ? body.v_index : model_.body(body.leader).v_index;
    for (std::size_t i = 0; i < body.hinge.dofs.size(); ++i) {
      out[first + static_cast<Index>(i)] +=
          static_cast<long double>(body.hinge.dofs[i].armature) * body.leader_ratio * body.leader_ratio;
    }
  }
  return out;
}

LongMatrix FlexibleReference::mass(const LongVector& q) const {
  LongMatrix out = bodies_mass(q);
  out.diagonal() += armature();
  return out;
}

LongVector FlexibleReference::bias(const LongVector& q, const LongVector& v) const {
  return positions_jacobian(q).transpose() * (weights_.cwiseProduct(positions_bias(q, v)) - weight_forces_);
}

LongVector FlexibleReference::gravity_torques(const LongVector& q) const {
  return -(positions_jacobian(q).transpose() * weight_forces_);
}

LongVector FlexibleReference::passive(const LongVector& q, const LongVector& v) const {
  LongVector out = LongVector::Zero(nv());
  for (const Body& body : model_.bodies()) {
    const bool follows = body.leader != world;
    const Body& own = follows ? model_.body(body.leader) : body;
    const long double ratio = follows ? body.leader_ratio : 1;
    for (std::size_t i = 0; i < body.hinge.dofs.size(); ++i) {
      const HingeDof& dof = body.hinge.dofs[i];
      const Index at = own.v_index + static_cast<Index>(i);
      const long double rate = ratio * v[at];
      out[at] -= ratio * (dof.damping * rate + dof.friction * static_cast<double>((rate > 0) - (rate < 0)));
      if (dof.stiffness != 0) {
        if (!plain_in_reference(body.hinge.type)) {
          throw std::invalid_argument("the reference knows springs on plain coordinates alone");
        }
        const long double rest = body.hinge.rest.empty() ? 0 : body.hinge.rest[i];
        const long double place = ratio * q[own.q_index + static_cast<Index>(i)] + (follows ? body.leader_offset : 0);
        out[at] -= ratio * dof.stiffness * (place - rest);
      }
    }
  }
  return out;
}

LongVector FlexibleReference::inverse(const LongVector& q, const LongVector& v, const LongVector& a) const {
  const LongMatrix J = positions_jacobian(q);
  return J.transpose() * (weights_.cwiseProduct(positions_bias(q, v) + J * a) - weight_forces_) +
         armature().cwiseProduct(a) - passive(q, v);
}

LongMatrix FlexibleReference::reactions(const LongVector& q, const LongVector& v, const LongVector& a) const {
  const LongVector forces = weights_.cwiseProduct(positions_bias(q, v) + positions_jacobian(q) * a) - weight_forces_;
  const LongVector x = positions(q);
  LongMatrix about_origin = LongMatrix::Zero(6, static_cast<Index>(carriers_.size()));  // in the world's axes
  Index next = x.size();
  for (Index k = about_origin.cols() - 1; k >= 0; --k) {
    const Carrier& carrier = carriers_[static_cast<std::size_t>(k)];
    for (Index p = 0; p < carrier.points.cols(); ++p) {
      next -= 3;
      const LongVector3 arm = x.segment<3>(next);
      const LongVector3 force = forces.segment<3>(next);
      about_origin.col(k).head<3>() += arm.cross(force);
      about_origin.col(k).tail<3>() += force;
    }
    if (carrier.parent != world) {
      about_origin.col(carrier.parent) += about_origin.col(k);
    }
  }
  LongMatrix out(6, static_cast<Index>(model_.bodies().size()));
  const std::vector<LongPose> frames = poses(q);
  for (Index k = 0; k < out.cols(); ++k) {
    const LongPose& frame = frames[static_cast<std::size_t>(k)];
    const LongVector3 force = about_origin.col(k).tail<3>();
    const LongVector3 moment = about_origin.col(k).head<3>() - frame.translation.cross(force);
    out.col(k) << frame.rotation.transpose() * moment, frame.rotation.transpose() * force;
  }
  return out;
}

LongVector FlexibleReference::forward(const LongVector& q, const LongVector& v, const LongVector& torque) const {
  const LongMatrix J = positions_jacobian(q);
  LongMatrix M = adjoint_times(J, weights_.asDiagonal() * J);
  M.diagonal() += armature();
  const LongVector left =
      torque - J.transpose() * (weights_.cwiseProduct(positions_bias(q, v)) - weight_forces_) + passive(q, v);
  return Eigen::LDLT<LongMatrix>(M).solve(left);
}

LongMatrix FlexibleReference::solve(const LongVector& q, const LongMatrix& x) const {
  return Eigen::LDLT<LongMatrix>(mass(q)).solve(x);
}

long double FlexibleReference::log_det(const LongVector& q) const {
  return Eigen::LDLT<LongMatrix>(mass(q)).vectorD().array().log().sum();
}

double FlexibleReference::condition(const LongVector& q) const {
  const LongMatrix M = mass(q);
  const LongVector scale = M.diagonal().cwiseSqrt().cwiseInverse();
  const LongVector values =
      Eigen::SelfAdjointEigenSolver<LongMatrix>(scale.asDiagonal() * M * scale.asDiagonal()).eigenvalues();
  return static_cast<double>(values[values.size() - 1] / values[0]);
}

long double FlexibleReference::kinetic_energy(const LongVector& q, const LongVector& v) const {
  return (weights_.dot(positions_rate(q, v).cwiseAbs2()) + armature().dot(v.cwiseAbs2())) / 2;
}

long double FlexibleReference::gravity_energy(const LongVector& q) const {
  return -weight_forces_.dot(positions(q));
}

long double FlexibleReference::spring_energy(const LongVector& q) const {
  long double out = 0;
  for (const Body& body : model_.bodies()) {
    const bool follows = body.leader != world;
    const Body& own = follows ? model_.body(body.leader) : body;
    for (std::size_t i = 0; i < body.hinge.dofs.size(); ++i) {
      const long double k = body.hinge.dofs[i].stiffness;
      if (k != 0) {
        const long double rest = body.hinge.rest.empty() ? 0 : body.hinge.rest[i];
        const long double at = q[own.q_index + static_cast<Index>(i)];
        const long double stretch = (follows ? body.leader_ratio * at + body.leader_offset : at) - rest;
        out += k * stretch * stretch / 2;
      }
    }
  }
  return out;
}

LongVector3 FlexibleReference::center_of_mass(const LongVector& q) const {
  const LongVector moments = weights_.cwiseProduct(positions(q));
  LongVector3 sum = LongVector3::Zero();
  long double total = 0;
  for (Index i = 0; i < weights_.size(); i += 3) {
    sum += moments.segment<3>(i);
    total += weights_[i];
  }
  return sum / total;
}

LongVector FlexibleReference::momentum(const LongVector& q, const LongVector& v) const {
  const LongVector x = positions(q);
  const LongVector p = weights_.cwiseProduct(positions_rate(q, v));
  const LongVector3 center = center_of_mass(q);
  LongVector out = LongVector::Zero(6);
  for (Index i = 0; i < weights_.size(); i += 3) {
    const LongVector3 arm = x.segment<3>(i) - center;
    const LongVector3 momentum = p.segment<3>(i);
    out.head<3>() += arm.cross(momentum);
    out.tail<3>() += momentum;
  }
  return out;
}

LongVector FlexibleReference::gap(const LongVector& q, const std::vector<TiedPoints>& ties) const {
  LongVector out(3 * static_cast<Index>(ties.size()));
  Index next = 0;
  for (const TiedPoints& tie : ties) {
    const LongPose a = pose(q, tie.a);
    const LongPose b = pose(q, tie.b);
    out.segment<3>(next) = (b.rotation * tie.on_b + b.translation) - (a.rotation * tie.on_a + a.translation);
    next += 3;
  }
  return out;
}

LongMatrix FlexibleReference::gap_jacobian(const LongVector& q, const std::vector<TiedPoints>& ties) const {
  LongMatrix out(3 * static_cast<Index>(ties.size()), nv());
  for (int i = 0; i < nv(); ++i) {
    const LongVector unit = LongVector::Unit(nv(), i);
    out.col(i) = eighth_order_difference([&](long double s) { return gap(moved(q, unit, s), ties); }, 0.01L);
  }
  return out;
}

namespace {

/// Singular values below this part of the largest are rounding.
constexpr long double rank_tolerance = 1e-10L;

Eigen::JacobiSVD<LongMatrix> decomposed(const LongMatrix& Y) {
  Eigen::JacobiSVD<LongMatrix> svd(Y, Eigen::ComputeFullU | Eigen::ComputeFullV);
  svd.setThreshold(rank_tolerance);
  return svd;
}

}  // namespace

LongVector FlexibleReference::fitting_velocity(const LongVector& q, const LongVector& v,
                                               const std::vector<TiedPoints>& ties) const {
  const LongMatrix Y = gap_jacobian(q, ties);
  return v - decomposed(Y).solve(Y * v);
}

LongVector FlexibleReference::closed_forward(const LongVector& q, const LongVector& v, const LongVector& torque,
                                             const std::vector<TiedPoints>& ties) const {
  const LongMatrix Y = gap_jacobian(q, ties);
  const LongVector rate =
      twelfth_order_second_difference([&](long double s) { return gap(moved(q, v, s), ties); }, step(v));
  const Eigen::JacobiSVD<LongMatrix> svd = decomposed(Y);
  const LongVector some = svd.solve(-rate);
  const LongMatrix X = svd.matrixV().rightCols(nv() - svd.rank());
  const LongMatrix M = mass(q);
  const LongVector left = torque - bias(q, v) + passive(q, v) - M * some;
  return some + X * Eigen::LDLT<LongMatrix>(X.transpose() * M * X).solve(X.transpose() * left);
}

}  // namespace bunraku::test
