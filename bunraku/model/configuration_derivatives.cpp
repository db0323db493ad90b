#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/hinge_derivatives.hpp"
#include "bunraku/model/detail/hinge_motion.hpp"
#include "bunraku/spatial/cross.hpp"
#include "bunraku/spatial/exponential.hpp"

namespace bunraku {

namespace {

/// What one hinge's block of a derivative is.
enum class Derivative { integrate_dq, integrate_dv, tangent_rate, difference_dq0, difference_dq1 };

/// Whether it is of q ⊕ v dt; otherwise it is of q1 ⊖ q0.
bool of_motion(Derivative what) {
  return what == Derivative::integrate_dq || what == Derivative::integrate_dv || what == Derivative::tangent_rate;
}

/// The block's numbers, to be read by row and column.
template <class T>
using Block = std::array<std::array<T, max_hinge_velocities>, max_hinge_velocities>;

/// The 6×6 derivative of a hinge whose motion is SE(3)'s, or a part of it: at the twist v dt, or at q1 ⊖ q0.
template <class T>
Mat6<T> group_derivative(Derivative what, const Motion<T>& twist, T dt) {
  switch (what) {
    case Derivative::integrate_dq:  // X exp(δ) exp(ξ) = X exp(ξ) exp(Ad(exp(−ξ)) δ)
      return motion_matrix(exp(-twist));
    case Derivative::integrate_dv: {
      const Mat6<T> j = right_jacobian(twist);
      return {j.a * dt, {}, j.c * dt, j.d * dt};
    }
    case Derivative::tangent_rate:
      return -cross_matrix(twist);
    case Derivative::difference_dq0:  // log(exp(−δ) exp(ξ)) ≈ ξ − 𝒥_l⁻¹(ξ) δ
      return -left_jacobian_inverse(twist);
    case Derivative::difference_dq1:
      break;
  }
  return right_jacobian_inverse(twist);
}

/// A custom hinge by central differences of sixth order, along each coordinate of what is changed. x is v for
/// integrate, q1 for difference.
Block<double> numeric_derivative(Derivative what, const CustomHinge& hinge, const double* q, const double* x,
                                 double dt) {
  constexpr double step = 0x1p-8;
  constexpr std::array<double, 3> weights = {45, -9, 1};
  using Numbers = std::array<double, max_hinge_positions>;
  const int n = hinge.velocity_size();
  Numbers base{};
  if (what == Derivative::integrate_dq || what == Derivative::integrate_dv) {
    hinge.integrate(q, x, dt, base.data());
  }
  const auto value = [&](int i, double s) {
    Numbers unit{};
    Numbers moved{};
    Numbers out{};
    unit[static_cast<std::size_t>(i)] = 1;
    switch (what) {
      case Derivative::integrate_dq:
        hinge.integrate(q, unit.data(), s, moved.data());
        hinge.integrate(Numbers(moved).data(), x, dt, moved.data());
        hinge.difference(base.data(), moved.data(), out.data());
        break;
      case Derivative::integrate_dv:
        std::copy_n(x, n, unit.begin());
        unit[static_cast<std::size_t>(i)] += s;
        hinge.integrate(q, unit.data(), dt, moved.data());
        hinge.difference(base.data(), moved.data(), out.data());
        break;
      case Derivative::tangent_rate:  // see numeric_rate
        break;
      case Derivative::difference_dq0:
        hinge.integrate(q, unit.data(), s, moved.data());
        hinge.difference(moved.data(), x, out.data());
        break;
      case Derivative::difference_dq1:
        hinge.integrate(x, unit.data(), s, moved.data());
        hinge.difference(q, moved.data(), out.data());
        break;
    }
    return out;
  };
  Block<double> out{};
  for (int i = 0; i < n; ++i) {
    for (int m = 1; m <= 3; ++m) {
      const Numbers ahead = value(i, m * step);
      const Numbers behind = value(i, -m * step);
      for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
        out[k][static_cast<std::size_t>(i)] +=
            (ahead[k] - behind[k]) * (weights[static_cast<std::size_t>(m - 1)] / (60 * step));
      }
    }
  }
  return out;
}

/// The rate of integrate_dq of a custom hinge, by differences in time of those.
Block<double> numeric_rate(const CustomHinge& hinge, const double* q, const double* v) {
  constexpr double step = 0x1p-6;
  constexpr std::array<double, 3> weights = {45, -9, 1};
  Block<double> out{};
  for (int m = -3; m <= 3; ++m) {
    if (m == 0) {
      continue;
    }
    const Block<double> moved = numeric_derivative(Derivative::integrate_dq, hinge, q, v, m * step);
    const double weight = std::copysign(weights[static_cast<std::size_t>(std::abs(m) - 1)], m) / (60 * step);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t k = 0; k < out[i].size(); ++k) {
        out[i][k] += weight * moved[i][k];
      }
    }
  }
  return out;
}

/// The components of a twist, angular over linear, that are the hinge's velocity coordinates; none where coordinates
/// are plain.
std::span<const int> twist_components(HingeType type) {
  static constexpr std::array<int, 6> all = {0, 1, 2, 3, 4, 5};
  static constexpr std::array<int, 3> in_plane = {3, 4, 2};  // x, y, angle
  switch (type) {
    case HingeType::free:
      return all;
    case HingeType::spherical:
      return std::span(all).first(3);
    case HingeType::planar:
      return in_plane;
    default:
      return {};
  }
}

/// Of a hinge with plain coordinates the block is this multiple of the identity.
template <class T>
T plain_derivative(Derivative what, T dt) {
  return what == Derivative::integrate_dv     ? dt
         : what == Derivative::tangent_rate   ? T(0)
         : what == Derivative::difference_dq0 ? T(-1)
                                              : T(1);
}

/// The block of a hinge whose coordinates are not plain; x is v for integrate, q1 for difference.
template <class T>
Block<T> hinge_derivative(Derivative what, const Hinge& hinge, const T* q, const T* x, T dt) {
  Block<T> out{};
  const bool integrates = of_motion(what);
  const int n = hinge.velocity_size();
  if (hinge.type == HingeType::custom) {
    const int nq = hinge.configuration_size();
    const auto from = widened(q, nq);
    const auto to = widened(x, integrates ? n : nq);
    const Block<double> wide =
        what == Derivative::tangent_rate
            ? numeric_rate(*hinge.custom, from.data(), to.data())
            : numeric_derivative(what, *hinge.custom, from.data(), to.data(), static_cast<double>(dt));
    for (std::size_t i = 0; i < wide.size(); ++i) {
      std::ranges::transform(wide[i], out[i].begin(), [](double each) { return static_cast<T>(each); });
    }
    return out;
  }
  const std::span<const int> components = twist_components(hinge.type);
  std::array<T, max_hinge_velocities> way{};
  if (integrates) {
    std::transform(x, x + n, way.begin(), [&](T each) { return each * dt; });
  } else {
    difference_hinge(hinge, q, x, way.data());
  }
  Motion<T> twist = Motion<T>::zero();
  for (std::size_t i = 0; i < components.size(); ++i) {
    twist[components[i]] = way[i];
  }
  const Mat6<T> derivative = group_derivative(what, twist, dt);
  for (std::size_t i = 0; i < components.size(); ++i) {
    for (std::size_t k = 0; k < components.size(); ++k) {
      out[i][k] = derivative(components[i], components[k]);
    }
  }
  return out;
}

/// Throws ArgumentError unless the matrix is nv × nv. Returns the way from one column to the next.
template <class T>
std::ptrdiff_t check_square(const Model& model, const MatrixOutput<T>& out) {
  const std::ptrdiff_t n = model.nv();
  if (out.shaped() ? out.rows() != n || out.cols() != n : out.size() != static_cast<std::size_t>(n * n)) {
    throw ArgumentError(out.shaped()
                            ? fmt::format("the derivative is {0} × {0}, not {1} × {2}", n, out.rows(), out.cols())
                            : fmt::format("the derivative has {} numbers, not {}", n * n, out.size()));
  }
  return out.shaped() ? out.stride() : n;
}

template <class T>
void write(Derivative what, const Model& model, std::span<const T> q, std::span<const T> x, double dt,
           const MatrixOutput<T>& out) {
  const std::ptrdiff_t stride = check_square(model, out);
  for (std::ptrdiff_t column = 0; column < model.nv(); ++column) {
    std::fill_n(out.data() + column * stride, model.nv(), T(0));
  }
  const bool integrates = of_motion(what);
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t v_at) {
    const auto n = static_cast<std::size_t>(hinge.velocity_size());
    if (has_plain_coordinates(hinge.type)) {
      for (std::size_t k = v_at; k < v_at + n; ++k) {
        out.data()[static_cast<std::ptrdiff_t>(k) * stride + static_cast<std::ptrdiff_t>(k)] =
            plain_derivative(what, static_cast<T>(dt));
      }
      return;
    }
    const Block<T> block = hinge_derivative(what, hinge, &q[at], &x[integrates ? v_at : at], static_cast<T>(dt));
    for (std::size_t k = 0; k < n; ++k) {
      T* const column = out.data() + static_cast<std::ptrdiff_t>(v_at + k) * stride;
      for (std::size_t i = 0; i < n; ++i) {
        column[v_at + i] = block[i][k];
      }
    }
  });
}

template <class T>
void of_integrate(Derivative what, const Model& model, std::span<const T> q, std::span<const T> v, double dt,
                  const MatrixOutput<T>& out) {
  check_motion(model, q, v, dt);
  write(what, model, q, v, dt, out);
}

template <class T>
void of_difference(Derivative what, const Model& model, std::span<const T> q0, std::span<const T> q1,
                   const MatrixOutput<T>& out) {
  check_pair(model, q0, q1);
  write(what, model, q0, q1, 1, out);
}

}  // namespace

void hinge_difference_dq1(const Hinge& hinge, const double* q0, const double* q1, double* out) {
  const auto n = static_cast<std::size_t>(hinge.velocity_size());
  if (has_plain_coordinates(hinge.type)) {
    for (std::size_t i = 0; i < n * n; ++i) {
      out[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    }
    return;
  }
  const Block<double> block = hinge_derivative(Derivative::difference_dq1, hinge, q0, q1, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    out = std::copy_n(block[i].begin(), n, out);
  }
}

void integrate_dq(const Model& model, In<double> q, In<double> v, double dt, MatrixOut<double> out) {
  of_integrate<double>(Derivative::integrate_dq, model, q, v, dt, out);
}
void tangent_rate(const Model& model, In<double> q, In<double> v, MatrixOut<double> out) {
  of_integrate<double>(Derivative::tangent_rate, model, q, v, 1, out);
}
void tangent_rate(const Model& model, In<float> q, In<float> v, MatrixOut<float> out) {
  of_integrate<float>(Derivative::tangent_rate, model, q, v, 1, out);
}
void integrate_dv(const Model& model, In<double> q, In<double> v, double dt, MatrixOut<double> out) {
  of_integrate<double>(Derivative::integrate_dv, model, q, v, dt, out);
}
void difference_dq0(const Model& model, In<double> q0, In<double> q1, MatrixOut<double> out) {
  of_difference<double>(Derivative::difference_dq0, model, q0, q1, out);
}
void difference_dq1(const Model& model, In<double> q0, In<double> q1, MatrixOut<double> out) {
  of_difference<double>(Derivative::difference_dq1, model, q0, q1, out);
}

void integrate_dq(const Model& model, In<float> q, In<float> v, double dt, MatrixOut<float> out) {
  of_integrate<float>(Derivative::integrate_dq, model, q, v, dt, out);
}
void integrate_dv(const Model& model, In<float> q, In<float> v, double dt, MatrixOut<float> out) {
  of_integrate<float>(Derivative::integrate_dv, model, q, v, dt, out);
}
void difference_dq0(const Model& model, In<float> q0, In<float> q1, MatrixOut<float> out) {
  of_difference<float>(Derivative::difference_dq0, model, q0, q1, out);
}
void difference_dq1(const Model& model, In<float> q0, In<float> q1, MatrixOut<float> out) {
  of_difference<float>(Derivative::difference_dq1, model, q0, q1, out);
}

}  // namespace bunraku
