#include "support/coupled_models.hpp"

#include <algorithm>
#include <utility>

#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

/// Bodies b0, b1, … on given parents (−1: the world), each on a hinge of one velocity but for those in `wide`;
/// couplings are (follower, leader) pairs.
Model coupled_tree(const std::vector<int>& parents, const std::vector<std::pair<int, int>>& couplings, bool armature,
                   Random& random, const std::vector<int>& wide = {}) {
  ModelBuilder builder("coupled");
  for (std::size_t i = 0; i < parents.size(); ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    body.parent = parents[i] < 0 ? std::string(world_name) : "b" + std::to_string(parents[i]);
    const bool is_wide = std::find(wide.begin(), wide.end(), static_cast<int>(i)) != wide.end();
    body.hinge = random_hinge(is_wide      ? HingeType::spherical
                              : i % 4 == 3 ? HingeType::prismatic
                                           : HingeType::revolute,
                              random);
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = armature ? random.uniform(0.1, 0.5) : 0;
    }
    for (const auto& [follower, leader] : couplings) {
      if (follower == static_cast<int>(i)) {
        body.hinge.mimic = Mimic{"b" + std::to_string(leader) + "_hinge", random.uniform(0.5, 2), random.uniform()};
      }
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

}  // namespace

std::vector<CoupledModel> coupled_models(bool armature) {
  Random random(armature ? 91 : 90);
  const std::vector<int> chain{-1, 0, 1, 2, 3, 4, 5, 6};
  const std::vector<int> fork{-1, 0, 1, 2, 1, 4, 5, 0};  // 0–1–2–3, 1–4–5–6, 0–7
  return {
      {"parent leads", coupled_tree(chain, {{4, 3}}, armature, random, {1, 6}), {{0}, {1}, {2}, {3, 4}, {5}, {6}, {7}}},
      {"child leads", coupled_tree(chain, {{3, 4}}, armature, random, {1, 6}), {{0}, {1}, {2}, {3, 4}, {5}, {6}, {7}}},
      {"ancestor leads", coupled_tree(chain, {{5, 2}}, armature, random, {3}), {{0}, {1}, {2, 3, 4, 5}, {6}, {7}}},
      {"base leads", coupled_tree(chain, {{7, 0}}, armature, random, {4}), {{0, 1, 2, 3, 4, 5, 6, 7}}},
      {"other branch leads",
       coupled_tree(fork, {{5, 3}}, armature, random, {0, 4}),
       {{0}, {1}, {2, 3, 4, 5}, {6}, {7}}},
      {"two on two branches",
       coupled_tree(fork, {{4, 2}, {5, 3}}, armature, random, {6}),
       {{0}, {1}, {2, 3, 4, 5}, {6}, {7}}},
      {"one leads two",
       coupled_tree(fork, {{4, 2}, {7, 2}}, armature, random, {5}),
       {{0}, {1, 2, 4, 7}, {3}, {5}, {6}}},
      {"a chain of couplings",
       coupled_tree(chain, {{4, 3}, {5, 4}}, armature, random, {1}),
       {{0}, {1}, {2}, {3, 4, 5}, {6}, {7}}},
      {"overlapping",
       coupled_tree(chain, {{4, 2}, {5, 3}}, armature, random, {0, 7}),
       {{0}, {1}, {2, 3, 4, 5}, {6}, {7}}},
      {"side by side",
       coupled_tree(chain, {{2, 1}, {4, 3}, {7, 6}}, armature, random, {5}),
       {{0}, {1, 2}, {3, 4}, {5}, {6, 7}}},
      {"within another", coupled_tree(chain, {{6, 1}, {4, 3}}, armature, random, {2}), {{0}, {1, 2, 3, 4, 5, 6}, {7}}},
      {"on the world",
       coupled_tree({-1, -1, 0, 1, 2, 3}, {{1, 0}, {5, 4}}, armature, random, {2}),
       {{0, 1, 2, 3, 4, 5}}},
      {"on the world, one far out",
       coupled_tree({-1, 0, 1, -1, 3, 2}, {{3, 2}}, armature, random, {1}),
       {{0, 1, 2, 3}, {4}, {5}}},
      {"on the world, the other far out",
       coupled_tree({-1, -1, 1, 2, 3, 0}, {{4, 0}}, armature, random, {5}),
       {{0, 1, 2, 3, 4}, {5}}},
      {"two of one parent",
       coupled_tree({-1, 0, 0, 1, 2}, {{2, 1}}, armature, random, {0, 4}),
       {{0}, {1, 2}, {3}, {4}}},
  };
}

}  // namespace bunraku::test
