#include "bunraku/io/detail/flexible_links.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "bunraku/io/detail/modal.hpp"

namespace bunraku::io {

namespace {

/// How far masses may be apart, relative, before somebody is told.
constexpr double mass_tolerance = 0.01;
/// How far from its node a joint may be, relative to the body's size, before somebody is told.
constexpr double distance_tolerance = 1e-3;
/// Each costs a walk over the whole model.
constexpr std::size_t most_links = 1000;

}  // namespace

LinkParts::LinkParts(const ModelBuilder& builder, const std::string& link) {
  for (const BodySpec& body : builder.bodies()) {
    if (body.parent == link) {
      joints_.push_back({body.hinge.name, body.X_PF.translation});
      names_.emplace(body.hinge.name, joints_.back());
    }
  }
  for (const BodySpec& body : builder.bodies()) {
    if (body.parent == link) {
      names_.emplace(body.name, OnLink{body.hinge.name, body.X_PF.translation});
    } else if (body.name == link) {
      names_.emplace(link, OnLink{});
      names_.emplace(body.hinge.name, OnLink{});
    }
  }
  for (const NodeSpec& node : builder.nodes()) {
    if (node.body == link) {
      names_.emplace(node.name, OnLink{node.name, node.X_BN.translation});
    }
  }
}

const OnLink* LinkParts::find(const std::string& name, int line, const std::string& link,
                              YamlProblems& problems) const {
  if (const auto at = names_.find(name); at != names_.end()) {
    return &at->second;
  }
  problems.error(line,
                 fmt::format("link '{}' has no joint, child link or frame '{}' on it{}", shortly(link), shortly(name),
                             problems.suggestion(name, keys_of(names_))),
                 "name a joint whose parent is the link, that joint's child link, or a <frame> of the link");
  return nullptr;
}

FlexibleBody placed(const Transform<double>& X, FlexibleBody body) {
  const auto turn = [&](std::vector<Vec3<double>>& shapes) {
    std::transform(shapes.begin(), shapes.end(), shapes.begin(), [&](const Vec3<double>& v) { return X.rotation * v; });
  };
  for (FlexibleNode& node : body.nodes) {
    node.place = X * node.place;
    node.inertia = X.rotation * node.inertia;
    turn(node.shape.rotation);
    turn(node.shape.translation);
    node.shape.shortening_axis = X.rotation * node.shape.shortening_axis;
  }
  body.inertia = X * body.inertia;
  return body;
}

FlexibleReader::FlexibleReader(const std::string& file, ModelBuilder& builder, const ReaderContext& context)
    : file_(file), builder_(builder), context_(context), problems_{file, context.problems} {
  for (const BodySpec& body : builder.bodies()) {
    masses_.emplace(body.name, body.inertia.mass);
  }
}

std::optional<ModeDamping> FlexibleReader::read_damping(YamlFields& item) {
  const YamlValue* const damping = item.find("damping");
  if (damping == nullptr) {
    return std::nullopt;
  }
  YamlFields fields(*damping, "'damping'", problems_);
  ModeDamping out;
  out.ratio = fields.not_negative("ratio", 0);
  out.alpha = fields.not_negative("alpha", 0);
  out.beta = fields.not_negative("beta", 0);
  fields.finish();
  return out;
}

std::optional<FlexibleBody> FlexibleReader::read_modal_data(YamlFields& item, const std::string& link, Held& held) {
  const int before = problems_.errors;
  const LinkParts parts(builder_, link);
  const std::optional<std::string> name = item.word("modal");
  const YamlValue* const at = item.find("at");
  const auto rpy = item.numbers("rpy", 3);
  const bool shortening = item.choice("stiffening", {"foreshortening", "none"}) == "foreshortening";
  const std::optional<ModeDamping> damping = read_damping(item);
  if (!name) {
    return std::nullopt;
  }
  ModalFile data;
  try {
    const std::filesystem::path path =
        context_.paths.find_to_read(*name, {file_, item.line("modal")}, std::filesystem::path(file_).parent_path());
    data = read_modal_file(path.string(), path.string(), context_.problems);
  } catch (const ModelError& error) {
    for (const Problem& problem : error.problems()) {
      ++problems_.errors;
      bunraku::detail::add_problem(context_.problems, problem);
    }
    return std::nullopt;
  }
  FlexibleBody body = std::move(data.body);
  if (rpy) {
    body =
        placed(Transform<double>::rotate(Rotation<double>::from_rpy((*rpy)[0], (*rpy)[1], (*rpy)[2])), std::move(body));
  }
  if (damping) {
    body.damping.clear();
    for (const double stiffness : body.stiffness) {
      body.damping.push_back(2 * damping->ratio * std::sqrt(stiffness) + damping->alpha + damping->beta * stiffness);
    }
  }
  double size = 0;
  std::map<std::string, Vec3<double>> nodes;
  for (FlexibleNode& node : body.nodes) {
    size = std::max(size, norm(node.place));
    if (!node.name.empty()) {
      nodes.emplace(node.name, node.place);
    }
    if (!shortening) {
      node.shape.shortening.clear();
    }
  }
  nodes.emplace(data.inboard, Vec3<double>::zero());
  std::set<std::string> on_frame;
  if (at != nullptr && !at->is_mapping()) {
    problems_.error(at->line, fmt::format("'at' of link '{}' is not of the form {{JOINT: NODE, …}}", shortly(link)),
                    "name by each joint on the link the node of the modal data that holds it");
  }
  for (const YamlValue& pair : at != nullptr && at->is_mapping() ? at->items : std::vector<YamlValue>{}) {
    const OnLink* const part = parts.find(pair.key, pair.key_line, link, problems_);
    const auto node = nodes.find(pair.word);
    if (!pair.is_word() || node == nodes.end()) {
      problems_.error(pair.line,
                      fmt::format("'{}' is no outboard node of '{}'{}", shortly(pair.word), shortly(*name),
                                  problems_.suggestion(pair.word, keys_of(nodes))),
                      "name a node that the modal data has as `outboard`, or its inboard one");
      continue;
    }
    if (part == nullptr || part->name.empty()) {
      continue;
    }
    if (const double distance = norm(part->place - node->second); distance > distance_tolerance * size) {
      problems_.warning(pair.key_line,
                        fmt::format("'{}' is {:.3g} m away from node '{}', which holds it", shortly(pair.key), distance,
                                    shortly(pair.word)),
                        "check the axes of the modal data: rpy: [r, p, y] turns them into those of the link");
    }
    if (pair.word == data.inboard) {
      on_frame.insert(part->name);
    } else if (!held.emplace(part->name, pair.word).second) {
      problems_.error(pair.key_line, fmt::format("'{}' is held twice", shortly(pair.key)),
                      "name it once, as a joint or as a link");
    }
  }
  if (problems_.errors > before) {
    return std::nullopt;
  }
  warn_of_joints(link, item.line("modal"), parts, held, on_frame);
  return body;
}

/// A joint that nobody mentions stays where it was: as if the link did not bend.
void FlexibleReader::warn_of_joints(const std::string& link, int line, const LinkParts& parts, const Held& held,
                                    const std::set<std::string>& on_frame) {
  for (const OnLink& joint : parts.joints()) {
    if (!held.contains(joint.name) && !on_frame.contains(joint.name) && norm(joint.place) > place_tolerance) {
      problems_.warning(line,
                        fmt::format("joint '{}' stays on the frame of the flexible link '{}': bending does not move it",
                                    shortly(joint.name), shortly(link)),
                        "name it in 'to' or 'at'");
    }
  }
}

void FlexibleReader::read_link(const YamlValue& value) {
  YamlFields item(value, "an entry of 'flexible'", problems_);
  if (!value.is_mapping()) {
    return;
  }
  const std::optional<std::string> link = item.word("link");
  if (!link) {
    if (item.find("link") == nullptr) {
      problems_.error(value.line, "an entry of 'flexible' has no 'link'", "add link: NAME");
    }
    return;
  }
  const int line = item.line("link");
  if (*link == world_name) {
    problems_.error(line, "link 'world' is the world, which does not bend", "name another link");
    return;
  }
  const auto known = masses_.find(*link);
  if (known == masses_.end()) {
    std::vector<std::string> names;
    std::transform(masses_.begin(), masses_.end(), std::back_inserter(names),
                   [](const auto& each) { return each.first; });
    problems_.error(line, fmt::format("there is no link '{}'{}", shortly(*link), problems_.suggestion(*link, names)),
                    "name a link of the URDF");
    return;
  }
  if (const auto [at, fresh] = done_.emplace(*link, line); !fresh) {
    problems_.error(line, fmt::format("link '{}' is flexible twice: line {} has it too", shortly(*link), at->second),
                    "remove one of the two");
    return;
  }
  const bool is_beam = item.find("beam") != nullptr;
  if (is_beam == (item.find("modal") != nullptr)) {
    problems_.error(line, fmt::format("link '{}' does not have one of 'beam' and 'modal'", shortly(*link)),
                    "add beam: {…}, or modal: FILE");
    return;
  }
  Held held;
  const std::optional<FlexibleBody> body = is_beam ? read_beam(item, *link, held) : read_modal_data(item, *link, held);
  item.finish();
  if (!body) {
    return;
  }
  const double mass = rigid_inertia(*body).mass;
  if (const double before = known->second; before > 0 && !(std::abs(mass - before) <= mass_tolerance * before)) {
    problems_.warning(line,
                      fmt::format("the mass {:.6g} kg of the flexible link '{}' replaces the {:.6g} kg of the URDF",
                                  mass, shortly(*link), before),
                      "put what the beam does not have, such as a motor, into a link of its own on a fixed joint");
  }
  try {
    make_flexible(builder_, *link, *body, held);
  } catch (const ModelError& error) {
    for (Problem problem : error.problems()) {
      if (problem.where.file.empty() || problem.where.file != file_) {
        problem.where = {file_, line};
      }
      bunraku::detail::add_problem(context_.problems, std::move(problem));
    }
  } catch (const ArgumentError& error) {
    problems_.error(line, error.what(), "see docs/formats.md");
  }
}

void FlexibleReader::read(const YamlValue& list) {
  if (!list.is_list()) {
    problems_.error(list.line, "'flexible' is not a list of links", "write flexible: [{link: LINK, …}, …]");
    return;
  }
  if (list.items.size() > most_links) {
    problems_.error(
        list.line,
        fmt::format("{} links are flexible, more than the {} that a file may have", list.items.size(), most_links),
        "leave those rigid that bend least");
    return;
  }
  for (const YamlValue& item : list.items) {
    read_link(item);
  }
}

void read_flexible(const YamlValue& list, const std::string& file, ModelBuilder& builder,
                   const ReaderContext& context) {
  FlexibleReader(file, builder, context).read(list);
}

}  // namespace bunraku::io
