/// Which bodies count as one where hinges are coupled.
#include "bunraku/model/detail/clusters.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/coupled_models.hpp"

namespace bunraku::test {
namespace {

TEST(Clusters, AreTheCoupledBodiesAndThoseBetween) {
  for (const CoupledModel& coupled : coupled_models(false)) {
    SCOPED_TRACE(coupled.name);
    std::vector<std::vector<int>> members;
    for (const detail::Cluster& cluster : detail::clusters_of(coupled.model)) {
      members.push_back(cluster.members);
    }
    EXPECT_EQ(members, coupled.clusters);
  }
}

TEST(Clusters, HangOnOneParentAndHaveTheirLeadersCoordinates) {
  for (const CoupledModel& coupled : coupled_models(false)) {
    SCOPED_TRACE(coupled.name);
    std::vector<bool> seen(static_cast<std::size_t>(coupled.model.nv()));
    for (const detail::Cluster& cluster : detail::clusters_of(coupled.model)) {
      const auto inside = [&](int k) {
        return std::find(cluster.members.begin(), cluster.members.end(), k) != cluster.members.end();
      };
      for (const int k : cluster.members) {
        const Body& body = coupled.model.bodies()[static_cast<std::size_t>(k)];
        EXPECT_TRUE(inside(body.parent) || body.parent == cluster.parent);
        EXPECT_TRUE(body.leader == world || inside(body.leader));
        for (int j = body.v_index; j < body.v_index + body.nv; ++j) {
          EXPECT_EQ(std::count(cluster.coordinates.begin(), cluster.coordinates.end(), j), 1);
          seen[static_cast<std::size_t>(j)] = true;
        }
      }
      EXPECT_TRUE(std::is_sorted(cluster.coordinates.begin(), cluster.coordinates.end()));
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
  }
}

/// Walking from each follower to its leader would take 10¹⁰ steps.
TEST(Clusters, OfFarCouplingsAreFoundInLinearTime) {
  const int n = 100000;
  std::vector<int> parents(n);
  std::vector<int> leaders(n, world);
  for (int k = 0; k < n; ++k) {
    parents[static_cast<std::size_t>(k)] = k - 1;
    leaders[static_cast<std::size_t>(k)] = k < n / 2 ? world : n - 1 - k;
  }
  EXPECT_EQ(detail::cluster_roots(parents, leaders), std::vector<int>(n, 0));
}

}  // namespace
}  // namespace bunraku::test
