/// @file
/// The sweeps of a register of states in scalar S of this variant.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "bunraku/kernels/block_sweeps.hpp"
#include "bunraku/kernels/derivative_products.hpp"
#include "bunraku/kernels/fold.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/integrate.hpp"
#include "bunraku/kernels/inverse_derivatives.hpp"
#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/kernels/inverse_mass_matrix.hpp"
#include "bunraku/kernels/inverse_products.hpp"
#include "bunraku/kernels/kinematics.hpp"
#include "bunraku/kernels/late_matrix.hpp"
#include "bunraku/kernels/mass_matrix_lanes.hpp"
#include "bunraku/kernels/passive_torques.hpp"
#include "bunraku/kernels/rows.hpp"
#include "bunraku/kernels/solve.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku::kernels {

/// S is Pack<T, W> of this variant.
template <class S>
class BlockSweepsOf final : public BlockSweeps<NumberOf<S>> {
 public:
  using T = NumberOf<S>;  ///< Of a lane.

  explicit BlockSweepsOf(const Tree& tree)
      : tree_(tree),
        coordinates_(tree.coordinates),
        n_(tree.model.nv()),
        constants_(tree),
        own_constants_(tree),
        layouts_(tree, columns_per_register<S>),
        ws_(tree, constants_, layouts_),
        same_(!coordinates_.has_mimics && coordinates_.customs.empty()),
        own_q_(at(tree.model.nq())),
        own_v_(at(n_)),
        q_(same_ ? 0 : at(coordinates_.nq)),
        v_(same_ ? 0 : at(coordinates_.nv)),
        given_(at(n_)),
        full_(at(coordinates_.nv)),
        result_(at(coordinates_.nv)),
        user_(at(n_)) {}

  int lanes() const override { return Lanes<S>::count; }

  std::size_t folded_size(const Varied& varied) const override {
    return folded_packs(tree_, varied) * at(Lanes<S>::count);
  }
  BlockStatus fold(const Varied& varied, const VariedRows<T>& rows, T* numbers) override;
  void set_folded(const Varied& varied, const T* numbers) override;
  void clear_folded() override { ws_.set_constants(constants_); }
  void set_doubts(const double* doubts) override {
    for (std::size_t j = 0; j < own_constants_.doubt.size(); ++j) {
      own_constants_.doubt[j] = S(doubts[j]);
    }
  }

  void settle() override {
    late_.finish();
    settle_rows();
  }

  BlockStatus load(const RowBlock<const T>& q, const RowBlock<const T>& v) override;
  LoadedStates<T> loaded(bool passive) override {
    for (S& each : result_) {
      each = S(0);
    }
    if (passive) {
      add_passive(ws_, result_.data());
    }
    const S* torques = passive ? gathered_torques() : result_.data();
    for (int i = 0; i < n_; ++i) {
      given_[at(i)] = -torques[i];
    }
    const auto numbers = [](const S* packs) { return reinterpret_cast<const T*>(packs); };
    return {numbers(ws_.q), numbers(own_v_.data()), numbers(given_.data())};
  }

  BlockStatus inverse_dynamics(const RowBlock<const T>& acceleration, bool passive,
                               const RowBlock<T>& torque) override {
    const BlockStatus status = take(acceleration, 0);
    kernels::inverse_dynamics(ws_, ws_.v, spread(given_), result_.data());
    if (passive) {
      add_passive(ws_, result_.data());
    }
    put(gathered_torques(), n_, torque);
    return status;
  }
  BlockStatus forward_dynamics(const RowBlock<const T>& torque, bool passive,
                               const RowBlock<T>& acceleration) override {
    BlockStatus status = take(torque, 0);
    accelerate(passive);
    status.doubtful = doubts(ws_.of_forward);
    put(user_.data(), n_, acceleration);
    return status;
  }
  BlockStatus inverse_derivatives(const RowBlock<const T>& acceleration, bool passive, const RowBlock<T>& dq,
                                  const RowBlock<T>& dv, const RowBlock<T>& da) override;
  BlockStatus forward_derivatives(const RowBlock<const T>& torque, bool passive, const RowBlock<T>& dq,
                                  const RowBlock<T>& dv, const RowBlock<T>& dtau) override;
  BlockStatus inverse_jvp(const RowBlock<const T>& acceleration, const RowBlock<const T>& q_rate,
                          const RowBlock<const T>& v_rate, const RowBlock<const T>& a_rate, bool passive,
                          const RowBlock<T>& torque_rate) override;
  BlockStatus inverse_vjp(const RowBlock<const T>& acceleration, const RowBlock<const T>& weight, bool passive,
                          const RowBlock<T>& by_q, const RowBlock<T>& by_v, const RowBlock<T>& by_a) override;
  BlockStatus forward_jvp(const RowBlock<const T>& torque, const RowBlock<const T>& q_rate,
                          const RowBlock<const T>& v_rate, const RowBlock<const T>& torque_rate, bool passive,
                          const RowBlock<T>& acceleration_rate) override;
  BlockStatus forward_vjp(const RowBlock<const T>& torque, const RowBlock<const T>& weight, bool passive,
                          const RowBlock<T>& by_q, const RowBlock<T>& by_v, const RowBlock<T>& by_torque) override;
  BlockStatus bias(const RowBlock<T>& torque) override { return torques(ws_.v, torque); }
  BlockStatus gravity_torques(const RowBlock<T>& torque) override { return torques(ws_.zeros.data(), torque); }
  BlockStatus mass_matrix(const RowBlock<T>& out) override;
  BlockStatus inverse_mass_matrix(const RowBlock<T>& out) override {
    square_.resize(at(n_ * n_));
    kernels::inverse_mass_matrix(ws_, square_.data());
    put(square_.data(), n_ * n_, out);
    return {.doubtful = doubts(ws_.of_state)};
  }
  BlockStatus inverse_mass_times(const RowBlock<const T>& x, int columns, const RowBlock<T>& out) override {
    BlockStatus status;
    for (int j = 0; j < columns; ++j) {
      status.not_finite |= take(x, std::ptrdiff_t{j} * n_).not_finite;
      solve_given();
      store_rows(user_.data(), n_, out, std::ptrdiff_t{j} * n_);
    }
    status.doubtful = columns > 0 ? doubts(ws_.of_state) : 0;
    return status;
  }
  BlockStatus log_determinant(const RowBlock<T>& out) override {
    const S value = kernels::log_determinant(ws_);
    put(&value, 1, out);
    return {.doubtful = doubts(ws_.of_state)};
  }
  BlockStatus poses(const RowBlock<T>& out) override {
    for (int b = 0; b < static_cast<int>(tree_.bodies.size()); ++b) {
      put_pose(node_pose(ws_, b, Transform<S>::identity()), out, 16 * std::ptrdiff_t{b});
    }
    return {};
  }
  BlockStatus pose(const Place& node, const RowBlock<T>& out) override {
    put_pose(node_pose(ws_, node.body, cast<S>(node.X_BN)), out, 0);
    return {};
  }
  BlockStatus velocities(const RowBlock<T>& out) override {
    for (int b = 0; b < static_cast<int>(tree_.bodies.size()); ++b) {
      const Motion<S> V = body_velocity(ws_, b);
      const S numbers[6] = {V.angular.x, V.angular.y, V.angular.z, V.linear.x, V.linear.y, V.linear.z};
      store_rows(numbers, 6, out, 6 * std::ptrdiff_t{b});
    }
    return {};
  }
  BlockStatus jacobian(const Place& node, Frame frame, const RowBlock<T>& out) override {
    square_.resize(at(6 * n_ > n_ * n_ ? 6 * n_ : n_ * n_));
    kernels::jacobian(ws_, node.body, cast<S>(node.X_BN), frame, n_, square_.data());
    put(square_.data(), 6 * n_, out);
    return {};
  }
  BlockStatus center_of_mass(const RowBlock<T>& out) override {
    const Vec3<S> c = kernels::center_of_mass(ws_);
    const S numbers[3] = {c.x, c.y, c.z};
    put(numbers, 3, out);
    return {};
  }
  BlockStatus energy(bool passive, const RowBlock<T>& out) override {
    const S numbers[2] = {kinetic_energy(ws_),
                          passive ? gravity_energy(ws_) + spring_energy(ws_) : gravity_energy(ws_)};
    put(numbers, 2, out);
    return {};
  }
  BlockStatus momentum(const RowBlock<T>& out) override {
    const Force<S> h = kernels::momentum(ws_);
    const S numbers[6] = {h.moment.x, h.moment.y, h.moment.z, h.force.x, h.force.y, h.force.z};
    put(numbers, 6, out);
    return {};
  }
  BlockStatus rollout(const Drive<T>& drive, const Course& course, bool passive, const RowBlock<T>& q,
                      const RowBlock<T>& v) override;

 private:
  using Late = LateMatrix<T, Lanes<S>::count>;

  /// Reads n numbers a state into `given_`.
  BlockStatus take(const RowBlock<const T>& rows, std::ptrdiff_t first) {
    load_rows(rows, first, n_, given_.data());
    return {.not_finite = bits_of(not_finite(given_.data(), n_))};
  }
  void put(const S* numbers, int n, const RowBlock<T>& rows) { store_rows(numbers, n, rows, 0); }
  /// A matrix over the user's coordinates.
  void put(const S* numbers, const MatrixPlaces& places, const RowBlock<T>& rows) {
    store_matrix(numbers, places, n_ * n_, rows);
  }
  void put_pose(const Transform<S>& X, const RowBlock<T>& out, std::ptrdiff_t first) {
    const Mat3<S>& R = X.rotation.matrix();
    const Vec3<S>& p = X.translation;
    const S numbers[16] = {R(0, 0), R(0, 1), R(0, 2), p.x, R(1, 0), R(1, 1), R(1, 2), p.y,
                           R(2, 0), R(2, 1), R(2, 2), p.z, S(0),    S(0),    S(0),    S(1)};
    store_rows(numbers, 16, out, first);
  }
  /// The lanes in doubt; with one lane it is settled.
  LaneBits doubts(const Factors<S>& factors) const {
    if constexpr (is_wide<S>) {
      return bits_of(factors.doubtful);
    } else {
      return 0;
    }
  }
  /// Velocities of all hinges from the user's: S x. In place where none follows another.
  const S* spread(const std::vector<S>& x) {
    if (!coordinates_.has_mimics) {
      return x.data();
    }
    spread_into(x, full_);
    return full_.data();
  }
  /// The same into room for all hinges.
  void spread_into(const std::vector<S>& x, std::vector<S>& full) const {
    if (!coordinates_.has_mimics) {
      std::copy(x.begin(), x.end(), full.begin());
      return;
    }
    for (std::size_t i = 0; i < full.size(); ++i) {
      const Follower<double>& f = coordinates_.velocities[i];
      full[i] = S(f.ratio) * x[at(f.own)];
    }
  }
  /// S* x of all hinges, into `user_` where some follow others.
  const S* gathered(const std::vector<S>& x) {
    if (!coordinates_.has_mimics) {
      return x.data();
    }
    for (S& each : user_) {
      each = S(0);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Follower<double>& f = coordinates_.velocities[i];
      user_[at(f.own)] += S(f.ratio) * x[i];
    }
    return user_.data();
  }
  /// S* of `result_`, likewise.
  const S* gathered_torques() { return gathered(result_); }
  /// The user's numbers in `given_` at the hinges that follow none, into `full_`.
  void place_given() {
    if (coordinates_.has_mimics) {
      for (std::size_t i = 0; i < given_.size(); ++i) {
        full_[at(coordinates_.leaders[i])] = given_[i];
      }
    } else {
      full_.swap(given_);
    }
  }
  /// The user's numbers of `result_`, into `user_`.
  void pick_result() {
    if (same_) {
      user_.swap(result_);
      return;
    }
    for (std::size_t i = 0; i < user_.size(); ++i) {
      user_[i] = result_[at(coordinates_.leaders[i])];
    }
  }
  /// Accelerations for the torques in `given_`, into `user_`.
  void accelerate(bool passive) {
    if (passive) {
      for (S& each : result_) {
        each = S(0);
      }
      add_passive(ws_, result_.data());
      const S* own = gathered_torques();
      for (std::size_t i = 0; i < given_.size(); ++i) {
        given_[i] -= own[i];
      }
    }
    place_given();
    kernels::forward_dynamics(ws_, full_.data(), result_.data());
    pick_result();
  }
  void solve_given() {
    place_given();
    kernels::solve(ws_, full_.data(), result_.data());
    pick_result();
  }
  BlockStatus torques(const S* velocity, const RowBlock<T>& out) {
    kernels::inverse_dynamics(ws_, velocity, ws_.zeros.data(), result_.data());
    put(gathered_torques(), n_, out);
    return {};
  }
  /// All hinges' coordinates from the user's in `own_q_` and `own_v_`.
  void spread_state();
  /// The derivatives of torques over all hinges; see block_derivatives.hpp.
  template <Wanted wanted>
  void differentiate(const S* acceleration, bool passive, const Slopes<S>& slopes, S* mass);
  /// A matrix over all hinges, its elements placed like slopes, over the user's coordinates, where some hinges follow
  /// others: in place i.
  const S* folded(const S* full, const Slopes<S>& slopes, int i);
  void make_directions();
  const S* torques_along(bool passive);
  void torques_back(bool passive);
  void make_derivatives() {
    if (!derivatives_) {
      derivatives_.emplace(ws_, lists());
    }
  }
  const DerivativeLayout& lists() {
    return this->derivative_layout(layouts_.composite, layouts_.innovation, columns_per_register<S>);
  }

  const Tree& tree_;
  const Coordinates<double>& coordinates_;
  int n_;
  Constants<S> constants_;
  Constants<S> own_constants_;  // with parameters of the states' own
  Layouts layouts_;
  Workspace<S> ws_;
  bool same_;                 // whether the user's coordinates are those of all hinges
  std::vector<S> own_q_;      // the user's
  std::vector<S> own_v_;      // the user's
  std::vector<S> q_;          // of all hinges
  std::vector<S> v_;          // of all hinges
  std::vector<S> given_;      // the user's: what is applied
  std::vector<S> full_;       // the same of all hinges
  std::vector<S> result_;     // of all hinges
  std::vector<S> user_;       // the user's: a result
  std::vector<S> square_;     // a matrix, from its first use on
  std::vector<S> mass_;       // 𝓜 over all hinges by paths, from its first use on …
  std::vector<S> late_mass_;  // … and that of the block before, on its way to memory
  Late late_;
  std::vector<S> parameters_;
  std::vector<S> course_;    // of trajectories, from their first use on
  std::vector<S> matrices_;  // three over all hinges, likewise; zero where they always are
  std::vector<S> folded_;    // the same over the user's coordinates, where some hinges follow others
  std::vector<S> solved_;    // derivatives of accelerations by q and v, likewise
  std::optional<DerivativeScratch<S>> derivatives_;
  std::optional<ProductScratch<S>> products_;
  std::optional<DirectionScratch<S>> directions_;  // of products with vectors, from their first use on, …
  struct {
    std::vector<S> acceleration;  // where the derivatives are taken
    std::vector<S> q;             // a direction's rates of q, θ̇ and θ̈; or derivatives by q and θ̇ …
    std::vector<S> v;
    std::vector<S> a;  // … and the weights
  } ways_;             // … over all hinges
};

template <class S>
void BlockSweepsOf<S>::spread_state() {
  if (same_) {
    ws_.set_state(own_q_.data(), own_v_.data());
    return;
  }
  for (const CopySlot& c : coordinates_.copies) {
    for (int i = 0; i < c.count; ++i) {
      q_[at(c.full + i)] = own_q_[at(c.user + i)];
    }
  }
  for (const MimicSlot& m : coordinates_.mimics) {
    q_[at(m.full)] = S(m.ratio) * own_q_[at(m.user)] + S(m.offset);
  }
  for (const CustomSlot& slot : coordinates_.customs) {
    for (int lane = 0; lane < Lanes<S>::count; ++lane) {
      double x[max_hinge_positions] = {};
      for (int i = 0; i < slot.count; ++i) {
        x[i] = q_[at(slot.full + i)][lane];
      }
      custom_hinge_normalize(tree_.model.bodies()[at(slot.body)].hinge, x);
      for (int i = 0; i < slot.count; ++i) {
        set_lane(q_[at(slot.full + i)], lane, x[i]);
      }
    }
  }
  for (std::size_t i = 0; i < v_.size(); ++i) {
    const Follower<double>& f = coordinates_.velocities[i];
    v_[i] = coordinates_.has_mimics ? S(f.ratio) * own_v_[at(f.own)] : own_v_[i];
  }
  ws_.set_state(q_.data(), v_.data());
}

template <class S>
BlockStatus BlockSweepsOf<S>::load(const RowBlock<const T>& q, const RowBlock<const T>& v) {
  const int nq = static_cast<int>(own_q_.size());
  load_rows(q, 0, nq, own_q_.data());
  auto wrong = not_finite(own_q_.data(), nq);
  if (v.data != nullptr) {
    load_rows(v, 0, n_, own_v_.data());
    wrong = wrong | not_finite(own_v_.data(), n_);
  } else {
    for (S& each : own_v_) {
      each = S(0);
    }
  }
  const LaneBits infinite = bits_of(wrong);
  for (const QuaternionSlot& slot : coordinates_.quaternions) {
    S* x = own_q_.data() + slot.user;
    const S d = (x[0] * x[0] + x[1] * x[1]) + (x[2] * x[2] + x[3] * x[3]) - S(1);
    // of the norm's excess it is about twice; the last digits of that do not matter
    wrong = wrong | !(abs(d) <= S(2 * quaternion_tolerance<T>));
    const S scale = S(1) - d * (S(0.5) - d * (S(0.375) - d * S(0.3125)));
    for (int i = 0; i < 4; ++i) {
      x[i] *= scale;
    }
  }
  if (any(wrong)) [[unlikely]] {
    for (int i = 0; i < nq; ++i) {
      own_q_[at(i)] = select(wrong, S(tree_.neutral[at(i)]), own_q_[at(i)]);
    }
    for (S& each : own_v_) {
      each = select(wrong, S(0), each);
    }
  }
  spread_state();
  return {.not_finite = infinite, .not_normalized = bits_of(wrong) & ~infinite};
}

template <class S>
BlockStatus BlockSweepsOf<S>::mass_matrix(const RowBlock<T>& out) {
  const MatrixPlaces& places = this->mass_places();
  const bool is_late = !coordinates_.has_mimics && Late::takes(out, n_ * n_);
  mass_.resize(at(places.size));
  if (is_late) {
    late_mass_.resize(at(places.size));
  }
  mass_matrix_by_paths(ws_, places.start.data(), mass_.data(),
                       [&](int rest) BUNRAKU_INLINE_LAMBDA { late_.advance(places.size - rest, places.size); });
  late_.finish();
  if (is_late) {
    mass_.swap(late_mass_);
    late_.start(late_mass_.data(), places, n_ * n_, out);
    return {};
  }
  if (!coordinates_.has_mimics) {
    put(mass_.data(), places, out);
    return {};
  }
  square_.resize(at(n_ * n_));
  S* folded = square_.data();  // S*𝓜S
  for (int i = 0; i < n_ * n_; ++i) {
    folded[i] = S(0);
  }
  const int full = coordinates_.nv;
  const int* source = places.source.data();
  for (int i = 0; i < full; ++i) {
    const Follower<double>& row = coordinates_.velocities[at(i)];
    for (int j = 0; j < full; ++j) {
      const Follower<double>& column = coordinates_.velocities[at(j)];
      folded[row.own * n_ + column.own] += S(row.ratio * column.ratio) * mass_[at(*source++)];
    }
  }
  put(folded, n_ * n_, out);
  return {};
}

template <class S>
BlockStatus BlockSweepsOf<S>::fold(const Varied& varied, const VariedRows<T>& rows, T* numbers) {
  const int bodies = static_cast<int>(tree_.bodies.size());
  parameters_.resize(at(17 * bodies + 4 * n_ + 3));
  BlockStatus status;
  S* next = parameters_.data();
  const auto taken = [&](bool differs, const RowBlock<const T>& from, int n) -> const S* {
    if (!differs) {
      return nullptr;
    }
    load_rows(from, 0, n, next);
    status.not_finite |= bits_of(not_finite(next, n));
    return std::exchange(next, next + n);
  };
  FoldInput<S> in;
  in.inertial = taken(varied.inertial, rows.inertial, 10 * bodies);
  in.placement = taken(varied.placement, rows.placement, 7 * bodies);
  in.armature = taken(varied.armature, rows.armature, n_);
  in.damping = taken(varied.damping, rows.damping, n_);
  in.friction = taken(varied.friction, rows.friction, n_);
  in.stiffness = taken(varied.stiffness, rows.stiffness, n_);
  in.gravity = taken(varied.gravity, rows.gravity, 3);
  for (int b = 0; in.placement != nullptr && b < bodies; ++b) {
    const S* x = in.placement + 7 * b;
    const S d = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - S(1);
    status.not_normalized |= bits_of(!(abs(d) <= S(2 * quaternion_tolerance<T>)));
  }
  const std::vector<S> doubt = own_constants_.doubt;
  own_constants_ = constants_;
  own_constants_.doubt = doubt;
  kernels::fold(tree_, in, own_constants_);
  for_varied(tree_, varied, own_constants_, [&](const S& x) {
    x.store(numbers);
    numbers += Lanes<S>::count;
  });
  return status;
}

template <class S>
void BlockSweepsOf<S>::set_folded(const Varied& varied, const T* numbers) {
  for_varied(tree_, varied, own_constants_, [&](S& x) {
    x = S::load(numbers);
    numbers += Lanes<S>::count;
  });
  complete(varied, own_constants_);
  ws_.set_constants(own_constants_);
}

}  // namespace bunraku::kernels

#include "bunraku/kernels/variants/block_derivatives.hpp"
#include "bunraku/kernels/variants/block_rollout.hpp"
