#include "support/random_model.hpp"

#include <cmath>
#include <memory>
#include <string>

namespace bunraku::test {

Transform<double> CamHinge::pose(const double* q) const {
  const Transform<double> cam{Rotation<double>::about_z(q[0]), {0.2 * (1 - std::cos(q[0])), 0, 0.1 * std::sin(q[0])}};
  return cam * Transform<double>::rotate(Rotation<double>::about_x(q[1]));
}

void CamHinge::joint_map(const double* q, Motion<double>* columns) const {
  const double c = std::cos(q[1]);
  const double s = std::sin(q[1]);
  const Vec3<double> slope{0.2 * std::sin(q[0]), 0, 0.1 * std::cos(q[0])};
  const Vec3<double> in_cam = Rotation<double>::about_z(q[0]).inverse_times(slope);
  columns[0] = {{0, s, c}, Rotation<double>::about_x(q[1]).inverse_times(in_cam)};
  columns[1] = {{1, 0, 0}, {0, 0, 0}};
}

Hinge random_hinge(HingeType type, Random& random) {
  Hinge hinge;
  hinge.type = type;
  hinge.axis = random.unit();
  hinge.axis2 = type == HingeType::planar ? perpendicular(hinge.axis) : random.unit();
  hinge.pitch = random.uniform(-0.5, 0.5);
  if (type == HingeType::custom) {
    hinge.custom = std::make_shared<CamHinge>();
  }
  hinge.dofs.resize(static_cast<std::size_t>(hinge.velocity_size()));
  return hinge;
}

ModelBuilder random_tree(int n, double branching, Random& random) {
  ModelBuilder builder("tree");
  for (int i = 0; i < n; ++i) {
    const auto type =
        all_hinge_types[static_cast<std::size_t>(random.integer(0, static_cast<int>(all_hinge_types.size()) - 1))];
    BodySpec body{.name = "b" + std::to_string(i)};
    const int parent = random.uniform(0, 1) < branching ? random.integer(-1, i - 1) : i - 1;
    body.parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent);
    body.hinge = random_hinge(type, random);
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder;
}

Model random_chain(int n, Random& random) {
  ModelBuilder builder("chain");
  for (int i = 0; i < n; ++i) {
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1)};
    body.hinge = random_hinge(i % 10 == 0 ? HingeType::prismatic : HingeType::revolute, random);
    body.X_PF = {random.rotation(), random.vec3(0.1)};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

void add_mimic_pair(ModelBuilder& builder, Random& random) {
  BodySpec leader{.name = "leader", .inertia = random.inertia()};
  leader.hinge.type = HingeType::revolute;
  BodySpec follower{.name = "follower", .inertia = random.inertia()};
  follower.hinge = {.type = HingeType::revolute, .mimic = Mimic{"leader_hinge", 2}};
  builder.add(leader).add(follower);
}

Model random_dynamics_model(int sample, Random& random) {
  ModelBuilder tree = random_tree(12, 0.1 * (sample % 11), random);
  ModelBuilder out("tree");
  std::string leader;
  for (BodySpec body : tree.bodies()) {
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = sample % 2 == 0 ? random.uniform(0, 0.5) : 0;
      dof.damping = random.uniform(0, 1);
      dof.friction = random.uniform(0, 1);
      dof.stiffness = random.uniform(0, 1);
    }
    if (body.hinge.dofs.size() == 1 && sample % 3 == 0) {
      if (!leader.empty() && random.uniform() > 0) {
        body.hinge.mimic = Mimic{leader, random.uniform(-2, 2), random.uniform()};
      } else {
        leader = body.name + "_hinge";
      }
    }
    out.add(std::move(body));
  }
  return out.build();
}

}  // namespace bunraku::test
