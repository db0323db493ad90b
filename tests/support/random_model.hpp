/// @file
/// Random hinges of every type and random trees of them.
#pragma once

#include <array>

#include "bunraku/model/builder.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// A user's hinge: a turn about z by q0 that also slides along a curve, and a turn about x by q1 on top of it. Its
/// joint map changes with both coordinates.
class CamHinge : public CustomHinge {
 public:
  int configuration_size() const override { return 2; }
  int velocity_size() const override { return 2; }
  Transform<double> pose(const double* q) const override;
  void joint_map(const double* q, Motion<double>* columns) const override;
};

/// Every type, the user's own included.
inline constexpr std::array all_hinge_types = {HingeType::fixed,         HingeType::revolute, HingeType::continuous,
                                               HingeType::prismatic,     HingeType::helical,  HingeType::cylindrical,
                                               HingeType::universal,     HingeType::planar,   HingeType::spherical,
                                               HingeType::translational, HingeType::free,     HingeType::custom};

/// A hinge of that type with random axes.
Hinge random_hinge(HingeType type, Random& random);

/// A tree of `n` bodies of all hinge types in turn. `branching` in 0 … 1: 0 makes a chain, 1 a bush.
ModelBuilder random_tree(int n, double branching, Random& random);

/// A chain of `n` bodies with short arms and hinges of one axis, the first and every tenth after it prismatic.
Model random_chain(int n, Random& random);

/// Adds two bodies beside each other on the world: `leader`, and `follower`, whose hinge turns twice as far.
void add_mimic_pair(ModelBuilder& builder, Random& random);

/// Twelve bodies, from a chain (sample 0) to a bush (sample 10) and round again; every third sample has mimics, every
/// second armature, all have friction and springs.
Model random_dynamics_model(int sample, Random& random);

}  // namespace bunraku::test
