#include "bunraku/kernels/closure_equations.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/model/hinge_laws.hpp"
#include "bunraku/spatial/exponential.hpp"
#include "bunraku/spatial/phi.hpp"

namespace bunraku::kernels {

namespace {

/// Two unit vectors at right angles to a unit vector and to each other.
template <class T>
std::array<Vec3<T>, 2> across(const Vec3<T>& axis) {
  const Vec3<double> a{static_cast<double>(axis.x), static_cast<double>(axis.y), static_cast<double>(axis.z)};
  const Vec3<double> start = std::abs(a.x) <= std::abs(a.y) && std::abs(a.x) <= std::abs(a.z) ? Vec3<double>::unit_x()
                             : std::abs(a.y) <= std::abs(a.z)                                 ? Vec3<double>::unit_y()
                                                                                              : Vec3<double>::unit_z();
  const Vec3<double> first = normalized(start - a * dot(a, start));
  return {cast<T>(first), cast<T>(cross(a, first))};
}

/// Collects rows of N.
template <class T>
struct Rows {
  std::array<Force<T>, max_closure_rows>& rows;
  int count = 0;

  void add(const Force<T>& row) { rows[static_cast<std::size_t>(count++)] = row; }
  void angular(const Vec3<T>& v) { add({v, Vec3<T>::zero()}); }
  void linear(const Vec3<T>& v) { add({Vec3<T>::zero(), v}); }
  void all_angular() {
    angular(Vec3<T>::unit_x());
    angular(Vec3<T>::unit_y());
    angular(Vec3<T>::unit_z());
  }
  void all_linear() {
    linear(Vec3<T>::unit_x());
    linear(Vec3<T>::unit_y());
    linear(Vec3<T>::unit_z());
  }
  void angular_across(const Vec3<T>& axis) {
    for (const Vec3<T>& v : across(axis)) {
      angular(v);
    }
  }
  void linear_across(const Vec3<T>& axis) {
    for (const Vec3<T>& v : across(axis)) {
      linear(v);
    }
  }
};

/// Where a hinge that closes is, and what it leaves open.
template <class T>
struct CutHinge {
  std::array<T, max_hinge_positions> q{};
  Transform<T> X{};                                 // its pose nearest to that of the nodes
  std::array<Motion<T>, max_hinge_velocities> H{};  // its joint map there, in M's axes
};

template <class T>
CutHinge<T> place(const Hinge& hinge, const Transform<T>& X_AB) {
  CutHinge<T> out;
  laws::visit_hinge_law(
      hinge.type,
      [&](auto law) {
        law.nearest(hinge, X_AB, out.q.data());
        out.X = law.pose(hinge, out.q.data());
        law.joint_map(hinge, out.q.data(), out.H.data());
      },
      [&] {
        std::array<double, max_hinge_positions> q{};
        std::array<Motion<double>, max_hinge_velocities> H{};
        hinge_nearest(hinge, cast<double>(X_AB), q.data());
        hinge.custom->joint_map(q.data(), H.data());
        out.X = cast<T>(hinge.custom->pose(q.data()));
        std::copy(q.begin(), q.end(), out.q.begin());
        for (std::size_t j = 0; j < H.size(); ++j) {
          out.H[j] = cast<T>(H[j]);
        }
      });
  return out;
}

/// What a hinge of the user's own does not let move, in a's axes: the complement of R_ab H*.
template <class T>
void add_complement(const Hinge& hinge, const CutHinge<T>& at, Rows<T>& N) {
  const int n = hinge.velocity_size();
  Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, max_hinge_velocities> map(6, n);
  for (int j = 0; j < n; ++j) {
    const Motion<T> column = at.X.rotation * at.H[static_cast<std::size_t>(j)];
    for (int i = 0; i < 6; ++i) {
      map(i, j) = static_cast<double>(column[i]);
    }
  }
  const Eigen::ColPivHouseholderQR<decltype(map)> qr(map);
  const Eigen::Matrix<double, 6, 6> basis = qr.householderQ();
  for (int j = n; j < 6; ++j) {
    Force<T> row{};
    for (int i = 0; i < 6; ++i) {
      row[i] = static_cast<T>(basis(i, j));
    }
    N.add(row);
  }
}

template <class T>
void add_rows(const Hinge& hinge, const CutHinge<T>& at, Rows<T>& N) {
  const Vec3<T> axis = cast<T>(hinge.axis);
  switch (hinge.type) {
    case HingeType::fixed:
      N.all_angular();
      N.all_linear();
      break;
    case HingeType::revolute:
    case HingeType::continuous:
      N.angular_across(axis);
      N.all_linear();
      break;
    case HingeType::prismatic:
      N.all_angular();
      N.linear_across(axis);
      break;
    case HingeType::helical:
      N.angular_across(axis);
      N.linear_across(axis);
      N.add({axis * -laws::Helical::lead<T>(hinge), axis});
      break;
    case HingeType::cylindrical:
      N.angular_across(axis);
      N.linear_across(axis);
      break;
    case HingeType::universal: {
      const Vec3<T> normal = cross(axis, at.X.rotation * cast<T>(hinge.axis2));
      N.angular(normal * (T(1) / norm(normal)));
      N.all_linear();
      break;
    }
    case HingeType::planar:
      N.angular_across(axis);
      N.linear(axis);
      break;
    case HingeType::spherical:
      N.all_linear();
      break;
    case HingeType::translational:
      N.all_angular();
      break;
    case HingeType::free:
    case HingeType::modal:  // closes nothing: building refuses it
      break;
    case HingeType::custom:
      add_complement(hinge, at, N);
      break;
  }
}

/// A* = [−φ(l)N*; R_ab*N*].
template <class T>
void apply_directions(const Transform<T>& X_AB, ClosureEquations<T>& out) {
  const Phi<T> phi(X_AB.translation);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.rows); ++i) {
    const Force<T>& N = out.directions[i];
    out.on_a[i] = -(phi * N);
    out.on_b[i] = {X_AB.rotation.inverse_times(N.moment), X_AB.rotation.inverse_times(N.force)};
  }
}

/// Ḣ_c*w in a's axes, where it is not in the span of H_c*: universal hinges and those of the user's own.
template <class T>
Motion<T> joint_map_rate(const Hinge& hinge, const ClosureMotion<T>& motion, const Motion<T>& V_r) {
  const CutHinge<T> at = place(hinge, motion.X_AB);
  const int n = hinge.velocity_size();
  // w by least squares in M's axes
  Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, max_hinge_velocities> map(6, n);
  Eigen::Matrix<double, 6, 1> wanted;
  const Rotation<T>& R = motion.X_AB.rotation;
  const Motion<T> seen{R.inverse_times(V_r.angular), R.inverse_times(V_r.linear)};
  for (int i = 0; i < 6; ++i) {
    wanted(i) = static_cast<double>(seen[i]);
    for (int j = 0; j < n; ++j) {
      map(i, j) = static_cast<double>(at.H[static_cast<std::size_t>(j)][i]);
    }
  }
  const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_hinge_velocities, 1> w =
      map.colPivHouseholderQr().solve(wanted);
  Motion<double> moving = Motion<double>::zero();
  for (int j = 0; j < n; ++j) {
    moving += cast<double>(at.H[static_cast<std::size_t>(j)]) * w(j);
  }
  std::array<double, max_hinge_positions> q{};
  std::copy(at.q.begin(), at.q.end(), q.begin());
  Motion<double> rate = hinge_bias(hinge, q.data(), w.data());
  rate += {cross(moving.angular, moving.angular), cross(moving.angular, moving.linear)};
  return R * cast<T>(rate);
}

}  // namespace

namespace {

/// N, but for what is kept; of general rows A*.
template <class T>
void find_directions(const Closure& closure, const Transform<T>& X_AB, ClosureEquations<T>& out) {
  Rows<T> N{out.directions};
  switch (closure.kind) {
    case ClosureKind::nodes:
      if (!out.constant) {
        const bool turns = closure.hinge.type == HingeType::universal || closure.hinge.type == HingeType::custom;
        add_rows(closure.hinge, turns ? place(closure.hinge, X_AB) : CutHinge<T>{}, N);
        out.rows = N.count;
        out.constant = out.keeps && !turns;
      }
      break;
    case ClosureKind::plane:
    case ClosureKind::line:
      if (!out.constant) {
        const Vec3<T> axis = cast<T>(closure.hinge.axis);
        closure.kind == ClosureKind::plane ? N.linear(axis) : N.linear_across(axis);
        out.rows = N.count;
        out.constant = out.keeps;
      }
      break;
    case ClosureKind::soft_finger:
      N.angular(X_AB.rotation * cast<T>(closure.hinge.axis));
      N.all_linear();
      out.rows = N.count;
      break;
    case ClosureKind::distance: {
      const Vec3<T>& p = X_AB.translation;
      const T length = norm(p);
      N.linear(length > T(0) ? p * (T(1) / length) : Vec3<T>::unit_x());  // from one point any way leads apart
      out.rows = 1;
      break;
    }
    case ClosureKind::rows:
      out.rows = static_cast<int>(closure.rows.size());
      for (std::size_t i = 0; i < closure.rows.size(); ++i) {
        const ClosureRow& row = closure.rows[i];
        for (int j = 0; j < 6; ++j) {
          out.on_a[i][j] = static_cast<T>(row[static_cast<std::size_t>(j)]);
          out.on_b[i][j] = static_cast<T>(row[static_cast<std::size_t>(j) + 6]);
        }
      }
      return;
    case ClosureKind::hinges:
      return;
  }
}

/// A* where it is made of N.
template <class T>
void find_forces(const Closure& closure, const Transform<T>& X_AB, ClosureEquations<T>& out) {
  if (closure.kind != ClosureKind::rows && closure.kind != ClosureKind::hinges) {
    apply_directions(X_AB, out);
  }
}

/// Of a vector along a rotation's axis, as long as the sine of its angle: that angle's length, where it is less than
/// 0.03. The terms left out are below 1e-17.
template <class T>
Vec3<T> with_angle(const Vec3<T>& sine) {
  const T s = squared_norm(sine);
  return sine * (T(1) + s * (T(1.0 / 6) + s * (T(3.0 / 40) + s * (T(15.0 / 336) + s * T(105.0 / 3456)))));
}
template <class T>
constexpr T small_sine = T(1e-3);  // squared

/// How far node b is from where its hinge would put it, in a's axes: the shortest turn, and the way. Most often nodes
/// are nearly where they should be, and the common hinges then need neither their angle nor a logarithm.
template <class T>
Motion<T> open_by(const Hinge& hinge, const Transform<T>& X_AB) {
  const Mat3<T>& R = X_AB.rotation.matrix();
  if (hinge.type == HingeType::spherical) {  // no row of it turns
    return {Vec3<T>::zero(), X_AB.translation};
  }
  if (hinge.type == HingeType::revolute || hinge.type == HingeType::continuous) {  // what is left tilts the axis
    const Vec3<T> axis = cast<T>(hinge.axis);
    const Vec3<T> tilted = R * axis;
    const Vec3<T> sine = cross(axis, tilted);
    if (squared_norm(sine) < small_sine<T> && dot(axis, tilted) > T(0)) {
      return {with_angle(sine), X_AB.translation};
    }
  }
  if (hinge.type == HingeType::fixed) {
    const Vec3<T> sine = Vec3<T>{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)} * T(0.5);
    if (squared_norm(sine) < small_sine<T> && R(0, 0) + R(1, 1) + R(2, 2) > T(1)) {
      return {with_angle(sine), X_AB.translation};
    }
  }
  const Transform<T> X = place(hinge, X_AB).X;
  return {X.rotation * log(X.rotation.inverse() * X_AB.rotation), X_AB.translation - X.translation};
}

}  // namespace

template <class T>
void closure_positions(const Closure& closure, const Transform<T>& X_AB, ClosureEquations<T>& out) {
  find_directions(closure, X_AB, out);
  find_forces(closure, X_AB, out);
  const Vec3<T>& p = X_AB.translation;
  const auto rows = static_cast<std::size_t>(out.rows);
  switch (closure.kind) {
    case ClosureKind::nodes: {
      const Motion<T> open = open_by(closure.hinge, X_AB);
      for (std::size_t i = 0; i < rows; ++i) {
        out.gap[i] = dot(out.directions[i], open);
      }
      break;
    }
    case ClosureKind::plane:
    case ClosureKind::line:
    case ClosureKind::soft_finger:  // any attitude can be reached by rolling: its first row asks for none
      for (std::size_t i = 0; i < rows; ++i) {
        out.gap[i] = dot(out.directions[i].force, p);
      }
      break;
    case ClosureKind::distance:
      out.gap[0] = norm(p) - static_cast<T>(closure.length);
      break;
    case ClosureKind::rows:
      out.gap.fill(T(0));
      break;
    case ClosureKind::hinges:
      break;
  }
}

template <class T>
void closure_velocities(const Closure& closure, const ClosureMotion<T>& motion, ClosureEquations<T>& out) {
  closure_positions(closure, motion.X_AB, out);
  closure_rates(closure, motion, out);
}

template <class T>
void closure_rates(const Closure& closure, const ClosureMotion<T>& motion, ClosureEquations<T>& out) {
  find_directions(closure, motion.X_AB, out);
  const Rotation<T>& R = motion.X_AB.rotation;
  const Vec3<T>& p = motion.X_AB.translation;
  const Motion<T>& V_A = motion.V_A;
  const Motion<T> V_B = R * motion.V_B;  // in a's axes
  switch (closure.kind) {
    case ClosureKind::distance: {
      const Vec3<T>& u = out.directions[0].force;
      const Vec3<T> apart = V_B.linear - V_A.linear;
      const T along = dot(u, apart);
      const T length = norm(p);
      out.rate[0] = length > T(0) ? (along * along - squared_norm(apart)) / length : T(0);
      return;
    }
    case ClosureKind::rows: {  // V in a node's own axes: d(R*V)/dt = R*α − ω × R*V
      const auto turning = [](const Motion<T>& V) { return Motion<T>{Vec3<T>::zero(), cross(V.angular, V.linear)}; };
      for (std::size_t i = 0; i < static_cast<std::size_t>(out.rows); ++i) {
        out.rate[i] = dot(out.on_a[i], turning(V_A)) + dot(out.on_b[i], turning(motion.V_B));
      }
      return;
    }
    case ClosureKind::hinges:
      return;
    case ClosureKind::nodes:
    case ClosureKind::plane:
    case ClosureKind::line:
    case ClosureKind::soft_finger:  // its line turns with b, but ω_a × (ω_b − ω_a) = ω_b × (ω_b − ω_a)
      break;
  }
  const Motion<T> V_r{V_B.angular - V_A.angular, V_B.linear - V_A.linear - cross(V_A.angular, p)};
  Motion<T> sum{cross(V_A.angular, V_r.angular),
                cross(V_A.angular, V_B.linear - V_A.linear) + cross(V_A.angular, V_r.linear)};
  if (closure.kind == ClosureKind::nodes &&
      (closure.hinge.type == HingeType::universal || closure.hinge.type == HingeType::custom)) {
    sum += joint_map_rate(closure.hinge, motion, V_r);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.rows); ++i) {
    out.rate[i] = dot(out.directions[i], sum);
  }
}

template <class T>
CouplingEquation<T> coupling_equation(const Closure& closure, T q_a, T q_b, T v_b) {
  std::array<T, 5> c{};
  std::transform(closure.polynomial.begin(), closure.polynomial.end(), c.begin(),
                 [](double x) { return static_cast<T>(x); });
  const T at = q_a - static_cast<T>(closure.reference_a);
  if (closure.hinge_b == world) {
    return {at - c[0], T(0), T(0)};
  }
  const T x = q_b - static_cast<T>(closure.reference_b);
  const T curvature = T(2) * c[2] + x * (T(6) * c[3] + x * T(12) * c[4]);
  return {at - (c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])))),
          c[1] + x * (T(2) * c[2] + x * (T(3) * c[3] + x * T(4) * c[4])), curvature * v_b * v_b};
}

template BUNRAKU_API void closure_positions(const Closure&, const Transform<double>&, ClosureEquations<double>&);
template BUNRAKU_API void closure_positions(const Closure&, const Transform<float>&, ClosureEquations<float>&);
template BUNRAKU_API void closure_velocities(const Closure&, const ClosureMotion<double>&, ClosureEquations<double>&);
template BUNRAKU_API void closure_velocities(const Closure&, const ClosureMotion<float>&, ClosureEquations<float>&);
template BUNRAKU_API void closure_rates(const Closure&, const ClosureMotion<double>&, ClosureEquations<double>&);
template BUNRAKU_API void closure_rates(const Closure&, const ClosureMotion<float>&, ClosureEquations<float>&);
template BUNRAKU_API CouplingEquation<double> coupling_equation(const Closure&, double, double, double);
template BUNRAKU_API CouplingEquation<float> coupling_equation(const Closure&, float, float, float);

}  // namespace bunraku::kernels
