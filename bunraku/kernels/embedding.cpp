#include "bunraku/kernels/embedding.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bunraku/kernels/index.hpp"
#include "bunraku/kernels/loop_plans.hpp"

namespace bunraku::kernels {

namespace {

/// Of a body, in an array that begins with the world.
constexpr std::size_t of_body(int body) {
  return static_cast<std::size_t>(body + 1);
}

double square(double x) {
  return x * x;
}

/// x/y, nothing of nothing.
double part(double x, double y) {
  return x == 0 ? 0 : x / y;
}

}  // namespace

Embedding::Embedding(const Tree& tree, std::span<const int> closures)
    : tree_(&tree),
      q_(at(tree.coordinates.nq)),
      v_(at(tree.coordinates.nv)),
      motion_(tree.model.bodies().size() + 1),
      H_(v_.size()),
      basis_(tree.basis_numbers),
      bias_(v_.size()),
      row_space_(0, 0),
      column_space_(0, 0) {
  int row = 0;
  for (const int closure : closures) {
    const int rows = closure_rows(tree.model.closures()[at(closure)]);
    loops_.push_back({.closure = closure, .first_row = row, .rows = rows});
    row += rows;
  }
  for (std::size_t c = 0; c < tree.clusters.size(); ++c) {
    if (tree.clusters[c].embedded >= 0) {
      add_cluster(tree, static_cast<int>(c));
    }
  }
  std::size_t most_rows = 0;
  std::size_t most_coordinates = 0;
  for (const LoopCluster& c : clusters_) {
    most_rows = std::max(most_rows, c.rows);
    most_coordinates = std::max(most_coordinates, c.coordinates);
  }
  row_space_ = RowSpace(most_rows, most_coordinates);
  column_space_ = RowSpace(most_coordinates, most_rows);
  rows_.resize(most_rows * most_coordinates);
  numbers_.resize(std::max(most_rows, most_coordinates));
  solution_.resize(numbers_.size());
  U_.resize(at(row));
  scale_.resize(at(row));
  lacking_.resize(clusters_.size());
  worst_.resize(clusters_.size());
  independent_.resize(clusters_.size());
}

void Embedding::add_cluster(const Tree& tree, int cluster) {
  const CoupledLinks& links = tree.clusters[at(cluster)];
  LoopCluster c{.cluster = cluster,
                .base = links.parent < 0 ? world : tree.links[at(links.parent)].body,
                .coordinates = links.coordinates.size(),
                .first = Y_.size(),
                .first_row = clusters_.empty() ? 0 : clusters_.back().first_row + clusters_.back().rows,
                .basis = links.basis,
                .links = &links};
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    Loop& loop = loops_[i];
    if (std::find(links.closures.begin(), links.closures.end(), loop.closure) == links.closures.end()) {
      continue;
    }
    loop.cluster = static_cast<int>(clusters_.size());
    loop.local_row = static_cast<int>(c.rows);
    c.rows += at(loop.rows);
    c.loops.push_back(static_cast<int>(i));
    const Closure& closure = tree.model.closures()[at(loop.closure)];
    for (const Node* node : {&closure.a, &closure.b}) {
      for (int body = closure.kind == ClosureKind::hinges ? c.base : node->body; body != c.base;
           body = tree.model.bodies()[at(body)].parent) {
        c.bodies.push_back({body, tree.model.bodies()[at(body)].parent});
      }
    }
  }
  std::sort(c.bodies.begin(), c.bodies.end(), [](const LoopBody& x, const LoopBody& y) { return x.body < y.body; });
  c.bodies.erase(std::unique(c.bodies.begin(), c.bodies.end(),
                             [](const LoopBody& x, const LoopBody& y) { return x.body == y.body; }),
                 c.bodies.end());
  for (LoopBody& each : c.bodies) {
    const Body& body = tree.model.bodies()[at(each.body)];
    const HingeType type = body.hinge.type;
    each.steady = type == HingeType::revolute || type == HingeType::continuous || type == HingeType::prismatic;
    if (each.steady) {
      Motion<double>& H = H_[at(tree.coordinates.slots[at(each.body)].v)];
      hinge_joint_map(body.hinge, q_.data(), &H);
      H = inverse_times(body.X_MB, H);
    }
  }
  Y_.resize(Y_.size() + c.rows * c.coordinates);
  clusters_.push_back(std::move(c));
}

/// Poses, velocities and accelerations at θ̈ = 0 against c, outward: as RK92 6 and RK88 2.31–2.32 with c in the world's
/// place.
void Embedding::move_bodies(const LoopCluster& c) {
  motion_[of_body(c.base)] = {};
  for (const LoopBody& each : c.bodies) {
    const Body& body = tree_->model.bodies()[at(each.body)];
    const HingeSlot& slot = tree_->coordinates.slots[at(each.body)];
    const double* q = q_.data() + slot.q;
    const double* v = v_.data() + slot.v;
    Motion<double> rate = Motion<double>::zero();
    if (!each.steady) {
      hinge_joint_map(body.hinge, q, H_.data() + slot.v);
      for (int j = slot.v; j < slot.v + slot.nv; ++j) {
        H_[at(j)] = inverse_times(body.X_MB, H_[at(j)]);
      }
      rate = inverse_times(body.X_MB, hinge_bias(body.hinge, q, v));
    }
    Motion<double> r = Motion<double>::zero();
    for (int j = 0; j < slot.nv; ++j) {
      r += H_[at(slot.v + j)] * v[j];
    }
    const Transform<double> X = body.X_PF * hinge_pose(body.hinge, q) * body.X_MB;
    const LoopMotion& up = motion_[of_body(each.parent)];
    const Vec3<double> w = X.rotation.inverse_times(up.V.angular);
    const Vec3<double> l = X.rotation.inverse_times(X.translation);
    const Motion<double> a{cross(w, r.angular) + rate.angular,
                           cross(w, cross(w, l) + r.linear * 2.0) + cross(r.angular, r.linear) + rate.linear};
    motion_[of_body(each.body)] = {up.X * X, inverse_times(X, up.V) + r, inverse_times(X, up.alpha) + a};
  }
}

/// How far the cluster reaches.
void Embedding::measure(const LoopCluster& c) {
  double far = 0;
  double reach = 0;
  const Vec3<double> start = motion_[of_body(c.bodies.front().body)].X.translation;
  const auto reach_to = [&](const Vec3<double>& p) {
    far = std::max(far, squared_norm(p));
    reach = std::max(reach, squared_norm(p - start));
  };
  for (const LoopBody& each : c.bodies) {
    reach_to(motion_[of_body(each.body)].X.translation);
  }
  for (const int i : c.loops) {
    const Closure& closure = tree_->model.closures()[at(loops_[at(i)].closure)];
    if (closure.kind != ClosureKind::hinges) {
      for (const Node* node : {&closure.a, &closure.b}) {
        reach_to(motion_[of_body(node->body)].X * node->X_BN.translation);
      }
    }
  }
  reach_ = std::sqrt(reach) + part_of_way * std::sqrt(far);
}

LoopMotion Embedding::node_motion(const Node& node) const {
  const LoopMotion& body = motion_[of_body(node.body)];
  const Vec3<double>& w = body.V.angular;
  const Motion<double> turning{Vec3<double>::zero(), cross(w, cross(w, node.X_BN.translation))};
  return {body.X * node.X_BN, inverse_times(node.X_BN, body.V),
          inverse_times(node.X_BN, body.alpha) +
              Motion<double>{Vec3<double>::zero(), node.X_BN.rotation.inverse_times(turning.linear)}};
}

/// Adds the part of one node to Y and to the squares of what the rows could be: `on` are rows of A at the node, in its
/// axes, X its pose in c.
void Embedding::add_columns(const LoopCluster& c, const Node& node, const Transform<double>& X, const Force<double>* on,
                            const Loop& loop) {
  double* Y = Y_.data() + c.first + at(loop.local_row) * c.coordinates;
  double* scale = scale_.data() + c.first_row + at(loop.local_row);
  for (int k = node.body; k != c.base; k = tree_->model.bodies()[at(k)].parent) {
    const HingeSlot& slot = tree_->coordinates.slots[at(k)];
    const Transform<double> X_BN = motion_[of_body(k)].X.inverse() * X;
    for (int j = slot.v; j < slot.v + slot.nv; ++j) {
      const Follower<double>& follower = tree_->within[at(j)];
      const Motion<double> column = inverse_times(X_BN, H_[at(j)]) * follower.ratio;
      const double turning = squared_norm(column.angular);
      const double moving = squared_norm(column.linear) + square(reach_) * turning;
      for (std::size_t i = 0; i < at(loop.rows); ++i) {
        Y[i * c.coordinates + at(follower.own)] += dot(on[i], column);
        scale[i] += squared_norm(on[i].moment) * turning + squared_norm(on[i].force) * moving;
      }
    }
  }
}

void Embedding::add_nodes(const LoopCluster& c, Loop& loop) {
  const Closure& closure = tree_->model.closures()[at(loop.closure)];
  const LoopMotion a = node_motion(closure.a);
  const LoopMotion b = node_motion(closure.b);
  ClosureEquations<double>& equations = loop.equations;
  closure_velocities(closure, {a.X.inverse() * b.X, a.V, b.V}, equations);
  add_columns(c, closure.a, a.X, equations.on_a.data(), loop);
  add_columns(c, closure.b, b.X, equations.on_b.data(), loop);
  for (std::size_t i = 0; i < at(loop.rows); ++i) {
    U_[c.first_row + at(loop.local_row) + i] =
        equations.rate[i] - dot(equations.on_a[i], a.alpha) - dot(equations.on_b[i], b.alpha);
    if (closure.kind != ClosureKind::rows) {
      const Force<double>& N = equations.directions[i];
      loop.gap = std::max(loop.gap, part(std::abs(equations.gap[i]), norm(N.moment) + norm(N.force) * reach_));
    }
  }
}

void Embedding::add_coupling(const LoopCluster& c, Loop& loop) {
  const Closure& closure = tree_->model.closures()[at(loop.closure)];
  const HingeSlot& a = tree_->coordinates.slots[at(closure.hinge_a)];
  const HingeSlot& b = closure.hinge_b == world ? a : tree_->coordinates.slots[at(closure.hinge_b)];
  const CouplingEquation<double> equation = coupling_equation(closure, q_[at(a.q)], q_[at(b.q)], v_[at(b.v)]);
  double* Y = Y_.data() + c.first + at(loop.local_row) * c.coordinates;
  const Follower<double>& of_a = tree_->within[at(a.v)];
  const Follower<double>& of_b = tree_->within[at(b.v)];
  Y[at(of_a.own)] += of_a.ratio;
  Y[at(of_b.own)] -= equation.slope * of_b.ratio;  // zero without hinge b
  const std::size_t row = c.first_row + at(loop.local_row);
  scale_[row] = square(of_a.ratio) + square(equation.slope * of_b.ratio);
  U_[row] = equation.rate;
  loop.gap = std::abs(equation.gap) / (1 + std::abs(q_[at(a.q)]));
}

/// Ỹ and Ũ: Y and U in the scale of the rows. Returns the most that a loop is open; notes what v makes of them.
double Embedding::scale_rows(const LoopCluster& c) {
  const std::size_t m = c.coordinates;
  double speed = 0;
  for (const int j : c.links->coordinates) {
    speed += square(v_[at(j)]);
  }
  double gap = 0;
  for (const int l : c.loops) {
    Loop& loop = loops_[at(l)];
    gap = std::max(gap, loop.gap);
    for (std::size_t i = at(loop.local_row); i < at(loop.local_row + loop.rows); ++i) {
      double& scale = scale_[c.first_row + i];
      scale = scale > 0 ? std::sqrt(scale) : 1;  // a row that nothing moves
      double slip = 0;
      for (std::size_t j = 0; j < m; ++j) {
        rows_[i * m + j] = Y_[c.first + i * m + j] / scale;
        slip += rows_[i * m + j] * v_[at(c.links->coordinates[j])];
      }
      numbers_[i] = U_[c.first_row + i] / scale;
      loop.slip = std::max(loop.slip, std::abs(slip) / (1 + std::sqrt(speed)));
    }
  }
  return gap;
}

/// How well θ̈_b fulfils Ỹθ̈_b = Ũ.
void Embedding::note_lack(const LoopCluster& c) {
  const std::size_t m = c.coordinates;
  double size = 1;
  for (std::size_t j = 0; j < m; ++j) {
    size += std::abs(solution_[j]) + square(v_[at(c.links->coordinates[j])]);
  }
  double& most = lacking_[at(c.links->embedded)];
  most = 0;
  for (const int l : c.loops) {
    for (std::size_t i = at(loops_[at(l)].local_row); i < at(loops_[at(l)].local_row + loops_[at(l)].rows); ++i) {
      double left = -numbers_[i];
      for (std::size_t j = 0; j < m; ++j) {
        left += rows_[i * m + j] * solution_[j];
      }
      if (std::abs(left) / size > most) {
        most = std::abs(left) / size;
        worst_[at(c.links->embedded)] = l;
      }
    }
  }
}

/// X, θ̈_b and what the loops lack, from Y, U and the squares of what the rows could be.
void Embedding::settle(const LoopCluster& c) {
  const std::size_t m = c.coordinates;
  const double gap = scale_rows(c);
  row_space_.factor(rows_.data(), c.rows, m, std::max(free_below, gap_tells * gap));
  row_space_.least(numbers_.data(), solution_.data());
  for (std::size_t j = 0; j < m; ++j) {
    bias_[at(c.links->coordinates[j])] = solution_[j];
  }
  note_lack(c);
  independent_[at(c.links->embedded)] = static_cast<int>(m - row_space_.rank());
  for (std::size_t j = 0; j + row_space_.rank() < m; ++j) {
    row_space_.free_column(j, solution_.data());
    for (std::size_t i = 0; i < m; ++i) {
      basis_[c.basis + i * m + j] = solution_[i];
    }
  }
}

template <class T>
void Embedding::set_state(const T* q, const T* v) {
  std::copy_n(q, q_.size(), q_.begin());
  std::copy_n(v, v_.size(), v_.begin());
  std::fill(Y_.begin(), Y_.end(), 0.0);
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (const LoopCluster& c : clusters_) {
    if (!c.bodies.empty()) {
      move_bodies(c);
      measure(c);
    }
    for (const int l : c.loops) {
      Loop& loop = loops_[at(l)];
      loop.gap = loop.slip = 0;
      tree_->model.closures()[at(loop.closure)].kind == ClosureKind::hinges ? add_coupling(c, loop)
                                                                            : add_nodes(c, loop);
    }
    settle(c);
  }
}

void Embedding::forces(const double* rho, double* f) {
  std::fill_n(f, rows(), 0.0);
  for (const LoopCluster& c : clusters_) {
    const std::size_t m = c.coordinates;
    const double* scale = scale_.data() + c.first_row;
    for (std::size_t j = 0; j < m; ++j) {
      numbers_[j] = rho[tree_->coordinates.velocities[at(c.links->coordinates[j])].own];
      for (std::size_t i = 0; i < c.rows; ++i) {
        rows_[j * c.rows + i] = Y_[c.first + i * m + j] / scale[i];
      }
    }
    column_space_.factor(rows_.data(), m, c.rows, 0, m - at(independent_[at(c.links->embedded)]));
    column_space_.least(numbers_.data(), solution_.data());
    for (const int l : c.loops) {
      const Loop& loop = loops_[at(l)];
      for (int i = 0; i < loop.rows; ++i) {
        f[loop.first_row + i] = solution_[at(loop.local_row + i)] / scale[loop.local_row + i];
      }
    }
  }
}

double Embedding::contradiction(const Loop** loop) const {
  const auto most = std::max_element(lacking_.begin(), lacking_.end());
  if (most == lacking_.end()) {
    return 0;
  }
  *loop = &loops_[at(worst_[static_cast<std::size_t>(most - lacking_.begin())])];
  return *most;
}

template void Embedding::set_state(const double*, const double*);
template void Embedding::set_state(const float*, const float*);

}  // namespace bunraku::kernels
