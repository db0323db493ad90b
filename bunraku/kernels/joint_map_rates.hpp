/// @file
/// How the joint map H* of one hinge changes in the hinge's own axes, and how that changes in turn: what derivatives of
/// the dynamics need of hinges that are universal, modal or a user's own. H* of all others is constant there.
#pragma once

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// The most columns that derivatives of one joint map have, other than a modal one.
inline constexpr int max_map_rates = max_hinge_velocities * max_hinge_velocities;

/// @name In plain numbers
/// Not inline: they belong to no variant. They throw what the functions of a user's hinge throw.
/// @{
/// Of each coordinate i: the columns of ∂H*/∂q_i; 6 nv² numbers.
BUNRAKU_API void plain_map_rates(const Hinge& hinge, const double* q, double* numbers);
/// Of each coordinate i: ∂((dH*/dt) v)/∂q_i at constant v; 6 nv numbers. Of a user's hinge by central differences of
/// eighth order of CustomHinge::bias in steps of 2⁻⁴: good to about 1e-11 for a joint map that varies over a radian or
/// a metre.
BUNRAKU_API void plain_bias_rates(const Hinge& hinge, const double* q, const double* v, double* numbers);
/// @}

/// The derivatives of J_r(r) x along a vector, and those of J̇_r ṙ, for r̈ = 0.
template <class S>
class TurnRates {
 public:
  /// At r with the rate ṙ.
  TurnRates(const Vec3<S>& r, const Vec3<S>& rate) : r_(r), rate_(rate) {
    const S s = squared_norm(r);
    ::bunraku::detail::exponential_coefficients(s, a_, b_);
    ::bunraku::detail::exponential_slopes(s, a_, b_, da_, db_);
    ::bunraku::detail::exponential_curvatures(s, b_, da_, db_, dda_, ddb_);
  }

  /// J_r x.
  Vec3<S> turned(const Vec3<S>& x) const {
    const Vec3<S> rx = cross(r_, x);
    return x - rx * a_ + cross(r_, rx) * b_;
  }
  /// The derivative of J_r x along l.
  Vec3<S> rate(const Vec3<S>& l, const Vec3<S>& x) const {
    const S ds = S(2) * dot(r_, l);
    const Vec3<S> rx = cross(r_, x);
    const Vec3<S> lx = cross(l, x);
    return (cross(l, rx) + cross(r_, lx)) * b_ - lx * a_ - rx * (da_ * ds) + cross(r_, rx) * (db_ * ds);
  }
  /// The derivative of J̇_r ṙ = −A′ ds r × ṙ + B ṙ × (r × ṙ) + B′ ds r × (r × ṙ) along l, with ds = 2 r·ṙ.
  Vec3<S> second(const Vec3<S>& l) const {
    const Vec3<S> w = cross(r_, rate_);
    const Vec3<S> x = cross(l, rate_);
    const S along = S(2) * dot(r_, l);
    const S ds = S(2) * dot(r_, rate_);
    const S dds = S(2) * dot(l, rate_);
    const Vec3<S> twice = cross(r_, w);
    return cross(rate_, w) * (db_ * along) + cross(rate_, x) * b_ - w * (dda_ * along * ds + da_ * dds) -
           x * (da_ * ds) + twice * (ddb_ * along * ds + db_ * dds) + (cross(l, w) + cross(r_, x)) * (db_ * ds);
  }

 private:
  Vec3<S> r_;
  Vec3<S> rate_;
  S a_{};
  S b_{};
  S da_{};
  S db_{};
  S dda_{};
  S ddb_{};
};

/// map_rates_at of a modal hinge.
template <class S>
void modal_rates_at(const Hinge& hinge, const S* q, const S* v, Motion<S>* rates, Motion<S>* bias_rates) {
  using laws::Modal;
  const ModalShape& m = *hinge.modal;
  const int n = m.modes();
  const bool shortens = !m.shortening.empty();
  const Vec3<S> zero = Vec3<S>::zero();
  const auto turn_of = [&](int i) { return m.rotation.empty() ? zero : laws::cast<S>(m.rotation.data()[i]); };
  const Vec3<S> rate = Modal::combined(m.rotation, v);
  const TurnRates<S> J(Modal::combined(m.rotation, q), rate);
  const Rotation<S> R = Modal::turn(m, q);
  const Vec3<S> e = R.inverse_times(laws::cast<S>(m.shortening_axis));
  Vec3<S> moved = zero;  // R*ṫ
  S drawn(0);            // η̇*Sη̇
  for (int i = 0; i < n; ++i) {
    moved += R.inverse_times(Modal::slope(m, i, q)) * v[i];
    drawn += shortens ? v[i] * Modal::shortened(m, i, v) : S(0);
  }
  const Vec3<S> w = J.turned(rate);
  for (int l = 0; l < n; ++l) {
    const Vec3<S> along = turn_of(l);
    const Vec3<S> w_l = J.turned(along);
    for (int i = 0; i < n; ++i) {
      Vec3<S> linear = -cross(w_l, R.inverse_times(Modal::slope(m, i, q)));
      if (shortens) {
        linear -= e * S(m.shortening.data()[l * n + i]);
      }
      rates[l * n + i] = {J.rate(along, turn_of(i)), linear};
    }
    Vec3<S> linear = cross(w_l, e) * drawn - cross(J.rate(along, rate), moved) + cross(w, cross(w_l, moved));
    if (shortens) {
      linear += cross(w, e) * Modal::shortened(m, l, v);
    }
    bias_rates[l] = {J.second(along), linear};
  }
}

/// Derivatives of a hinge's joint map at q: `rates[i nv + c]` is column c of ∂H*/∂q_i, and `bias_rates[i]` is
/// ∂((dH*/dt) v)/∂q_i at constant v.
template <class S>
void map_rates_at(const Hinge& hinge, const S* q, const S* v, Motion<S>* rates, Motion<S>* bias_rates) {
  const int nv = hinge.velocity_size();
  if (hinge.type == HingeType::universal) {
    Motion<S> columns[2];
    laws::Universal::joint_map(hinge, q, columns);
    const Vec3<S>& second = columns[1].angular;
    const Vec3<S> rate = cross(columns[0].angular, second);  // the first axis, seen from the child, turns the other way
    rates[0] = rates[1] = rates[3] = Motion<S>::zero();
    rates[2] = {rate, Vec3<S>::zero()};
    bias_rates[0] = Motion<S>::zero();
    bias_rates[1] = {cross(rate, second) * (v[0] * v[1]), Vec3<S>::zero()};
    return;
  }
  if (hinge.type == HingeType::modal) {
    modal_rates_at(hinge, q, v, rates, bias_rates);
    return;
  }
  for (int lane = 0; lane < Lanes<S>::count; ++lane) {
    double position[max_hinge_positions] = {};
    double velocity[max_hinge_velocities] = {};
    for (int i = 0; i < hinge.configuration_size(); ++i) {
      position[i] = plain_lane(q[i], lane);
    }
    for (int i = 0; i < nv; ++i) {
      velocity[i] = plain_lane(v[i], lane);
    }
    double numbers[6 * max_map_rates] = {};
    plain_map_rates(hinge, position, numbers);
    for (int i = 0; i < 6 * nv * nv; ++i) {
      set_lane(rates[i / 6][i % 6], lane, numbers[i]);
    }
    plain_bias_rates(hinge, position, velocity, numbers);
    for (int i = 0; i < 6 * nv; ++i) {
      set_lane(bias_rates[i / 6][i % 6], lane, numbers[i]);
    }
  }
}

/// Derivatives of one hinge's joint map as map_rates_at writes them, or none where it does not change.
template <class S>
struct MapSlopes {
  int nv = 0;                             ///< Velocities of the hinge.
  const Motion<S>* rates = nullptr;       ///< Column c of ∂H*/∂q_i at i nv + c.
  const Motion<S>* bias_rates = nullptr;  ///< ∂(Ḣ*θ̇)/∂q_i.

  /// Whether there are any.
  bool changes() const { return rates != nullptr; }
  /// (∂H*/∂q u) x.
  Motion<S> along(const S* u, const S* x) const {
    Motion<S> out = Motion<S>::zero();
    for (int i = 0; changes() && i < nv * nv; ++i) {
      out += rates[i] * (u[i / nv] * x[i % nv]);
    }
    return out;
  }
  /// (∂H*/∂q_i) x.
  Motion<S> along(int i, const S* x) const {
    Motion<S> out = Motion<S>::zero();
    for (int c = 0; changes() && c < nv; ++c) {
      out += rates[i * nv + c] * x[c];
    }
    return out;
  }
  /// (∂H*/∂q u)'s column c.
  Motion<S> column(const S* u, int c) const {
    Motion<S> out = Motion<S>::zero();
    for (int i = 0; changes() && i < nv; ++i) {
      out += rates[i * nv + c] * u[i];
    }
    return out;
  }
};

}  // namespace bunraku::kernels
