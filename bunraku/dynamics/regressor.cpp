#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/kernels/passive.hpp"

namespace bunraku {

namespace {

constexpr int parameters = 10;       // of a body
constexpr int hinge_parameters = 4;  // of a velocity of a hinge

/// f = Mα + b column by column in M's ten parameters: m, m·c, then 𝒥's upper triangle row by row.
template <class T>
std::array<Force<T>, parameters> body_regressor(const Vec3<T>& w, const Motion<T>& alpha) {
  const std::array<Vec3<T>, 3> axes = {Vec3<T>::unit_x(), Vec3<T>::unit_y(), Vec3<T>::unit_z()};
  std::array<Force<T>, parameters> out{};
  std::size_t at = 0;
  out[at++] = {Vec3<T>::zero(), alpha.linear};
  for (const Vec3<T>& e : axes) {
    out[at++] = {cross(e, alpha.linear), cross(alpha.angular, e) + cross(w, cross(w, e))};
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const Vec3<T>& x = axes[static_cast<std::size_t>(i)];
      const Vec3<T>& y = axes[static_cast<std::size_t>(j)];
      const auto times = [&](const Vec3<T>& z) {  // the symmetric matrix with ones at (i,j) and (j,i)
        return i == j ? x * z[i] : x * z[j] + y * z[i];
      };
      out[at++] = {times(alpha.angular) + cross(w, times(w)), Vec3<T>::zero()};
    }
  }
  return out;
}

}  // namespace

template <class T>
void regressor(BasicState<T>& state, In<T> acceleration, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  const auto out = detail::wanted(matrix, s.nv(), std::ptrdiff_t{parameters} * s.blocks.size(), "the regressor");
  s.blocks.need_world();
  s.coordinates.spread(rate, s.full);
  s.sweep_accelerations(s.motion);
  out.set_zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    Motion<T> alpha = s.motion[static_cast<std::size_t>(k)];
    alpha.linear -= s.blocks.X_WB(k).rotation.inverse_times(s.gravity());  // gravity: the base accelerates (RK88 3.21)
    std::array<Force<T>, parameters> f = body_regressor(s.blocks.V(k).angular, alpha);
    const std::ptrdiff_t first = std::ptrdiff_t{parameters} * k;
    for (int p = k; p != world; p = s.blocks.parent(p)) {  // T = Hφ(Mα + b), for this body alone (RK92 10–12, 24)
      for (int j = s.blocks.first(p); j < s.blocks.first(p) + s.blocks.nv(p); ++j) {
        const auto& follower = s.coordinates.velocities[static_cast<std::size_t>(j)];
        for (int c = 0; c < parameters; ++c) {
          out(follower.own, first + c) += follower.ratio * dot(s.blocks.H(j), f[static_cast<std::size_t>(c)]);
        }
      }
      for (Force<T>& each : f) {
        each = s.blocks.X_PB(p) * each;
      }
    }
  }
}

int hinge_velocities(const Model& model) {
  int m = 0;
  for (const Body& body : model.bodies()) {
    m += body.hinge.velocity_size();
  }
  return m;
}

template <class T>
void hinge_regressor(BasicState<T>& state, In<T> acceleration, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  const auto out = detail::wanted(matrix, s.nv(), std::ptrdiff_t{hinge_parameters} * s.coordinates.nv,
                                  "the regressor of the hinges");
  s.coordinates.spread(rate, s.full);
  out.set_zero();
  // S* of what each hinge asks for
  kernels::for_each_dof(s.model, s.coordinates, s.q.data(), [&](const HingeDof&, std::size_t j, double stretch) {
    const auto& follower = s.coordinates.velocities[j];
    const std::ptrdiff_t first = std::ptrdiff_t{hinge_parameters} * static_cast<std::ptrdiff_t>(j);
    out(follower.own, first) = follower.ratio * s.full[j];
    out(follower.own, first + 1) = follower.ratio * s.v()[j];
    out(follower.own, first + 2) = follower.ratio * static_cast<T>(kernels::direction(s.v()[j]));
    out(follower.own, first + 3) = follower.ratio * static_cast<T>(stretch);
  });
}

template void regressor(BasicState<double>&, In<double>, MatrixOut<double>);
template void hinge_regressor(BasicState<double>&, In<double>, MatrixOut<double>);
template void regressor(BasicState<float>&, In<float>, MatrixOut<float>);
template void hinge_regressor(BasicState<float>&, In<float>, MatrixOut<float>);

}  // namespace bunraku
