/// Reads modal data of flexible bodies, line by line.

#include "bunraku/io/modal_file.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/files.hpp"
#include "bunraku/io/detail/modal_reader.hpp"

namespace bunraku::io {

namespace {

constexpr std::string_view modal_format = "bunraku-modal";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

ModalReader::ModalReader(std::string_view text, const std::string& file)
    : text_(text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text), problems_(file, found_) {}

/// The first line says what the file is: of another format nothing else is looked at.
void ModalReader::read_format() {
  bool first = true;
  for_each_modal_line(text_, [&](const ModalLine& line) {
    if (!std::exchange(first, false)) {
      return;
    }
    std::string_view rest = line.rest;
    if (line.head != "format" || next_word(rest) != modal_format) {
      throw ModelError({problems_.file(), line.line},
                       "this is no modal data: the first line is not `format: bunraku-modal 1`", modal_cure);
    }
    if (trimmed(rest) != "1") {
      throw ModelError({problems_.file(), line.line},
                       fmt::format("version '{}' of the format is not known", quoted(trimmed(rest))),
                       "this program reads version 1");
    }
  });
  if (first) {
    throw ModelError({problems_.file(), 1}, "the file is empty", "start it with `format: bunraku-modal 1`");
  }
}

void ModalReader::read_head() {
  int format = 0;
  const auto word = [&](const ModalLine& line, Stated<std::string_view>& out) {
    if (fresh(line, out.line)) {
      std::string_view rest = line.rest;
      out = {next_word(rest), line.line};
      if (out.value.empty() || !trimmed(rest).empty()) {
        problems_.error(line.line, fmt::format("`{}: {}` is not one word", quoted(line.head), quoted(line.rest)),
                        modal_cure);
      }
    }
  };
  for_each_modal_line(text_, [&](const ModalLine& line) {
    const ModalKey* const key = find_key(line.key);
    if (key == nullptr) {
      if (!line.has_colon) {
        problems_.error(line.line, fmt::format("'{}' is no `key: value`", quoted(line.head)), modal_cure);
      } else if (problems_.takes_warnings()) {
        std::vector<std::string> known;
        std::transform(modal_keys.begin(), modal_keys.end(), std::back_inserter(known),
                       [](const ModalKey& each) { return std::string(each.name); });
        problems_.warning(
            line.line,
            fmt::format("'{}' is not used{}", quoted(line.key), bunraku::detail::did_you_mean(line.key, known)),
            modal_cure);
      }
      return;
    }
    if (!check_form(line, *key) || key->walk != 1) {
      return;
    }
    if (key->name == "format") {
      if (fresh(line, format)) {
        format = line.line;
      }
    } else if (key->name == "name") {
      if (fresh(line, name_.line)) {
        name_ = {line.rest, line.line};
      }
    } else if (key->name == "units") {
      word(line, units_);
    } else if (key->name == "frame") {
      word(line, frame_);
    } else if (key->name == "inboard") {
      word(line, inboard_);
    } else if (key->name == "outboard") {
      if (fresh(line, outboard_.line)) {
        outboard_.line = line.line;
        std::string_view rest = line.rest;
        for (std::string_view each = next_word(rest); !each.empty() && outboard_.value.size() <= max_modal_nodes;
             each = next_word(rest)) {
          outboard_.value.push_back(each);
        }
      }
    } else if (key->name == "mass") {
      if (number(line, data_.mass) && !(data_.mass.value > 0)) {
        problems_.error(line.line, "the mass is not positive", "give the mass of the body in kg");
      }
    } else if (key->name == "com") {
      vector(line, data_.com);
    } else if (key->name == "inertia") {
      inertia(line, data_.inertia);
    } else if (key->name == "J0") {
      inertia(line, data_.J0);
    } else if (key->name == "nodes") {
      count(line, max_modal_nodes, node_count_);
    } else if (key->name == "modes") {
      count(line, static_cast<std::size_t>(max_modes), modes_);
    } else if (key->name == "axis") {
      if (vector(line, data_.axis) && !(std::abs(norm(data_.axis.value) - 1) <= tolerances_.agreement)) {
        problems_.error(line.line, "the axis of shortening is not of length 1", "give a unit vector");
      }
    }
  });
}

void ModalReader::require_head() {
  const auto require = [&](int line, const char* what, const char* cure) {
    if (line == 0) {
      problems_.error(1, fmt::format("there is no `{}:`", what), cure);
    }
  };
  require(units_.line, "units", "write `units: SI`: kg, m, s and rad");
  if (units_ && units_.value != "SI") {
    problems_.error(units_.line, fmt::format("the units '{}' are not SI", quoted(units_.value)),
                    "convert to kg, m, s and rad; millimetres and tonnes are the usual mistake");
  }
  require(data_.mass.line, "mass", "give the mass of the whole body in kg");
  require(data_.com.line, "com", "give its centre of mass");
  require(std::max(data_.inertia.line, data_.J0.line), "inertia", "give its inertia about its centre of mass");
  require(modes_.line, "modes", "say how many modes there are");
  require(node_count_.line, "nodes", "say how many nodes there are");
  require(inboard_.line, "inboard", "name the node that the body hangs on");
  if (frame_ && inboard_ && frame_.value != inboard_.value) {
    problems_.error(frame_.line,
                    fmt::format("the frame is at node '{}', but the body hangs on node '{}'", quoted(frame_.value),
                                quoted(inboard_.value)),
                    "make the modes vanish at the inboard node, and let it be the frame");
  }
  if (data_.inertia && data_.mass && !is_possible_inertia(data_.inertia.value, tolerances_.loosest)) {
    problems_.error(data_.inertia.line, "no distribution of mass has this inertia",
                    "give xx xy xz yy yz zz about the centre of mass");
  }
}

void ModalReader::read_nodes() {
  std::size_t lines = 0;
  for_each_modal_line(text_, [&](const ModalLine& line) {
    if (line.key != "node" || !line.has_colon || line.count != 1 || ++lines > max_modal_nodes) {
      return;
    }
    const std::string_view name = line.words[0];
    if (!bunraku::detail::is_printable(name)) {
      problems_.error(line.line, "the name of a node is not printable", "use plain letters and digits");
    }
    if (const auto at = node_names_.find(name); at != node_names_.end()) {
      problems_.error(
          line.line,
          fmt::format("there is a node '{}' twice: line {} has it too", quoted(name), data_.nodes[at->second].line),
          "give each a name of its own");
      return;
    }
    node_names_.emplace(name, data_.nodes.size());
    ModalNode node{.name = name, .line = line.line};
    if (numbers(line, {3, 4, 10, 13}, true)) {
      node.place = {values_[0], values_[1], values_[2]};
      node.mass = values_.size() > 3 ? values_[3] : 0;
      node.inertia = values_.size() > 4 ? inertia_from(values_.data() + 4) : node.inertia;
      node.center = values_.size() > 10 ? Vec3<double>{values_[10], values_[11], values_[12]} : node.center;
      if (node.mass < 0) {
        problems_.error(line.line, fmt::format("the mass of node '{}' is negative", quoted(name)),
                        "give a mass of zero or more");
      } else if (!is_positive_inertia(node.inertia, tolerances_.agreement) ||  // sections may turn about one axis alone
                 (node.mass == 0 && node.center != Vec3<double>::zero())) {
        problems_.error(line.line, fmt::format("the lump of node '{}' has an inertia that no mass has", quoted(name)),
                        "give Jxx Jxy Jxz Jyy Jyz Jzz about the lump's centre");
      }
    }
    data_.nodes.push_back(std::move(node));
  });
  if (node_count_ && node_count_.value != lines) {
    problems_.error(node_count_.line,
                    fmt::format("`nodes` says {}, but there are {} lines `node NAME: …`", node_count_.value, lines),
                    "the file may have been cut off; count again");
  }
  const auto at_line = [](int line) {
    ModalLine out;
    out.line = line;
    return out;
  };
  if (inboard_) {
    if (const std::size_t* at = node_index(at_line(inboard_.line), inboard_.value)) {
      data_.inboard = *at;
    }
  }
  for (const std::string_view name : outboard_.value) {
    const std::size_t* at = node_index(at_line(outboard_.line), name);
    if (at == nullptr) {
      continue;
    }
    if (name == inboard_.value) {
      problems_.error(outboard_.line, fmt::format("node '{}' is both inboard and outboard", quoted(name)),
                      "what hangs on the inboard node hangs on the body's frame: leave it out");
    } else if (std::exchange(data_.nodes[*at].outboard, true)) {
      problems_.error(outboard_.line, fmt::format("node '{}' is outboard twice", quoted(name)),
                      "remove one of the two");
    }
  }
  if (data_.nodes.size() * modes_.value > max_modal_shapes) {
    problems_.error(node_count_.line,
                    fmt::format("{} nodes of {} modes are more than the {} shapes that a file may have",
                                data_.nodes.size(), modes_.value, max_modal_shapes),
                    "give fewer nodes: the inertia invariants have all of the mass in them");
  }
}

FlexibleBody ModalReader::body(const std::vector<PointLump>& lumps) const {
  const auto n = static_cast<std::size_t>(data_.modes);
  const Vec3<double> origin = data_.nodes[data_.inboard].place;
  FlexibleBody out;
  for (const Stated<double>& each : data_.stiffness) {
    out.stiffness.push_back(each.value);
  }
  if (std::any_of(data_.damping.begin(), data_.damping.end(), [](double d) { return d > 0; })) {
    out.damping = data_.damping;
  }
  for (std::size_t j = 0; j < data_.nodes.size(); ++j) {
    const ModalNode& node = data_.nodes[j];
    const auto lump = RigidInertia<double>::about_center(node.mass, node.center, node.inertia);
    if (j == data_.inboard) {
      out.inertia = lump;
      continue;
    }
    if (!node.has_lump() && !node.outboard) {
      continue;
    }
    FlexibleNode made;
    made.name = node.outboard ? std::string(node.name) : std::string();
    made.place = node.place - origin;
    made.inertia = lump;
    const auto first = static_cast<std::ptrdiff_t>(j * n);
    const auto last = first + static_cast<std::ptrdiff_t>(n);
    made.shape.translation.assign(data_.translation.begin() + first, data_.translation.begin() + last);
    if (node.turns && (node.outboard || lump.inertia != Sym3<double>::zero())) {
      made.shape.rotation.assign(data_.rotation.begin() + first, data_.rotation.begin() + last);
    }
    if (node.shortening) {
      made.shape.shortening = node.shortening.value;
      made.shape.shortening_axis = data_.axis.value;
    }
    out.nodes.push_back(std::move(made));
  }
  for (const PointLump& lump : lumps) {
    FlexibleNode made;
    made.place = lump.place - origin;
    made.inertia.mass = lump.mass;
    made.shape.translation = lump.shape;
    out.nodes.push_back(std::move(made));
  }
  return out;
}

ModalFile ModalReader::read(std::vector<Problem>& warnings) {
  read_format();
  read_head();
  require_head();
  read_nodes();
  if (!modes_ || data_.nodes.empty() || data_.nodes.size() * modes_.value > max_modal_shapes) {
    if (data_.nodes.empty()) {
      problems_.error(1, "there are no nodes", "add lines `node NAME: x y z`");
    }
    give_up();  // shapes could not be told
  }
  read_shapes();
  require_shapes();
  if (problems_.errors() > 0) {
    give_up();  // what follows needs all of it
  }

  tolerances_.agreement = std::clamp(10 * std::pow(10.0, -digits_), tolerances_.agreement, ModalTolerances::loosest);
  check_inboard();
  std::vector<PointLump> lumps;
  const bool has_lumps =
      std::any_of(data_.nodes.begin(), data_.nodes.end(), [](const ModalNode& node) { return node.has_lump(); });
  if (has_lumps) {
    check_modal_lumps(data_, tolerances_, problems_);
  } else {
    lumps = lumps_of_invariants(data_, tolerances_, problems_);
  }
  if (problems_.errors() > 0) {
    give_up();
  }

  check_turns();
  const ModalNode& inboard = data_.nodes[data_.inboard];
  if (inboard.place != Vec3<double>::zero()) {
    problems_.warning(inboard.line,
                      fmt::format("the origin is moved to the inboard node '{}', by ({:.6g}, {:.6g}, {:.6g}) m",
                                  quoted(inboard.name), inboard.place.x, inboard.place.y, inboard.place.z),
                      "give places from the inboard node");
  }
  bool shortened = false;
  int unused = 0;
  std::size_t first_unused = 0;
  for (std::size_t j = 0; j < data_.nodes.size(); ++j) {
    const ModalNode& node = data_.nodes[j];
    shortened = shortened || node.shortening;
    if (j == data_.inboard || !problems_.takes_warnings()) {
      continue;
    }
    if (node.outboard && !node.turns) {
      problems_.warning(
          node.line,
          fmt::format("the outboard node '{}' has no rotations: what hangs on it is moved, but not turned",
                      quoted(node.name)),
          "give rx ry rz tx ty tz in its shapes");
    } else if (!node.outboard && !node.has_lump() && unused++ == 0) {
      first_unused = j;
    }
  }
  if (unused > 0) {
    const ModalNode& node = data_.nodes[first_unused];
    problems_.warning(node.line,
                      fmt::format("node '{}' is not used: it has no mass, and is not outboard{}", quoted(node.name),
                                  unused > 1 ? fmt::format("; nor are {} others", unused - 1) : std::string()),
                      "name it under `outboard` if something hangs on it");
  }
  if (shortened && !has_lumps) {
    problems_.warning(data_.axis.line,
                      "the body's own mass is not drawn in by bending: that takes lumps at nodes with S",
                      "give lumps in place of the inertia invariants");
  }
  ModalFile out{body(lumps), std::string(name_.value), std::string(inboard.name)};
  for (Problem& problem : found_) {
    bunraku::detail::add_problem(warnings, std::move(problem));
  }
  return out;
}

ModalFile read_modal(std::string_view text, const std::string& file, std::vector<Problem>& warnings) {
  if (text.size() > max_modal_bytes) {
    throw ModelError(
        {file, 0},
        fmt::format("the text has {} bytes, more than the {} that modal data may have", text.size(), max_modal_bytes),
        "give fewer nodes: the inertia invariants have all of the mass in them");
  }
  return ModalReader(text, file).read(warnings);
}

ModalFile read_modal_file(const std::string& path, const std::string& shown_as, std::vector<Problem>& warnings) {
  return read_modal(read_file(path, {shown_as, 0}, max_modal_bytes), shown_as, warnings);
}

}  // namespace bunraku::io

namespace bunraku {

FlexibleBody load_modal(const std::string& path, std::vector<Problem>& warnings) {
  return io::read_modal_file(path, path, warnings).body;
}

FlexibleBody load_modal(const std::string& path) {
  std::vector<Problem> warnings;
  return load_modal(path, warnings);
}

FlexibleBody load_modal_text(std::string_view text, const std::string& name, std::vector<Problem>& warnings) {
  return io::read_modal(text, name, warnings).body;
}

FlexibleBody load_modal_text(std::string_view text, const std::string& name) {
  std::vector<Problem> warnings;
  return load_modal_text(text, name, warnings);
}

}  // namespace bunraku
