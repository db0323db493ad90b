#include "bunraku/operators/detail/bindings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/singular.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku::operators {

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

Motion<double> motion_at(const std::vector<double>& all, int k) {
  const double* x = all.data() + 6 * at(k);
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

template <class V>
void store(std::vector<double>& all, int k, const V& value) {
  for (int i = 0; i < 6; ++i) {
    all[6 * at(k) + at(i)] = value[i];
  }
}

Motion<double> times(const Mat6<double>& m, const Force<double>& f) {
  return {m.a * f.moment + m.b * f.force, m.c * f.moment + m.d * f.force};
}

}  // namespace

Bindings::Bindings(Model model)
    : model_(std::move(model)),
      coordinates_(model_),
      q_(at(coordinates_.nq)),
      v_(at(coordinates_.nv)),
      blocks_(model_, coordinates_),
      user_q_(at(model_.nq())),
      user_v_(at(model_.nv())),
      R_(model_.bodies().size()),
      upsilon_(model_.bodies().size()),
      armature_(at(model_.nv())) {
  for (std::size_t j = 0; j < coordinates_.armature.size(); ++j) {
    const kernels::Follower<double>& f = coordinates_.velocities[j];
    armature_[at(f.own)] += f.ratio * f.ratio * coordinates_.armature[j];
    geared_ = geared_ || coordinates_.armature[j] != 0;
  }
  make_clusters();
  for (int k = 0; k < blocks_.size(); ++k) {
    places_.push_back({blocks_.parent(k), blocks_.first(k), blocks_.nv(k)});
  }
  neutral(model_, std::span<double>(user_q_));
  const std::vector<double> q = user_q_;
  const std::vector<double> v = user_v_;
  set_state(q, v);
}

// ---------------------------------------------------------------------------------------------------------------------
// State

void Bindings::set_state(std::span<const double> q, std::span<const double> v) {
  check_argument(q, model_.nq(), "q");
  check_argument(v, model_.nv(), "v");
  check_quaternions(model_, q, "q");
  next_q_.resize(q_.size());
  coordinates_.spread_positions(q, next_q_);
  if (!all_finite(std::span<const double>(next_q_))) {
    refuse_values(std::span<const double>(next_q_), "q of all hinges");
  }
  q_.swap(next_q_);
  coordinates_.spread(v, v_);
  user_q_.assign(q.begin(), q.end());
  user_v_.assign(v.begin(), v.end());
  blocks_.set_state(q_.data(), v_.data());
  ++version_;
}

void Bindings::set_accelerations(std::span<const double> a) {
  check_argument(a, model_.nv(), "accelerations");
  given_accelerations_.emplace(a.begin(), a.end());
  given_torques_.reset();
  ++version_;
}

void Bindings::set_torques(std::span<const double> tau) {
  check_argument(tau, model_.nv(), "torques");
  given_torques_.emplace(tau.begin(), tau.end());
  given_accelerations_.reset();
  ++version_;
}

void Bindings::set_nodes(std::vector<Node> nodes) {
  for (const Node& node : nodes) {
    if (node.body != world) {
      static_cast<void>(model_.body(node.body));
    }
  }
  nodes_ = std::move(nodes);
  place_nodes();
  ++version_;
}

void Bindings::place_nodes() {
  std::vector<int> cluster_of(model_.bodies().size());
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    clusters_[c].nodes.clear();
    for (const int k : clusters_[c].members) {
      cluster_of[at(k)] = static_cast<int>(c);
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].body != world) {
      clusters_[at(cluster_of[at(nodes_[i].body)])].nodes.push_back(static_cast<int>(i));
    }
  }
}

void Bindings::bind(VariableBlocks values) {
  std::erase_if(variables_,
                [&](const VariableBlocks& other) { return other.variable.term().name == values.variable.term().name; });
  variables_.push_back(std::move(values));
  ++version_;
}

/// Each coupling makes one cluster of the leader, the follower and all bodies on the way between them, but for the one
/// that both hang on; clusters that share a body become one. Whatever leaves such a set leaves to one parent.
void Bindings::make_clusters() {
  const int n = static_cast<int>(model_.bodies().size());
  std::vector<int> root(at(n));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int k) {
    while (root[at(k)] != k) {
      k = root[at(k)];
    }
    return k;
  };
  const auto unite = [&](int i, int j) {
    const auto [low, high] = std::minmax({find(i), find(j)});
    root[at(high)] = low;
  };
  for (int k = 0; k < n; ++k) {
    const Body& body = model_.bodies()[at(k)];
    if (body.leader == world) {
      continue;
    }
    int i = k;
    int j = body.leader;
    std::vector<int> path{i, j};
    while (i != j) {  // up to the common ancestor, parents having smaller indices
      int& lower = i > j ? i : j;
      lower = model_.bodies()[at(lower)].parent;
      path.push_back(lower);
      if (lower == world) {
        break;
      }
    }
    // the common ancestor itself is left out unless it is one of the two
    const int top = i == j ? i : world;
    for (const int each : path) {
      if (each != world && (each != top || top == k || top == body.leader)) {
        unite(each, k);
      }
    }
  }
  std::vector<int> cluster_of(at(n), -1);
  clusters_.clear();
  for (int k = 0; k < n; ++k) {
    const int r = find(k);
    if (r == k) {
      cluster_of[at(k)] = static_cast<int>(clusters_.size());
      clusters_.push_back({.parent = model_.bodies()[at(k)].parent});
    }
    Cluster& cluster = clusters_[at(cluster_of[at(r)])];
    cluster.members.push_back(k);
    const Body& body = model_.bodies()[at(k)];
    for (int j = 0; j < body.nv; ++j) {
      cluster.coordinates.push_back(body.v_index + j);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Sizes and names

int Bindings::dimension(const Space& space) const {
  if (!space.part.empty()) {
    const int k = part(space);
    const Body& body = model_.bodies()[at(k)];
    return space.kind == SpaceKind::hinge ? body.nv : 6;
  }
  switch (space.kind) {
    case SpaceKind::number:
      return 1;
    case SpaceKind::hinge:
      return model_.nv();
    case SpaceKind::body:
      return 6 * static_cast<int>(model_.bodies().size());
    case SpaceKind::node:
      return 6 * static_cast<int>(nodes_.size());
    case SpaceKind::any:
      break;
  }
  return 0;
}

int Bindings::part(const Space& space) const {
  const std::string& name = space.part;
  if (space.kind == SpaceKind::node) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name == name) {
        return static_cast<int>(i);
      }
    }
  } else if (const std::optional<int> body = model_.find_body(name); body && *body != world) {
    return *body;
  }
  int number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  const int count = static_cast<int>(space.kind == SpaceKind::node ? nodes_.size() : model_.bodies().size());
  if (status == std::errc{} && end == name.data() + name.size() && number >= 0 && number < count) {
    return number;
  }
  std::vector<std::string> known;
  if (space.kind == SpaceKind::node) {
    std::transform(nodes_.begin(), nodes_.end(), std::back_inserter(known), [](const Node& n) { return n.name; });
  } else {
    std::transform(model_.bodies().begin(), model_.bodies().end(), std::back_inserter(known),
                   [](const Body& b) { return b.name; });
  }
  throw OperatorError(fmt::format("there is no {} '{}'{}", space.kind == SpaceKind::node ? "node" : "body",
                                  detail::printable(name), detail::did_you_mean(name, known)),
                      fmt::format("give its name, or a number from 0 to {}", count - 1));
}

void Bindings::check(Symbol symbol) const {
  switch (symbol) {
    case Symbol::P:
    case Symbol::G:
    case Symbol::tau:
    case Symbol::taub:
    case Symbol::Upsilon:
      if (coupled()) {
        const auto body = std::find_if(model_.bodies().begin(), model_.bodies().end(),
                                       [](const Body& b) { return b.leader != world; });
        throw OperatorError(
            fmt::format("{} is not block diagonal here: hinge '{}' follows hinge '{}'", info(symbol).ascii,
                        body->hinge.name, model_.bodies()[at(body->leader)].hinge.name),
            "D, K, psi, E_psi and Omega do exist: the coupled bodies count as one body there");
      }
      break;
    case Symbol::B:
      if (nodes_.empty()) {
        throw OperatorError("B has no meaning without nodes", "name the nodes: --nodes A,B,… or System::set_nodes");
      }
      break;
    default:
      break;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks

void Bindings::need(Symbol symbol) {
  check(symbol);
  std::uint64_t& fresh = fresh_[symbol];
  if (fresh == version_) {
    return;
  }
  switch (symbol) {
    case Symbol::R:
      blocks_.need_positions();
      sweep_composites();
      break;
    case Symbol::P:
    case Symbol::G:
    case Symbol::tau:
    case Symbol::taub:
      blocks_.need_articulated();
      break;
    case Symbol::D:
    case Symbol::K:
    case Symbol::E_psi:
    case Symbol::psi:
    case Symbol::psit:
    case Symbol::Omega:
      if (!coupled()) {
        blocks_.need_articulated();
      } else if (fresh_[Symbol::D] != version_) {
        sweep_clusters();
        fresh_[Symbol::D] = version_;
      }
      break;
    case Symbol::Upsilon:
      blocks_.need_articulated();
      sweep_upsilon();
      break;
    case Symbol::V:
    case Symbol::alpha:
    case Symbol::a:
    case Symbol::b:
    case Symbol::f:
    case Symbol::T:
    case Symbol::thetad:
    case Symbol::thetadd:
      fill_vector(symbol);
      break;
    default:
      blocks_.need_positions();
      break;
  }
  fresh_[symbol] = version_;
}

/// R(p) = M(p) + Σ φ(p,k)R(k)φ*(p,k), inward (RK92 28–33).
void Bindings::sweep_composites() {
  for (int k = 0; k < blocks_.size(); ++k) {
    R_[at(k)] = blocks_.M(k);
  }
  for (int k = blocks_.size() - 1; k >= 0; --k) {
    if (blocks_.parent(k) != world) {
      R_[at(blocks_.parent(k))] += blocks_.X_PB(k) * R_[at(k)];
    }
  }
}

/// Υ(k) = ψ*(p,k)Υ(p)ψ(p,k) + H*D⁻¹H, outward (RJK89 A.4).
void Bindings::sweep_upsilon() {
  for (int k = 0; k < blocks_.size(); ++k) {
    const int p = blocks_.parent(k);
    std::array<Motion<double>, 6> columns{};
    const kernels::SixForces<double> units = kernels::unit_forces(Transform<double>::identity());
    for (std::size_t i = 0; i < 6; ++i) {
      columns[i] = kernels::h_adjoint_times(
          blocks_, k, kernels::d_inverse_times(blocks_, k, kernels::h_times(blocks_, k, units[i])));
      if (p != world) {
        columns[i] +=
            kernels::psi_adjoint_times(blocks_, k, times(upsilon_[at(p)], kernels::psi_times(blocks_, k, units[i])));
      }
    }
    upsilon_[at(k)] = {Mat3<double>::from_columns(columns[0].angular, columns[1].angular, columns[2].angular),
                       Mat3<double>::from_columns(columns[3].angular, columns[4].angular, columns[5].angular),
                       Mat3<double>::from_columns(columns[0].linear, columns[1].linear, columns[2].linear),
                       Mat3<double>::from_columns(columns[3].linear, columns[4].linear, columns[5].linear)};
  }
}

/// The Riccati recursion with each cluster as one body: with E_φ split into what stays within clusters and what leaves
/// them, φ = φ_b (I − E_out φ_b)⁻¹ where φ_b = (I − E_in)⁻¹, so that Hφ = H̄φ̄ with H̄ = Hφ_b and Ē = E_out φ_b. Then
/// D = H̄PH̄* + 𝒜, K = ĒPH̄*D⁻¹ and P(p) += ĒPĒ* − KDK*, and (I + HφK)D(I + HφK)* = HφMφ*H* + 𝒜 as ever.
void Bindings::sweep_clusters() {
  blocks_.need_positions();
  const std::size_t count = clusters_.size();
  D_.resize(count);
  D_inverse_.resize(count);
  K_.resize(count);
  std::vector<ArticulatedInertia<double>> P;
  for (int k = 0; k < blocks_.size(); ++k) {
    P.push_back(ArticulatedInertia<double>::from_rigid(blocks_.M(k)));
  }
  std::vector<Motion<double>> motion(at(blocks_.size()));
  std::vector<Force<double>> force(at(blocks_.size()));
  for (std::size_t c = count; c-- > 0;) {
    const Cluster& cluster = clusters_[c];
    const auto n = static_cast<Eigen::Index>(cluster.coordinates.size());
    Matrix D = Matrix::Zero(n, n);
    Matrix U = Matrix::Zero(6, n);  // ĒPH̄*
    std::map<int, Eigen::Index> column_of;
    for (Eigen::Index j = 0; j < n; ++j) {
      column_of[cluster.coordinates[static_cast<std::size_t>(j)]] = j;
    }
    const auto inside = [&](int k) { return std::binary_search(cluster.members.begin(), cluster.members.end(), k); };
    for (Eigen::Index j = 0; j < n; ++j) {
      for (const int k : cluster.members) {  // φ_b*H* of one velocity
        const int p = blocks_.parent(k);
        motion[at(k)] = inside(p) ? inverse_times(blocks_.X_PB(k), motion[at(p)]) : Motion<double>::zero();
        for (int i = blocks_.first(k); i < blocks_.first(k) + blocks_.nv(k); ++i) {
          if (column_of.at(follower(i).own) == j) {
            motion[at(k)] += blocks_.H(i) * follower(i).ratio;
          }
        }
        force[at(k)] = P[at(k)] * motion[at(k)];
      }
      for (auto k = cluster.members.rbegin(); k != cluster.members.rend(); ++k) {
        for (int i = blocks_.first(*k); i < blocks_.first(*k) + blocks_.nv(*k); ++i) {
          D(column_of.at(follower(i).own), j) += follower(i).ratio * dot(blocks_.H(i), force[at(*k)]);
        }
        const Force<double> moved = blocks_.X_PB(*k) * force[at(*k)];
        if (inside(blocks_.parent(*k))) {
          force[at(blocks_.parent(*k))] += moved;
        } else {
          for (int i = 0; i < 6; ++i) {
            U(i, j) += moved[i];
          }
        }
      }
      D(j, j) += armature(cluster.coordinates[static_cast<std::size_t>(j)]);
    }
    const Eigen::LDLT<Matrix> factor(D);
    const auto pivots = factor.vectorD();
    if (n > 0 && pivots.minCoeff() <= kernels::vanishing_beside_others<double> * D.diagonal().maxCoeff()) {
      for (const int k : cluster.members) {
        if (blocks_.nv(k) > 0) {
          throw kernels::massless(model_.bodies()[at(k)].hinge, "is coupled to others and ");
        }
      }
    }
    D_[c] = D;
    D_inverse_[c] = factor.solve(Matrix::Identity(n, n));
    K_[c] = U * D_inverse_[c];
    if (cluster.parent == world) {
      continue;
    }
    for (auto k = cluster.members.rbegin(); k != cluster.members.rend(); ++k) {
      P[at(blocks_.parent(*k))] += blocks_.X_PB(*k) * P[at(*k)];
    }
    const Matrix taken = K_[c] * U.transpose();
    const auto block = [&](int i, int j) {
      const auto m = taken.block(i, j, 3, 3);
      return Mat3<double>::from_columns({m(0, 0), m(1, 0), m(2, 0)}, {m(0, 1), m(1, 1), m(2, 1)},
                                        {m(0, 2), m(1, 2), m(2, 2)});
    };
    P[at(cluster.parent)] -= ArticulatedInertia<double>{Sym3<double>::symmetric_part(block(0, 0)), block(0, 3),
                                                        Sym3<double>::symmetric_part(block(3, 3))};
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Stacked vectors

std::vector<double>& Bindings::stored(Symbol symbol) {
  std::vector<double>& out = vectors_[symbol];
  out.resize(at(dimension({info(symbol).range})));
  return out;
}

std::span<const double> Bindings::vector(Symbol symbol) const {
  return vectors_[symbol];
}

void Bindings::fill_vector(Symbol symbol) {
  switch (symbol) {
    case Symbol::thetad:
      stored(symbol) = user_v_;
      return;
    case Symbol::thetadd:
      fill_accelerations();
      return;
    case Symbol::T:
      fill_torques();
      return;
    case Symbol::f:
      fill_forces();
      return;
    default:
      break;
  }
  blocks_.need_velocities();
  std::vector<double>& out = stored(symbol);
  if (symbol == Symbol::alpha) {  // α(k) = φ*(p,k)α(p) + H*θ̈ + a, outward (RK92 7, 21)
    need(Symbol::thetadd);
    need(Symbol::a);
    std::vector<double> full(at(coordinates_.nv));
    coordinates_.spread(vectors_[Symbol::thetadd], full);
    for (int k = 0; k < blocks_.size(); ++k) {
      Motion<double> alpha = motion_at(vectors_[Symbol::a], k) +
                             kernels::h_adjoint_times(blocks_, k, kernels::hinge_part(blocks_, k, full.data()));
      if (blocks_.parent(k) != world) {
        alpha += kernels::phi_adjoint_times(blocks_, k, motion_at(out, blocks_.parent(k)));
      }
      store(out, k, alpha);
    }
    return;
  }
  for (int k = 0; k < blocks_.size(); ++k) {
    if (symbol == Symbol::V) {
      store(out, k, blocks_.V(k));
    } else if (symbol == Symbol::b) {
      store(out, k, blocks_.b(k));
    } else {  // a, with the base's pseudo-acceleration where a body hangs on the world (RK88 3.21)
      Motion<double> a = blocks_.a(k);
      if (blocks_.parent(k) == world) {
        a += inverse_times(blocks_.X_PB(k), Motion<double>{Vec3<double>::zero(), -model_.gravity()});
      }
      store(out, k, a);
    }
  }
}

void Bindings::fill_accelerations() {
  std::vector<double>& out = stored(Symbol::thetadd);
  if (given_accelerations_) {
    out = *given_accelerations_;
  } else if (given_torques_) {
    if (!dynamics_) {
      dynamics_ = std::make_unique<Dynamics>(model_, PassiveForces::left_out);
    }
    dynamics_->set_state(std::span<const double>(user_q_), std::span<const double>(user_v_));
    dynamics_->forward(std::span<const double>(*given_torques_), std::span<double>(out));
  } else {
    throw OperatorError("the hinge accelerations have no value, and thetadd, alpha, f and T follow from them",
                        "give accelerations or torques: --a or --tau, System::set_accelerations or set_torques");
  }
}

void Bindings::fill_forces() {  // f(k) = Σ φ(k,c)f(c) + Mα + b, inward (RK92 9)
  need(Symbol::alpha);
  std::vector<double>& out = stored(Symbol::f);
  std::vector<Force<double>> force(at(blocks_.size()), Force<double>::zero());
  for (int k = blocks_.size() - 1; k >= 0; --k) {
    force[at(k)] += blocks_.M(k) * motion_at(vectors_[Symbol::alpha], k) + blocks_.b(k);
    store(out, k, force[at(k)]);
    if (blocks_.parent(k) != world) {
      force[at(blocks_.parent(k))] += kernels::phi_times(blocks_, k, force[at(k)]);
    }
  }
}

void Bindings::fill_torques() {
  std::vector<double>& out = stored(Symbol::T);
  if (given_torques_) {
    out = *given_torques_;
    return;
  }
  need(Symbol::f);
  need(Symbol::thetadd);
  std::fill(out.begin(), out.end(), 0.0);
  const std::vector<double>& f = vectors_[Symbol::f];
  for (int k = 0; k < blocks_.size(); ++k) {
    const double* x = f.data() + 6 * at(k);
    for (int j = blocks_.first(k); j < blocks_.first(k) + blocks_.nv(k); ++j) {
      out[at(follower(j).own)] +=
          follower(j).ratio * dot(blocks_.H(j), Force<double>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}});
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] += armature_[i] * vectors_[Symbol::thetadd][i];
  }
}

const VariableBlocks& Bindings::variable(const Operator& x) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const VariableBlocks& each) { return each.variable == x; });
  if (found == variables_.end()) {
    throw OperatorError(fmt::format("the variable '{}' has no values", x.term().name), "System::bind gives it some");
  }
  return *found;
}

}  // namespace bunraku::operators
