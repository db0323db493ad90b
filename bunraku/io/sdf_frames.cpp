#include "bunraku/io/detail/sdf_frames.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace bunraku::io::sdf {

namespace {

constexpr std::string_view own_model = "__model__";
constexpr std::string_view separator = "::";

/// Names of the form `__x__` mean something to the format itself.
bool is_reserved(std::string_view name) {
  return name == "world" || (name.size() >= 4 && name.starts_with("__") && name.ends_with("__"));
}

std::string shortened(std::string_view name) {
  constexpr std::size_t most = 60;
  return name.size() > most ? std::string(name.substr(0, most)) + "…" : std::string(name);
}

}  // namespace

FrameGraph::FrameGraph() {
  frames_.push_back({.kind = FrameKind::world, .name = "world", .element = {}, .attached = world_frame});
  scopes_.push_back({.prefix = "", .frame = world_frame});
}

int FrameGraph::add(FrameKind kind, int scope, int home, std::string_view name, const XmlElement& element) {
  Scope& in = scopes_[static_cast<std::size_t>(scope)];
  std::string own(name);
  std::string_view shown = name;
  bool usable = !name.empty();  // a missing name has been reported
  if (is_reserved(name)) {
    element.error(fmt::format("{}: the name is reserved", element.description()), "choose another name");
    usable = false;
  } else if (in.prefix.size() + name.size() > max_name_bytes) {
    element.error(
        fmt::format("{}: the name with its scopes is longer than {} bytes", element.description(), max_name_bytes),
        "choose a shorter name");
    usable = false;
    shown = {};
  } else if (const auto at = in.names.find(name); usable && at != in.names.end()) {
    element.error(fmt::format("{}: the name is already used in line {}", element.description(),
                              (*this)[at->second].element.where().line),
                  "links, joints, frames and models in one scope need different names");
    usable = false;
  }
  if (!usable) {  // go on under a name that cannot collide, so that nothing else complains
    own = fmt::format("{}#{}", shown, ++renamed_);
  }
  const int index = size();
  frames_.push_back({.kind = kind, .name = in.prefix + own, .scope = scope, .home = home, .element = element});
  if (home != in.frame) {
    frames_.back().base = {home};
  }
  in.names.emplace(std::move(own), index);
  return index;
}

int FrameGraph::add_scope(int model_frame, std::string prefix) {
  const int index = static_cast<int>(scopes_.size());
  Frame& model = (*this)[model_frame];
  model.inner = index;
  scopes_.push_back({.prefix = std::move(prefix),
                     .frame = model_frame,
                     .parent = model.scope,
                     .depth = scope(model.scope).depth + 1});
  return index;
}

void FrameGraph::measure_from(int frame, std::string_view text, const XmlElement& where) {
  pending_.push_back({frame, Use::base, std::string(text), (*this)[frame].scope, (*this)[frame].home, where});
}

void FrameGraph::attach(int frame, std::string_view text, int scope, int home, const XmlElement& where,
                        bool also_base) {
  pending_.push_back(
      {frame, also_base ? Use::attachment_and_base : Use::attachment, std::string(text), scope, home, where});
}

void FrameGraph::place(int model_frame, std::string_view text, const XmlElement& where) {
  pending_.push_back({model_frame, Use::placement, std::string(text), (*this)[model_frame].inner, model_frame, where});
}

/// Follows `a::b::c` down from a scope. The frame, or no_frame.
int FrameGraph::descend(std::string_view text, int scope_index, std::vector<int>& path) const {
  std::string_view rest = text;
  int at = scope_index;
  for (;;) {
    const Scope& in = scope(at);
    // older files have names with :: in them, so that the whole of the rest may be one name
    if (const auto whole = in.names.find(rest); whole != in.names.end()) {
      path.push_back(whole->second);
      return whole->second;
    }
    if (rest == own_model && at != world_scope) {
      return in.frame;
    }
    const std::size_t end = rest.find(separator);
    if (end == std::string_view::npos) {
      return no_frame;
    }
    const auto next = in.names.find(rest.substr(0, end));
    if (next == in.names.end() || (*this)[next->second].inner < 0) {
      return no_frame;
    }
    path.push_back(next->second);
    at = (*this)[next->second].inner;
    rest.remove_prefix(end + separator.size());
  }
}

std::string FrameGraph::not_found(std::string_view text, int scope_index) const {
  constexpr std::size_t most_names = 1000;  // suggestions cost time for each name
  constexpr int most_suggestions = 50;
  const Scope& in = scope(scope_index);
  std::vector<std::string> known;
  if (in.names.size() <= most_names && ++suggestions_ <= most_suggestions) {
    for (const auto& [name, frame] : in.names) {
      known.push_back(name);
    }
  }
  const std::string owner = scope_index == world_scope ? std::string("the world")
                                                       : fmt::format("model '{}'", shortened((*this)[in.frame].name));
  return fmt::format("there is no link, joint, frame or model '{}' in {}{}", shortened(text), owner,
                     bunraku::detail::did_you_mean(text, known));
}

std::optional<Reference> FrameGraph::find(std::string_view text, int scope_index, int home, const XmlElement& where,
                                          const char* cure) const {
  Reference out;
  if (text == own_model && scope_index != world_scope) {
    out.frame = home;
    if (home != scope(scope_index).frame) {  // merged into another model: its own frame is one among others
      out.path.push_back(home);
    }
    return out;
  }
  if (text == "world" && scope_index == world_scope) {
    out.frame = world_frame;
    return out;
  }
  out.frame = descend(text, scope_index, out.path);
  if (out.frame != no_frame) {
    return out;
  }
  if (text == "world") {
    where.error(fmt::format("{}: inside of a model, 'world' can only be the parent of a joint", where.description()),
                "measure from a frame of the model");
  } else {
    where.error(fmt::format("{}: {}", where.description(), not_found(text, scope_index)), cure);
  }
  return std::nullopt;
}

void FrameGraph::resolve() {
  resolve_names();
  resolve_bodies();
  resolve_poses();
}

void FrameGraph::resolve_names() {
  for (const Pending& p : pending_) {
    std::optional<Reference> found = find(p.text, p.scope, p.home, p.where);
    if (!found) {
      continue;
    }
    Frame& frame = (*this)[p.frame];
    if (p.use == Use::attachment || p.use == Use::attachment_and_base) {
      frame.attached = found->frame;
    }
    if (p.use == Use::base || p.use == Use::attachment_and_base) {
      frame.base = std::move(found->path);
    } else if (p.use == Use::placement) {
      frame.placement = std::move(found->path);
    }
  }
  pending_.clear();
}

void FrameGraph::report_cycle(const std::vector<int>& cycle, const char* what) const {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(cycle.size(), most); ++i) {
    names += fmt::format("'{}' → ", shortened((*this)[cycle[i]].name));
  }
  names += cycle.size() > most ? "… → " : "";
  names += fmt::format("'{}'", shortened((*this)[cycle.front()].name));
  (*this)[cycle.front()].element.error(fmt::format("frames are {} one another in a circle: {}", what, names),
                                       "let one of them start from a link or from the model");
}

void FrameGraph::resolve_bodies() {
  std::vector<char> open(frames_.size(), 0);
  std::vector<int> chain;
  for (int start = 0; start < size(); ++start) {
    chain.clear();
    int at = start;
    int body = no_frame;
    while (at != no_frame) {
      Frame& frame = (*this)[at];
      char& mark = open[static_cast<std::size_t>(at)];
      if (frame.kind == FrameKind::link || frame.kind == FrameKind::world) {
        frame.body = at;
      }
      if (frame.body != no_frame || mark == 2) {
        body = frame.body;
        break;
      }
      if (mark == 1) {
        report_cycle({std::find(chain.begin(), chain.end(), at), chain.end()}, "attached to");
        break;
      }
      mark = 1;
      chain.push_back(at);
      at = frame.attached;
    }
    for (const int i : chain) {
      (*this)[i].body = body;
      open[static_cast<std::size_t>(i)] = 2;
    }
  }
}

Transform<double> FrameGraph::along(const std::vector<int>& path) const {
  Transform<double> out = Transform<double>::identity();
  for (const int i : path) {
    out = out * (*this)[i].X_SF;
  }
  return out;
}

void FrameGraph::resolve_poses() {
  enum State : char { fresh, open, done };
  std::vector<State> state(frames_.size(), fresh);
  struct Step {
    int frame;
    std::size_t next;
  };
  constexpr int most_cycles = 20;
  int cycles = 0;
  std::vector<Step> stack;  // depth first without recursion: chains of frames are as long as the file
  for (int start = 0; start < size(); ++start) {
    if (state[static_cast<std::size_t>(start)] != fresh) {
      continue;
    }
    state[static_cast<std::size_t>(start)] = open;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Step& top = stack.back();
      Frame& frame = (*this)[top.frame];
      if (top.next == frame.base.size() + frame.placement.size()) {
        frame.X_SF = along(frame.base) * frame.raw;
        if (!frame.placement.empty()) {
          frame.X_SF = frame.X_SF * along(frame.placement).inverse();
        }
        state[static_cast<std::size_t>(top.frame)] = done;
        stack.pop_back();
        continue;
      }
      const std::size_t k = top.next++;
      const int needed = k < frame.base.size() ? frame.base[k] : frame.placement[k - frame.base.size()];
      State& its = state[static_cast<std::size_t>(needed)];
      if (its == open) {
        if (++cycles <= most_cycles) {  // each costs time of the size of the circle
          std::vector<int> cycle;
          for (auto i = stack.rbegin(); i != stack.rend() && (cycle.empty() || cycle.back() != needed); ++i) {
            cycle.push_back(i->frame);
          }
          std::reverse(cycle.begin(), cycle.end());
          report_cycle(cycle, "placed relative to");
        }
      } else if (its == fresh) {
        its = open;
        stack.push_back({needed, 0});
      }
    }
  }
}

Transform<double> FrameGraph::relative(int a, int b) const {
  if (a == b) {
    return Transform<double>::identity();
  }
  // meet in the innermost scope around both, not in the world: a model far from the origin loses no digits
  Transform<double> x_a = (*this)[a].X_SF;
  Transform<double> x_b = (*this)[b].X_SF;
  int scope_a = (*this)[a].scope;
  int scope_b = (*this)[b].scope;
  const auto climb = [&](int& s, Transform<double>& x) {
    x = (*this)[scope(s).frame].X_SF * x;
    s = scope(s).parent;
  };
  while (scope_a != scope_b) {
    if (scope(scope_a).depth >= scope(scope_b).depth) {
      climb(scope_a, x_a);
    } else {
      climb(scope_b, x_b);
    }
  }
  return x_a.inverse() * x_b;
}

}  // namespace bunraku::io::sdf
