#include "bunraku/model/detail/clusters.hpp"

#include <algorithm>
#include <numeric>

namespace bunraku::detail {

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Sets of bodies, known by their least.
class Sets {
 public:
  explicit Sets(std::size_t n) : root_(n) { std::iota(root_.begin(), root_.end(), 0); }
  int find(int k) {
    while (root_[at(k)] != k) {
      k = root_[at(k)] = root_[at(root_[at(k)])];  // paths are halved as they are walked
    }
    return k;
  }
  int unite(int i, int j) {
    const auto [low, high] = std::minmax({find(i), find(j)});
    root_[at(high)] = low;
    return low;
  }

 private:
  std::vector<int> root_;
};

}  // namespace

/// Each coupling makes one cluster of the leader, the follower and all bodies on the way between them, but for the one
/// that both hang on; clusters that share a body become one. All of a cluster that does not hang on a member hangs on
/// one parent, that of the least. So the way inward goes from cluster to cluster: of two, the one that hangs on the
/// later body takes that body in, which cannot be one that both hang on, or come before both.
std::vector<int> cluster_roots(std::span<const int> parents, std::span<const int> leaders,
                               std::span<const std::array<int, 2>> ties) {
  Sets sets(parents.size());
  const auto couple = [&](int i, int j) {
    i = sets.find(i);
    j = sets.find(j);
    while (i != j && parents[at(i)] != parents[at(j)]) {
      int& later = parents[at(i)] > parents[at(j)] ? i : j;
      later = sets.unite(later, parents[at(later)]);
      i = sets.find(i);
      j = sets.find(j);
    }
    sets.unite(i, j);
  };
  for (int k = 0; k < static_cast<int>(parents.size()); ++k) {
    if (leaders[at(k)] != world) {
      couple(k, leaders[at(k)]);
    }
  }
  for (const auto& [i, j] : ties) {
    couple(i, j);
  }
  std::vector<int> out(parents.size());
  for (int k = 0; k < static_cast<int>(parents.size()); ++k) {
    out[at(k)] = sets.find(k);
  }
  return out;
}

std::vector<Cluster> clusters_of(const Model& model) {
  std::vector<int> parents;
  std::vector<int> leaders;
  for (const Body& body : model.bodies()) {
    parents.push_back(body.parent);
    leaders.push_back(body.leader);
  }
  const std::vector<int> roots = cluster_roots(parents, leaders);
  std::vector<int> cluster_of(roots.size());
  std::vector<Cluster> out;
  for (int k = 0; k < static_cast<int>(roots.size()); ++k) {
    const int root = roots[at(k)];
    if (root == k) {
      cluster_of[at(k)] = static_cast<int>(out.size());
      out.push_back({.parent = parents[at(k)]});
    }
    Cluster& cluster = out[at(cluster_of[at(root)])];
    cluster.members.push_back(k);
    const Body& body = model.bodies()[at(k)];
    for (int j = 0; j < body.nv; ++j) {
      cluster.coordinates.push_back(body.v_index + j);
    }
  }
  return out;
}

}  // namespace bunraku::detail
