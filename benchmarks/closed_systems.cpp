#include "closed_systems.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <random>
#include <stdexcept>

#include <bunraku/dynamics/assembly.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <support/mechanisms.hpp>

namespace bench {

namespace {

namespace bk = bunraku;
namespace fs = std::filesystem;
using bk::HingeType;
using Vec = bk::Vec3<double>;
using Pose = bk::Transform<double>;

struct File {
  const char* name;
  const char* path;
};
constexpr File files[] = {{"four_bar_sdf", "sdf/four_bar.sdf"},
                          {"cassie", "mjcf/cassie.xml"},
                          {"5bar_linkage", "loops/5bar_linkage/robot.urdf"},
                          {"digit_like", "loops/digit_like/robot.urdf"},
                          {"robot_delta", "loops/robot_delta/robot.urdf"}};

/// The file has a bushing between these nodes in place of a hinge, 0.1 m apart along its axis, as the links lie side by
/// side; and it lies flat, far from where its loop closes.
bk::Model with_bushing_closed(const bk::Model& model) {
  bk::ModelBuilder builder = bk::edit(model);
  builder.add(bk::NodeSpec{
      .name = "pin", .body = "C", .X_BN = model.node("Cb_bushing").X_BN * Pose::translate(Vec::unit_z() * -0.1)});
  bk::ClosureSpec closure{.name = "bushing", .a = "Bc_bushing", .b = "pin"};
  closure.hinge.type = HingeType::revolute;
  closure.hinge.axis = Vec::unit_z();
  builder.add(closure);
  const double crank = std::atan2(std::sqrt(15.0), 1);
  const double other = std::numbers::pi - crank;
  builder.references().clear();
  builder.add(bk::ReferenceSpec{.name = std::string(bk::initial_name),
                                .positions = {{"joint_WA", {crank}}, {"joint_AB", {other}}, {"joint_WC", {other}}}});
  return builder.build();
}

}  // namespace

bk::Model arm_of_seven() {
  bk::ModelBuilder builder("arm");
  std::string parent = "world";
  for (int i = 0; i < 7; ++i) {
    bk::BodySpec body;
    body.name = "link" + std::to_string(i);
    body.parent = parent;
    body.hinge.type = HingeType::revolute;
    body.hinge.axis = i % 2 == 0 ? Vec::unit_z() : Vec::unit_y();
    body.X_PF = Pose::translate({0, 0, i == 0 ? 0.15 : 0.2});
    const double mass = 4 - 0.4 * i;
    body.inertia = bk::RigidInertia<double>::about_center(
        mass, Vec{0.01, 0.02, 0.1}, bk::Sym3<double>::diagonal(0.012 * mass, 0.011 * mass, 0.004 * mass));
    builder.add(body);
    parent = body.name;
  }
  builder.add(bk::NodeSpec{.name = "hand", .body = parent, .X_BN = Pose::translate({0, 0, 0.15})});
  return builder.build();
}

bk::Model free_object() {
  bk::ModelBuilder builder("object");
  bk::BodySpec body;
  body.name = "object";
  body.hinge.type = HingeType::free;
  body.inertia =
      bk::RigidInertia<double>::about_center(3, Vec{0.01, 0, 0.02}, bk::Sym3<double>::diagonal(0.05, 0.06, 0.04));
  builder.add(body);
  return builder.build();
}

std::vector<std::string> closed_names() {
  std::vector<std::string> names{"four_bar", "stewart", "3rrr"};
  for (const File& file : files) {
    names.emplace_back(file.name);
  }
  return names;
}

std::vector<ClosedRobot> load_closed(const std::vector<std::string>& names, const std::string& folder) {
  std::vector<ClosedRobot> out;
  std::vector<std::string> missing;
  for (const std::string& name : names.empty() ? closed_names() : names) {
    const auto* const file = std::ranges::find_if(files, [&](const File& f) { return f.name == name; });
    if (name == "four_bar") {
      out.push_back({name, bk::test::four_bar(), true});
    } else if (name == "stewart") {
      out.push_back({name, bk::test::stewart_platform()});
    } else if (name == "3rrr") {
      out.push_back({name, bk::test::planar_3rrr(), true});
    } else if (file == std::end(files)) {
      throw std::runtime_error(fmt::format("there is no system {}, only: {}", name, fmt::join(closed_names(), ", ")));
    } else if (const fs::path path = fs::path(folder) / file->path; fs::exists(path)) {
      const bk::Model model = bk::load(path.string());
      const bool bushing = name == "four_bar_sdf";
      out.push_back({name, bushing ? with_bushing_closed(model) : model, bushing});
    } else {
      missing.emplace_back(path.string());
    }
  }
  if (!missing.empty()) {
    const std::string text = fmt::format("not there: {}: --models DIR says where they are", fmt::join(missing, ", "));
    if (!names.empty()) {
      throw std::runtime_error(text);
    }
    fmt::print(stderr, "closed: {}\n", text);
  }
  return out;
}

std::vector<ClosedState> closed_states(const bk::Model& model, std::size_t count) {
  std::mt19937_64 random(1);
  const auto uniform = [&](double range) {
    bk::VectorX<double> out(model.nv());
    std::uniform_real_distribution<double> number(-range, range);
    std::ranges::generate(out, [&] { return number(random); });
    return out;
  };
  const auto numbers = [](const bk::VectorX<double>& x) { return std::vector<double>(x.begin(), x.end()); };
  bk::ClosedSystem system(model, bk::PassiveForces::left_out);
  const bk::VectorX<double> still = bk::VectorX<double>::Zero(model.nv());
  const auto close = [&] {
    const bk::AssemblyResult found = bk::assemble(system, {.limits = false});
    if (!(found.residual < 1e-10)) {  // the rounded numbers of a file may not let it be closed
      throw std::runtime_error(
          fmt::format("the loops of {} do not close: {} is {:.1e} open", model.name(), found.worst, found.residual));
    }
  };
  system.set(bk::initial_configuration(model), still);
  close();
  const bk::VectorX<double> start = system.state().q();
  std::vector<ClosedState> states(count);
  for (ClosedState& state : states) {
    system.set(bk::integrate(model, start, uniform(0.1), 1.0), still);
    close();
    const bk::VectorX<double> q = system.state().q();
    system.set(q, uniform(1));
    bk::project_velocities(system);
    state = {numbers(q), numbers(system.state().v()), numbers(uniform(10))};
  }
  return states;
}

}  // namespace bench
