#include "support/grasps.hpp"

namespace bunraku::test {

Model random_arm(int n, Random& random, const std::string& name) {
  ModelBuilder builder(name);
  for (int i = 0; i < n; ++i) {
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1)};
    body.hinge.type = HingeType::revolute;
    body.hinge.axis = random.unit();
    body.X_PF = {random.rotation(), random.unit() * (i == 0 ? 1.0 : 0.3)};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  builder.add(NodeSpec{.name = "tip", .body = "b" + std::to_string(n - 1), .X_BN = random.transform()});
  return builder.build();
}

Model random_object(int more, Random& random) {
  ModelBuilder builder("object");
  for (int i = 0; i <= more; ++i) {
    BodySpec body{.name = "b" + std::to_string(i), .parent = i == 0 ? std::string(world_name) : "b0"};
    body.hinge.type = i == 0 ? HingeType::free : HingeType::revolute;
    body.hinge.axis = random.unit();
    body.X_PF = {random.rotation(), random.vec3(0.3)};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

}  // namespace bunraku::test
