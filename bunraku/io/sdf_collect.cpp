#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "bunraku/io/detail/sdf.hpp"

namespace bunraku::io::sdf {

namespace {

/// How deep models may be nested, through files or in one; real ones stay below ten.
constexpr int max_model_depth = 64;

/// What an `<include>` says about the model that it brings in.
struct Overrides {
  XmlElement include = {};  ///< The element itself; nothing for a model that is written out in place.
  bool merge = false;
};

class Collector {
 public:
  explicit Collector(Sources& sources) : sources_(sources) {}

  Collection run(const Source& main);

 private:
  /// Where the elements that are being read belong.
  struct Place {
    int scope = world_scope;
    int home = world_frame;  ///< What `__model__` means.
    bool is_static = false;
    const Source* source = nullptr;
  };
  /// What a model can be fixed to by default.
  struct Found {
    int first_link = no_frame;
    int first_model = no_frame;
  };

  void read_world(const XmlElement& world, const Source& source);
  Found read_contents(const XmlElement& parent, const Place& place);
  int read_link(const XmlElement& link, const Place& place);
  void read_joint(const XmlElement& joint, const Place& place);
  void read_frame(const XmlElement& element, const Place& place);
  Found read_include(const XmlElement& include, const Place& place);
  Found read_model(const XmlElement& model, const Place& place, const Overrides& overrides);
  Found read_merged(const XmlElement& model, int frame, const Place& place);
  void read_model_pose(const XmlElement& model, int frame, const Overrides& overrides);
  void attach_model(const XmlElement& model, int frame, const Place& inside, const Found& found);
  std::string read_name(const XmlElement& element, const Place& place) const;

  Sources& sources_;
  Collection out_;
  std::vector<const Source*> open_;
  int depth_ = 0;
  bool plain_names_ = false;  ///< One model alone: its names stay as they are.
};

std::string Collector::read_name(const XmlElement& element, const Place& place) const {
  const std::string name(element.required("name"));
  if (name.find("::") != std::string::npos && place.source->version >= version_number(1, 8)) {
    element.error(fmt::format("{}: '::' cannot be part of a name", element.description()),
                  "it separates the names of nested models");
  }
  return name;
}

int Collector::read_link(const XmlElement& link, const Place& place) {
  const int frame = out_.frames.add(FrameKind::link, place.scope, place.home, read_name(link, place), link);
  const XmlElement element = link.child("pose");
  const Pose pose = read_pose(element);
  out_.frames[frame].raw = pose.X;
  if (!pose.relative_to.empty()) {
    out_.frames.measure_from(frame, pose.relative_to, element);
  }
  out_.links.push_back({frame, link, place.source, place.is_static});
  return frame;
}

void Collector::read_joint(const XmlElement& joint, const Place& place) {
  const int frame = out_.frames.add(FrameKind::joint, place.scope, place.home, read_name(joint, place), joint);
  const XmlElement element = joint.child("pose");
  const Pose pose = read_pose(element);
  out_.frames[frame].raw = pose.X;
  out_.joints.push_back({frame, joint, place.source});
  const XmlElement child = read_end(joint, "child", "the link that it moves");
  if (child && child.text() == "world") {
    child.error(fmt::format("the child of {} is the world", joint.description()), "exchange parent and child");
  } else if (child) {
    out_.frames.attach(frame, child.text(), place.scope, place.home, child, pose.relative_to.empty());
  }
  if (!pose.relative_to.empty()) {
    out_.frames.measure_from(frame, pose.relative_to, element);
  }
}

void Collector::read_frame(const XmlElement& element, const Place& place) {
  const int frame = out_.frames.add(FrameKind::frame, place.scope, place.home, read_name(element, place), element);
  const XmlElement pose_element = element.child("pose");
  const Pose pose = read_pose(pose_element);
  out_.frames[frame].raw = pose.X;
  const std::string_view attached_to = element.attribute("attached_to").value_or("");
  if (attached_to.empty()) {
    out_.frames[frame].attached = place.home;
  } else {
    out_.frames.attach(frame, attached_to, place.scope, place.home, element, pose.relative_to.empty());
  }
  if (!pose.relative_to.empty()) {
    out_.frames.measure_from(frame, pose.relative_to, pose_element);
  }
  out_.named_frames.push_back(frame);
}

Collector::Found Collector::read_contents(const XmlElement& parent, const Place& place) {
  // asking for the tags marks them as known; the loop then keeps the order of the file
  const bool in_model = place.scope != world_scope;
  for (const char* tag : {"joint", "frame", "model", "include"}) {
    parent.children(tag);
  }
  if (in_model) {
    parent.children("link");
  }
  Found found;
  for (const XmlElement& element : parent.children()) {
    Found inside;
    if (element.name() == "link" && in_model) {
      inside.first_link = read_link(element, place);
    } else if (element.name() == "link") {
      element.mark_all_used();
      element.error(fmt::format("{} stands in a <world>: it must stand in a <model>", element.description()),
                    "put a <model> around it");
    } else if (element.name() == "joint") {
      read_joint(element, place);
    } else if (element.name() == "frame") {
      read_frame(element, place);
    } else if (element.name() == "model") {
      inside = read_model(element, place, {});
    } else if (element.name() == "include") {
      inside = read_include(element, place);
    }
    found.first_link = found.first_link == no_frame ? inside.first_link : found.first_link;
    found.first_model = found.first_model == no_frame ? inside.first_model : found.first_model;
  }
  return found;
}

Collector::Found Collector::read_include(const XmlElement& include, const Place& place) {
  const Source& source = sources_.include(include, *place.source, open_);
  const std::vector<XmlElement> models = source.document->root().children("model");
  if (models.size() != 1) {
    include.error(fmt::format("'{}' has {} models where one is wanted", source.document->file(), models.size()),
                  "include files with one <model> each");
    for (const XmlElement& model : models) {
      model.mark_all_used();
    }
    return {};
  }
  const bool merge = include.flag("merge", false);
  if (merge && place.scope == world_scope) {
    include.error("an <include> in a world cannot be merged", "remove merge=\"true\"");
  }
  open_.push_back(&source);
  Place inside = place;
  inside.source = &source;
  const Found found = read_model(models.front(), inside, {include, merge && place.scope != world_scope});
  open_.pop_back();
  return found;
}

void Collector::read_model_pose(const XmlElement& model, int frame, const Overrides& overrides) {
  XmlElement element = model.child("pose");
  XmlElement placement_at = model;
  std::string_view placement = model.attribute("placement_frame").value_or("");
  bool placed = false;
  if (overrides.include) {
    if (const XmlElement own_pose = overrides.include.child("pose")) {
      read_pose(element);  // is overridden, but must be well written
      element = own_pose;
      placed = true;
    }
    if (const XmlElement own = overrides.include.child("placement_frame"); own && !own.text().empty()) {
      placement = own.text();
      placement_at = own;
      if (!placed) {
        own.error("<include> has a <placement_frame> but no <pose>", "add the <pose> of that frame");
      }
    }
  }
  const Pose pose = read_pose(element);
  out_.frames[frame].raw = pose.X;
  if (!pose.relative_to.empty()) {
    out_.frames.measure_from(frame, pose.relative_to, element);
  }
  if (!placement.empty() && overrides.merge) {
    placement_at.error("a placement frame cannot be used together with merge=\"true\"",
                       "give the pose of the model's own frame");
  } else if (!placement.empty()) {
    out_.frames.place(frame, placement, placement_at);
  }
}

void Collector::attach_model(const XmlElement& model, int frame, const Place& inside, const Found& found) {
  const std::string_view canonical = model.attribute("canonical_link").value_or("");
  if (inside.is_static) {
    out_.frames[frame].attached = world_frame;
  } else if (!canonical.empty()) {
    out_.frames.attach(frame, canonical, inside.scope, inside.home, model, false);
  } else if (found.first_link != no_frame || found.first_model != no_frame) {
    out_.frames[frame].attached = found.first_link != no_frame ? found.first_link : found.first_model;
  } else {
    model.error(fmt::format("{} has no link", model.description()), "add a <link>, or make the model <static>");
  }
}

Collector::Found Collector::read_merged(const XmlElement& model, int frame, const Place& place) {
  // the contents join the scope around them; only the frame from which their poses start is their own
  Place inside = place;
  inside.home = frame;
  if (read_flag(model, "static", false)) {
    model.error("a static model cannot be merged into another", "remove <static>, or merge=\"true\"");
  }
  const Found found = read_contents(model, inside);
  attach_model(model, frame, inside, found);
  return found;
}

Collector::Found Collector::read_model(const XmlElement& model, const Place& place, const Overrides& overrides) {
  if (depth_ >= max_model_depth) {
    throw ModelError(model.where(), fmt::format("models are nested deeper than {}", max_model_depth),
                     "nest fewer models");
  }
  ++depth_;
  std::string name = read_name(model, place);
  XmlElement named = model;
  if (overrides.include) {
    if (const XmlElement own = overrides.include.child("name"); own && !own.text().empty()) {
      name = own.text();
    }
    named = overrides.include;
  }
  if (overrides.merge) {
    name = fmt::format("_merged__{}__model__", name);
  }
  const bool prefixed = !plain_names_ || place.scope != world_scope;
  if (out_.name.empty() && place.scope == world_scope) {
    out_.name = name;
  }
  const int frame = out_.frames.add(FrameKind::model, place.scope, place.home, name, named);
  Found found;
  if (overrides.merge) {
    read_model_pose(model, frame, overrides);
    found = read_merged(model, frame, place);
  } else {
    Place inside = place;
    inside.scope = out_.frames.add_scope(frame, prefixed ? out_.frames[frame].name + "::" : std::string());
    inside.home = frame;
    inside.is_static = read_flag(model, "static", false);
    if (overrides.include) {
      inside.is_static = read_flag(overrides.include, "static", inside.is_static);
    }
    inside.is_static = inside.is_static || place.is_static;
    read_model_pose(model, frame, overrides);
    attach_model(model, frame, inside, read_contents(model, inside));
    found.first_model = frame;
  }
  --depth_;
  return found;
}

void Collector::read_world(const XmlElement& world, const Source& source) {
  if (const XmlElement gravity = world.child("gravity")) {
    if (const auto g = gravity.text_numbers(3, 3)) {
      out_.gravity = Vec3<double>{(*g)[0], (*g)[1], (*g)[2]};
    }
  }
  out_.name = world.required("name");
  plain_names_ = world.children("model").size() + world.children("include").size() == 1;
  if (plain_names_) {
    out_.name.clear();  // the model says more than its world
  }
  Place place;
  place.source = &source;
  read_contents(world, place);
}

Collection Collector::run(const Source& main) {
  open_.push_back(&main);
  const XmlElement root = main.document->root();
  const XmlElement world = root.child("world");
  const std::vector<XmlElement> models = root.children("model");
  if (world) {
    read_world(world, main);
    for (const XmlElement& model : models) {
      model.error(fmt::format("{} stands beside a <world>", model.description()), "put it into the world");
    }
  } else if (models.empty()) {
    root.error("<sdf> has neither a <model> nor a <world>", "add a <model>");
  } else {
    plain_names_ = models.size() == 1;
    Place place;
    place.source = &main;
    for (const XmlElement& model : models) {
      read_model(model, place, {});
    }
  }
  return std::move(out_);
}

}  // namespace

Collection collect(const Source& main, Sources& sources) {
  return Collector(sources).run(main);
}

Pose read_pose(const XmlElement& pose) {
  Pose out;
  if (!pose) {
    return out;
  }
  out.relative_to = pose.attribute("relative_to").value_or("");
  static constexpr std::array<std::string_view, 2> formats = {"euler_rpy", "quat_xyzw"};
  const bool quaternion = pose.word("rotation_format", formats[0], formats) == formats[1];
  const bool degrees = pose.flag("degrees", false);
  if (quaternion && degrees) {
    pose.error("a quaternion cannot be in degrees", "remove degrees=\"true\"");
  }
  if (pose.text().empty()) {
    return out;
  }
  const std::size_t count = quaternion ? 7 : 6;
  const auto n = pose.text_numbers(count, count);
  if (!n) {
    return out;
  }
  out.X.translation = {(*n)[0], (*n)[1], (*n)[2]};
  if (!quaternion) {
    const double unit = degrees ? std::numbers::pi / 180 : 1;
    out.X.rotation = Rotation<double>::from_rpy((*n)[3] * unit, (*n)[4] * unit, (*n)[5] * unit);
    return out;
  }
  const Quaternion<double> q{(*n)[6], (*n)[3], (*n)[4], (*n)[5]};
  if (q.w == 0 && q.vector() == Vec3<double>::zero()) {
    pose.error("the quaternion of <pose> is zero", "no rotation is 0 0 0 1");
    return out;
  }
  out.X.rotation = Rotation<double>(q.normalized());
  return out;
}

XmlElement read_end(const XmlElement& joint, const char* tag, const char* meaning) {
  const XmlElement end = joint.child(tag);
  if (!end) {
    joint.error(fmt::format("{} has no <{}>", joint.description(), tag),
                fmt::format("add <{0}>{1}</{0}>", tag, meaning));
    return {};
  }
  if (end.text().empty()) {
    const std::string_view link = end.attribute("link").value_or("");  // as URDF has it
    end.error(fmt::format("<{}> of {} is empty", tag, joint.description()),
              fmt::format("write <{0}>{1}</{0}>", tag, link.empty() ? meaning : bunraku::detail::printable(link, 60)));
    return {};
  }
  return end;
}

bool read_flag(const XmlElement& element, const char* tag, bool otherwise) {
  const XmlElement child = element.child(tag);
  if (!child) {
    return otherwise;
  }
  const std::string_view text = child.text();
  if (text == "true" || text == "1" || text == "True") {
    return true;
  }
  if (text != "false" && text != "0" && text != "False") {
    child.error(fmt::format("the text of <{}> is neither true nor false", tag), "write true or false");
  }
  return false;
}

double read_number(const XmlElement& element, const char* tag, double otherwise, Finite finite) {
  const XmlElement child = element.child(tag);
  return child ? child.text_number(otherwise, finite) : otherwise;
}

Vec3<double> read_vector(const XmlElement& element, const char* tag, const Vec3<double>& otherwise) {
  const XmlElement child = element.child(tag);
  const auto n = child ? child.text_numbers(3, 3) : std::nullopt;
  return n ? Vec3<double>{(*n)[0], (*n)[1], (*n)[2]} : otherwise;
}

}  // namespace bunraku::io::sdf
