#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include "bunraku/model/detail/builder_parts.hpp"

namespace bunraku {

namespace {

/// `, which line N has too` where the other one's line is known.
std::string also_at(const SourceLocation& other) {
  return other.line > 0 ? fmt::format(": line {} has it too", other.line) : std::string(" twice");
}

/// Where problems of the hinge are found.
const SourceLocation& hinge_place(const BodySpec& spec) {
  return spec.hinge_where.file.empty() && spec.hinge_where.line == 0 ? spec.where : spec.hinge_where;
}

}  // namespace

bool claim_name(NameTable& names, std::string_view kind, const std::string& name, int index,
                const SourceLocation& where, const std::function<SourceLocation(int)>& place_of,
                ProblemList& problems) {
  if (detail::is_blank(name)) {
    problems.error(where, fmt::format("a {} has no name", kind), "give it one");
    return false;
  }
  if (!detail::is_printable(name)) {
    problems.error(where,
                   fmt::format("the name '{}' of a {} has control characters in it or is not UTF-8",
                               detail::printable(name), kind),
                   "use letters, digits and signs");
  }
  const auto [at, fresh] = names.emplace(name, index);
  if (!fresh) {
    problems.error(where, fmt::format("there is a {} '{}'{}", kind, name, also_at(place_of(at->second))),
                   "give each a name of its own");
  }
  return fresh;
}

std::shared_ptr<Model::Data> ModelBuilder::Parts::assemble(ProblemList& problems) const {
  auto data = std::make_shared<Model::Data>();
  data->name = name;
  data->format = format;
  data->gravity = gravity;
  data->world_geometry = world_geometry;
  if (!is_finite(gravity)) {
    problems.error({}, "gravity is not finite", "give three finite numbers");
  } else if (norm(gravity / largest_model_number) > 1) {
    problems.error({}, fmt::format("gravity is beyond {:.0e} m/s²", largest_model_number), "check its unit");
  }
  check_geometry(world_geometry, std::string(world_name), {}, problems);

  place_bodies(*data, problems);
  Names body_names;
  Names hinge_names;
  for (int i = 0; i < static_cast<int>(data->bodies.size()); ++i) {
    const Body& body = data->bodies[static_cast<std::size_t>(i)];
    const auto place = [&](int k) { return data->bodies[static_cast<std::size_t>(k)].where; };
    claim_name(body_names, "body", body.name, i, body.where, place, problems);
    const auto place_of_hinge = [&](int k) { return data->bodies[static_cast<std::size_t>(k)].hinge_where; };
    claim_name(hinge_names, "hinge", body.hinge.name, i, body.hinge_where, place_of_hinge, problems);
  }
  number_coordinates(*data, hinge_names, problems);
  list_flexible(*data, problems);
  check_masses(*data, problems);
  place_nodes(*data, body_names, problems);
  place_closures(*data, body_names, hinge_names, problems);
  place_references(*data, hinge_names, problems);
  return data;
}

void ModelBuilder::Parts::place_bodies(Model::Data& data, ProblemList& problems) const {
  Names names;
  for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
    names.emplace(bodies[static_cast<std::size_t>(i)].name, i);  // the first of equal names; reported later
  }
  std::vector<int> parents;
  parents.reserve(bodies.size());
  for (const BodySpec& spec : bodies) {
    const auto at = names.find(spec.parent);
    if (spec.name == world_name) {
      problems.error(spec.where, "a body is called 'world'", "that is the name of the world itself: choose another");
    }
    if (at == names.end() && spec.parent != world_name) {
      problems.error(hinge_place(spec),
                     fmt::format("body '{}' hangs on '{}', which does not exist{}", spec.name, spec.parent,
                                 problems.suggestion(spec.parent, names, {{world_name, world}}, spec.name)),
                     "name a body or 'world'");
    }
    parents.push_back(at == names.end() || spec.parent == world_name ? world : at->second);
  }
  const std::vector<int> order = parent_first(bodies, parents, problems);
  std::vector<int> index(bodies.size(), world);
  data.bodies.reserve(bodies.size());
  for (const int i : order) {
    const BodySpec& spec = bodies[static_cast<std::size_t>(i)];
    const int parent = parents[static_cast<std::size_t>(i)];
    index[static_cast<std::size_t>(i)] = static_cast<int>(data.bodies.size());
    Body body{.name = spec.name,
              .parent = parent == world ? world : index[static_cast<std::size_t>(parent)],
              .hinge = spec.hinge,
              .X_PF = spec.X_PF,
              .X_MB = spec.X_MB,
              .inertia = spec.inertia,
              .visuals = spec.visuals,
              .collisions = spec.collisions,
              .where = spec.where,
              .hinge_where = hinge_place(spec)};
    check_pose(body.X_PF, fmt::format("the hinge frame of body '{}'", body.name), body.hinge_where, problems);
    check_pose(body.X_MB, fmt::format("body '{}' in its hinge frame", body.name), body.hinge_where, problems);
    check_inertia(body.inertia, body.name, body.where, problems, body.hinge.type == HingeType::modal);
    check_geometry(body.visuals, body.name, body.where, problems);
    check_geometry(body.collisions, body.name, body.where, problems);
    data.mass += body.inertia.mass;
    data.bodies.push_back(std::move(body));
  }
}

/// The order of adding, but for what must wait for its parent. Bodies on a cycle are reported and left out.
std::vector<int> ModelBuilder::Parts::parent_first(const std::vector<BodySpec>& specs, const std::vector<int>& parents,
                                                   ProblemList& problems) {
  const std::size_t n = specs.size();
  std::vector<int> first_child(n, world);
  std::vector<int> next_sibling(n, world);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = n; i-- > 0;) {
    if (parents[i] == world) {
      ready.push(static_cast<int>(i));
    } else {
      next_sibling[i] = std::exchange(first_child[static_cast<std::size_t>(parents[i])], static_cast<int>(i));
    }
  }
  std::vector<int> order;
  order.reserve(n);
  std::vector<bool> placed(n);
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    placed[static_cast<std::size_t>(i)] = true;
    for (int c = first_child[static_cast<std::size_t>(i)]; c != world; c = next_sibling[static_cast<std::size_t>(c)]) {
      ready.push(c);
    }
  }
  std::vector<bool> told(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (placed[i] || told[i]) {
      continue;
    }
    // follow the parents until they repeat: that is a cycle
    std::size_t k = i;
    while (!told[k]) {
      told[k] = true;
      k = static_cast<std::size_t>(parents[k]);
    }
    std::string path = "'" + specs[k].name + "'";
    int shown = 0;
    std::size_t m = static_cast<std::size_t>(parents[k]);
    for (; m != k && shown < 6; m = static_cast<std::size_t>(parents[m]), ++shown) {
      path += " on '" + specs[m].name + "'";
    }
    problems.error(
        hinge_place(specs[k]),
        fmt::format("bodies hang on each other in a circle: {}{} on '{}'", path, m == k ? "" : " …", specs[k].name),
        "make one of them hang on the world, or close the loop by a closure");
  }
  return order;
}

namespace {

/// Lets a node of a flexible body follow the one that leads.
void follow_modes(Body& body, int leader, const Hinge& leads, ProblemList& problems) {
  const bool alike = body.hinge.type == HingeType::modal && leads.type == HingeType::modal &&
                     is_countable(body.hinge) && body.hinge.velocity_size() == leads.velocity_size();
  if (!alike || body.hinge.mimic->ratio != 1 || body.hinge.mimic->offset != 0) {
    problems.error(
        body.hinge_where,
        fmt::format("hinge '{}' mimics '{}', and not both are modal with as many modes, ratio 1 and offset 0",
                    body.hinge.name, leads.name),
        "let nodes of one flexible body follow each other alone");
    return;
  }
  body.leader = leader;
}

}  // namespace

/// Finds the leader at the end of each chain of mimics. Each hinge is visited once, however long the chains.
void ModelBuilder::Parts::resolve_mimics(std::vector<Body>& placed, const Names& hinges, ProblemList& problems) {
  enum class State { fresh, open, done };
  std::vector<State> states(placed.size(), State::fresh);
  std::vector<std::pair<int, int>> chain;  // (follower, the hinge that it names)
  for (int start = 0; start < static_cast<int>(placed.size()); ++start) {
    chain.clear();
    int at = start;
    while (placed[static_cast<std::size_t>(at)].hinge.mimic && states[static_cast<std::size_t>(at)] == State::fresh) {
      const Body& body = placed[static_cast<std::size_t>(at)];
      states[static_cast<std::size_t>(at)] = State::open;
      const auto next = hinges.find(body.hinge.mimic->hinge);
      if (next == hinges.end()) {
        problems.error(
            body.hinge_where,
            fmt::format("hinge '{}' mimics '{}', which does not exist{}", body.hinge.name, body.hinge.mimic->hinge,
                        problems.suggestion(body.hinge.mimic->hinge, hinges, {}, body.hinge.name)),
            "name a hinge");
        states[static_cast<std::size_t>(at)] = State::done;
        break;
      }
      chain.emplace_back(at, next->second);
      at = next->second;
    }
    if (states[static_cast<std::size_t>(at)] == State::open) {  // the chain came back to itself
      const Body& body = placed[static_cast<std::size_t>(at)];
      problems.error(body.hinge_where,
                     fmt::format("hinge '{}' mimics itself, through '{}'", body.hinge.name, body.hinge.mimic->hinge),
                     "let one of the hinges lead");
    }
    for (; !chain.empty(); chain.pop_back()) {
      Body& body = placed[static_cast<std::size_t>(chain.back().first)];
      const Body& next = placed[static_cast<std::size_t>(chain.back().second)];
      states[static_cast<std::size_t>(chain.back().first)] = State::done;
      if (next.hinge.mimic) {
        body.leader = next.leader;
        body.leader_ratio = body.hinge.mimic->ratio * next.leader_ratio;
        body.leader_offset = body.hinge.mimic->ratio * next.leader_offset + body.hinge.mimic->offset;
        if (!std::isfinite(body.leader_ratio) || !std::isfinite(body.leader_offset)) {
          problems.error(
              body.hinge_where,
              fmt::format("the chain of mimics from hinge '{}' leads beyond the range of numbers", body.hinge.name),
              "check the ratios and offsets");
          body.leader_ratio = 0;
          body.leader_offset = 0;
        }
      } else if (!is_countable(next.hinge)) {
        continue;  // reported already
      } else if (body.hinge.type == HingeType::modal || next.hinge.type == HingeType::modal) {
        follow_modes(body, chain.back().second, next.hinge, problems);
      } else if (next.hinge.velocity_size() != 1) {
        problems.error(body.hinge_where,
                       fmt::format("hinge '{}' mimics '{}', which is {}", body.hinge.name, next.hinge.name,
                                   to_string(next.hinge.type)),
                       "only a hinge with one coordinate can lead");
      } else {
        body.leader = chain.back().second;
        body.leader_ratio = body.hinge.mimic->ratio;
        body.leader_offset = body.hinge.mimic->offset;
      }
    }
  }
}

void ModelBuilder::Parts::number_coordinates(Model::Data& data, const Names& hinges, ProblemList& problems) {
  for (Body& body : data.bodies) {
    if (!check_hinge(body.hinge, body.hinge_where, problems)) {
      body.hinge.custom = nullptr;  // marks it: the rest goes on without its coordinates, to find what else is wrong
      body.hinge.modal = nullptr;
    }
  }
  resolve_mimics(data.bodies, hinges, problems);
  for (Body& body : data.bodies) {
    if (!body.hinge.mimic && is_countable(body.hinge)) {
      body.nq = body.hinge.configuration_size();
      body.nv = body.hinge.velocity_size();
    }
    body.q_index = data.nq;
    body.v_index = data.nv;
    data.nq += body.nq;
    data.nv += body.nv;
  }
  for (Body& body : data.bodies) {
    if (body.leader != world) {
      body.q_index = data.bodies[static_cast<std::size_t>(body.leader)].q_index;
      body.v_index = data.bodies[static_cast<std::size_t>(body.leader)].v_index;
    }
  }
}

/// The nodes that share their modes, and the frame on which all of them hang.
void ModelBuilder::Parts::list_flexible(Model::Data& data, ProblemList& problems) {
  std::vector<std::size_t> part_of(data.bodies.size());
  for (std::size_t i = 0; i < data.bodies.size(); ++i) {
    const Body& body = data.bodies[i];
    if (body.hinge.type != HingeType::modal || !is_countable(body.hinge)) {
      continue;
    }
    if (body.leader == world && body.nv > 0) {
      part_of[i] = data.flexible.size();
      data.flexible.push_back({body.parent, {static_cast<int>(i)}, body.nv, body.q_index, body.v_index});
    }
  }
  for (std::size_t i = 0; i < data.bodies.size(); ++i) {
    const Body& body = data.bodies[i];
    if (body.hinge.type != HingeType::modal || body.leader == world) {
      continue;
    }
    FlexiblePart& part = data.flexible[part_of[static_cast<std::size_t>(body.leader)]];
    part.nodes.push_back(static_cast<int>(i));
    if (body.parent != part.body) {
      problems.error(body.hinge_where,
                     fmt::format("hinge '{}' follows the modes of '{}', which hangs on another body", body.hinge.name,
                                 data.bodies[static_cast<std::size_t>(body.leader)].hinge.name),
                     "let all nodes of a flexible body hang on its frame");
    }
  }
  for (const FlexiblePart& part : data.flexible) {
    const Body& body = data.bodies[static_cast<std::size_t>(part.nodes.front())];
    if (part.nodes.size() == 1 && part.modes > max_hinge_velocities) {
      problems.error(
          body.hinge_where,
          fmt::format("hinge '{}' has {} modes and is the only node of its flexible body", body.hinge.name, part.modes),
          "one node has six freedoms at the most: give more nodes");
    }
  }
}

/// A movable body that carries no mass has no equation of motion. What a follower carries, its leader moves.
void ModelBuilder::Parts::check_masses(const Model::Data& data, ProblemList& problems) {
  const auto mark_up = [&](std::vector<bool>& marked) {
    for (std::size_t i = data.bodies.size(); i-- > 0;) {
      if (marked[i] && data.bodies[i].parent != world) {
        marked[static_cast<std::size_t>(data.bodies[i].parent)] = true;
      }
    }
  };
  std::vector<bool> massive(data.bodies.size());
  for (std::size_t i = 0; i < data.bodies.size(); ++i) {
    massive[i] = data.bodies[i].inertia != RigidInertia<double>::zero();
  }
  mark_up(massive);
  std::vector<bool> moves_mass = massive;
  for (std::size_t i = 0; i < data.bodies.size(); ++i) {
    if (massive[i] && data.bodies[i].leader != world) {
      moves_mass[static_cast<std::size_t>(data.bodies[i].leader)] = true;
    }
  }
  for (std::size_t i = data.bodies.size(); i-- > 0;) {
    const Body& body = data.bodies[i];
    const bool has_armature = std::any_of(body.hinge.dofs.begin(), body.hinge.dofs.end(),
                                          [](const HingeDof& dof) { return dof.armature > 0; });
    if (!moves_mass[i] && body.nv > 0 && !has_armature) {
      problems.warning(body.where,
                       fmt::format("body '{}' moves on hinge '{}' but neither it nor anything beyond it has mass",
                                   body.name, body.hinge.name),
                       "give it mass or armature, or fix it; forward dynamics will refuse it");
      moves_mass[i] = true;  // once is enough for a chain of them
    }
    if (moves_mass[i] && body.parent != world) {
      moves_mass[static_cast<std::size_t>(body.parent)] = true;
    }
  }
  if (!std::isfinite(data.mass)) {
    problems.error({}, "the mass of all bodies together is beyond the range of numbers", "check the masses");
  }
}

void ModelBuilder::Parts::place_nodes(Model::Data& data, const Names& body_names, ProblemList& problems) const {
  Names names;
  data.nodes.reserve(nodes.size());
  for (const NodeSpec& spec : nodes) {
    const int index = static_cast<int>(data.nodes.size());
    const auto body = body_names.find(spec.body);
    if (body == body_names.end() && spec.body != world_name) {
      problems.error(spec.where,
                     fmt::format("node '{}' is on '{}', which does not exist{}", spec.name, spec.body,
                                 problems.suggestion(spec.body, body_names, {{world_name, world}})),
                     "name a body or 'world'");
    }
    if (body_names.contains(spec.name) || spec.name == world_name) {
      problems.error(spec.where, fmt::format("node '{}' has the name of a body", spec.name),
                     "choose another name: a body's name is the node at its origin");
    }
    claim_name(
        names, "node", spec.name, index, spec.where, [&](int k) { return nodes[static_cast<std::size_t>(k)].where; },
        problems);
    check_pose(spec.X_BN, fmt::format("node '{}'", spec.name), spec.where, problems);
    data.nodes.push_back({spec.name, body == body_names.end() ? world : body->second, spec.X_BN});
  }
}

void ModelBuilder::Parts::place_closures(Model::Data& data, const Names& body_names, const Names& hinge_names,
                                         ProblemList& problems) const {
  Names names;
  Names node_names;
  for (int i = 0; i < static_cast<int>(data.nodes.size()); ++i) {
    node_names.emplace(data.nodes[static_cast<std::size_t>(i)].name, i);
  }
  const auto find_node = [&](const std::string& wanted, const ClosureSpec& spec) -> Node {
    if (wanted == world_name) {
      return {wanted, world, Transform<double>::identity()};
    }
    if (const auto body = body_names.find(wanted); body != body_names.end()) {
      return {wanted, body->second, Transform<double>::identity()};
    }
    if (const auto node = node_names.find(wanted); node != node_names.end()) {
      return data.nodes[static_cast<std::size_t>(node->second)];
    }
    problems.error(spec.where,
                   fmt::format("closure '{}' joins '{}', which does not exist{}", spec.name, wanted,
                               problems.suggestion(wanted, body_names, node_names)),
                   "name a node or a body");
    return {};
  };
  const auto find_hinge = [&](const std::string& wanted, const ClosureSpec& spec) {
    const auto at = hinge_names.find(wanted);
    if (at == hinge_names.end()) {
      problems.error(spec.where,
                     fmt::format("closure '{}' ties hinge '{}', which does not exist{}", spec.name, wanted,
                                 problems.suggestion(wanted, hinge_names)),
                     "name a hinge");
      return world;
    }
    const Hinge& hinge = data.bodies[static_cast<std::size_t>(at->second)].hinge;
    if (is_countable(hinge) && hinge.velocity_size() != 1) {
      problems.error(spec.where,
                     fmt::format("closure '{}' ties hinge '{}', which is {}", spec.name, wanted, to_string(hinge.type)),
                     "only hinges with one coordinate can be tied");
    }
    return at->second;
  };
  for (const ClosureSpec& spec : closures) {
    claim_name(
        names, "closure", closures[data.closures.size()].name, static_cast<int>(data.closures.size()), spec.where,
        [&](int k) { return closures[static_cast<std::size_t>(k)].where; }, problems);
    Closure closure{.name = spec.name,
                    .kind = spec.kind,
                    .hinge = spec.hinge,
                    .length = spec.length,
                    .rows = spec.rows,
                    .a = {},
                    .b = {},
                    .polynomial = spec.polynomial,
                    .reference_a = spec.reference_a,
                    .reference_b = spec.reference_b,
                    .where = spec.where};
    check_closure(closure, problems);
    if (spec.kind != ClosureKind::hinges) {
      closure.a = find_node(spec.a, spec);
      closure.b = find_node(spec.b, spec);
      if (!spec.a.empty() && spec.a == spec.b) {
        problems.error(spec.where, fmt::format("closure '{}' joins '{}' to itself", spec.name, spec.a),
                       "name two nodes of different bodies");
      } else if (!spec.a.empty() && closure.a.body == closure.b.body && !problems.has_errors()) {
        problems.warning(spec.where, fmt::format("closure '{}' joins two nodes of one body", spec.name),
                         "it does nothing");
      }
    } else {
      closure.hinge_a = find_hinge(spec.a, spec);
      closure.hinge_b = spec.b.empty() ? world : find_hinge(spec.b, spec);
    }
    data.closures.push_back(std::move(closure));
  }
}

}  // namespace bunraku
