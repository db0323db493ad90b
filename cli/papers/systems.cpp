#include "papers/systems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "bunraku/model/builder.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/verify.hpp"

namespace bunraku::cli::papers {

namespace {

/// Operators that act on more numbers than this are compared on random vectors.
constexpr Eigen::Index most_columns = 400;
constexpr Eigen::Index vectors_instead = 16;

std::size_t index_of(int i) {
  return static_cast<std::size_t>(i);
}

/// Nodes for a robot: the last body, and the last of the first half. Only bodies with some mass count: what a force on
/// a speck does to the rest is lost in rounding.
std::vector<Node> nodes_of(const Model& model) {
  std::vector<Node> all;
  for (const Body& body : model.bodies()) {
    if (body.inertia.mass * static_cast<double>(model.bodies().size()) > 0.1 * model.mass()) {
      all.push_back(model.node(body.name));
    }
  }
  return {all[(all.size() - 1) / 2], all.back()};
}

/// x scaled so that the torques A x are of the size of the bias torques: where one is by far the larger, the other is
/// lost in their sum. A torque counts for what it does, so each is measured by the inertia at its hinge.
Eigen::VectorXd matched(const Eigen::VectorXd& x, const Eigen::MatrixXd& A, const Dense& dense) {
  const Eigen::ArrayXd inertia = dense.mass_matrix().diagonal().array().sqrt();
  const double have = ((A * x).array() / inertia).abs().maxCoeff();
  const double want = (dense.bias().array() / inertia).abs().maxCoeff();
  return have > 0 && want > 0 ? Eigen::VectorXd(want / have * x) : x;
}

Instant random_instant(const Model& model, Random& random) {
  Instant out{.model = model,
              .q = random_configuration(model, random.seed()),
              .v = random.vector(model.nv()),
              .a = random.vector(model.nv()),
              .nodes = {model.nodes().begin(), model.nodes().end()}};
  std::erase_if(out.nodes, [](const Node& node) { return node.body == world; });
  out.nodes.resize(std::min<std::size_t>(out.nodes.size(), 2));
  if (out.nodes.empty()) {
    out.nodes = nodes_of(model);
  }
  const Dense still(out);
  out.a = matched(out.a, still.mass_matrix(), still);
  return out;
}

/// The numbers of a memoryless operator with the same block at each body.
Eigen::VectorXd repeated(const Eigen::Matrix<double, 6, 6>& block, int bodies) {
  Eigen::VectorXd out(36 * bodies);
  for (int i = 0; i < out.size(); ++i) {
    out[i] = block(i / 6 % 6, i % 6);
  }
  return out;
}

/// Where the hinges of a chain or tree are.
enum class Place {
  anywhere,
  at_origins,  ///< At the bodies' origins, as the papers have them.
};

/// A chain or tree of given hinges.
Model built(const std::string& name, const std::vector<int>& parents, const std::vector<HingeType>& types, Place place,
            int nodes, Random& random) {
  const auto vec3 = [&](double size) {
    return Vec3<double>{random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  };
  const auto unit = [&] {
    Vec3<double> v = vec3(1);
    while (squared_norm(v) < 0.01) {
      v = vec3(1);
    }
    return v / norm(v);
  };
  const auto transform = [&] {
    return Transform<double>{
        Rotation<double>::about_z(random.uniform(-3, 3)) * Rotation<double>::about_x(random.uniform(-3, 3)), vec3(0.6)};
  };
  ModelBuilder builder(name);
  builder.set_gravity(vec3(10));
  for (std::size_t k = 0; k < types.size(); ++k) {
    BodySpec body{.name = fmt::format("b{}", k)};
    body.parent = parents[k] < 0 ? std::string(world_name) : fmt::format("b{}", parents[k]);
    body.hinge.type = types[k];
    body.hinge.axis = unit();
    const Vec3<double> other = unit();
    const Vec3<double> across = cross(body.hinge.axis, other);
    body.hinge.axis2 = norm(across) > 0.01 ? across / norm(across) : cross(body.hinge.axis, Vec3<double>::unit_x());
    body.hinge.pitch = random.uniform(0.1, 0.5);
    body.X_PF = transform();
    body.X_MB = place == Place::anywhere ? transform() : Transform<double>::identity();
    for (int i = 0; i < 6; ++i) {  // six point masses, so that it is an inertia that a body can have
      body.inertia += RigidInertia<double>::about_center(random.uniform(0.2, 1.0), vec3(0.4), {});
    }
    builder.add(std::move(body));
  }
  for (int i = 0; i < nodes; ++i) {
    builder.add(NodeSpec{.name = fmt::format("n{}", i),
                         .body = fmt::format("b{}", types.size() - 1 - 2 * index_of(i)),
                         .X_BN = transform()});
  }
  return builder.build();
}

/// Any hinges, but a free one only at the base: nothing is carried across it, and blocks of ψ would vanish.
std::vector<HingeType> any_types(std::size_t count, Random& random) {
  static constexpr std::array types{HingeType::free,      HingeType::revolute,    HingeType::prismatic,
                                    HingeType::spherical, HingeType::universal,   HingeType::helical,
                                    HingeType::planar,    HingeType::cylindrical, HingeType::translational};
  std::vector<HingeType> out(count);
  for (std::size_t k = 0; k < count; ++k) {
    out[k] = types[index_of(random.integer(k == 0 ? 0 : 1, static_cast<int>(types.size()) - 1))];
  }
  return out;
}

}  // namespace

double Random::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(engine_() >> 11U) * 0x1p-53;
}

int Random::integer(int low, int high) {
  return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
}

double Random::normal() {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
  return radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
}

Eigen::VectorXd Random::vector(int size) {
  Eigen::VectorXd out(size);
  for (double& each : out) {
    each = uniform(-1, 1);
  }
  return out;
}

const Variables& variables() {
  using enum SpaceKind;
  static const Variables all{
      Operator::variable("x", hinge, number), Operator::variable("y", node, number),
      Operator::variable("w", body, number),  Operator::variable("u", body, number),
      Operator::variable("A", body, body),    Operator::variable("C", body, body),
      Operator::variable("swap", body, body), Operator::variable("h", body, number),
      Operator::variable("V0", node, number), Operator::variable("alpha0", node, number),
      Operator::variable("a0", node, number),
  };
  return all;
}

Sample::Sample(std::string name, const Model& model, std::uint64_t seed, bool robot)
    : name_(std::move(name)),
      robot_(robot),
      dense_([&] {
        Random random(seed);
        return random_instant(model, random);
      }()),
      system_(model, as_span(dense_.instant().q), as_span(dense_.instant().v)) {
  const Instant& now = dense_.instant();
  std::vector<int> children(model.bodies().size() + 1);
  for (const Body& body : model.bodies()) {
    serial_ = serial_ && ++children[index_of(body.parent + 1)] == 1;
  }
  system_.set_accelerations(as_span(now.a));
  system_.set_nodes(now.nodes);
  Random random(seed + 1);
  const int bodies = dense_.bodies();
  x_ = random.vector(model.nv());
  y_ = matched(random.vector(6 * static_cast<int>(now.nodes.size())), dense_.jacobian().transpose(), dense_);
  w_ = random.vector(6 * bodies);
  Eigen::Matrix<double, 6, 6> swap = Eigen::Matrix<double, 6, 6>::Zero();
  swap.topRightCorner<3, 3>().setIdentity();
  swap.bottomLeftCorner<3, 3>().setIdentity();
  const std::array values{
      x_,
      y_,
      w_,
      random.vector(6 * bodies),
      random.vector(36 * bodies),
      random.vector(36 * bodies),
      repeated(swap, bodies),
      dense_.joint_rate(),
      dense_.node_V(),
      dense_.node_alpha(),
      dense_.node_a(),
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    system_.bind(variables()[i], as_span(values[i]));
  }
}

const Eigen::MatrixXd& Sample::mass() {
  if (!mass_) {
    mass_ = dense_.mass_matrix();
  }
  return *mass_;
}

const Factors& Sample::factors() {
  if (!factors_) {
    factors_.emplace(dense_, mass());
  }
  return *factors_;
}

const Articulated& Sample::articulated() {
  if (!articulated_) {
    articulated_.emplace(dense_);
  }
  return *articulated_;
}

Eigen::MatrixXd Sample::apply(const Operator& expression, const Eigen::MatrixXd& vectors) const {
  Evaluation evaluation = system_.literal(expression);
  return evaluation * vectors;
}

Eigen::MatrixXd Sample::matrix(const char* text) const {
  Evaluation evaluation = system_.literal(parse(expand(text), variables()));
  return evaluation.dense();
}

Eigen::MatrixXd Sample::probes(Eigen::Index size) const {
  if (size <= most_columns) {
    return Eigen::MatrixXd::Identity(size, size);
  }
  Random random(static_cast<std::uint64_t>(size));
  Eigen::MatrixXd out(size, vectors_instead);
  for (Eigen::Index j = 0; j < vectors_instead; ++j) {
    out.col(j) = random.vector(static_cast<int>(size));
  }
  return out;
}

double residual(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  if (left.size() == 0) {
    return 0;
  }
  if (!left.allFinite() || !right.allFinite()) {
    return std::numeric_limits<double>::infinity();
  }
  const double difference = (left - right).cwiseAbs().maxCoeff();
  return difference == 0 ? 0 : difference / std::max(left.cwiseAbs().maxCoeff(), right.cwiseAbs().maxCoeff());
}

Model random_arms(int arms, int links, Random& random) {
  std::vector<int> parents;
  parents.reserve(static_cast<std::size_t>(arms) * static_cast<std::size_t>(links));
  for (int i = 0; i < arms * links; ++i) {
    parents.push_back(i % links == 0 ? -1 : i - 1);
  }
  const Model model =
      built("arms", parents, std::vector<HingeType>(parents.size(), HingeType::revolute), Place::at_origins, 0, random);
  ModelBuilder builder = edit(model);
  for (int i = 0; i < arms; ++i) {
    builder.add(NodeSpec{.name = fmt::format("tip{}", i),
                         .body = fmt::format("b{}", (i + 1) * links - 1),
                         .X_BN = {Rotation<double>::about_z(random.uniform(-3, 3)), {0, 0, random.uniform(0.2, 0.5)}}});
  }
  return builder.build();
}

Sample random_sample(Systems systems, int index) {
  using enum HingeType;
  const std::uint64_t seed = 1000 * (static_cast<std::uint64_t>(systems) + 1) + static_cast<std::uint64_t>(index);
  Random random(seed);
  const std::vector<int> chain{-1, 0, 1, 2};
  const auto sample = [&](const char* what, const Model& model) {
    return Sample(fmt::format("random {} {}", what, index), model, random.seed());
  };
  switch (systems) {
    case Systems::any:
      return sample(index % 2 == 0 ? "chain" : "tree", random_model({.serial = index % 2 == 0}, seed));
    case Systems::serial:
      return sample("chain", random_model({.serial = true}, seed));
    case Systems::chain4:
      return sample("chain of four", built("chain4", chain, any_types(4, random), Place::anywhere, 2, random));
    case Systems::revolute4:
      return sample("revolute chain",
                    built("revolute4", chain, {revolute, revolute, revolute, revolute}, Place::at_origins, 2, random));
    case Systems::slider4:
      return sample("chain with a slider",
                    built("slider4", chain, {revolute, revolute, prismatic, revolute}, Place::at_origins, 2, random));
    case Systems::branch5:
      return sample("tree of five",
                    built("branch5", {-1, 0, 1, 1, 3}, any_types(5, random), Place::anywhere, 2, random));
    case Systems::mobile4:
      return sample("mobile chain",
                    built("mobile4", chain, {free, revolute, spherical, revolute}, Place::at_origins, 1, random));
    case Systems::arms:
      return sample("arms", random_arms(2 + index % 5, 6 + index % 2, random));
    case Systems::flexible:
      return sample("flexible tree", random_flexible_tree(random));
    case Systems::nodal:
      return sample("flexible chain", random_nodal_chain(random));
  }
  throw Error("there is no such kind of system");
}

Model plain(const Model& model) {
  const ModelBuilder all = edit(model);
  ModelBuilder out(model.name());
  out.set_format(model.format()).set_gravity(model.gravity());
  for (BodySpec body : all.bodies()) {
    body.hinge.mimic.reset();
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = dof.damping = dof.friction = dof.stiffness = 0;
    }
    out.add(std::move(body));
  }
  return out.build();
}

}  // namespace bunraku::cli::papers
