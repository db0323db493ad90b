#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

namespace {

constexpr std::size_t parameters = 10;

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
void BasicDynamics<T>::regressor(std::span<const T> acceleration, std::span<T> out) {
  State& s = *state_;
  check_argument(acceleration, s.nv(), "acceleration");
  check_size(out.size(), std::ptrdiff_t{s.nv()} * static_cast<int>(parameters) * s.blocks.size(), "the regressor");
  s.blocks.need_world();
  s.coordinates.spread(acceleration, s.full);
  s.sweep_accelerations(s.motion);
  std::fill(out.begin(), out.end(), T(0));
  const auto n = static_cast<std::size_t>(s.nv());
  for (int k = 0; k < s.blocks.size(); ++k) {
    Motion<T> alpha = s.motion[static_cast<std::size_t>(k)];
    alpha.linear -= s.blocks.X_WB(k).rotation.inverse_times(s.gravity());  // gravity: the base accelerates (RK88 3.21)
    std::array<Force<T>, parameters> f = body_regressor(s.blocks.V(k).angular, alpha);
    T* columns = out.data() + static_cast<std::size_t>(k) * parameters * n;
    for (int p = k; p != world; p = s.blocks.parent(p)) {  // T = Hφ(Mα + b), for this body alone (RK92 10–12, 24)
      for (int j = s.blocks.first(p); j < s.blocks.first(p) + s.blocks.nv(p); ++j) {
        const auto& follower = s.coordinates.velocities[static_cast<std::size_t>(j)];
        for (std::size_t c = 0; c < parameters; ++c) {
          columns[c * n + static_cast<std::size_t>(follower.own)] += follower.ratio * dot(s.blocks.H(j), f[c]);
        }
      }
      for (Force<T>& each : f) {
        each = s.blocks.X_PB(p) * each;
      }
    }
  }
}

template void BasicDynamics<double>::regressor(std::span<const double>, std::span<double>);
template void BasicDynamics<float>::regressor(std::span<const float>, std::span<float>);

}  // namespace bunraku
