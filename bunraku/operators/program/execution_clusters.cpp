// What each step of a plan does at a cluster of coupled bodies.

#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/execution.hpp"
#include "bunraku/operators/program/detail/numbers.hpp"

namespace bunraku::operators {

bool Execution::is_bodywise(const Slot& slot) {
  const Value& value = *slot.value;
  if (value.step == Step::propagate || value.step == Step::apply_cross) {
    return true;
  }
  if ((value.step != Step::apply && value.step != Step::shift) || slot.variable != nullptr ||
      value.factor.what.term().type != TermType::symbol) {
    return false;
  }
  switch (value.factor.what.term().symbol) {
    case Symbol::M:
    case Symbol::R:
    case Symbol::Delta_phi:
    case Symbol::B:
    case Symbol::E_phi:
    case Symbol::S:
      return true;
    default:
      return false;
  }
}

void Execution::cluster_step(const Slot& slot, int c, Direction direction) {
  const Cluster& cluster = bindings_.clusters()[at(c)];
  if (is_bodywise(slot)) {
    if (direction == Direction::inward) {
      for (std::size_t m = cluster.members.size(); m-- > 0;) {
        const int k = cluster.members[m];
        body_step(slot, k);
      }
    } else {
      for (const int k : cluster.members) {
        body_step(slot, k);
      }
    }
    return;
  }
  switch (slot.value->step) {
    case Step::filter:
      cluster_filter_step(slot, c);
      break;
    case Step::smoother:
      cluster_smoother_step(slot, c);
      break;
    case Step::shift:
    case Step::apply:
      cluster_apply_step(slot, c);
      break;
    case Step::apply_solved:
      apply_matrix(solved_[at(slot.solved)].blocks[at(c)], slot, c);
      break;
    default:
      plain_step(slot, c);
      break;
  }
}

/// z = E_φ z + K ε + w with ε = x − H z: the cluster's gain acts once, on what arrives at its parent.
void Execution::cluster_filter_step(const Slot& slot, int c) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const Cluster& cluster = bindings_.clusters()[at(c)];
  for (const int i : cluster.coordinates) {
    slot.rest[i] = slot.in != nullptr ? slot.in[i] : 0.0;
  }
  for (std::size_t m = cluster.members.size(); m-- > 0;) {
    const int k = cluster.members[m];
    double* z = slot.out + 6 * k;
    if (slot.other != nullptr) {
      add(z, force_at(slot.other + 6 * k));
    }
    const Force<double> f = force_at(z);
    for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
      slot.rest[bindings_.follower(j).own] -= bindings_.follower(j).ratio * dot(blocks.H(j), f);
    }
    if (blocks.parent(k) != world) {
      add(slot.out + 6 * blocks.parent(k), blocks.X_PB(k) * f);
    }
  }
  add_gain(slot.rest, c, slot.out);
}

/// K(c) x, added to the parent's part of a body-space vector.
void Execution::add_gain(const double* x, int c, double* out) {
  const Cluster& cluster = bindings_.clusters()[at(c)];
  if (cluster.parent == world) {
    return;
  }
  const Matrix& K = bindings_.K(c);
  for (Eigen::Index j = 0; j < K.cols(); ++j) {
    const double value = x[cluster.coordinates[static_cast<std::size_t>(j)]];
    for (int i = 0; i < 6; ++i) {
      out[6 * cluster.parent + i] += K(i, j) * value;
    }
  }
}

/// K*(c) x of the parent's part.
double Execution::gain_adjoint(const double* x, int c, Eigen::Index j) const {
  const Cluster& cluster = bindings_.clusters()[at(c)];
  double sum = 0;
  for (int i = 0; cluster.parent != world && i < 6; ++i) {
    sum += bindings_.K(c)(i, j) * x[6 * cluster.parent + i];
  }
  return sum;
}

/// s = E_φ* s + H* r + w with r = d − K* s.
void Execution::cluster_smoother_step(const Slot& slot, int c) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const Cluster& cluster = bindings_.clusters()[at(c)];
  for (std::size_t j = 0; j < cluster.coordinates.size(); ++j) {
    const int i = cluster.coordinates[j];
    slot.rest[i] = (slot.in != nullptr ? slot.in[i] : 0.0) - gain_adjoint(slot.out, c, static_cast<Eigen::Index>(j));
  }
  for (const int k : cluster.members) {
    const int p = blocks.parent(k);
    Motion<double> s = p == world ? Motion<double>::zero() : inverse_times(blocks.X_PB(k), motion_at(slot.out + 6 * p));
    for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
      s += blocks.H(j) * (bindings_.follower(j).ratio * slot.rest[bindings_.follower(j).own]);
    }
    if (slot.other != nullptr) {
      s += motion_at(slot.other + 6 * k);
    }
    put(slot.out + 6 * k, s);
  }
}

/// A square matrix over a cluster's coordinates times in.
void Execution::apply_to_coordinates(const Matrix& block, const Slot& slot, int c) {
  const Cluster& cluster = bindings_.clusters()[at(c)];
  for (std::size_t i = 0; i < cluster.coordinates.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < cluster.coordinates.size(); ++j) {
      sum += block(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * slot.in[cluster.coordinates[j]];
    }
    slot.out[cluster.coordinates[i]] = sum;
  }
}

void Execution::cluster_apply_step(const Slot& slot, int c) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const Cluster& cluster = bindings_.clusters()[at(c)];
  const bool adjoint = slot.value->factor.adjoint;
  if (slot.variable != nullptr) {
    apply_variable(slot, c);
    return;
  }
  if (slot.value->factor.what.term().type == TermType::inverse) {
    apply_to_coordinates(bindings_.D_inverse(c), slot, c);
    return;
  }
  switch (slot.value->factor.what.term().symbol) {
    case Symbol::K:
      if (!adjoint) {
        add_gain(slot.in, c, slot.out);
        break;
      }
      for (std::size_t j = 0; j < cluster.coordinates.size(); ++j) {
        slot.out[cluster.coordinates[j]] = gain_adjoint(slot.in, c, static_cast<Eigen::Index>(j));
      }
      break;
    case Symbol::H:
      for (const int i : cluster.coordinates) {
        if (!adjoint) {
          slot.out[i] = 0;
        }
      }
      for (const int k : cluster.members) {
        Motion<double> m = Motion<double>::zero();
        for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
          const kernels::Follower<double>& f = bindings_.follower(j);
          if (adjoint) {
            m += blocks.H(j) * (f.ratio * slot.in[f.own]);
          } else {
            slot.out[f.own] += f.ratio * dot(blocks.H(j), force_at(slot.in + 6 * k));
          }
        }
        if (adjoint) {
          put(slot.out + 6 * k, m);
        }
      }
      break;
    case Symbol::D:
      apply_to_coordinates(bindings_.D(c), slot, c);
      break;
    case Symbol::armature:
      for (const int i : cluster.coordinates) {
        slot.out[i] = bindings_.armature(i) * slot.in[i];
      }
      break;
    default:
      break;
  }
}

}  // namespace bunraku::operators
