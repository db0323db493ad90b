// Some hinges move as prescribed, the rest is free. A prescribed hinge is one that is held: with infinite rotor inertia
// nothing of P is taken out there, and the program of 𝓜⁻¹ is that of the free hinges alone.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/prepared.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"

namespace bunraku {

namespace {

/// Throws ArgumentError where a given number is not finite.
template <class T>
void check_given(const Model& model, const HingeSet& prescribed, std::span<const T> acceleration,
                 std::span<const T> torque) {
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    const std::span<const T> given = prescribed.contains(k) ? acceleration : torque;
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      if (const T x = given[static_cast<std::size_t>(j)]; !std::isfinite(x)) {
        throw ArgumentError(fmt::format("{}[{}], of hinge '{}', is {}, not a finite number",
                                        prescribed.contains(k) ? "acceleration" : "torque", j, body.hinge.name, x));
      }
    }
  }
}

/// Throws Error where an acceleration is too large for a number.
template <class T>
void check_range(const Model& model, std::span<const T> rate) {
  for (const Body& body : model.bodies()) {
    for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
      if (!std::isfinite(rate[static_cast<std::size_t>(j)])) {
        throw Error(fmt::format("the acceleration of hinge '{}' is beyond the range of numbers", body.hinge.name));
      }
    }
  }
}

}  // namespace

template <class T>
void hybrid_dynamics(BasicState<T>& state, const HingeSet& prescribed, Out<T> accelerations, Out<T> torques,
                     std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  if (const std::size_t bodies = prescribed.model().bodies().size(); bodies != s.model.bodies().size()) {
    throw ArgumentError(
        fmt::format("the set of prescribed hinges is of model '{}' with {} bodies, the state's '{}' has {}",
                    prescribed.model().name(), bodies, s.model.name(), s.blocks.size()));
  }
  const std::span<T> acceleration = detail::wanted(accelerations, s.nv(), "acceleration");
  const std::span<T> torque = detail::wanted(torques, s.nv(), "torque");
  check_given<T>(s.model, prescribed, acceleration, torque);
  s.check_forces(forces);
  detail::PreparedPrograms<T>& programs = detail::programs_of(s);
  operators::Evaluator<T>& inverse_mass = programs.at(detail::Prepared::inverse_mass, s);
  const std::vector<double>& own = inverse_mass.folded().armature;
  std::vector<T>& armature = programs.hybrid.armature;
  std::vector<T>& rate = programs.hybrid.rate;
  std::vector<T>& needed = programs.hybrid.needed;
  std::vector<T>& left = programs.hybrid.left;
  armature.assign(own.begin(), own.end());
  rate.resize(own.size());
  needed.resize(own.size());
  left.resize(own.size());
  const auto for_each = [&](const auto& f) {
    for (int k = 0; k < s.blocks.size(); ++k) {
      const Body& body = s.model.bodies()[static_cast<std::size_t>(k)];
      for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
        f(static_cast<std::size_t>(j), prescribed.contains(k));
      }
    }
  };
  for_each([&](std::size_t j, bool held) {
    armature[j] = held ? operators::held_inertia<T> : armature[j];
    rate[j] = held ? acceleration[j] : T(0);
  });
  inverse_mass.set_armature(armature);
  // 𝓜 θ̈ + 𝓒 = T in two parts: the prescribed accelerations alone, then what is left for the free hinges. Where a free
  // body falls all of 𝓒 cancels, and what is left after that is its rounding: once more, for these digits.
  bool falls = false;
  for (int k = 0; k < s.blocks.size(); ++k) {
    falls = falls ||
            (s.model.bodies()[static_cast<std::size_t>(k)].hinge.type == HingeType::free && !prescribed.contains(k));
  }
  inverse_dynamics(state, std::span<const T>(rate), std::span<T>(needed), forces);
  for (int round = 0; round < (falls ? 2 : 1); ++round) {
    for_each([&](std::size_t j, bool held) { left[j] = held ? T(0) : torque[j] - needed[j]; });
    inverse_mass.apply(left.data(), needed.data());
    for_each([&](std::size_t j, bool held) { rate[j] += held ? T(0) : needed[j]; });
    check_range<T>(s.model, rate);
    inverse_dynamics(state, std::span<const T>(rate), std::span<T>(needed), forces);
  }
  for_each([&](std::size_t j, bool held) {
    acceleration[j] = rate[j];
    torque[j] = held ? needed[j] : torque[j];
  });
}

template void hybrid_dynamics(BasicState<double>&, const HingeSet&, Out<double>, Out<double>, Forces<double>);
template void hybrid_dynamics(BasicState<float>&, const HingeSet&, Out<float>, Out<float>, Forces<float>);

}  // namespace bunraku
