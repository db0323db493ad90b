/// Reads MJCF: the sections of a file, and the tree of bodies.

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

namespace {

/// An element with the frame that it stands in.
struct Placed {
  XmlElement element;
  Transform<double> X_BF;         // of the frame, on the body
  const DefaultClass* inherited;  // the childclass around it
};

/// A body that is being read, or the world.
struct Owner {
  std::string name;
  Transform<double> X_WB = Transform<double>::identity();  // in the configuration in which the file is written
  int depth = 0;
  bool is_world() const { return depth == 0; }
};

/// What is read of a body, and of the world.
constexpr std::array<const char*, 7> body_tags = {"body", "frame", "geom", "site", "joint", "freejoint", "inertial"};

bool is_known_in_body(std::string_view tag) {
  return std::find(body_tags.begin(), body_tags.end(), tag) != body_tags.end();
}

bool has_errors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& p) { return p.severity == Severity::error; });
}

class MjcfReader {
 public:
  MjcfReader(XmlDocument& document, const ReaderContext& context)
      : root_(document.root()),
        files_(document, context),
        sections_(files_.children(root_)),
        settings_(read_settings(sections_, files_)),
        defaults_(suggestions_),
        shared_{context, files_, suggestions_, defaults_, settings_},
        assets_(shared_),
        references_(shared_, builder_),
        builder_(std::string(root_.attribute("model").value_or("MuJoCo Model"))) {}

  ModelBuilder read();

 private:
  void reserve_names(const XmlElement& parent, int depth);
  void check_sections() const;
  void read_world();
  std::vector<Placed> contents(const XmlElement& parent, const DefaultClass* inherited, int depth);
  void flatten(const XmlElement& parent, const Placed& around, int depth, std::vector<Placed>& out);

  void read_body(const Placed& placed, const Owner& parent);
  bool read_inertial(const std::vector<Placed>& parts, const std::string& body, MjcfInertia& inertia);
  std::vector<MjcfJoint> read_joints(const std::vector<Placed>& parts, const Owner& body, const Owner& parent);
  void add_chain(const Owner& body, const Owner& parent, const Transform<double>& X_PB, std::vector<MjcfJoint> joints,
                 BodySpec spec);
  std::vector<MjcfGeom> read_geoms(const std::vector<Placed>& parts, bool weigh, const std::string& body);
  void claim_geom_name(const XmlElement& geom);
  void read_site(const Placed& placed, const std::string& body);
  void scale_masses();

  XmlElement root_;
  MjcfFiles files_;
  std::vector<XmlElement> sections_;
  MjcfSettings settings_;
  Suggestions suggestions_;
  Defaults defaults_;
  MjcfShared shared_;
  MjcfAssets assets_;
  MjcfReferences references_;
  ModelBuilder builder_;

  std::vector<BodySpec> bodies_;
  MjcfLandmarks landmarks_;
  UniqueNames frame_names_;  // bodies and nodes
  UniqueNames hinge_names_;
  std::unordered_set<std::string_view> body_names_;  // as in the file
  std::unordered_map<std::string_view, XmlElement> geom_names_;
  int count_ = 0;  // bodies read, as MuJoCo counts them
};

ModelBuilder MjcfReader::read() {
  for (const auto& [name, value] : root_.attributes()) {
    if (name.starts_with("xmlns") || name.starts_with("xsi:")) {
      root_.attribute(std::string(name).c_str());  // tells editors where the schema is
    }
  }
  builder_.set_format(Format::mjcf);
  builder_.set_gravity(settings_.gravity);
  for (const XmlElement& section : sections_) {
    if (section.name() == "default") {
      defaults_.read(section, files_);
    }
  }
  for (const XmlElement& section : sections_) {
    if (section.name() == "asset") {
      assets_.read(section);
    }
  }
  assets_.check_textures();
  check_sections();
  read_world();
  scale_masses();
  read_actuators(sections_, shared_, bodies_);
  for (BodySpec& body : bodies_) {
    builder_.add(std::move(body));
  }
  MjcfEquality(shared_, landmarks_, frame_names_, builder_).read(sections_);
  references_.read(sections_);
  if (count_ == 0 && !has_errors(shared_.context.problems)) {
    root_.warning("the model has no bodies", "add a <body> to <worldbody>");
  }
  files_.report_unused();
  return std::move(builder_);
}

void MjcfReader::reserve_names(const XmlElement& parent, int depth) {
  check_depth(parent, depth);
  for (const XmlElement& child : files_.children(parent)) {
    const std::string_view tag = child.name();
    const std::string_view name = child.attribute("name").value_or("");
    if (tag == "body" || tag == "frame") {
      reserve_names(child, depth + 1);
    }
    if (tag == "joint" || tag == "freejoint") {
      hinge_names_.reserve(name);
    } else if (tag == "body" || tag == "site") {
      frame_names_.reserve(name);
    }
    if (tag == "body") {
      body_names_.insert(name);
    }
  }
}

void MjcfReader::check_sections() const {
  for (const XmlElement& section : sections_) {
    const std::string_view tag = section.name();
    if (is_known_in_body(tag)) {
      section.mark_all_used();
      section.error(fmt::format("<{}> must stand in <worldbody>, or in a <body> in it", tag), "put it there");
    }
  }
}

void MjcfReader::read_world() {
  frame_names_.reserve(world_name);
  for (const XmlElement& section : sections_) {
    if (section.name() == "worldbody") {
      reserve_names(section, 1);
    }
  }
  Owner world_body;
  world_body.name = world_name;
  landmarks_.bodies.emplace(world_name, world_body.X_WB);
  for (const XmlElement& section : sections_) {
    if (section.name() != "worldbody") {
      continue;
    }
    section.mark_used();
    const std::vector<Placed> parts = contents(section, defaults_.main(), 1);
    for (MjcfGeom& geom : read_geoms(parts, false, world_body.name)) {
      if (geom.shape) {
        builder_.add_to_world(std::move(*geom.shape));
      }
    }
    for (const Placed& part : parts) {
      const std::string_view tag = part.element.name();
      if (tag == "joint" || tag == "freejoint" || tag == "inertial") {
        part.element.mark_all_used();
        part.element.error(fmt::format("the world cannot have {}", part.element.description()), "put it into a <body>");
      } else if (tag == "site") {
        read_site(part, world_body.name);
      } else if (tag == "body") {
        read_body(part, world_body);
      }
    }
  }
}

std::vector<Placed> MjcfReader::contents(const XmlElement& parent, const DefaultClass* inherited, int depth) {
  std::vector<Placed> out;
  flatten(parent, {parent, Transform<double>::identity(), inherited}, depth, out);
  for (const Placed& part : out) {
    const std::string_view tag = part.element.name();
    if (tag == "composite" || tag == "flexcomp" || tag == "attach" || tag == "replicate") {
      part.element.mark_all_used();
      part.element.warning(fmt::format("{} is not used: what it would add is missing", part.element.description()),
                           "save the model from MuJoCo, which writes it out in full, and load that");
    }
  }
  return out;
}

void MjcfReader::flatten(const XmlElement& parent, const Placed& around, int depth, std::vector<Placed>& out) {
  check_depth(parent, depth);
  bool all_known = true;
  for (const XmlElement& child : files_.children(parent)) {
    all_known = all_known && is_known_in_body(child.name());
    if (child.name() == "frame") {
      child.mark_used();
      child.attribute("name");  // nothing can refer to it
      const Transform<double> pose = around.X_BF * read_pose(Attributes(child, defaults_), settings_);
      flatten(child, {child, pose, defaults_.named(child, "childclass", around.inherited)}, depth + 1, out);
    } else {
      out.push_back({child, around.X_BF, around.inherited});
    }
  }
  if (!all_known) {
    for (const char* tag : body_tags) {
      parent.children(tag);  // so that a mistyped one is compared with these
    }
  }
}

void MjcfReader::read_body(const Placed& placed, const Owner& parent) {
  const XmlElement& element = placed.element;
  element.mark_used();
  ++count_;
  const Transform<double> written = read_pose(Attributes(element, defaults_), settings_);
  const Transform<double> X_PB = placed.X_BF * written;
  Owner body;
  body.name = element.attribute("name").value_or("");
  if (body.name.empty()) {
    body.name = frame_names_.make(fmt::format("body_{}", count_));
  }
  body.X_WB = parent.X_WB * X_PB;
  body.depth = parent.depth + 1;
  check_depth(element, body.depth);
  landmarks_.bodies.emplace(body.name, body.X_WB);
  const std::vector<Placed> parts =
      contents(element, defaults_.named(element, "childclass", placed.inherited), body.depth);

  MjcfInertia inertia(written);
  const bool stated = read_inertial(parts, body.name, inertia);
  const bool weigh = settings_.inertia_from_geom == InertiaFromGeom::always ||
                     (settings_.inertia_from_geom == InertiaFromGeom::automatically && !stated);
  BodySpec spec;
  spec.name = body.name;
  spec.where = element.where();
  std::vector<MjcfGeom> geoms = read_geoms(parts, weigh, body.name);
  inertia.set_geoms(geoms);
  spec.inertia = inertia.corrected(settings_);
  for (MjcfGeom& geom : geoms) {
    if (geom.shape && geom.collides) {
      spec.collisions.push_back(*geom.shape);
    }
    if (geom.shape) {
      spec.visuals.push_back(std::move(*geom.shape));
    }
  }
  add_chain(body, parent, X_PB, read_joints(parts, body, parent), std::move(spec));
  for (const Placed& part : parts) {
    if (part.element.name() == "site") {
      read_site(part, body.name);
    }
  }
  for (const Placed& part : parts) {
    if (part.element.name() == "body") {
      read_body(part, body);
    }
  }
}

/// Whether there is an `<inertial>`.
bool MjcfReader::read_inertial(const std::vector<Placed>& parts, const std::string& body, MjcfInertia& inertia) {
  bool stated = false;
  for (const Placed& part : parts) {
    if (part.element.name() == "inertial") {
      part.element.mark_used();
      if (stated) {
        part.element.error(fmt::format("body '{}' has a second <inertial>", body), "keep one of them");
      }
      inertia.read_inertial(part.element, part.X_BF, shared_);
      stated = true;
    }
  }
  return stated;
}

std::vector<MjcfJoint> MjcfReader::read_joints(const std::vector<Placed>& parts, const Owner& body,
                                               const Owner& parent) {
  std::vector<MjcfJoint> joints;
  for (const Placed& part : parts) {
    const XmlElement& element = part.element;
    if (element.name() != "joint" && element.name() != "freejoint") {
      continue;
    }
    element.mark_used();
    MjcfJoint joint = read_joint(element, part.inherited, part.X_BF, shared_);
    joint.hinge.name = element.attribute("name").value_or("");
    if (joint.hinge.name.empty()) {
      joint.hinge.name = hinge_names_.make(body.name + "_joint");
    }
    const HingeType type = joint.hinge.type;
    if (type == HingeType::free && !parent.is_world()) {
      element.error(
          fmt::format("{} is free but body '{}' is not a child of the world", element.description(), body.name),
          "move the body into <worldbody>, or give it another joint");
      continue;
    }
    if (!joints.empty() && (type == HingeType::free || joints.front().hinge.type == HingeType::free)) {
      element.error(fmt::format("body '{}' has a free joint and another", body.name), "a free joint must be alone");
      continue;
    }
    const bool scalar = type != HingeType::free && type != HingeType::spherical;
    landmarks_.joints.emplace(joint.hinge.name, MjcfLandmarks::Joint{scalar, joint.reference});
    joints.push_back(std::move(joint));
  }
  return joints;
}

/// Several joints make a chain: X_PB T(p) R(q − ref) T(−p) for each, in the body's axes.
void MjcfReader::add_chain(const Owner& body, const Owner& parent, const Transform<double>& X_PB,
                           std::vector<MjcfJoint> joints, BodySpec spec) {
  std::string below = parent.name;
  Transform<double> X_PF = X_PB;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    MjcfJoint& joint = joints[i];
    references_.add_joint(joint, X_PB);
    const bool last = i + 1 == joints.size();
    BodySpec link;
    if (last) {
      std::swap(link, spec);  // carries the name, the mass and the shapes
    } else {
      link.name = frame_names_.make(fmt::format("{}/{}", body.name, joint.hinge.name));
      link.where = joint.element.where();
    }
    link.parent = below;
    below = link.name;
    if (joint.hinge.type != HingeType::free) {  // whose coordinates are the pose in the world
      const bool slides = joint.hinge.type == HingeType::prismatic;
      const Transform<double> back =
          slides ? Transform<double>::translate(joint.hinge.axis * -joint.reference)
                 : Transform<double>::rotate(Rotation<double>::about(joint.hinge.axis, -joint.reference));
      link.X_PF = X_PF * Transform<double>::translate(joint.position) * back;
      link.X_MB = Transform<double>::translate(-joint.position);
    }
    X_PF = Transform<double>::identity();
    link.hinge = std::move(joint.hinge);
    link.hinge_where = joint.element.where();
    bodies_.push_back(std::move(link));
  }
  if (joints.empty()) {
    spec.parent = below;
    spec.X_PF = X_PF;
    spec.hinge.type = HingeType::fixed;
    spec.hinge.name = hinge_names_.make(body.name + "_fixed");
    bodies_.push_back(std::move(spec));
  }
}

std::vector<MjcfGeom> MjcfReader::read_geoms(const std::vector<Placed>& parts, bool weigh, const std::string& body) {
  std::vector<MjcfGeom> geoms;
  for (const Placed& part : parts) {
    if (part.element.name() == "geom") {
      part.element.mark_used();
      claim_geom_name(part.element);
      geoms.push_back(read_geom(part.element, part.inherited, part.X_BF, weigh, body, assets_, shared_));
    }
  }
  return geoms;
}

/// Nothing here refers to geoms, but MuJoCo refuses two of one name.
void MjcfReader::claim_geom_name(const XmlElement& geom) {
  const std::string_view name = geom.attribute("name").value_or("");
  if (name.empty()) {
    return;
  }
  if (const auto [at, fresh] = geom_names_.emplace(name, geom); !fresh) {
    geom.error(fmt::format("there is a geom '{}': line {} has it too", bunraku::detail::printable(name, 60),
                           at->second.where().line),
               "give each a name of its own");
  }
}

void MjcfReader::read_site(const Placed& placed, const std::string& body) {
  const XmlElement& element = placed.element;
  element.mark_used();
  const Attributes attributes(element, defaults_, defaults_.named(element, "class", placed.inherited));
  for (const char* look : {"type", "size", "rgba", "group"}) {
    attributes.check(look);
  }
  if (const std::string_view material = attributes.text("material"); !material.empty()) {
    Geometry unused;
    assets_.set_material(element, material, unused);
  }
  double length = 0;
  const Transform<double> pose = read_pose(attributes, settings_);
  NodeSpec node;
  node.X_BN = placed.X_BF * read_fromto(attributes, length).value_or(pose);
  node.body = body;
  node.where = element.where();
  const std::string name(element.attribute("name").value_or(""));
  if (name.empty()) {
    return;  // nothing can refer to it
  }
  node.name = name;
  if (body_names_.contains(name) || name == world_name) {
    node.name = frame_names_.make(name + "/site");
    element.warning(fmt::format("site '{}' has a body's name: it is called '{}' here", name, node.name),
                    "give it another name");
  }
  landmarks_.sites.emplace(name, MjcfLandmarks::Site{node.name, body});
  builder_.add(std::move(node));
}

void MjcfReader::scale_masses() {
  double total = 0;
  for (const BodySpec& body : bodies_) {
    total += body.inertia.mass;
  }
  if (settings_.total_mass > 0 && total > 0) {
    const double scale = settings_.total_mass / total;
    for (BodySpec& body : bodies_) {
      RigidInertia<double>& inertia = body.inertia;
      inertia = {inertia.mass * scale, inertia.first_moment * scale, inertia.inertia * scale};
    }
  }
}

}  // namespace

ModelBuilder read_mjcf(XmlDocument& document, const ReaderContext& context) {
  if (context.options.free_base) {
    throw ModelError({document.file(), 0}, "MJCF says itself whether the base is free",
                     "write <freejoint/> in the base body");
  }
  return MjcfReader(document, context).read();
}

}  // namespace bunraku::io
