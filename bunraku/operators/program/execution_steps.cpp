// What each step of a plan does at a body.

#include <algorithm>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/execution.hpp"
#include "bunraku/operators/program/detail/numbers.hpp"

namespace bunraku::operators {

namespace {

/// An n×n block, row by row, times x.
BUNRAKU_INLINE void times_square(const double* block, int n, const double* x, double* out) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      sum += block[i * n + j] * x[j];
    }
    out[i] = sum;
  }
}

/// x̃ c = (x × a, y × a + x × b) for z = (x, y), c = (a, b) (JR03 2.5).
Motion<double> spatial_cross(const Motion<double>& z, const Motion<double>& c) {
  return {cross(z.angular, c.angular), cross(z.linear, c.angular) + cross(z.angular, c.linear)};
}
/// x̃* c.
Motion<double> spatial_cross_adjoint(const Motion<double>& z, const Motion<double>& c) {
  return {cross(c.angular, z.angular) + cross(c.linear, z.linear), cross(c.linear, z.angular)};
}

}  // namespace

/// z(k) = w(k) + Σ φ(k,c) z⁺(c), ε(k) = x(k) − H(k) z(k), z⁺(k) = z(k) + G(k) ε(k) (RK92 43–46).
BUNRAKU_INLINE void Execution::filter_step(const Slot& slot, int k) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const kernels::Joint& joint = blocks.joint(k);
  double* z = slot.out + 6 * k;
  if (slot.other != nullptr) {
    const double* w = slot.other + 6 * k;
    for (int i = 0; i < 6; ++i) {
      z[i] += w[i];
    }
  }
  const Force<double> z_k = force_at(z);
  kernels::HingeVector<double> epsilon{};
  for (int i = 0; i < joint.nv; ++i) {
    const int j = joint.first + i;
    epsilon[i] = (slot.in != nullptr ? slot.in[j] : 0.0) - dot(blocks.H(j), z_k);
    slot.rest[j] = epsilon[i];
  }
  const Force<double> passed =
      joint.nv == 1 ? z_k + blocks.G(joint.first) * epsilon[0] : z_k + kernels::gain_times(blocks, k, epsilon);
  if (joint.parent != world) {
    add(slot.out + 6 * joint.parent, blocks.X_PB(k) * passed);
  }
}

/// λ(k) = φ*(p,k) s(p), r(k) = d(k) − G*(k) λ(k), s(k) = λ(k) + H*(k) r(k) + w(k).
BUNRAKU_INLINE void Execution::smoother_step(const Slot& slot, int k) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const kernels::Joint& joint = blocks.joint(k);
  const Motion<double> lambda = joint.parent == world
                                    ? Motion<double>::zero()
                                    : inverse_times(blocks.X_PB(k), motion_at(slot.out + 6 * joint.parent));
  Motion<double> s = lambda;
  kernels::HingeVector<double> seen{};
  if (joint.nv == 1) {
    seen[0] = dot(blocks.G(joint.first), lambda);
  } else if (joint.nv > 1) {
    seen = kernels::gain_adjoint_times(blocks, k, lambda);
  }
  for (int i = 0; i < joint.nv; ++i) {
    const int j = joint.first + i;
    const double residual = (slot.in != nullptr ? slot.in[j] : 0.0) - seen[i];
    slot.rest[j] = residual;
    s += blocks.H(j) * residual;
  }
  if (slot.other != nullptr) {
    s += motion_at(slot.other + 6 * k);
  }
  put(slot.out + 6 * k, s);
}

void Execution::shift_step(const Slot& slot, int k) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const auto& [p, first, n, type] = blocks.joint(k);
  const Symbol symbol = slot.symbol;
  if (!slot.adjoint) {
    if (p == world) {
      return;
    }
    double* out = slot.out + 6 * p;
    if (symbol == Symbol::K) {
      add(out, kernels::shifted_gain_times(blocks, k, kernels::hinge_part(blocks, k, slot.in)));
    } else if (symbol == Symbol::E_phi) {
      add(out, blocks.X_PB(k) * force_at(slot.in + 6 * k));
    } else {
      add(out, force_at(slot.in + 6 * k));
    }
    return;
  }
  const Motion<double> x = p == world ? Motion<double>::zero() : motion_at(slot.in + 6 * p);
  if (symbol == Symbol::S) {
    put(slot.out + 6 * k, x);
    return;
  }
  const Motion<double> moved = inverse_times(blocks.X_PB(k), x);
  if (symbol == Symbol::E_phi) {
    put(slot.out + 6 * k, moved);
    return;
  }
  kernels::set_hinge_part(blocks, k, kernels::gain_adjoint_times(blocks, k, moved), slot.out);
}

/// A symbol's block times in(k).
void Execution::apply_step(const Slot& slot, int k) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  const auto& [p, first, n, type] = blocks.joint(k);
  const bool adjoint = slot.adjoint;
  const double* hinge_in = slot.in + first;
  double* hinge_out = slot.out + first;
  if (slot.inverse) {
    const auto x = kernels::hinge_part<double>(blocks, k, slot.in);
    kernels::set_hinge_part(blocks, k, kernels::d_inverse_times(blocks, k, x), slot.out);
    return;
  }
  if (slot.variable != nullptr) {
    apply_variable(slot, k);
    return;
  }
  const double* in = slot.in + 6 * k;
  double* out = slot.out + 6 * k;
  switch (slot.symbol) {
    case Symbol::M:
      put(out, blocks.M(k) * motion_at(in));
      break;
    case Symbol::R:
      put(out, bindings_.R(k) * motion_at(in));
      break;
    case Symbol::P:
      put(out, blocks.P(k) * motion_at(in));
      break;
    case Symbol::Upsilon:
      put(out, kernels::motion_of(bindings_.upsilon(k), force_at(in)));
      break;
    case Symbol::Delta_phi:
      if (adjoint) {
        put(out, inverse_times(blocks.X_PB(k), motion_at(in)));
      } else {
        put(out, blocks.X_PB(k) * force_at(in));
      }
      break;
    case Symbol::H:
      if (adjoint) {
        Motion<double> m = Motion<double>::zero();
        for (int j = 0; j < n; ++j) {
          m += blocks.H(first + j) * hinge_in[j];
        }
        put(out, m);
      } else {
        const Force<double> f = force_at(in);
        for (int j = 0; j < n; ++j) {
          hinge_out[j] = dot(blocks.H(first + j), f);
        }
      }
      break;
    case Symbol::G:
      if (adjoint) {
        kernels::set_hinge_part(blocks, k, kernels::gain_adjoint_times(blocks, k, motion_at(in)), slot.out);
      } else {
        put(out, kernels::gain_times(blocks, k, kernels::hinge_part<double>(blocks, k, slot.in)));
      }
      break;
    case Symbol::D:
      times_square(blocks.D(k), n, hinge_in, hinge_out);
      break;
    case Symbol::armature:
      for (int j = 0; j < n; ++j) {
        hinge_out[j] = blocks.armature(first + j) * hinge_in[j];
      }
      break;
    case Symbol::B:
      if (adjoint) {
        for (const int i : bindings_.nodes_at(k)) {
          put(slot.out + 6 * i, inverse_times(bindings_.nodes()[at(i)].X_BN, motion_at(in)));
        }
      } else {
        Force<double> f = Force<double>::zero();
        for (const int i : bindings_.nodes_at(k)) {
          f += bindings_.nodes()[at(i)].X_BN * force_at(slot.in + 6 * i);
        }
        put(out, f);
      }
      break;
    default:
      break;
  }
}

/// A square matrix over the numbers of a cluster's part, times in.
void Execution::apply_matrix(const Matrix& block, const Slot& slot, int cluster) {
  double* gathered = scratch_.data();
  int n = 0;
  visit_part(slot.value->space.kind, cluster, [&](int place) { gathered[n++] = slot.in[place]; });
  Eigen::Index i = 0;
  visit_part(slot.value->space.kind, cluster, [&](int place) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      sum += block(i, j) * gathered[j];
    }
    slot.out[place] = sum;
    ++i;
  });
}

/// The blocks of a variable at a cluster, or their adjoints, times in.
void Execution::apply_variable(const Slot& slot, int cluster) {
  visit_part(slot.value->space.kind, cluster, [&](int place) { slot.out[place] = 0; });
  for (const VariableBlock* block : slot.variable->by_cluster[at(cluster)]) {
    for (std::size_t i = 0; i < block->rows.size(); ++i) {
      for (std::size_t j = 0; j < block->cols.size(); ++j) {
        const double value = block->values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
        if (slot.adjoint) {
          slot.out[block->cols[j]] += value * slot.in[block->rows[i]];
        } else {
          slot.out[block->rows[i]] += value * slot.in[block->cols[j]];
        }
      }
    }
  }
}

void Execution::body_step(const Slot& slot, int k) {
  const kernels::Blocks<double>& blocks = bindings_.blocks();
  switch (slot.step) {
    case Step::filter:
      filter_step(slot, k);
      break;
    case Step::smoother:
      smoother_step(slot, k);
      break;
    case Step::propagate:
      if (const int p = blocks.parent(k); slot.adjoint) {
        Motion<double> m = motion_at(slot.in + 6 * k);
        if (p != world) {
          m += inverse_times(blocks.X_PB(k), motion_at(slot.out + 6 * p));
        }
        put(slot.out + 6 * k, m);
      } else {
        const Force<double> f = force_at(slot.out + 6 * k) + force_at(slot.in + 6 * k);
        put(slot.out + 6 * k, f);
        if (p != world) {
          add(slot.out + 6 * p, blocks.X_PB(k) * f);
        }
      }
      break;
    case Step::shift:
      shift_step(slot, k);
      break;
    case Step::apply:
      apply_step(slot, k);
      break;
    case Step::apply_solved:
      apply_matrix(solved_[at(slot.solved)].blocks[at(k)], slot, k);
      break;
    case Step::apply_cross: {
      const Motion<double> z = motion_at(slot.other + 6 * k);
      const Motion<double> x = motion_at(slot.in + 6 * k);
      put(slot.out + 6 * k, slot.adjoint ? spatial_cross_adjoint(z, x) : spatial_cross(z, x));
      break;
    }
    default:
      plain_step(slot, k);
      break;
  }
}

/// Steps that know no tree: number by number in the part of cluster c.
void Execution::plain_step(const Slot& slot, int c) {
  const Value& value = *slot.value;
  const bool reads_all = value.step == Step::dot || value.step == Step::extract;
  const Space& space = reads_all ? plan_.values[at(value.in[0])].space : value.space;
  if (space.kind == SpaceKind::number || !space.part.empty()) {  // belongs to no body: done with the first
    if (c == 0) {
      range_step(slot, 0, bindings_.dimension(space));
    }
    return;
  }
  if ((value.step == Step::extract || value.step == Step::inject)) {
    part_step(slot, c, space.kind);
    return;
  }
  if (!bindings_.coupled() && space.kind == SpaceKind::body) {
    range_step(slot, 6 * c, 6 * c + 6);
  } else if (!bindings_.coupled() && space.kind == SpaceKind::hinge) {
    const kernels::Joint& joint = bindings_.blocks().joint(c);
    range_step(slot, joint.first, joint.first + joint.nv);
  } else {
    visit_part(space.kind, c, [&](int place) { range_step(slot, place, place + 1); });
  }
}

BUNRAKU_INLINE void Execution::range_step(const Slot& slot, int begin, int end) {
  switch (slot.value->step) {
    case Step::combine:
      for (int i = begin; i < end; ++i) {
        double sum = 0;
        for (const auto& [coefficient, in] : slot.terms) {
          sum += coefficient * in[i];
        }
        slot.out[i] = sum;
      }
      break;
    case Step::scale_by:
      for (int i = begin; i < end; ++i) {
        slot.out[i] = slot.in[i] * *slot.other;
      }
      break;
    case Step::dot:
      for (int i = begin; i < end; ++i) {
        *slot.out += slot.in[i] * slot.other[i];
      }
      break;
    default:  // there from the start
      break;
  }
}

/// What a step does in a model without bodies: numbers are numbers there, too.
void Execution::number_step(const Slot& slot) {
  if (slot.value->space.kind == SpaceKind::number && slot.step != Step::dot) {
    range_step(slot, 0, 1);
  }
}

/// Copies one body's or node's part into a whole vector, or out of one.
void Execution::part_step(const Slot& slot, int c, SpaceKind kind) {
  const Cluster& cluster = bindings_.clusters()[at(c)];
  const std::vector<int>& owners = kind == SpaceKind::node ? cluster.nodes : cluster.members;
  if (std::find(owners.begin(), owners.end(), slot.body) == owners.end()) {
    return;
  }
  int begin = 6 * slot.body;
  int size = 6;
  if (kind == SpaceKind::hinge) {
    const Body& body = bindings_.model().bodies()[at(slot.body)];
    begin = body.v_index;
    size = body.nv;
  }
  if (slot.value->step == Step::inject) {
    std::copy_n(slot.in, size, slot.out + begin);
  } else {
    std::copy_n(slot.in + begin, size, slot.out);
  }
}

}  // namespace bunraku::operators
