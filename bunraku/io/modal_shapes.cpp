/// What modal data says of its modes: frequencies, shapes, shortening, invariants, and whether these are whole.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/modal_reader.hpp"

namespace bunraku::io {

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

}  // namespace bunraku::io
