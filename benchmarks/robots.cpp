/// @file
/// Reads the robots, and takes their mimic couplings out where that is asked for.
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

/// The same with a coordinate of its own for each hinge.
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

Robot load_robot(const std::string& name, const fs::path& file, bool free_base, Couplings couplings) {
  bk::LoadOptions options;
  options.free_base = free_base;
  options.loops = "none";
  const bk::Model model = bk::load(file.string(), options);
  const bool uncouple = couplings == Couplings::taken_out && std::ranges::any_of(model.bodies(), [](const bk::Body& b) {
                          return b.hinge.mimic.has_value();
                        });
  return {name, uncouple ? without_mimics(model) : model, uncouple};
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

std::vector<Robot> load_robots(const char* program, const std::vector<std::string>& names, const std::string& folder,
                               Couplings couplings) {
  std::vector<Robot> robots;
  std::vector<std::string> missing;
  for (const std::string& name : names.empty() ? robot_names() : names) {
    const fs::path own = fs::path(BUNRAKU_SOURCE_DIR) / "models" / (name + ".urdf");
    const fs::path file = fs::exists(own) ? own : find_model(folder, name);
    const auto* const robot = std::ranges::find_if(known, [&](const Known& k) { return k.name == name; });
    if (fs::exists(file)) {
      robots.push_back(load_robot(name, file, robot != std::end(known) && robot->free_base, couplings));
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
    fmt::print(stderr, "{}: {}\n", program, text);
  }
  if (robots.empty()) {
    fmt::print(stderr, "{}: measuring the project's own models/puppet.urdf instead\n", program);
    robots.push_back(load_robot("puppet", fs::path(BUNRAKU_SOURCE_DIR) / "models/puppet.urdf", false, couplings));
  }
  return robots;
}

std::string default_models() {
  return fs::path(BUNRAKU_SOURCE_DIR "/../shared/models").lexically_normal().string();
}

bk::Operator inverse_mass(const bk::Model& model) {
  return bk::parse(bk::conditions_of(model).armature ? "inv(H*phi*M*~phi*~H + armature)" : "inv(H*phi*M*~phi*~H)");
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

}  // namespace bench
