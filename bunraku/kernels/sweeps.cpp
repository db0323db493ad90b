#include "bunraku/kernels/sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/sincos.hpp"
#include "bunraku/kernels/singular.hpp"
#include "bunraku/kernels/small_matrix.hpp"

namespace bunraku::kernels {

template <class T>
Sweeps<T>::Sweeps(const Model& model, const Coordinates<T>& coordinates)
    : model_(model),
      coordinates_(coordinates),
      tree_(model, coordinates),
      composite_layout_(tree_),
      innovation_layout_(tree_, coordinates),
      base_acceleration_(-tree_.world_turn.inverse_times(cast<T>(model.gravity()))),
      unit_(at(coordinates.nv)),
      zeros_(at(coordinates.nv)),
      solved_(coordinates.has_mimics ? at(coordinates.nv) : 0),
      spin_(tree_.links.size()),
      placed_(tree_.special.size()),
      H_(at(coordinates.nv)),
      moving_(tree_.links.size() + 1),
      turning_(tree_.links.size() + 1),
      arm_acceleration_(tree_.links.size()),
      special_bias_(tree_.special.size()),
      force_(tree_.links.size()),
      alpha_(tree_.links.size() + 1),
      P_(tree_.links.size()),
      epsilon_(at(coordinates.nv)),
      of_state_{std::vector<Force<T>>(at(coordinates.nv)), std::vector<T>(at(coordinates.nv), T(1)), {}},
      of_forward_{of_state_},
      composite_(tree_.links.size()),
      columns_(at(std::max(composite_layout_.registers, innovation_layout_.registers))),
      ancestors_(at(innovation_layout_.depth + 1)),
      rows_(columns_.size()),
      doubt_(doubtful_inertias<T>(model)) {
  for (const Link<T>& l : tree_.links) {
    for (int j = 0; j < l.nv; ++j) {  // those of general hinges come with each state
      H_[at(l.v + j)][l.kind == Kind::prismatic ? 5 : l.kind < Kind::prismatic ? 2 : j] = T(1);
    }
  }
  prepare_clusters();
  moving_[0].a = base_acceleration_;
  alpha_[0].linear = base_acceleration_;
}

template <class T>
void Sweeps<T>::need_positions() {
  if (positions_) {
    return;
  }
  spin();
  for (const int k : tree_.special) {
    place(k);
  }
  positions_ = true;
}

/// Cosines and sines of revolute hinges, a register of them at a time.
template <class T>
void Sweeps<T>::spin() {
  constexpr std::size_t lanes = lane_count<T>;
  const std::size_t count = tree_.revolute.size();
  for (std::size_t i = 0; i < count; i += lanes) {
    Lanes<T> angle;
    const std::size_t last = std::min(i + lanes, count) - 1;
    const auto turned = [&](std::size_t lane) { return q_[tree_.revolute[std::min(i + lane, last)].q]; };
    if constexpr (lanes == 4) {
      angle = Lanes<T>{turned(0), turned(1), turned(2), turned(3)};
    } else {
      angle = Lanes<T>{turned(0), turned(1), turned(2), turned(3), turned(4), turned(5), turned(6), turned(7)};
    }
    Lanes<T> s;
    Lanes<T> c;
    sincos<T>(angle, s, c);
    for (std::size_t lane = 0; i + lane <= last; ++lane) {
      const RevoluteSlot<T>& slot = tree_.revolute[i + lane];
      spin_[at(slot.link)] = {c[lane] * slot.offset_c - s[lane] * slot.offset_s,
                              s[lane] * slot.offset_c + c[lane] * slot.offset_s};
    }
  }
}

template <class T>
void Sweeps<T>::place(int k) {
  const Link<T>& l = tree_.links[at(k)];
  Transform<T>& out = placed_[at(l.special)];
  if (l.kind == Kind::floating) {  // where it is does not matter, only how it is turned
    const T* q = q_ + l.q;
    out.rotation = Rotation<T>(l.turn * Rotation<T>(Quaternion<T>{q[0], q[1], q[2], q[3]}).matrix());
    return;
  }
  const Hinge& hinge = model_.bodies()[at(l.body)].hinge;
  std::array<double, max_hinge_positions> q{};
  std::copy_n(q_ + l.q, hinge.configuration_size(), q.begin());
  std::array<Motion<double>, max_hinge_velocities> columns{};
  hinge_joint_map(hinge, q.data(), columns.data());
  for (int j = 0; j < l.nv; ++j) {
    H_[at(l.v + j)] = cast<T>(columns[at(j)]);
  }
  out = Transform<T>{Rotation<T>(l.turn), l.p} * cast<T>(hinge_pose(hinge, q.data()));
}

template <class T>
Motion<T> Sweeps<T>::joint_map_rate(const Link<T>& l, const T* velocity) const {
  const Hinge& hinge = model_.bodies()[at(l.body)].hinge;
  std::array<double, max_hinge_positions> q{};
  std::array<double, max_hinge_velocities> v{};
  std::copy_n(q_ + l.q, hinge.configuration_size(), q.begin());
  std::copy_n(velocity + l.v, l.nv, v.begin());
  return cast<T>(hinge_bias(hinge, q.data(), v.data()));
}

template <class T>
void Sweeps<T>::need_articulated() {
  need_positions();
  if (!articulated_) {
    eliminate(of_state_);
    articulated_ = true;
  }
}

template <class T>
T Sweeps<T>::log_determinant() {
  need_articulated();
  T sum{};
  for (const T& inverse : of_state_.D_inverse) {
    sum -= std::log(inverse);
  }
  return sum;
}

/// The pose in the parent of any link.
template <class T>
Transform<T> Sweeps<T>::pose_of(int k) const {
  const Link<T>& l = tree_.links[at(k)];
  if (l.kind > Kind::revolute_full) {
    return pose(l);
  }
  const Spin<T>& s = spin_[at(k)];
  const Mat3<T> turn{{{s.c, -s.s, T(0)}, {s.s, s.c, T(0)}, {T(0), T(0), T(1)}}};
  return {Rotation<T>(l.turn * turn), l.p};
}

/// Room for what clusters need, and below what their D may be rounding of zero: ‖H̄‖² ≤ (Σ |ratio| ‖H‖)² in the
/// composite bodies' inertias.
template <class T>
void Sweeps<T>::prepare_clusters() {
  std::size_t numbers = 0;
  std::size_t most = 0;
  for (const Run& run : tree_.stages) {
    if (run.cluster < 0) {
      continue;
    }
    const CoupledLinks& c = tree_.clusters[at(run.cluster)];
    const std::size_t m = c.coordinates.size();
    numbers += run.kind == Kind::siblings ? 0 : m * m;
    most = std::max(most, m);
    std::vector<T> size(m);
    for (int k = c.begin; k < c.end; ++k) {
      const Link<T>& l = tree_.links[at(k)];
      for (int i = l.v; i < l.v + l.nv; ++i) {
        const Follower<T>& follower = tree_.within[at(i)];
        size[at(follower.own)] += std::abs(follower.ratio) * std::sqrt(doubt_[at(i)] / doubtful_part<T>(l.nv));
      }
    }
    for (std::size_t j = 0; j < m; ++j) {
      doubt_[at(c.coordinates[j])] = size[j] * size[j] * doubtful_part<T>(static_cast<int>(m));
    }
  }
  of_state_.L.resize(numbers);
  of_forward_.L.resize(numbers);
  square_.resize(most * most);
  rounding_.resize(most);
  pivots_.resize(most);
  if (innovation_layout_.depth <= deepest_combined) {
    parts_.resize(most * at(innovation_layout_.registers));
  }
}

/// Throws where a D is rounding of zero, naming the outermost hinge of which that is so. Inward, with the composite
/// bodies of singular.hpp.
template <class T>
void Sweeps<T>::settle_doubts(const Factors<T>& factors) {
  std::fill(composite_.begin(), composite_.end(), RigidInertia<T>::zero());
  for (int k = static_cast<int>(tree_.links.size()) - 1; k >= 0; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const int cluster = tree_.cluster_of[at(k)];
    if (cluster < 0) {
      const HingeDoubt<T> doubt{
          {H_.data() + l.v, at(l.nv)}, {factors.U.data() + l.v, at(l.nv)}, {factors.D_inverse.data() + l.v, at(l.nv)}};
      check_positive(model_.bodies()[at(l.body)].hinge, doubt, l.inertia, composite_[at(k)]);
    } else if (k == tree_.clusters[at(cluster)].begin) {
      settle_doubt(tree_.clusters[at(cluster)], factors);
    }
    if (l.parent >= 0) {
      composite_[at(l.parent)] += pose_of(k) * (l.inertia + composite_[at(k)]);
    }
  }
}

/// The same for a cluster: D = L d L*, and what of it is rounding, as in prepare_clusters.
template <class T>
void Sweeps<T>::settle_doubt(const CoupledLinks& c, const Factors<T>& factors) {
  const std::size_t m = c.coordinates.size();
  std::fill(rounding_.begin(), rounding_.end(), T(0));
  for (int k = c.begin; k < c.end; ++k) {
    const Link<T>& l = tree_.links[at(k)];
    for (int i = l.v; i < l.v + l.nv; ++i) {
      const Follower<T>& follower = tree_.within[at(i)];
      rounding_[at(follower.own)] +=
          std::abs(follower.ratio) *
          std::sqrt(rounding_of(H_[at(i)], coordinates_.armature[at(i)], l.inertia, composite_[at(k)]));
    }
  }
  std::fill_n(square_.begin(), m * m, T(0));
  const T* L = m == 1 ? nullptr : factors.L.data() + c.factor;
  for (std::size_t j = 0; j < m; ++j) {
    const T inverse = factors.D_inverse[at(c.coordinates[j])];
    for (std::size_t i = 0; i <= j && inverse > T(0); ++i) {  // D is not positive where the inverse is not
      const T part = (i == j ? T(1) : L[i * m + j]) / inverse;
      for (std::size_t n = 0; n <= i; ++n) {
        square_[i * m + n] = square_[n * m + i] += part * (n == j ? T(1) : L[n * m + j]);
      }
    }
  }
  check_coupled(square_.data(), static_cast<int>(m), rounding_.data(), pivots_.data(), [&](int j) -> const Hinge& {
    const int v = c.coordinates[at(j)];
    const auto owner = std::find_if(tree_.links.begin() + c.begin, tree_.links.begin() + c.end,
                                    [v](const Link<T>& l) { return l.v <= v && v < l.v + l.nv; });
    return model_.bodies()[at(owner->body)].hinge;
  });
}

template Sweeps<double>::Sweeps(const Model&, const Coordinates<double>&);
template void Sweeps<double>::need_positions();
template void Sweeps<double>::need_articulated();
template Motion<double> Sweeps<double>::joint_map_rate(const Link<double>&, const double*) const;
template double Sweeps<double>::log_determinant();
template void Sweeps<double>::settle_doubts(const Factors<double>&);
template Transform<double> Sweeps<double>::pose_of(int) const;
template Sweeps<float>::Sweeps(const Model&, const Coordinates<float>&);
template void Sweeps<float>::need_positions();
template void Sweeps<float>::need_articulated();
template Motion<float> Sweeps<float>::joint_map_rate(const Link<float>&, const float*) const;
template float Sweeps<float>::log_determinant();
template void Sweeps<float>::settle_doubts(const Factors<float>&);
template Transform<float> Sweeps<float>::pose_of(int) const;

}  // namespace bunraku::kernels
