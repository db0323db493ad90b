#include "operators/small_model.hpp"

#include <string>

#include "support/random_model.hpp"

namespace bunraku::test {

Model small_model() {
  Random random(17);
  ModelBuilder builder("small");
  for (int i = 0; i < 4; ++i) {
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i == 3 ? 1 : i - 1)};
    body.hinge = random_hinge(i == 2 ? HingeType::spherical : HingeType::revolute, random);
    body.X_PF = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

}  // namespace bunraku::test
