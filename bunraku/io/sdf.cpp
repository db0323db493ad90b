#include "bunraku/io/detail/sdf.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

namespace bunraku::io {

namespace sdf {
namespace {

/// Which links hang together already: a joint inside of one set closes a loop.
class Sets {
 public:
  explicit Sets(int size) : parent_(static_cast<std::size_t>(size)) { std::iota(parent_.begin(), parent_.end(), 0); }

  int find(int i) {
    while (at(i) != i) {
      at(i) = at(at(i));
      i = at(i);
    }
    return i;
  }
  void unite(int child, int parent) { at(find(child)) = find(parent); }

 private:
  int& at(int i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<int> parent_;
};

/// Makes bodies, nodes and closures of what was collected.
class Assembler {
 public:
  Assembler(const Collection& collection, const ReaderContext& context, ModelBuilder& builder)
      : all_(collection),
        frames_(collection.frames),
        context_(context),
        builder_(builder),
        scales_(frames_, context.paths),
        sets_(frames_.size()) {}

  void run();

 private:
  /// A joint in the tree.
  struct TreeJoint {
    int parent = no_frame;  ///< Frame of the parent's link, or the world's.
    int joint = no_frame;   ///< Its own frame.
    Hinge hinge;
  };

  /// The angle of a body against another: sign · the coordinate of a hinge.
  struct Turn {
    const Hinge* hinge = nullptr;
    double sign = 1;
  };

  void add_joint(const Joint& joint);
  int parent_body(const Joint& joint) const;
  Transform<double> in_child(int joint) const;
  void close_loop(const Joint& joint, int parent, int child, const Hinge& hinge);
  std::optional<Turn> turn_between(int reference, int body, const Vec3<double>& axis, const Joint& gearbox) const;
  void add_gearbox(const Joint& joint);
  void add_body(const Link& link, bool one_root);
  std::string root_name(const std::string& link, bool one_root);
  void add_node(int index);
  bool is_static(int body) const { return body == world_frame || static_links_.contains(body); }

  const Collection& all_;
  const FrameGraph& frames_;
  const ReaderContext& context_;
  ModelBuilder& builder_;
  Scales scales_;
  Sets sets_;
  std::set<int> static_links_;
  std::unordered_map<int, TreeJoint> tree_;  ///< By the child's frame.
  std::set<std::string> hinge_names_;
  ReferenceSpec initial_ = {.name = std::string(initial_name)};  ///< Where the file puts free links and joints.
};

int Assembler::parent_body(const Joint& joint) const {
  const XmlElement parent = read_end(joint.element, "parent", "the link that carries it, or world");
  if (!parent) {
    return no_frame;
  }
  if (parent.text() == "world") {
    return world_frame;
  }
  const Frame& own = frames_[joint.frame];
  const auto found = frames_.find(parent.text(), own.scope, own.home, parent);
  return found ? frames_[found->frame].body : no_frame;
}

/// X_CJ, without a detour where the file gives it as it is.
Transform<double> Assembler::in_child(int joint) const {
  const Frame& frame = frames_[joint];
  const bool direct = frame.base.size() == 1 && frame.base.front() == frame.body;
  return direct ? frame.raw : frames_.relative(frame.body, joint);
}

void Assembler::add_joint(const Joint& joint) {
  const int parent = parent_body(joint);
  const int child = frames_[joint.frame].body;
  std::optional<Hinge> hinge = read_hinge(joint, frames_, context_.options);
  if (parent == no_frame || child == no_frame || !hinge) {
    return;  // reported
  }
  const std::string what = joint.element.description();
  if (child == world_frame) {
    joint.element.error(fmt::format("the child of {} is fixed to the world", what), "exchange parent and child");
  } else if (parent == child) {
    joint.element.error(fmt::format("{} joins '{}' to itself", what, frames_[child].name), "name two links");
  } else if (is_static(parent) && is_static(child)) {
    joint.element.warning(fmt::format("{} is between things that do not move: it is not used", what),
                          "remove it, or <static>");
  } else if (!tree_.contains(child) && !is_static(child) && sets_.find(child) != sets_.find(parent)) {
    sets_.unite(child, parent);
    if (std::vector<double> start = read_initial_position(joint, *hinge); !start.empty() && !hinge->mimic) {
      initial_.positions.emplace(hinge->name, std::move(start));
      initial_.where = joint.element.where();
    }
    hinge_names_.insert(hinge->name);
    tree_.emplace(child, TreeJoint{parent, joint.frame, std::move(*hinge)});
  } else {
    close_loop(joint, parent, child, *hinge);
  }
}

void Assembler::close_loop(const Joint& joint, int parent, int child, const Hinge& hinge) {
  const auto body_name = [&](int body) { return frames_[body].name; };
  const Transform<double> X_CJ = in_child(joint.frame);
  const SourceLocation where = joint.element.where();
  ClosureSpec closure;
  closure.name = hinge.name;
  closure.hinge = {.type = hinge.type, .axis = hinge.axis, .axis2 = hinge.axis2, .pitch = hinge.pitch};
  closure.a = hinge.name + "/parent";
  closure.b = hinge.name + "/child";
  closure.where = where;
  builder_.add(NodeSpec{closure.a, body_name(parent), frames_.relative(parent, child) * X_CJ, where});
  builder_.add(NodeSpec{closure.b, body_name(child), X_CJ, where});
  builder_.add(std::move(closure));
  const auto says = [](const HingeDof& d) {
    const HingeDof none;
    return std::tie(d.lower, d.upper, d.velocity, d.effort, d.damping, d.friction, d.stiffness) !=
           std::tie(none.lower, none.upper, none.velocity, none.effort, none.damping, none.friction, none.stiffness);
  };
  if (std::any_of(hinge.dofs.begin(), hinge.dofs.end(), says) || hinge.mimic) {
    joint.element.warning(fmt::format("{} closes a loop: its limits, damping, friction, spring and mimic are not used",
                                      joint.element.description()),
                          "put them on another joint of the loop");
  }
}

/// The one hinge that turns between two bodies, which may have fixed ones before and after it; nothing when there is
/// none, or another motion too, or about another axis, which is reported.
std::optional<Assembler::Turn> Assembler::turn_between(int reference, int body, const Vec3<double>& axis,
                                                       const Joint& gearbox) const {
  constexpr std::size_t longest = 100;  // no gearbox reaches further, and a hostile file must not make it cost time
  const auto up = [&](int at) {         // the bodies from here to the root
    std::vector<int> out = {at};
    for (auto joint = tree_.find(at); joint != tree_.end() && out.size() < longest; joint = tree_.find(at)) {
      at = joint->second.parent;
      out.push_back(at);
    }
    return out;
  };
  std::vector<int> from = up(reference);
  std::vector<int> to = up(body);
  const auto meeting = std::find_first_of(to.begin(), to.end(), from.begin(), from.end());
  const bool connected = meeting != to.end();
  if (connected) {
    from.erase(std::find(from.begin(), from.end(), *meeting), from.end());
    to.erase(meeting, to.end());
  }
  Turn turn;
  int moving = 0;
  const TreeJoint* found = nullptr;
  for (const auto& [path, sign] : {std::pair(&to, 1.0), std::pair(&from, -1.0)}) {
    for (const int at : *path) {
      if (const auto joint = tree_.find(at); joint != tree_.end() && joint->second.hinge.type != HingeType::fixed) {
        ++moving;
        found = &joint->second;
        turn = {&found->hinge, sign};
      }
    }
  }
  const std::string what = fmt::format("the gearbox {} counts the angle between '{}' and '{}'",
                                       gearbox.element.description(), frames_[reference].name, frames_[body].name);
  if (!connected || moving != 1 ||
      (turn.hinge->type != HingeType::revolute && turn.hinge->type != HingeType::continuous)) {
    gearbox.element.error(fmt::format("{}, which are not joined by one revolute joint", what),
                          "join them by one revolute joint, and by fixed ones if need be");
    return std::nullopt;
  }
  const double along = dot(frames_.relative(gearbox.frame, found->joint).rotation * turn.hinge->axis, axis);
  constexpr double slack = 1e-6;
  if (std::abs(along) < 1 - slack) {
    gearbox.element.error(fmt::format("{} about an axis that is not that of joint '{}'", what, turn.hinge->name),
                          "give the gearbox the axis of that joint");
    return std::nullopt;
  }
  turn.sign *= along > 0 ? 1 : -1;
  return turn;
}

/// A gearbox becomes a coupling of the hinges by which its two bodies turn against the reference body.
void Assembler::add_gearbox(const Joint& joint) {
  const int parent = parent_body(joint);
  const int child = frames_[joint.frame].body;
  const std::optional<Gearbox> gearbox = read_gearbox(joint, frames_);
  if (parent == no_frame || child == no_frame || !gearbox) {
    return;  // reported
  }
  const auto first = turn_between(gearbox->reference, parent, gearbox->axis, joint);
  const auto second = turn_between(gearbox->reference, child, gearbox->axis2, joint);
  if (!first || !second) {
    return;  // reported
  }
  if (first->hinge == second->hinge) {
    joint.element.error(
        fmt::format("the gearbox {} couples joint '{}' with itself", joint.element.description(), first->hinge->name),
        "name a parent and a child that turn on their own");
    return;
  }
  ClosureSpec closure;
  closure.name = frames_[joint.frame].name;
  closure.kind = ClosureKind::hinges;
  closure.a = second->hinge->name;
  closure.b = first->hinge->name;
  closure.polynomial = {0, -gearbox->ratio * first->sign * second->sign, 0, 0, 0};
  closure.where = joint.element.where();
  builder_.add(std::move(closure));
}

std::string Assembler::root_name(const std::string& link, bool one_root) {
  std::string name = one_root ? "root_joint" : link + "_root_joint";
  for (int i = 2; hinge_names_.contains(name); ++i) {
    name = fmt::format("{}_root_joint_{}", link, i);
  }
  hinge_names_.insert(name);
  return name;
}

void Assembler::add_body(const Link& link, bool one_root) {
  BodySpec body;
  body.name = frames_[link.frame].name;
  body.where = link.element.where();
  body.inertia = weighs_shapes(link.element) ? scales_.weigh(link) : read_inertial(link.element);
  body.visuals = read_shapes(link, "visual", frames_, context_.paths);
  body.collisions = read_shapes(link, "collision", frames_, context_.paths);
  const auto at = tree_.find(link.frame);
  if (at == tree_.end()) {
    body.hinge.name = root_name(body.name, one_root);
    body.hinge.type = link.fixed_to_world ? HingeType::fixed : HingeType::free;
    const Transform<double> X_WB = frames_.relative(world_frame, link.frame);
    if (link.fixed_to_world) {
      body.X_PF = X_WB;
    } else if (X_WB != Transform<double>::identity()) {
      const Quaternion<double> q = X_WB.rotation.quaternion();
      const Vec3<double>& p = X_WB.translation;
      initial_.positions.emplace(body.hinge.name, std::vector<double>{q.w, q.x, q.y, q.z, p.x, p.y, p.z});
      initial_.where = body.where;
    }
    builder_.add(std::move(body));
    return;
  }
  TreeJoint& joint = at->second;
  Transform<double> X_CJ = in_child(joint.joint);
  if (joint.hinge.type == HingeType::spherical) {
    X_CJ.rotation = Rotation<double>::identity();  // its velocity is counted in the child's own axes
  }
  body.parent = frames_[joint.parent].name;
  body.hinge = std::move(joint.hinge);
  body.hinge_where = frames_[joint.joint].element.where();
  body.X_PF = frames_.relative(joint.parent, link.frame) * X_CJ;
  body.X_MB = X_CJ.inverse();
  builder_.add(std::move(body));
}

void Assembler::add_node(int index) {
  const Frame& frame = frames_[index];
  if (frame.body == no_frame) {
    return;  // reported
  }
  builder_.add(
      NodeSpec{frame.name, frames_[frame.body].name, frames_.relative(frame.body, index), frame.element.where()});
}

void Assembler::run() {
  for (const Link& link : all_.links) {
    if (link.fixed_to_world) {
      static_links_.insert(link.frame);
      sets_.unite(link.frame, world_frame);
    }
  }
  for (const Joint& joint : all_.joints) {
    if (!is_gearbox(joint)) {
      add_joint(joint);
    }
  }
  for (const Joint& joint : all_.joints) {
    if (is_gearbox(joint)) {
      add_gearbox(joint);
    }
  }
  const bool one_root = all_.links.size() == tree_.size() + 1;
  for (const Link& link : all_.links) {
    add_body(link, one_root);
  }
  for (const int frame : all_.named_frames) {
    add_node(frame);
  }
  if (!initial_.positions.empty()) {
    builder_.add_reference(std::move(initial_));
  }
}

/// Sorts by file and line, since files are read in several passes. A file that is included twice says everything twice:
/// once is enough.
void tidy(std::vector<Problem>& problems) {
  const bool cut_off = problems.size() > max_problems;  // the last one says so, and stays the last
  std::set<std::tuple<std::string, int, std::string>> seen;
  std::erase_if(problems, [&](const Problem& p) { return !seen.emplace(p.where.file, p.where.line, p.text).second; });
  std::map<std::string, std::size_t> files;  // in the order in which they first come up
  for (const Problem& p : problems) {
    files.emplace(p.where.file, files.size());
  }
  std::stable_sort(problems.begin(), problems.end() - (cut_off ? 1 : 0), [&](const Problem& a, const Problem& b) {
    return std::pair(files[a.where.file], a.where.line) < std::pair(files[b.where.file], b.where.line);
  });
}

}  // namespace
}  // namespace sdf

ModelBuilder read_sdf(XmlDocument& document, const ReaderContext& context) {
  const XmlElement root = document.root();
  if (context.options.free_base) {
    throw ModelError(root.where(), "SDF says itself whether the base is free: the option for a free base is refused",
                     "leave the option out; a model without a joint to the world has a free base");
  }
  sdf::Source main;
  main.document = &document;
  main.version = sdf::Sources::read_version(root);
  main.key = sdf::Sources::key(document.file());
  sdf::Sources sources(context);
  sdf::Collection all = sdf::collect(main, sources);
  all.frames.resolve();
  ModelBuilder builder(all.name.empty() ? "model" : all.name);
  builder.set_format(Format::sdf);
  if (all.gravity) {
    builder.set_gravity(*all.gravity);
  }
  sdf::Assembler(all, context, builder).run();
  if (all.links.empty() && std::none_of(context.problems.begin(), context.problems.end(),
                                        [](const Problem& p) { return p.severity == Severity::error; })) {
    const XmlElement world = root.child("world");
    (world ? world : root).warning("the model has no bodies", "add a <model> with a <link>");
  }
  document.report_unused();
  sources.report_unused();
  sdf::tidy(context.problems);
  return builder;
}

}  // namespace bunraku::io
