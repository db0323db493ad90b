/// @file
/// The law of hinges of type `modal`: how the modes of a flexible body displace one of its nodes. See hinge_laws.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "bunraku/model/hinge.hpp"
#include "bunraku/spatial/exponential.hpp"

namespace bunraku::laws {

/// A hinge's constant vectors in scalar T.
template <class T>
constexpr Vec3<T> cast(const Vec3<double>& v) {
  return {T(v.x), T(v.y), T(v.z)};
}

/// A node of a flexible body, displaced by r = Σ λ_i η_i and t = Σ γ_i η_i − ½ (η*Sη) e. As many coordinates as modes:
/// nq and nv are asked of the hinge.
struct Modal {
  static constexpr int nq = 0;  ///< See Hinge::configuration_size.
  static constexpr int nv = 0;  ///< See Hinge::velocity_size.

  /// Σ x_i η_i; zero where there are none.
  template <class T>
  static Vec3<T> combined(const std::vector<Vec3<double>>& x, const T* q) {
    Vec3<T> out = Vec3<T>::zero();
    const Vec3<double>* each = x.data();
    for (int i = 0; i < static_cast<int>(x.size()); ++i) {
      out += cast<T>(each[i]) * q[i];
    }
    return out;
  }
  /// (Sη)_i.
  template <class T>
  static T shortened(const ModalShape& m, int i, const T* q) {
    const double* row = m.shortening.data() + static_cast<std::ptrdiff_t>(i) * m.modes();
    T out(0);
    for (int j = 0; j < m.modes(); ++j) {
      out += T(row[j]) * q[j];
    }
    return out;
  }
  /// ∂t/∂η_i.
  template <class T>
  static Vec3<T> slope(const ModalShape& m, int i, const T* q) {
    Vec3<T> out = cast<T>(m.translation.data()[i]);
    if (!m.shortening.empty()) {
      out -= cast<T>(m.shortening_axis) * shortened(m, i, q);
    }
    return out;
  }
  /// R = exp(r).
  template <class T>
  static Rotation<T> turn(const ModalShape& m, const T* q) {
    return m.rotation.empty() ? Rotation<T>() : exp(combined(m.rotation, q));
  }

  /// exp(r) at t.
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    const ModalShape& m = *h.modal;
    Vec3<T> t = combined(m.translation, q);
    for (int i = 0; !m.shortening.empty() && i < m.modes(); ++i) {
      t -= cast<T>(m.shortening_axis) * (T(0.5) * q[i] * shortened(m, i, q));
    }
    return {turn(m, q), t};
  }
  /// (J_r(r) λ_i, R* ∂t/∂η_i).
  template <class T>
  static void joint_map(const Hinge& h, const T* q, Motion<T>* columns) {
    static_cast<void>(place(h, q, columns));
  }
  /// The pose, and the joint map's columns: J_r = J_l* and R = I + r̃J_l have J_l(r) in common.
  template <class T>
  static Transform<T> place(const Hinge& h, const T* q, Motion<T>* columns) {
    const ModalShape& m = *h.modal;
    const bool shortens = !m.shortening.empty();
    const bool turns = !m.rotation.empty();
    const Vec3<T> e = cast<T>(m.shortening_axis);
    Rotation<T> R;
    Mat3<T> J{};
    if (turns) {
      const Vec3<T> r = combined(m.rotation, q);
      J = left_jacobian(r);
      R = Rotation<T>(Mat3<T>::identity() + skew(r) * J);
    }
    Vec3<T> t = Vec3<T>::zero();
    for (int i = 0; i < m.modes(); ++i) {
      Vec3<T> mean = cast<T>(m.translation.data()[i]);
      Vec3<T> slope = mean;
      if (shortens) {
        const Vec3<T> drawn = e * shortened(m, i, q);
        slope -= drawn;
        mean -= drawn * T(0.5);
      }
      t += mean * q[i];
      columns[i] = {Vec3<T>::zero(), slope};
      if (turns) {
        columns[i] = {transpose_times(J, cast<T>(m.rotation.data()[i])), R.inverse_times(slope)};
      }
    }
    return {R, t};
  }
  /// (J̇_r λ_i, R* d/dt ∂t/∂η_i − ω × R* ∂t/∂η_i) with ω = J_r ṙ.
  template <class T>
  static void joint_map_rate(const Hinge& h, const T* q, const T* v, Motion<T>* columns) {
    const ModalShape& m = *h.modal;
    const bool shortens = !m.shortening.empty();
    const Vec3<T> e = cast<T>(m.shortening_axis);
    const Vec3<T> r = combined(m.rotation, q);
    const Vec3<T> rate = combined(m.rotation, v);
    const Rotation<T> R = exp(r);
    const Mat6<T> J = right_jacobian(Motion<T>{r, rate});  // below: its derivative along the rate
    const Vec3<T> w = J.a * rate;
    for (int i = 0; i < m.modes(); ++i) {
      const Vec3<T> bends = shortens ? e * -shortened(m, i, v) : Vec3<T>::zero();
      columns[i].angular = m.rotation.empty() ? Vec3<T>::zero() : J.c * cast<T>(m.rotation.data()[i]);
      columns[i].linear = R.inverse_times(bends) - cross(w, R.inverse_times(slope(m, i, q)));
    }
  }
  /// (J̇_r ṙ, −R*e η̇*Sη̇ − ω × R*ṫ), by cross products: J_r = I − a r̃ + b r̃² and R* = I − (1 − br²) r̃ + a r̃².
  template <class T>
  static Motion<T> bias(const Hinge& h, const T* q, const T* v) {
    const ModalShape& m = *h.modal;
    const bool shortens = !m.shortening.empty();
    if (m.rotation.empty() && !shortens) {
      return Motion<T>::zero();
    }
    Vec3<T> moved = Vec3<T>::zero();  // ṫ
    T drawn(0);                       // η̇*Sη̇
    for (int i = 0; i < m.modes(); ++i) {
      moved += slope(m, i, q) * v[i];
      if (shortens) {
        drawn += v[i] * shortened(m, i, v);
      }
    }
    const Vec3<T> bends = cast<T>(m.shortening_axis) * -drawn;
    if (m.rotation.empty()) {
      return {Vec3<T>::zero(), bends};
    }
    const Vec3<T> r = combined(m.rotation, q);
    const Vec3<T> rate = combined(m.rotation, v);
    const T square = squared_norm(r);
    T a{};
    T b{};
    T a_slope{};  // by r²
    T b_slope{};
    detail::exponential_coefficients(square, a, b);
    detail::exponential_slopes(square, a, b, a_slope, b_slope);
    const Vec3<T> x = cross(r, rate);
    const Vec3<T> y = cross(r, x);
    const T grows = T(2) * dot(r, rate);  // d/dt r²
    const auto back = [&](const Vec3<T>& u) {
      const Vec3<T> turned = cross(r, u);
      return u - turned * (T(1) - square * b) + cross(r, turned) * a;
    };
    return {cross(rate, x) * b + y * (b_slope * grows) - x * (a_slope * grows),
            back(bends) - cross(rate - x * a + y * b, back(moved))};
  }
  /// q + v dt.
  template <class T>
  static void integrate(const Hinge& h, const T* q, const T* v, const T& dt, T* out) {
    for (int i = 0; i < h.modal->modes(); ++i) {
      out[i] = q[i] + v[i] * dt;
    }
  }
  /// q1 − q0.
  template <class T>
  static void difference(const Hinge& h, const T* q0, const T* q1, T* v) {
    for (int i = 0; i < h.modal->modes(); ++i) {
      v[i] = q1[i] - q0[i];
    }
  }
  /// Zero.
  template <class T>
  static void neutral(const Hinge& h, T* q) {
    for (int i = 0; i < h.modal->modes(); ++i) {
      q[i] = T(0);
    }
  }
  /// Nothing to do.
  template <class T>
  static void normalize(T*) {}
  /// Rest: a pose of one node does not tell what all modes do.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>&, T* q) {
    neutral(h, q);
  }
};

}  // namespace bunraku::laws
