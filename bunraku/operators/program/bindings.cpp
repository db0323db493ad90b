#include "bunraku/operators/program/detail/bindings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/kernels/singular.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/operators/program/detail/at.hpp"

namespace bunraku::operators {

Bindings::Bindings(Model model, PassiveForces passive)
    : model_(std::move(model)),
      coordinates_(model_),
      q_(at(coordinates_.nq)),
      v_(at(coordinates_.nv)),
      blocks_(model_, coordinates_),
      passive_(passive),
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
    static_cast<void>(NodeRef(node).place(model_));
  }
  nodes_ = std::move(nodes);
  std::erase_if(variables_, [](const VariableBlocks& each) {  // their blocks were made for the former nodes
    return each.variable.range().kind == SpaceKind::node || each.variable.domain().kind == SpaceKind::node;
  });
  place_nodes();
  ++version_;
}

void Bindings::place_nodes() {
  for (Cluster& cluster : clusters_) {
    cluster.nodes.clear();
  }
  nodes_at_.assign(nodes_.empty() ? 0 : model_.bodies().size(), {});
  for (std::size_t i = 0; i < nodes_.size() && !clusters_.empty(); ++i) {
    // those on the world are looked after by the first cluster
    const int body = nodes_[i].body;
    clusters_[body == world ? 0 : at(cluster_of_[at(body)])].nodes.push_back(static_cast<int>(i));
    if (body != world) {
      nodes_at_[at(body)].push_back(static_cast<int>(i));
    }
  }
}

void Bindings::bind(VariableBlocks values) {
  std::erase_if(variables_,
                [&](const VariableBlocks& other) { return other.variable.term().name == values.variable.term().name; });
  variables_.push_back(std::move(values));
  VariableBlocks& bound = variables_.back();
  bound.by_cluster.assign(clusters_.size(), {});
  for (const VariableBlock& block : bound.blocks) {
    bound.by_cluster[at(block.cluster)].push_back(&block);
  }
  ++version_;
}

VariableBlocks Bindings::blocks_for(const Operator& variable) const {
  const SpaceKind range = variable.range().kind;
  const SpaceKind domain = variable.domain().kind;
  const bool by_node = range == SpaceKind::node || domain == SpaceKind::node;
  VariableBlocks out{variable, {}, {}};
  const int owners = static_cast<int>(by_node ? nodes_.size() : model_.bodies().size());
  for (int i = 0; i < owners && !clusters_.empty(); ++i) {
    const int body = by_node ? nodes_[at(i)].body : i;
    const auto numbers = [&](SpaceKind kind) {
      std::vector<int> places;
      const auto add = [&](int first, int count) {
        for (int n = 0; n < count; ++n) {
          places.push_back(first + n);
        }
      };
      if (kind == SpaceKind::number) {
        add(0, 1);
      } else if (kind == SpaceKind::node) {
        add(6 * i, 6);
      } else if (body != world && kind == SpaceKind::body) {
        add(6 * body, 6);
      } else if (body != world) {
        add(model_.bodies()[at(body)].v_index, model_.bodies()[at(body)].nv);
      }
      return places;
    };
    VariableBlock block{body == world ? 0 : cluster_of_[at(body)], numbers(range), numbers(domain), {}};
    block.values.setZero(static_cast<Eigen::Index>(block.rows.size()), static_cast<Eigen::Index>(block.cols.size()));
    out.blocks.push_back(std::move(block));
  }
  return out;
}

void Bindings::make_clusters() {
  cluster_of_.assign(model_.bodies().size(), -1);
  clusters_.clear();
  for (detail::Cluster& cluster : detail::clusters_of(model_)) {
    for (const int k : cluster.members) {
      cluster_of_[at(k)] = static_cast<int>(clusters_.size());
    }
    clusters_.push_back({std::move(cluster), {}});
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
            "D, K, psi, E_psi and Omega do exist: the coupled bodies count as one body there",
            std::string(info(symbol).ascii));
      }
      break;
    case Symbol::B:
      if (nodes_.empty()) {
        throw OperatorError("B has no meaning without nodes", "name the nodes: --nodes A,B,… or System::set_nodes",
                            "B");
      }
      break;
    default:
      break;
  }
}

const VariableBlocks& Bindings::variable(const Operator& x) const {
  const auto found = std::find_if(variables_.begin(), variables_.end(),
                                  [&](const VariableBlocks& each) { return each.variable == x; });
  if (found == variables_.end()) {
    throw OperatorError(fmt::format("the variable '{}' has no values", x.term().name),
                        "`verify` gives it random ones, System::bind those that you choose");
  }
  return *found;
}

}  // namespace bunraku::operators
