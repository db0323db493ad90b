/// Reads modal data of flexible bodies, line by line.

#include "bunraku/io/modal_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <numbers>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/files.hpp"
#include "bunraku/io/detail/modal.hpp"
#include "bunraku/io/detail/numbers.hpp"

namespace bunraku::io {

namespace {

constexpr std::string_view modal_format = "bunraku-modal";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr const char* modal_cure = "see the section on modal data of docs/formats.md";

/// What a statement is called, how many words follow its key, and in which walk over the file it is read: nodes need
/// what the head says, shapes need the nodes.
struct ModalKey {
  std::string_view name;
  std::size_t words;
  int walk;
  std::string_view form;
};
constexpr std::array<ModalKey, 23> modal_keys = {{
    {"format", 0, 1, "format: bunraku-modal 1"},
    {"name", 0, 1, "name: NAME"},
    {"units", 0, 1, "units: SI"},
    {"frame", 0, 1, "frame: NODE"},
    {"mass", 0, 1, "mass: m"},
    {"com", 0, 1, "com: x y z"},
    {"inertia", 0, 1, "inertia: xx xy xz yy yz zz"},
    {"J0", 0, 1, "J0: xx xy xz yy yz zz"},
    {"nodes", 0, 1, "nodes: COUNT"},
    {"inboard", 0, 1, "inboard: NODE"},
    {"outboard", 0, 1, "outboard: NODE …"},
    {"modes", 0, 1, "modes: COUNT"},
    {"axis", 0, 1, "axis: x y z"},
    {"expected", 0, 3, "expected: η of each mode"},
    {"node", 1, 2, "node NAME: x y z [m [Jxx Jxy Jxz Jyy Jyz Jzz [cx cy cz]]]"},
    {"mode", 1, 3, "mode I: frequency HZ [ratio ζ]"},
    {"shape", 2, 3, "shape I NODE: rx ry rz tx ty tz"},
    {"S", 1, 3, "S NODE: n×n numbers"},
    {"S1", 1, 3, "S1 I: x y z"},
    {"C0", 1, 3, "C0 I: x y z"},
    {"C1", 2, 3, "C1 I L: x y z"},
    {"J1", 1, 3, "J1 I: nine numbers"},
    {"J2", 2, 3, "J2 I L: nine numbers"},
}};

const ModalKey* find_key(std::string_view name) {
  const auto at =
      std::find_if(modal_keys.begin(), modal_keys.end(), [&](const ModalKey& key) { return key.name == name; });
  return at == modal_keys.end() ? nullptr : &*at;
}

/// A line `key words: rest`.
struct ModalLine {
  int line = 0;
  std::string_view key = {};
  std::array<std::string_view, 2> words = {};
  std::size_t count = 0;  ///< Of words, those beyond two counted, too.
  std::string_view rest = {};
  bool has_colon = false;
  std::string_view head = {};  ///< All before the colon.
};

/// Calls f with every line that is not empty, comments taken off.
template <class F>
void for_each_modal_line(std::string_view text, const F& f) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    ModalLine out;
    out.line = number;
    const std::size_t colon = line.find(':');
    out.has_colon = colon != std::string_view::npos;
    out.head = trimmed(line.substr(0, colon));
    out.rest = out.has_colon ? trimmed(line.substr(colon + 1)) : std::string_view{};
    std::string_view head = out.head;
    out.key = next_word(head);
    for (std::string_view word = next_word(head); !word.empty(); word = next_word(head)) {
      if (out.count < out.words.size()) {
        out.words[out.count] = word;
      }
      ++out.count;
    }
    f(out);
  }
}

std::string quoted(std::string_view text) {
  return bunraku::detail::printable(text, 60);
}

/// How many digits of a number count.
int significant_digits(std::string_view word) {
  int count = 0;
  for (const char c : word) {
    if (c == 'e' || c == 'E') {
      break;
    }
    count += c >= '0' && c <= '9' && (count > 0 || c != '0') ? 1 : 0;
  }
  return count;
}

Sym3<double> inertia_from(const double* x) {
  return {x[0], x[3], x[5], x[1], x[2], x[4]};  // from xx xy xz yy yz zz
}

class ModalReader {
 public:
  ModalReader(std::string_view text, const std::string& file)
      : text_(text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text),
        problems_(file, found_) {}

  ModalFile read(std::vector<Problem>& warnings);

 private:
  void read_format();
  void read_head();
  void read_nodes();
  void read_shapes();
  void read_mode(const ModalLine& line);
  void read_shape(const ModalLine& line);
  void read_shortening(const ModalLine& line);
  void require_head();
  void require_shapes();
  void check_inboard();
  void check_turns();
  FlexibleBody body(const std::vector<PointLump>& lumps) const;

  bool check_form(const ModalLine& line, const ModalKey& key);
  bool numbers(const ModalLine& line, std::initializer_list<std::size_t> sizes, bool measured = false);
  bool number(const ModalLine& line, Stated<double>& out);
  bool vector(const ModalLine& line, Stated<Vec3<double>>& out, bool measured = false);
  bool matrix(const ModalLine& line, Stated<Mat3<double>>& out);
  void inertia(const ModalLine& line, Stated<Sym3<double>>& out);
  bool count(const ModalLine& line, std::size_t most, Stated<std::size_t>& out);
  bool fresh(const ModalLine& line, int first);
  int mode_index(const ModalLine& line, std::string_view word);
  const std::size_t* node_index(const ModalLine& line, std::string_view name);
  [[noreturn]] void give_up();

  std::string_view text_;
  std::vector<Problem> found_;
  ModalProblems problems_;
  ModalTolerances tolerances_;
  ModalData data_;
  Stated<std::size_t> modes_;
  Stated<std::size_t> node_count_;
  Stated<std::string_view> name_;
  Stated<std::string_view> units_;
  Stated<std::string_view> frame_;
  Stated<std::string_view> inboard_;
  Stated<std::vector<std::string_view>> outboard_;
  std::unordered_map<std::string_view, std::size_t> node_names_;
  std::vector<double> values_;  ///< The numbers of the current line.
  int digits_ = 0;              ///< Of the most precise number that is measured.
  int suggestions_ = 0;
};

void ModalReader::give_up() {
  throw ModelError(std::move(found_));
}

bool ModalReader::check_form(const ModalLine& line, const ModalKey& key) {
  if (line.has_colon && line.count == key.words) {
    return true;
  }
  problems_.error(line.line, fmt::format("'{}' is not of the form `{}`", quoted(line.head), key.form), modal_cure);
  return false;
}

/// Reads all numbers of a line, which must be as many as one of `sizes`, the last being the largest.
bool ModalReader::numbers(const ModalLine& line, std::initializer_list<std::size_t> sizes, bool measured) {
  values_.clear();
  std::string_view rest = line.rest;
  const std::size_t most = *(sizes.end() - 1);
  const auto wanted = [&] {
    std::string out;
    for (const std::size_t size : sizes) {
      out += (out.empty() ? "" : size == most ? " or " : ", ") + std::to_string(size);
    }
    return out;
  };
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    if (values_.size() == most) {
      problems_.error(line.line, fmt::format("`{}` has more numbers than {}", quoted(line.head), wanted()), modal_cure);
      return false;
    }
    const std::optional<double> value = parse_number(word);
    if (!value || !std::isfinite(*value)) {
      problems_.error(
          line.line,
          fmt::format("'{}' of `{}` is not a {}number", quoted(word), quoted(line.head), value ? "finite " : ""),
          "write numbers as 1.5 or 1.5e-3");
      return false;
    }
    // what is squared and added up must stay finite
    constexpr double largest = 1e50;
    if (std::abs(*value) > largest) {
      problems_.error(line.line, fmt::format("'{}' of `{}` is too large", quoted(word), quoted(line.head)), modal_cure);
      return false;
    }
    values_.push_back(*value);
    if (measured) {
      digits_ = std::max(digits_, significant_digits(word));
    }
  }
  if (std::find(sizes.begin(), sizes.end(), values_.size()) == sizes.end()) {
    problems_.error(line.line, fmt::format("`{}` has {} numbers, not {}", quoted(line.head), values_.size(), wanted()),
                    modal_cure);
    return false;
  }
  return true;
}

/// Whether a statement is the first of its kind, given the line of another one, or 0.
bool ModalReader::fresh(const ModalLine& line, int first) {
  if (first == 0) {
    return true;
  }
  problems_.error(line.line, fmt::format("`{}` is there twice: line {} has it too", quoted(line.head), first),
                  "remove one of the two");
  return false;
}

bool ModalReader::number(const ModalLine& line, Stated<double>& out) {
  if (!fresh(line, out.line) || !numbers(line, {1})) {
    return false;
  }
  out = {values_[0], line.line};
  return true;
}

bool ModalReader::vector(const ModalLine& line, Stated<Vec3<double>>& out, bool measured) {
  if (!fresh(line, out.line) || !numbers(line, {3}, measured)) {
    return false;
  }
  out = {{values_[0], values_[1], values_[2]}, line.line};
  return true;
}

bool ModalReader::matrix(const ModalLine& line, Stated<Mat3<double>>& out) {
  if (!fresh(line, out.line) || !numbers(line, {9}, true)) {
    return false;
  }
  for (int i = 0; i < 9; ++i) {
    out.value(i / 3, i % 3) = values_[static_cast<std::size_t>(i)];
  }
  out.line = line.line;
  return true;
}

void ModalReader::inertia(const ModalLine& line, Stated<Sym3<double>>& out) {
  if (fresh(line, out.line) && numbers(line, {6})) {
    out = {inertia_from(values_.data()), line.line};
  }
}

bool ModalReader::count(const ModalLine& line, std::size_t most, Stated<std::size_t>& out) {
  if (!fresh(line, out.line)) {
    return false;
  }
  std::size_t value = 0;
  const char* const start = line.rest.data();
  const char* const end = start + line.rest.size();
  const auto [stop, error] = std::from_chars(start, end, value);
  if (stop != end || line.rest.empty() || (error == std::errc() && value == 0) ||
      (error != std::errc() && error != std::errc::result_out_of_range)) {
    problems_.error(line.line, fmt::format("`{}: {}` is no number of 1 or more", quoted(line.head), quoted(line.rest)),
                    modal_cure);
    return false;
  }
  if (error != std::errc() || value > most) {
    problems_.error(
        line.line,
        fmt::format("`{}: {}` is more than the {} that a file may have", quoted(line.head), quoted(line.rest), most),
        "leave out what matters least");
    return false;
  }
  out = {value, line.line};
  return true;
}

/// The mode that a word names, from 0; −1 where there is none.
int ModalReader::mode_index(const ModalLine& line, std::string_view word) {
  int value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && stop == word.data() + word.size() && value >= 1 && value <= data_.modes) {
    return value - 1;
  }
  problems_.error(line.line,
                  fmt::format("'{}' of `{}` is no mode of 1 … {}", quoted(word), quoted(line.head), data_.modes),
                  "modes are counted from 1, as many as `modes` says");
  return -1;
}

const std::size_t* ModalReader::node_index(const ModalLine& line, std::string_view name) {
  if (const auto at = node_names_.find(name); at != node_names_.end()) {
    return &at->second;
  }
  std::string nearest;
  constexpr int most_suggestions = 20;
  constexpr std::size_t most_names = 10'000;
  if (++suggestions_ <= most_suggestions && node_names_.size() <= most_names) {
    std::vector<std::string> known;
    std::transform(data_.nodes.begin(), data_.nodes.end(), std::back_inserter(known),
                   [](const ModalNode& node) { return std::string(node.name); });
    nearest = bunraku::detail::did_you_mean(name, known);
  }
  problems_.error(line.line, fmt::format("there is no node '{}'{}", quoted(name), nearest),
                  "name a node that has a line `node NAME: x y z`");
  return nullptr;
}

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

void ModalReader::read_mode(const ModalLine& line) {
  const int mode = mode_index(line, line.words[0]);
  if (mode < 0 || !fresh(line, data_.stiffness[static_cast<std::size_t>(mode)].line)) {
    return;
  }
  Stated<double>& stiffness = data_.stiffness[static_cast<std::size_t>(mode)];
  stiffness.line = line.line;
  std::optional<double> ratio;
  std::optional<double> damping;
  std::optional<double> frequency;
  std::optional<double> given;
  std::string_view rest = line.rest;
  for (std::string_view what = next_word(rest); !what.empty(); what = next_word(rest)) {
    std::optional<double>* const place = what == "frequency"   ? &frequency
                                         : what == "stiffness" ? &given
                                         : what == "ratio"     ? &ratio
                                         : what == "damping"   ? &damping
                                                               : nullptr;
    const std::string_view word = next_word(rest);
    if (place == nullptr || *place) {
      problems_.error(line.line,
                      fmt::format("'{}' of `{}` is {}", quoted(what), quoted(line.head),
                                  place == nullptr ? "not known" : "there twice"),
                      "write `mode I: frequency HZ ratio ζ`, or `stiffness` and `damping` in their place");
      return;
    }
    *place = parse_number(word);
    constexpr double largest = 1e25;  // its square must stay finite
    if (!*place || !(std::abs(**place) <= largest)) {
      problems_.error(line.line, fmt::format("'{}' of `{}` is not a finite number", quoted(word), quoted(line.head)),
                      "write numbers as 1.5 or 1.5e-3");
      return;
    }
  }
  if (frequency.has_value() == given.has_value() || (ratio && damping)) {
    problems_.error(line.line,
                    fmt::format("`{}` does not say one of `frequency` and `stiffness`, and at most one of `ratio` and "
                                "`damping`",
                                quoted(line.head)),
                    modal_cure);
    return;
  }
  if (!(frequency.value_or(1) > 0) || !(given.value_or(1) > 0)) {
    problems_.error(line.line,
                    fmt::format("mode {} has {}: it would be a rigid motion", mode + 1,
                                frequency ? "a frequency of zero or less" : "a stiffness of zero or less"),
                    "leave out rigid motions: the hinge has them");
    return;
  }
  if (ratio.value_or(0) < 0 || damping.value_or(0) < 0) {
    problems_.error(line.line, fmt::format("the damping of mode {} is negative", mode + 1), "give zero or more");
    return;
  }
  const double omega = frequency ? 2 * std::numbers::pi * *frequency : std::sqrt(*given);
  stiffness.value = frequency ? omega * omega : *given;
  data_.damping[static_cast<std::size_t>(mode)] = ratio ? 2 * *ratio * omega : damping.value_or(0);
}

void ModalReader::read_shape(const ModalLine& line) {
  const int mode = mode_index(line, line.words[0]);
  const std::size_t* const at = node_index(line, line.words[1]);
  if (mode < 0 || at == nullptr) {
    return;
  }
  ModalNode& node = data_.nodes[*at];
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(mode);
  if ((node.shapes & bit) != 0) {
    problems_.error(line.line, fmt::format("`{}` is there twice", quoted(line.head)), "remove one of the two");
    return;
  }
  node.shapes |= bit;
  if (!numbers(line, {3, 6}, true)) {
    return;
  }
  const bool turns = values_.size() == 6;
  if (std::exchange(node.shaped, true) && node.turns != turns) {
    problems_.error(line.line,
                    fmt::format("node '{}' turns in some modes alone: `{}` has {} numbers", quoted(node.name),
                                quoted(line.head), values_.size()),
                    "give rx ry rz tx ty tz in all modes, or tx ty tz in all");
    return;
  }
  node.turns = turns;
  const double* x = values_.data();
  if (node.turns) {
    data_.rotation[data_.index(*at, mode)] = {x[0], x[1], x[2]};
    x += 3;
  }
  data_.translation[data_.index(*at, mode)] = {x[0], x[1], x[2]};
}

void ModalReader::read_shortening(const ModalLine& line) {
  const std::size_t* const at = node_index(line, line.words[0]);
  const auto n = static_cast<std::size_t>(data_.modes);
  if (at == nullptr || !fresh(line, data_.nodes[*at].shortening.line) || !numbers(line, {n * n})) {
    return;
  }
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t l = 0; l < n; ++l) {
      largest = std::max(largest, std::abs(values_[i * n + l]));
      apart = std::max(apart, std::abs(values_[i * n + l] - values_[l * n + i]));
    }
  }
  if (!(apart <= tolerances_.agreement * largest)) {
    problems_.error(line.line, fmt::format("`{}` is not symmetric", quoted(line.head)),
                    "S is the integral of w′w′* up to the node");
    return;
  }
  if (!data_.axis) {
    problems_.error(line.line, "shortening needs an axis",
                    "add `axis: x y z`, the direction from the inboard node to the others");
  }
  if (*at == data_.inboard && largest > 0) {
    problems_.error(line.line, "the inboard node is shortened", "it is the frame: leave this out");
  }
  data_.nodes[*at].shortening = {values_, line.line};
}

void ModalReader::read_shapes() {
  data_.modes = static_cast<int>(modes_.value);
  const std::size_t n = modes_.value;
  data_.stiffness.resize(n);
  data_.damping.resize(n);
  data_.S1.resize(n);
  data_.C0.resize(n);
  data_.J1.resize(n);
  data_.C1.resize(n * n);
  data_.J2.resize(n * n);
  data_.rotation.resize(n * data_.nodes.size());
  data_.translation.resize(n * data_.nodes.size());
  for_each_modal_line(text_, [&](const ModalLine& line) {
    const ModalKey* const key = find_key(line.key);
    if (key == nullptr || key->walk != 3 || !line.has_colon || line.count != key->words) {
      return;
    }
    if (key->name == "shape") {
      read_shape(line);
      return;
    }
    if (key->name == "S") {
      read_shortening(line);
      return;
    }
    if (key->name == "mode") {
      read_mode(line);
      return;
    }
    if (key->name == "expected") {
      if (fresh(line, data_.expected.line) && numbers(line, {n})) {
        data_.expected = {values_, line.line};
      }
      return;
    }
    const int i = mode_index(line, line.words[0]);
    const int l = key->words == 2 ? mode_index(line, line.words[1]) : 0;
    if (i < 0 || l < 0) {
      return;
    }
    const auto at = static_cast<std::size_t>(i);
    if (key->name == "S1") {
      vector(line, data_.S1[at], true);
    } else if (key->name == "C0") {
      vector(line, data_.C0[at]);
    } else if (key->name == "C1") {
      vector(line, data_.C1[data_.pair(i, l)]);
    } else if (key->name == "J1") {
      matrix(line, data_.J1[at]);
    } else {
      matrix(line, data_.J2[data_.pair(i, l)]);
    }
  });
}

void ModalReader::require_shapes() {
  for (int i = 0; i < data_.modes; ++i) {
    if (!data_.stiffness[static_cast<std::size_t>(i)]) {
      problems_.error(modes_.line, fmt::format("there is no `mode {}:`", i + 1), "give the frequency of every mode");
    }
  }
  const std::uint64_t all = ~std::uint64_t{0} >> (64U - static_cast<unsigned>(data_.modes));
  for (std::size_t j = 0; j < data_.nodes.size() && problems_.takes_errors(); ++j) {
    const ModalNode& node = data_.nodes[j];
    if (j == data_.inboard || node.shapes == all) {
      continue;
    }
    int missing = 1;
    while ((node.shapes >> static_cast<unsigned>(missing - 1) & 1U) != 0) {
      ++missing;
    }
    problems_.error(node.line, fmt::format("there is no `shape {} {}:`", missing, quoted(node.name)),
                    "every node but the inboard one has a shape in each mode");
  }
}

/// Shapes vanish at the inboard node: each is compared with the largest of its mode.
void ModalReader::check_inboard() {
  const ModalNode& node = data_.nodes[data_.inboard];
  for (int i = 0; i < data_.modes; ++i) {
    double turn = 0;
    double move = 0;
    for (std::size_t j = 0; j < data_.nodes.size(); ++j) {
      turn = std::max(turn, norm(data_.turn(j, i)));
      move = std::max(move, norm(data_.move(j, i)));
    }
    if (!(norm(data_.turn(data_.inboard, i)) <= tolerances_.agreement * turn) ||
        !(norm(data_.move(data_.inboard, i)) <= tolerances_.agreement * move)) {
      problems_.error(
          node.line,
          fmt::format("the shape of mode {} does not vanish at the inboard node '{}'", i + 1, quoted(node.name)),
          "take off the rigid motion that it has there: the body's frame goes with that node");
    }
  }
}

/// A rotation vector that is linear in η is a good model of small turns alone.
void ModalReader::check_turns() {
  const auto n = static_cast<std::size_t>(data_.modes);
  std::vector<std::vector<double>> loads;
  if (data_.expected) {
    loads.push_back(data_.expected.value);
  } else {
    for (int axis = 0; axis < 3; ++axis) {  // its own weight, along each axis in turn
      std::vector<double> load(n);
      for (std::size_t i = 0; i < n; ++i) {
        Vec3<double> sum = data_.S1[i].value;
        if (!data_.S1[i]) {
          for (std::size_t j = 0; j < data_.nodes.size(); ++j) {
            sum += data_.translation[j * n + i] * data_.nodes[j].mass;
          }
        }
        load[i] = norm(standard_gravity) * sum[axis] / data_.stiffness[i].value;
      }
      loads.push_back(std::move(load));
    }
  }
  double most = 0;
  std::size_t where = 0;
  for (std::size_t j = 0; j < data_.nodes.size(); ++j) {
    for (const std::vector<double>& load : loads) {
      Vec3<double> turn = Vec3<double>::zero();
      double bound = 0;
      for (std::size_t i = 0; i < n; ++i) {
        turn += data_.rotation[j * n + i] * load[i];
        bound += norm(data_.rotation[j * n + i]) * std::abs(load[i]);
      }
      if (const double angle = data_.expected ? bound : norm(turn); angle > most) {
        most = angle;
        where = j;
      }
    }
  }
  if (most > ModalTolerances::small_turn) {
    problems_.warning(data_.expected ? data_.expected.line : data_.nodes[where].line,
                      fmt::format("node '{}' turns by {:.3g} rad {}: modes are made for small deformation",
                                  quoted(data_.nodes[where].name), most,
                                  data_.expected ? "where it is expected to" : "under the body's weight"),
                      "check stiffness and units, or divide the body into several");
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

}  // namespace

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
