#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <Eigen/Core>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/second_order.hpp"
#include "bunraku/dynamics/detail/sensitivity_data.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/dynamics/sensitivities.hpp"

namespace bunraku {

namespace detail {

namespace {

/// d/ds of f(q ⊕ s e_i) of a hinge, where f writes as many numbers as `out` and `numbers`, which is scratch, have:
/// central differences of eighth order.
template <class F>
void differentiate_along(const Hinge& hinge, const double* q, int i, double step, std::span<double> numbers,
                         std::span<double> out, F&& f) {
  constexpr std::array<double, 4> weights = {672, -168, 32, -3};  // of 840 steps
  std::array<double, most_hinge_velocities> unit{};
  unit[place_of(i)] = 1;
  std::fill(out.begin(), out.end(), 0.0);
  for (int m = 1; m <= 4; ++m) {
    for (const int side : {-1, 1}) {
      std::array<double, most_hinge_positions> moved{};
      hinge_integrate(hinge, q, unit.data(), side * m * step, moved.data());
      f(moved.data(), numbers.data());
      for (std::size_t c = 0; c < out.size(); ++c) {
        out[c] += side * weights[place_of(m - 1)] / (840 * step) * numbers[c];
      }
    }
  }
}

/// As plain_bias_rates, since what is differentiated may be a difference itself; modes turn by no more in a step.
double step_of(const Hinge& hinge, int i) {
  constexpr double step = 0x1p-4;
  if (hinge.type != HingeType::modal || hinge.modal->rotation.empty()) {
    return step;
  }
  return step / std::sqrt(std::max(1.0, squared_norm(hinge.modal->rotation[place_of(i)])));
}

/// Six numbers of a hinge's frame as a motion of its body's.
template <class T>
Motion<T> as_motion(const ::bunraku::Body& body, const double* x) {
  return kernels::cast<T>(inverse_times(body.X_MB, Motion<double>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}));
}

}  // namespace

template <class T>
void MapSecondRates<T>::set(const StateData<T>& s) {
  const ::bunraku::Body& owner = s.model.bodies()[place_of(body)];
  const Hinge& hinge = owner.hinge;
  const kernels::HingeSlot& slot = s.coordinates.slots[place_of(body)];
  std::array<double, most_hinge_positions> q{};
  std::array<double, most_hinge_velocities> v{};
  std::copy_n(s.q.begin() + slot.q, slot.nq, q.begin());
  std::copy_n(s.v().begin() + slot.v, slot.nv, v.begin());
  if (hinge.type == HingeType::universal) {
    // the first axis, seen from the child, turns about the second the other way: each derivative in q₂ is × a₂
    std::array<Motion<double>, 2> columns{};
    hinge_joint_map(hinge, q.data(), columns.data());
    const Vec3<double>& a = columns[1].angular;
    const Vec3<double> twice = cross(cross(columns[0].angular, a), a);
    const auto in_body = [&](const Vec3<double>& w) {
      return kernels::cast<T>(inverse_times(owner.X_MB, Motion<double>{w, Vec3<double>::zero()}));
    };
    rates[1][2] = in_body(twice);
    bias_by_q[1][1] = in_body(cross(twice, a) * (v[0] * v[1]));
    bias_by_v[0][1] = in_body(twice * v[1]);
    bias_by_v[1][1] = in_body(twice * v[0]);
    return;
  }
  auto& [numbers, more, scratch] = room_;
  const std::size_t few = std::size_t{6} * place_of(slot.nv);
  for (int i = 0; i < slot.nv; ++i) {
    const double step = step_of(hinge, i);
    differentiate_along(hinge, q.data(), i, step, scratch, numbers,
                        [&](const double* there, double* out) { kernels::plain_map_rates(hinge, there, out); });
    for (int c = 0; c < slot.nv * slot.nv; ++c) {
      rates[place_of(i)][place_of(c)] = as_motion<T>(owner, numbers.data() + std::ptrdiff_t{6} * c);
    }
    differentiate_along(
        hinge, q.data(), i, step, scratch, std::span(numbers).first(few),
        [&](const double* there, double* out) { kernels::plain_bias_rates(hinge, there, v.data(), out); });
    for (int c = 0; c < slot.nv; ++c) {
      bias_by_q[place_of(i)][place_of(c)] = as_motion<T>(owner, numbers.data() + std::ptrdiff_t{6} * c);
    }
    // a quadratic form b of θ̇ has the derivative ½[b(θ̇ + e) − b(θ̇ − e)]
    std::array<double, most_hinge_velocities> faster = v;
    std::array<double, most_hinge_velocities> slower = v;
    faster[place_of(i)] += 1;
    slower[place_of(i)] -= 1;
    kernels::plain_bias_rates(hinge, q.data(), faster.data(), numbers.data());
    kernels::plain_bias_rates(hinge, q.data(), slower.data(), more.data());
    for (int c = 0; c < slot.nv; ++c) {
      bias_by_v[place_of(i)][place_of(c)] = (as_motion<T>(owner, numbers.data() + std::ptrdiff_t{6} * c) -
                                             as_motion<T>(owner, more.data() + std::ptrdiff_t{6} * c)) *
                                            T(0.5);
    }
  }
}

template <class T>
SecondOrder<T>::SecondOrder(const StateData<T>& state)
    : way_q(state.full.size()),
      way_v(state.full.size()),
      state_(state),
      map_at_(state.model.bodies().size()),
      X_PB_(state.model.bodies().size()),
      H_(state.full.size()),
      U_(state.model.bodies().size()),
      V_(state.model.bodies().size()),
      relative_(state.model.bodies().size()),
      map_rate_(state.model.bodies().size()),
      v_(state.full.size()),
      loads_(state.model.bodies().size()),
      bodies_(state.model.bodies().size()) {
  for (std::vector<Scalar>& each : vectors) {
    each.resize(state.full.size());
  }
  M_.reserve(state.model.bodies().size());
  for (int k = 0; k < size(); ++k) {
    M_.push_back(kernels::cast<Scalar>(state_.blocks.M(k)));
    if (kernels::has_changing_map(state_.model.bodies()[place_of(k)].hinge)) {
      second_rates_.emplace_back(k, nv(k));
      map_at_[place_of(k)] = second_rates_.size();
    }
  }
  plain_maps_.resize(second_rates_.size());
  maps_.resize(second_rates_.size() + 1);
}

template <class T>
void SecondOrder<T>::begin() {
  for (std::size_t i = 0; i < second_rates_.size(); ++i) {
    second_rates_[i].set(state_);
    plain_maps_[i] = MapRates<T>(state_, second_rates_[i].body);
  }
}

template <class T>
void SecondOrder<T>::set_directions(Forces<T> forces) {
  const auto dual = [](const Motion<T>& x, auto&& rate_of) {  // x with the rates rate_of(lane)
    Motion<Scalar> out = kernels::cast<Scalar>(x);
    for (std::size_t l = 0; l < lanes; ++l) {
      const Motion<T> rate = rate_of(l);
      for (int c = 0; c < 6; ++c) {
        out[c].dx[l] = rate[c];
      }
    }
    return out;
  };
  for (std::size_t m = 0; m < second_rates_.size(); ++m) {
    const MapSecondRates<T>& second = second_rates_[m];
    const MapRates<T>& plain = plain_maps_[m];
    MapRates<Scalar>& map = maps_[m + 1];
    map.begin(plain.nv());
    const int first_v = first(second.body);
    const auto u = [&](std::size_t i, std::size_t l) { return way_q[place_of(first_v) + i].dx[l]; };
    const auto y = [&](std::size_t i, std::size_t l) { return way_v[place_of(first_v) + i].dx[l]; };
    const std::size_t n = place_of(plain.nv());
    for (int j = 0; j < plain.nv(); ++j) {
      for (int c = 0; c < plain.nv(); ++c) {
        map.set_rate(j, c, dual(plain.rate(j, c), [&](std::size_t l) {
                       Motion<T> rate = Motion<T>::zero();
                       for (std::size_t i = 0; i < n; ++i) {
                         rate += second.rates[i][place_of(j) * n + place_of(c)] * u(i, l);
                       }
                       return rate;
                     }));
      }
      map.set_bias_rate(j, dual(plain.bias_rate(j), [&](std::size_t l) {
                          Motion<T> rate = Motion<T>::zero();
                          for (std::size_t i = 0; i < n; ++i) {
                            rate +=
                                second.bias_by_q[i][place_of(j)] * u(i, l) + second.bias_by_v[i][place_of(j)] * y(i, l);
                          }
                          return rate;
                        }));
    }
  }
  for (int k = 0; k < size(); ++k) {
    place(k);
  }
  set_loads(forces);
}

/// The blocks of body k from its parent's. The directions are derivatives of zeros, so that a factor with them
/// takes none of the other factor's derivatives.
template <class T>
void SecondOrder<T>::place(int k) {
  const int v = first(k);
  const int p = parent(k);
  const MapRates<Scalar>& own = map(k);
  const Scalar* u = way_q.data() + v;
  const Scalar* y = way_v.data() + v;
  Motion<Scalar> W = Motion<Scalar>::zero();
  for (int j = 0; j < nv(k); ++j) {
    const Motion<Scalar> column = kernels::cast<Scalar>(state_.blocks.H(v + j));
    W += column * u[j];
    H_[place_of(v + j)] = column + own.column(u, j);
    v_[place_of(v + j)] = Scalar(state_.v()[place_of(v + j)]) + y[j];
  }
  const Transform<Scalar> X = kernels::cast<Scalar>(state_.blocks.X_PB(k));
  const Mat3<Scalar>& R = X.rotation.matrix();
  X_PB_[place_of(k)] = {Rotation<Scalar>(R + R * skew(W.angular)), X.translation + R * W.linear};
  Motion<Scalar> rate = kernels::cast<Scalar>(state_.blocks.map_rate(k));
  if (own.changes()) {
    for (int j = 0; j < nv(k); ++j) {
      rate += own.bias_rate(j) * u[j];
    }
    rate += own.along(y, v_.data() + v) + own.along(v_.data() + v, y);
  }
  map_rate_[place_of(k)] = rate;
  relative_[place_of(k)] = joint_motion(*this, k, v_.data() + v);
  U_[place_of(k)] = W;
  V_[place_of(k)] = relative_[place_of(k)];
  if (p != world) {
    U_[place_of(k)] += inverse_times(X, U_[place_of(p)]);
    V_[place_of(k)] += inverse_times(X_PB_[place_of(k)], V_[place_of(p)]);
  }
}

/// As DerivativeData::set_loads. A force that the world holds changes in its body by −U × f, one at a node in the
/// world's axes turns there by −ω × f.
template <class T>
void SecondOrder<T>::set_loads(Forces<T> forces) {
  std::fill(loads_.begin(), loads_.end(), Load{});
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body == world) {
      continue;
    }
    Load& load = loads_[place_of(applied.body)];
    const Force<T> plain = state_.at_body(applied);
    Force<Scalar> f{kernels::cast<Scalar>(plain.moment), kernels::cast<Scalar>(plain.force)};
    const Motion<Scalar>& U = U_[place_of(applied.body)];
    if (applied.frame == Frame::world) {
      f = f - cross(U, f);
      load.in_world += f;
    } else if (applied.frame == Frame::aligned) {
      const Vec3<Scalar> r = kernels::cast<Scalar>(kernels::cast<T>(applied.X_BN).translation);
      Vec3<Scalar> moment = f.moment - cross(r, f.force);  // at the node
      moment = moment - cross(U.angular, moment);
      f.force = f.force - cross(U.angular, f.force);
      f.moment = moment + cross(r, f.force);
      load.held += {-skew(moment) - skew(r) * skew(f.force), f.force};
    }
    load.all += f;
  }
}

template struct SecondOrder<double>;
template struct SecondOrder<float>;

}  // namespace detail

namespace {

using detail::MatrixSpan;
using detail::place_of;
using detail::SecondOrder;
using detail::StateData;

template <class T>
SecondOrder<T>& second_order_of(StateData<T>& s) {
  detail::SensitivityData<T>& d = detail::sensitivities_of(s);
  if (d.second == nullptr) {
    d.second = std::make_shared<SecondOrder<T>>(s);
  }
  return *d.second;
}

/// The four second derivatives that are not zero.
template <class T>
struct SecondSpans {
  MatrixSpan<T> qq;
  MatrixSpan<T> qv;
  MatrixSpan<T> vv;
  MatrixSpan<T> qx;  ///< By q and θ̈, or by q and T.
};

template <class T>
SecondSpans<T> wanted_second(const StateData<T>& s, const MatrixOutput<T>& qq, const MatrixOutput<T>& qv,
                             const MatrixOutput<T>& vv, const MatrixOutput<T>& qx) {
  const int n = s.nv();
  return {detail::wanted(qq, n, n, "the derivative by q and q"), detail::wanted(qv, n, n, "the derivative by q and v"),
          detail::wanted(vv, n, n, "the derivative by v and v"),
          detail::wanted(qx, n, n, "the derivative by q and the third")};
}

/// Adds to qq what springs do whose stretch is not q − rest: the second derivative of λ·stiffness·(q ⊖ rest).
template <class T>
void add_springs(const StateData<T>& s, const T* weight, const MatrixSpan<T>& qq) {
  for (std::size_t k = 0; s.has_passive && k < s.coordinates.slots.size(); ++k) {
    const Hinge& hinge = s.model.bodies()[k].hinge;
    const kernels::HingeSlot& slot = s.coordinates.slots[k];
    if (has_plain_coordinates(hinge.type) ||
        std::none_of(hinge.dofs.begin(), hinge.dofs.end(), [](const HingeDof& x) { return x.stiffness != 0; })) {
      continue;
    }
    std::array<double, max_hinge_positions> q{};
    std::copy_n(s.q.begin() + slot.q, slot.nq, q.begin());
    std::array<double, std::size_t{max_hinge_velocities} * max_hinge_velocities> change{};
    std::array<double, std::size_t{max_hinge_velocities} * max_hinge_velocities> scratch{};
    for (int c = 0; c < slot.nv; ++c) {
      detail::differentiate_along(
          hinge, q.data(), c, 0x1p-7, scratch, std::span(change).first(place_of(slot.nv * slot.nv)),
          [&](const double* there, double* out) { hinge_difference_dq1(hinge, hinge.rest.data(), there, out); });
      for (int j = 0; j < slot.nv; ++j) {
        T sum{};
        for (int i = 0; i < slot.nv; ++i) {
          sum += weight[slot.v + i] *
                 static_cast<T>(hinge.dofs[place_of(i)].stiffness * change[place_of(i * slot.nv + j)]);
        }
        qq(s.coordinates.velocities[place_of(slot.v + j)].own, s.coordinates.velocities[place_of(slot.v + c)].own) +=
            sum;
      }
    }
  }
}

/// Writes those of λ·T, at accelerations and weights of the user.
template <class T>
void write_inverse_second(StateData<T>& s, std::span<const T> acceleration, std::span<const T> weight, Forces<T> forces,
                          const SecondSpans<T>& out) {
  using Tree = SecondOrder<T>;
  using Scalar = typename Tree::Scalar;
  Tree& tree = second_order_of(s);
  s.blocks.need_velocities();
  if (!forces.empty()) {
    s.blocks.need_world();
  }
  tree.begin();
  const auto spread = [&](std::span<const T> from, std::vector<Scalar>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto& follower = s.coordinates.velocities[i];
      to[i] = follower.ratio * from[place_of(follower.own)];
    }
  };
  spread(acceleration, tree.vectors[0]);
  spread(weight, tree.vectors[1]);
  const auto sweep = [&] {
    tree.set_directions(forces);
    detail::sweep_motions(tree, tree.vectors[0].data());
    detail::pull_back(tree, tree.vectors[0].data(), tree.vectors[1].data(), tree.vectors[2].data(),
                      tree.vectors[3].data(), tree.vectors[4].data());
  };
  // the unit vectors from `first` on, as many as there are lanes
  const auto set_way = [&](std::vector<Scalar>& way, int first) {
    for (std::size_t i = 0; i < way.size(); ++i) {
      const auto& follower = s.coordinates.velocities[i];
      way[i] = Scalar();
      if (follower.own >= first && follower.own < first + Tree::lanes) {
        way[i].dx[place_of(follower.own - first)] = follower.ratio;
      }
    }
  };
  const auto for_each = [&](const std::vector<Scalar>& from, int first, auto&& f) {  // f(own, lane, number)
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto& follower = s.coordinates.velocities[i];
      for (int l = 0; l < Tree::lanes && first + l < s.nv(); ++l) {
        f(follower.own, first + l, follower.ratio * from[i].dx[place_of(l)]);
      }
    }
  };
  out.qq.set_zero();
  out.qv.set_zero();
  out.vv.set_zero();
  out.qx.set_zero();
  std::fill(tree.way_v.begin(), tree.way_v.end(), Scalar());
  for (int j = 0; j < s.nv(); j += Tree::lanes) {
    set_way(tree.way_q, j);
    sweep();
    for_each(tree.vectors[2], j, [&](int i, int along, const T& x) { out.qq(i, along) += x; });
    for_each(tree.vectors[3], j, [&](int i, int along, const T& x) { out.qv(along, i) += x; });
    for_each(tree.vectors[4], j, [&](int i, int along, const T& x) { out.qx(along, i) += x; });
  }
  std::fill(tree.way_q.begin(), tree.way_q.end(), Scalar());
  for (int j = 0; j < s.nv(); j += Tree::lanes) {
    set_way(tree.way_v, j);
    sweep();
    for_each(tree.vectors[3], j, [&](int i, int along, const T& x) { out.vv(i, along) += x; });
  }
  s.coordinates.spread(weight, s.full);
  add_springs(s, s.full.data(), out.qq);
}

}  // namespace

template <class T>
void inverse_dynamics_second(BasicState<T>& state, In<T> acceleration, In<T> weight, MatrixOut<T> qq, MatrixOut<T> qv,
                             MatrixOut<T> vv, MatrixOut<T> qa, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> a = detail::given(acceleration, s.nv(), "acceleration");
  const std::span<const T> w = detail::given(weight, s.nv(), "weight");
  const SecondSpans<T> out = wanted_second<T>(s, qq, qv, vv, qa);
  s.check_forces(forces);
  write_inverse_second<T>(s, a, w, forces, out);
}

// With λ = 𝓜⁻¹ℓ, ∂(ℓ·θ̈)/∂q = −(∂T/∂q)*λ at θ̈. Along q the accelerations change by A = ∂θ̈/∂q and λ by −𝓜⁻¹X*, where
// X is the second derivative of λ·T by q and θ̈; (∂T/∂q)*𝓜⁻¹ = −A*.
template <class T>
void forward_dynamics_second(BasicState<T>& state, In<T> torque, In<T> weight, MatrixOut<T> qq, MatrixOut<T> qv,
                             MatrixOut<T> vv, MatrixOut<T> qtau, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> w = detail::given(weight, s.nv(), "weight");
  const SecondSpans<T> out = wanted_second<T>(s, qq, qv, vv, qtau);
  SecondOrder<T>& tree = second_order_of(s);
  const std::size_t n = place_of(s.nv());
  for (std::vector<T>& each : tree.squares) {
    each.resize(n * n);
  }
  forward_dynamics_derivatives(state, torque, std::span<T>(tree.squares[0]), std::span<T>(tree.squares[1]),
                               std::span<T>(tree.squares[2]), forces);  // and θ̈ stays where these keep it
  detail::DerivativeData<T>& d = derivatives_of(s);
  s.solve(w, d.change);
  const std::ptrdiff_t size = s.nv();
  const MatrixSpan<T> by_acceleration{tree.squares[3].data(), size, size, size};
  write_inverse_second<T>(s, d.acceleration, d.change, forces, {out.qq, out.qv, out.vv, by_acceleration});
  using Matrix = typename StateData<T>::Matrix;
  const auto square = [&](std::size_t i) { return Eigen::Map<const Matrix>(tree.squares[i].data(), size, size); };
  const auto view = [&](const MatrixSpan<T>& x) {
    return Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(x.data, size, size, Eigen::OuterStride<>(x.stride));
  };
  const auto X = square(3);
  auto products = view(out.qx);
  products.noalias() = X * square(0);
  view(out.qq) = -view(out.qq) - products - products.transpose();
  products.noalias() = X * square(1);
  view(out.qv) = -view(out.qv) - products;
  view(out.vv) *= T(-1);
  products.noalias() = -X * square(2);
}

template void inverse_dynamics_second(BasicState<double>&, In<double>, In<double>, MatrixOut<double>, MatrixOut<double>,
                                      MatrixOut<double>, MatrixOut<double>, Forces<double>);
template void forward_dynamics_second(BasicState<double>&, In<double>, In<double>, MatrixOut<double>, MatrixOut<double>,
                                      MatrixOut<double>, MatrixOut<double>, Forces<double>);
template void inverse_dynamics_second(BasicState<float>&, In<float>, In<float>, MatrixOut<float>, MatrixOut<float>,
                                      MatrixOut<float>, MatrixOut<float>, Forces<float>);
template void forward_dynamics_second(BasicState<float>&, In<float>, In<float>, MatrixOut<float>, MatrixOut<float>,
                                      MatrixOut<float>, MatrixOut<float>, Forces<float>);

}  // namespace bunraku
