/// @file
/// Reads the robots, takes their mimic couplings out and describes them to Pinocchio.
#include "robots.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench {

namespace {

namespace bk = bunraku;
namespace fs = std::filesystem;

struct Known {
  const char* name;
  bool free_base;
};
constexpr Known known[] = {{"iiwa", false},    {"panda", false}, {"hyq", true},
                           {"anymal_b", true}, {"atlas", true},  {"simple_humanoid", true}};

/// Pinocchio's reader ignores couplings unless asked for: here each hinge has its own coordinate on both sides.
bk::Model without_mimics(const bk::Model& model) {
  const bk::ModelBuilder all = bk::edit(model);
  bk::ModelBuilder out(model.name());
  out.set_format(model.format()).set_gravity(model.gravity());
  for (bk::BodySpec body : all.bodies()) {
    body.hinge.mimic.reset();
    out.add(std::move(body));
  }
  return out.build();
}

Robot load_robot(const std::string& name, const fs::path& file, bool free_base) {
  bk::LoadOptions options;
  options.free_base = free_base;
  options.loops = "none";
  const bk::Model model = bk::load(file.string(), options);
  const bool coupled = std::ranges::any_of(model.bodies(), [](const bk::Body& b) { return b.hinge.mimic.has_value(); });
  return {name, coupled ? without_mimics(model) : model, coupled};
}

PeerPose pose(const bk::Transform<double>& x) {
  PeerPose out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out.rotation[static_cast<std::size_t>(3 * i + j)] = x.rotation(i, j);
    }
  }
  out.translation = {x.translation.x, x.translation.y, x.translation.z};
  return out;
}

PeerHinge peer_hinge(const bk::Body& body) {
  switch (body.hinge.type) {
    case bk::HingeType::fixed:
      return PeerHinge::fixed;
    case bk::HingeType::revolute:
      return PeerHinge::revolute;
    case bk::HingeType::continuous:
      return PeerHinge::continuous;
    case bk::HingeType::prismatic:
      return PeerHinge::prismatic;
    case bk::HingeType::free:
      return PeerHinge::free;
    default:
      throw std::runtime_error(
          fmt::format("{}: the benchmark has no {} hinges", body.hinge.name, bk::to_string(body.hinge.type)));
  }
}

PeerBody peer_body(const bk::Body& body) {
  const bk::Vec3<double> center = body.inertia.center();
  const bk::Sym3<double> central = body.inertia.central();
  PeerBody out{.name = body.name,
               .parent = body.parent,
               .hinge = peer_hinge(body),
               .axis = {body.hinge.axis.x, body.hinge.axis.y, body.hinge.axis.z},
               .X_PF = pose(body.X_PF),
               .X_MB = pose(body.X_MB),
               .mass = body.inertia.mass,
               .center = {center.x, center.y, center.z},
               .central = {central.xx, central.yy, central.zz, central.xy, central.xz, central.yz},
               .q_index = static_cast<std::size_t>(body.q_index),
               .v_index = static_cast<std::size_t>(body.v_index)};
  for (std::size_t k = 0; k < body.hinge.dofs.size(); ++k) {
    out.armature[k] = body.hinge.dofs[k].armature;
  }
  return out;
}

fs::path find_model(const fs::path& folder, const std::string& name) {
  const fs::path in_urdf = folder / "urdf" / (name + ".urdf");
  return fs::exists(in_urdf) ? in_urdf : folder / (name + ".urdf");
}

std::vector<double> uniform(std::mt19937_64& random, int size, double range) {
  std::uniform_real_distribution<double> number(-range, range);
  std::vector<double> out(static_cast<std::size_t>(size));
  std::ranges::generate(out, [&] { return number(random); });
  return out;
}

}  // namespace

std::vector<std::string> robot_names() {
  std::vector<std::string> names;
  for (const Known& robot : known) {
    names.emplace_back(robot.name);
  }
  return names;
}

std::vector<Robot> load_robots(const std::vector<std::string>& names, const std::string& folder) {
  std::vector<Robot> robots;
  std::vector<std::string> missing;
  for (const std::string& name : names.empty() ? robot_names() : names) {
    const fs::path own = fs::path(BUNRAKU_SOURCE_DIR) / "models" / (name + ".urdf");
    const fs::path file = fs::exists(own) ? own : find_model(folder, name);
    const auto* const robot = std::ranges::find_if(known, [&](const Known& k) { return k.name == name; });
    if (fs::exists(file)) {
      robots.push_back(load_robot(name, file, robot != std::end(known) && robot->free_base));
    } else {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    const std::string text =
        fmt::format("no model of {} in {} nor in its folder urdf: --models DIR says where they are",
                    fmt::join(missing, ", "), folder);
    if (!names.empty()) {
      throw std::runtime_error(text);
    }
    fmt::print(stderr, "dynamics: {}\n", text);
  }
  if (robots.empty()) {
    fmt::print(stderr, "dynamics: measuring the project's own models/puppet.urdf instead\n");
    robots.push_back(load_robot("puppet", fs::path(BUNRAKU_SOURCE_DIR) / "models/puppet.urdf", false));
  }
  return robots;
}

std::vector<State> random_states(const bk::Model& model, std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<State> states(count);
  for (std::size_t i = 0; i < count; ++i) {
    states[i].q.resize(static_cast<std::size_t>(model.nq()));
    bk::random_configuration(model, i + 1, std::span<double>(states[i].q));
    states[i].v = uniform(random, model.nv(), 1);
    states[i].acceleration = uniform(random, model.nv(), 1);
    states[i].torque = uniform(random, model.nv(), 10);
  }
  return states;
}

PinocchioPeer peer_of(const bk::Model& model) {
  std::vector<PeerBody> bodies;
  for (const bk::Body& body : model.bodies()) {
    bodies.push_back(peer_body(body));
  }
  return {bodies, {model.gravity().x, model.gravity().y, model.gravity().z}};
}

}  // namespace bench
