/// The parts of a statement of modal data: words, numbers, names of nodes and modes.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/modal_reader.hpp"

namespace bunraku::io {

const ModalKey* find_key(std::string_view name) {
  const auto at =
      std::find_if(modal_keys.begin(), modal_keys.end(), [&](const ModalKey& key) { return key.name == name; });
  return at == modal_keys.end() ? nullptr : &*at;
}

std::string quoted(std::string_view text) {
  return bunraku::detail::printable(text, 60);
}

namespace {

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

}  // namespace

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
    if (std::abs(*value) > largest_model_number) {
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

}  // namespace bunraku::io
