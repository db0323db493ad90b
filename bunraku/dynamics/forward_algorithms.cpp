// The four forward-dynamics algorithms of RK88 (FD1–FD4) = RK92 §VII: programs of four expressions of one operator.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/prepared.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

using detail::Prepared;

/// Which program gives the accelerations of the hinges.
Prepared program_of(ForwardAlgorithm algorithm) {
  switch (algorithm) {
    case ForwardAlgorithm::fd1:
    case ForwardAlgorithm::fd2:  // which differ in what else they have on the way
      return Prepared::fd1;
    case ForwardAlgorithm::fd3:
      return Prepared::fd3;
    default:
      return Prepared::fd4;
  }
}

/// Throws Error where a hinge follows one that carries it: the P of fd4 takes each body by itself.
void require_blocks(const operators::Folded& folded) {
  if (!folded.nested) {
    return;
  }
  for (const Body& body : folded.model.bodies()) {
    if (body.leader != world) {
      throw Error(fmt::format(
          "fd4 takes P a body by body, and of coupled hinges that carry one another P has no such blocks: hinge '{}' "
          "follows hinge '{}'. The other algorithms take them",
          body.hinge.name, folded.model.bodies()[static_cast<std::size_t>(body.leader)].hinge.name));
    }
  }
}

/// α of each body without gravity's share, the pseudo-acceleration of the base (RK88 3.21). Needs world poses.
template <class T>
void set_links(const detail::StateData<T>& s, std::span<Motion<T>> links) {
  const Vec3<T> gravity = s.gravity();
  for (int k = 0; k < s.blocks.size(); ++k) {
    const Motion<T> alpha = operators::motion_at(s.numbers.data() + operators::rigid * k);
    links[static_cast<std::size_t>(k)] = {alpha.angular,
                                          alpha.linear + s.blocks.X_WB(k).rotation.inverse_times(gravity)};
  }
}

}  // namespace

template <class T>
void forward_dynamics_by(ForwardAlgorithm algorithm, BasicState<T>& state, In<T> torques, Out<T> accelerations,
                         std::type_identity_t<Forces<T>> forces, std::type_identity_t<std::span<Motion<T>>> links) {
  const bool has_links = algorithm == ForwardAlgorithm::fd2 || algorithm == ForwardAlgorithm::fd4;
  if (!links.empty() && !has_links) {
    throw ArgumentError("only fd2 and fd4 have the accelerations of the bodies on the way: leave `links` empty");
  }
  if (algorithm == ForwardAlgorithm::articulated) {
    forward_dynamics(state, torques, accelerations, forces);
    return;
  }
  detail::StateData<T>& s = state.data();
  const std::span<const T> torque = detail::given(torques, s.nv(), "torque");
  const std::span<T> acceleration = detail::wanted(accelerations, s.nv(), "acceleration");
  check_size(links.size(), links.empty() ? 0 : s.blocks.size(), "links");
  s.check_forces(forces);
  std::fill(s.torques.begin(), s.torques.end(), T(0));
  s.add_passive(s.torques);
  s.coordinates.gather(s.torques, s.unit);
  std::transform(torque.begin(), torque.end(), s.unit.begin(), s.unit.begin(), std::minus<>());
  const auto run = [&](Prepared which, T* out) {
    operators::Evaluator<T>& program = detail::prepared(s, which);
    if (algorithm == ForwardAlgorithm::fd4) {
      require_blocks(program.folded());
    }
    program.set_given(Symbol::T, s.unit.data());
    detail::lend_loads(s, forces, program);
    program.apply(nullptr, out);
  };
  if (!links.empty()) {
    s.numbers.resize(operators::rigid * links.size());
    run(algorithm == ForwardAlgorithm::fd2 ? Prepared::fd2_links : Prepared::fd4_links, s.numbers.data());
    s.blocks.need_world();
    set_links(s, links);
  }
  run(program_of(algorithm), acceleration.data());
}

template void forward_dynamics_by(ForwardAlgorithm, BasicState<double>&, In<double>, Out<double>, Forces<double>,
                                  std::span<Motion<double>>);
template void forward_dynamics_by(ForwardAlgorithm, BasicState<float>&, In<float>, Out<float>, Forces<float>,
                                  std::span<Motion<float>>);

}  // namespace bunraku
