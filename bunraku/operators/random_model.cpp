#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bunraku/model/builder.hpp"
#include "bunraku/model/detail/random.hpp"
#include "bunraku/operators/verify.hpp"

namespace bunraku {

namespace {

/// Random parts of a model.
class Parts : public Random {
 public:
  using Random::Random;

  Vec3<double> vec3(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Vec3<double> unit() {
    Vec3<double> v = vec3(1);
    while (squared_norm(v) < 0.01) {
      v = vec3(1);
    }
    return v / norm(v);
  }
  Transform<double> transform() {
    return {Rotation<double>::about_z(uniform(-3, 3)) * Rotation<double>::about_x(uniform(-3, 3)), vec3(0.6)};
  }
  /// A rigid body of six point masses, so that its inertia is one that a body can have.
  RigidInertia<double> inertia() {
    RigidInertia<double> sum = RigidInertia<double>::zero();
    for (int i = 0; i < 6; ++i) {
      sum += RigidInertia<double>::about_center(uniform(0.2, 1.0), vec3(0.4), {});
    }
    return sum;
  }
};

constexpr std::array types{HingeType::revolute, HingeType::prismatic, HingeType::spherical,     HingeType::universal,
                           HingeType::helical,  HingeType::planar,    HingeType::cylindrical,   HingeType::fixed,
                           HingeType::revolute, HingeType::free,      HingeType::translational, HingeType::revolute};

}  // namespace

Model random_model(const RandomSystem& kind, std::uint64_t seed) {
  Parts random(seed * 2 + (kind.serial ? 1 : 0));
  const int count = kind.bodies > 0 ? kind.bodies : random.integer(3, 8);
  ModelBuilder builder(fmt::format("random {} {}", kind.serial ? "chain" : "tree", seed));
  builder.set_gravity(random.vec3(10));
  for (int i = 0; i < count; ++i) {
    BodySpec body{.name = fmt::format("b{}", i)};
    const int parent = kind.serial || i < 2 ? i - 1 : random.integer(0, i - 1);
    body.parent = parent < 0 ? std::string(world_name) : fmt::format("b{}", parent);
    // the first two turn, one on the other: with a fixed or free one there much would hold that does not in general
    body.hinge.type = i < 2 ? HingeType::revolute
                            : types[static_cast<std::size_t>(random.integer(0, static_cast<int>(types.size()) - 1))];
    if (kind.closures && i == 2) {  // so that there is motion that the closures leave
      body.hinge.type = HingeType::spherical;
    }
    body.hinge.axis = random.unit();
    body.hinge.axis2 = perpendicular(body.hinge.axis);
    body.hinge.pitch = random.uniform(0.1, 0.5);
    body.hinge.dofs.resize(static_cast<std::size_t>(body.hinge.velocity_size()));
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = kind.armature ? random.uniform(0.1, 0.6) : 0;
      if (kind.passive) {
        dof.damping = random.uniform(0.1, 1);
        dof.friction = random.uniform(0.1, 1);
        dof.stiffness = random.uniform(0.1, 1);
      }
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    if (kind.massless && i == 0) {  // with a body on it that has some, what it carries together is regular
      body.inertia = RigidInertia<double>::zero();
    }
    if (kind.couplings && i == 1) {
      body.hinge.mimic = Mimic{"b0_hinge", 0.7, 0.2};
    }
    builder.add(std::move(body));
  }
  for (int i = 0; i < 2; ++i) {
    builder.add(NodeSpec{.name = fmt::format("n{}", i),
                         .body = fmt::format("b{}", i == 0 ? count - 1 : random.integer(0, count - 1)),
                         .X_BN = random.transform()});
  }
  if (kind.closures) {
    constexpr std::array kinds{ClosureKind::distance, ClosureKind::plane, ClosureKind::line, ClosureKind::nodes};
    const int other = random.integer(-1, count - 2);
    builder.add(NodeSpec{.name = "loop_a", .body = fmt::format("b{}", count - 1), .X_BN = random.transform()});
    builder.add(NodeSpec{.name = "loop_b",
                         .body = other < 0 ? std::string(world_name) : fmt::format("b{}", other),
                         .X_BN = random.transform()});
    ClosureSpec loop{.name = "loop", .kind = kinds[static_cast<std::size_t>(random.integer(0, 3))]};
    loop.hinge.type = HingeType::spherical;
    loop.hinge.axis = random.unit();
    loop.length = 0.5;
    loop.a = "loop_a";
    loop.b = "loop_b";
    builder.add(std::move(loop));
    if (!kind.couplings) {
      builder.add(ClosureSpec{.name = "tie",
                              .kind = ClosureKind::hinges,
                              .a = "b0_hinge",
                              .b = "b1_hinge",
                              .polynomial = {0.1, 0.7, -0.2, 0.1, 0}});
    }
  }
  return builder.build();
}

}  // namespace bunraku
