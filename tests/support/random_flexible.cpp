#include "support/random_flexible.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bunraku::test {

namespace {

/// A small body about a node: a cloud of points near it.
RigidInertia<double> lump(Random& random) {
  RigidInertia<double> sum = RigidInertia<double>::zero();
  for (int i = 0; i < 4; ++i) {
    const double m = random.uniform(0.05, 0.3);
    const Vec3<double> p = random.vec3(0.3);
    sum += RigidInertia<double>{m, p * m, point_inertia(p) * m};
  }
  return sum;
}

RigidInertia<double> point(double mass) {
  return {mass, Vec3<double>::zero(), Sym3<double>{}};
}

ModalShape random_shape(const FlexibleTraits& traits, const Vec3<double>& axis, Random& random) {
  ModalShape out;
  const auto n = static_cast<std::size_t>(traits.modes);
  for (std::size_t i = 0; i < n; ++i) {
    out.translation.push_back(random.vec3(0.5));
    if (traits.turning) {
      out.rotation.push_back(random.vec3(0.8));
    }
  }
  if (traits.shortening) {  // S = AA*
    const Eigen::MatrixXd A = 0.5 * random.vector(traits.modes * traits.modes).reshaped(traits.modes, traits.modes);
    const Eigen::MatrixXd S = A * A.transpose();
    out.shortening.assign(S.data(), S.data() + S.size());
    out.shortening_axis = axis;
  }
  return out;
}

Hinge random_hinge_of(HingeType type, bool armed, Random& random) {
  Hinge hinge;
  hinge.type = type;
  hinge.axis = random.unit();
  hinge.axis2 = random.unit();
  hinge.dofs.resize(static_cast<std::size_t>(hinge.velocity_size()));
  const bool plain = type == HingeType::revolute || type == HingeType::prismatic || type == HingeType::universal;
  for (HingeDof& dof : hinge.dofs) {
    dof.damping = random.uniform(0, 0.5);
    if (armed) {
      dof.armature = random.uniform(0, 0.3);
      dof.stiffness = plain ? random.uniform(0, 3) : 0;
    }
  }
  return hinge;
}

}  // namespace

FlexibleBody random_flexible_body(const FlexibleTraits& traits, Random& random) {
  FlexibleBody out;
  const Vec3<double> common = random.unit();
  for (int i = 0; i < traits.modes; ++i) {
    out.stiffness.push_back(random.uniform(0.5, 1) * traits.stiffness);
    if (traits.damping > 0) {
      out.damping.push_back(random.uniform(0, traits.damping));
    }
  }
  const auto add = [&](std::string name, const RigidInertia<double>& inertia) {
    const Vec3<double> axis = traits.one_axis ? common : random.unit();
    out.nodes.push_back({.name = std::move(name),
                         .place = random.vec3(),
                         .inertia = inertia,
                         .shape = random_shape(traits, axis, random)});
  };
  for (int i = 0; i < traits.named; ++i) {
    const int kind = random.integer(0, 2);
    add("n" + std::to_string(i), kind == 0   ? lump(random)
                                 : kind == 1 ? point(random.uniform(0.2, 1))
                                             : RigidInertia<double>::zero());
  }
  for (int i = 0; i < traits.nameless; ++i) {
    add("", i % 4 == 3 ? lump(random) : point(random.uniform(0.2, 1)));
  }
  out.inertia = random.inertia(4);
  return out;
}

FlexibleSystem::FlexibleSystem(int sample)
    : random(static_cast<unsigned>(sample) + 900),
      builder(build(sample)),
      model(builder.build()),
      q(random_flexible_configuration(model, random)),
      v(random.vector(model.nv())),
      a(random.vector(model.nv())),
      torque(random.vector(model.nv(), 5)) {}

ModelBuilder FlexibleSystem::build(int sample) {
  constexpr std::array inner = {HingeType::revolute,  HingeType::prismatic, HingeType::universal,
                                HingeType::spherical, HingeType::fixed,     HingeType::revolute};
  ModelBuilder out("flexible" + std::to_string(sample));
  out.set_gravity(sample % 4 == 3 ? Vec3<double>::zero() : random.vec3(10));
  const int bodies = 4 + sample % 5;
  const int certain = random.integer(0, bodies - 1);  // at least this one bends
  places = {std::string(world_name)};
  for (int i = 0; i < bodies; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    const bool base = i == 0 && sample % 2 == 0;
    body.hinge = random_hinge_of(
        base ? HingeType::free : inner[static_cast<std::size_t>(random.integer(0, static_cast<int>(inner.size()) - 1))],
        sample % 2 == 1, random);
    // on the world now and then, elsewhere on any frame or node that is there
    const int last = static_cast<int>(places.size()) - 1;
    const int on = i == 0 ? 0 : random.integer(0, 9) == 0 ? 0 : random.integer(std::min(1, last), last);
    body.parent = places[static_cast<std::size_t>(on)];
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    places.push_back(body.name);
    if (i != certain && random.integer(0, 2) == 0) {
      out.add(std::move(body));
      continue;
    }
    FlexibleTraits traits;
    traits.modes = i == certain ? (sample % 4 == 1 ? 8 : random.integer(1, 5)) : random.integer(0, 5);
    traits.named = random.integer(2, 4);
    traits.nameless = traits.modes == 1 ? 12 : traits.modes / 2 + random.integer(1, 5);  // of one mode too many
    traits.shortening = sample % 3 != 1;
    traits.turning = random.integer(0, 4) != 0;
    traits.one_axis = sample % 5 != 4;
    traits.damping = sample % 3 == 0 ? 0 : 1;
    FlexibleBody flexible = random_flexible_body(traits, random);
    if (random.integer(0, 3) == 0) {
      body.inertia = RigidInertia<double>::zero();
    }
    for (const FlexibleNode& node : flexible.nodes) {
      if (!node.name.empty()) {
        places.push_back(body.name + "." + node.name);
      }
    }
    sources.push_back({.body = body.name, .inertia = body.inertia, .flexible = flexible});
    add_flexible_body(out, std::move(body), flexible);
  }
  return out;
}

namespace {

constexpr const char* anchor = "anchor";

/// The first node of the last flexible body with modes and names.
std::string node_of_a_loop(const Model& model) {
  std::string out;
  for (const FlexiblePart& part : model.flexible()) {
    const std::string& first = model.body(part.nodes.front()).name;
    if (first.find(".n") != std::string::npos) {
      out = first;
    }
  }
  return out;
}

Model closed_at(const FlexibleSystem& system, const std::string& on, HingeType type) {
  // both frames of the closure stand at one place, in one attitude
  const FlexibleReference reference(system.model);
  const LongVector q = system.q.cast<long double>();
  const std::string held = node_of_a_loop(system.model);
  const LongPose place = reference.pose(q, system.model.node(held));
  const Eigen::Matrix4d X = (reference.pose(q, system.model.node(on)).inverse() * place).matrix();
  Mat3<double> R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R(i, j) = X(i, j);
    }
  }
  ModelBuilder builder = system.builder;
  builder.add(NodeSpec{.name = anchor, .body = on, .X_BN = {Rotation<double>(R), {X(0, 3), X(1, 3), X(2, 3)}}});
  ClosureSpec closure{.name = "loop", .a = anchor, .b = held};
  closure.hinge.type = type;
  builder.add(closure);
  return builder.build();
}

}  // namespace

FlexibleLoop::FlexibleLoop(const FlexibleSystem& system, const std::string& on, HingeType type)
    : model(closed_at(system, on, type)) {
  const int points = type == HingeType::spherical ? 1 : type == HingeType::revolute ? 2 : 3;
  const Node held = model.node(node_of_a_loop(system.model));
  const std::array<LongVector3, 3> all = {LongVector3::Zero(), LongVector3::UnitZ(), LongVector3::UnitX()};
  for (int i = 0; i < points; ++i) {
    const LongVector3& p = all[static_cast<std::size_t>(i)];
    ties.push_back({model.node(anchor), held, p, p});
  }
}

Eigen::VectorXd random_flexible_configuration(const Model& model, Random& random) {
  Eigen::VectorXd q(model.nq());
  for (const Body& body : model.bodies()) {
    auto own = q.segment(body.q_index, body.nq);
    const bool modal = body.hinge.type == HingeType::modal;
    const bool angles = body.hinge.type == HingeType::revolute || body.hinge.type == HingeType::universal;
    own = random.vector(body.nq, modal ? 0.5 : angles ? 3 : 1);
    if (body.nq > 0 && (body.hinge.type == HingeType::spherical || body.hinge.type == HingeType::free)) {
      own.head<4>().normalize();
    }
  }
  return q;
}

ModelBuilder free_flyer(Random& random) {
  ModelBuilder out("flyer");
  BodySpec base{.name = "base", .inertia = random.inertia()};
  base.hinge.type = HingeType::free;
  add_flexible_body(out, base, random_flexible_body({.modes = 3, .named = 2, .nameless = 3}, random));
  BodySpec arm{.name = "arm", .parent = "base.n1", .X_PF = random.transform(), .inertia = random.inertia()};
  arm.hinge = {.type = HingeType::revolute, .axis = random.unit()};
  add_flexible_body(out, arm, random_flexible_body({.modes = 2, .named = 2, .nameless = 2}, random));
  BodySpec load{.name = "load", .parent = "arm.n0", .X_PF = random.transform(), .inertia = random.inertia()};
  load.hinge.type = HingeType::spherical;
  out.add(load);
  return out;
}

}  // namespace bunraku::test
