/// @file
/// How the joint map H* of one hinge changes in the hinge's own axes, and how that changes in turn: what derivatives of
/// the dynamics need of hinges that are universal or a user's own. H* of all others is constant there.
#pragma once

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// The most columns that derivatives of one joint map have.
inline constexpr int max_map_rates = max_hinge_velocities * max_hinge_velocities;

/// @name In plain numbers, for hinges that a user defines
/// Not inline: they belong to no variant. They throw what the user's functions throw.
/// @{
/// Of each coordinate i: the columns of ∂H*/∂q_i; 6 nv² numbers.
BUNRAKU_API void plain_map_rates(const Hinge& hinge, const double* q, double* numbers);
/// Of each coordinate i: ∂((dH*/dt) v)/∂q_i at constant v; 6 nv numbers. By central differences of eighth order of
/// CustomHinge::bias in steps of 2⁻⁴: good to about 1e-11 for a joint map that varies over a radian or a metre.
BUNRAKU_API void plain_bias_rates(const Hinge& hinge, const double* q, const double* v, double* numbers);
/// @}

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

}  // namespace bunraku::kernels
