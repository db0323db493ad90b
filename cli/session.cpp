#include "session.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku::cli {

namespace {

constexpr std::array<std::string_view, 4> vector_names = {"q", "v", "a", "tau"};
constexpr std::array<std::string_view, 3> words = {"neutral", "zero", "random"};

std::vector<double> random_vector(int size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> out(static_cast<std::size_t>(size));
  std::generate(out.begin(), out.end(), [&] { return uniform(generator); });
  return out;
}

}  // namespace

Session::Session(System system, std::vector<std::string> nodes, Variables variables, Order order, GivenState state)
    : system_(std::move(system)),
      nodes_(std::move(nodes)),
      variables_(std::move(variables)),
      order_(order),
      state_(std::move(state)) {
  state_.given.tau = state_.given.tau && !state_.given.a;
  apply();
}

bool Session::is_vector(std::string_view name) {
  return std::find(vector_names.begin(), vector_names.end(), name) != vector_names.end();
}

bool Session::gives_vector(std::string_view text) const {
  if (text.empty() || text.front() == '[' || std::find(words.begin(), words.end(), text) != words.end()) {
    return true;
  }
  std::string_view rest = text;
  std::string_view first = io::next_word(rest);
  first = first.substr(0, first.find(','));
  return io::parse_number(first).has_value();
}

std::vector<double>& Session::vector(std::string_view name) {
  return name == "q" ? state_.q : name == "v" ? state_.v : name == "a" ? state_.a : state_.tau;
}

std::vector<double> Session::read(std::string_view name, std::string_view text) {
  const Model& model = system_.model();
  const int size = name == "q" ? model.nq() : model.nv();
  const std::string_view still = name == "q" ? "neutral" : "zero";
  std::vector<double> out(static_cast<std::size_t>(size));
  if (text == "random") {
    if (name != "q") {
      return random_vector(size, seed_++);
    }
    random_configuration(model, seed_++, std::span<double>(out));
    return out;
  }
  if (text == still) {
    if (name == "q") {
      neutral(model, std::span<double>(out));
    }
    return out;
  }
  if (!gives_vector(text) || std::find(words.begin(), words.end(), text) != words.end()) {
    throw ArgumentError(fmt::format("{} can be {} numbers, '{}' or 'random', not '{}'", name, size, still,
                                    bunraku::detail::printable(text)));
  }
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
  }
  out = parse_numbers(std::string(text), std::string(name));
  if (std::ssize(out) != size) {
    throw ArgumentError(fmt::format("{} has {} numbers, the model wants {}", name, out.size(), size));
  }
  return out;
}

void Session::apply() {
  system_.set_state(state_.q, state_.v);
  if (state_.given.a) {
    system_.set_accelerations(state_.a);
  } else if (state_.given.tau) {
    system_.set_torques(state_.tau);
  }
}

std::string Session::set(std::string_view name, std::string_view text) {
  const GivenState before = state_;
  vector(name) = read(name, text);
  if (name == "a" || name == "tau") {
    state_.given.a = name == "a";
    state_.given.tau = name == "tau";
  }
  try {
    apply();
  } catch (const Error&) {
    state_ = before;
    apply();
    throw;
  }
  return shown(name);
}

std::string Session::shown(std::string_view name) const {
  const GivenState& s = state_;
  if ((name == "a" && !s.given.a) || (name == "tau" && !s.given.tau)) {
    const bool follows = s.given.a || s.given.tau;
    return follows ? fmt::format("{0} follows from {1}: `{2}` shows it\n", name, name == "a" ? "tau" : "a",
                                 name == "a" ? "thetadd" : "T")
                   : fmt::format("{} has no value\n", name);
  }
  const std::vector<double>& values = name == "q" ? s.q : name == "v" ? s.v : name == "a" ? s.a : s.tau;
  return fmt::format("{} = {:.6g}\n", name, fmt::join(values, " "));
}

void Session::set_nodes(std::vector<std::string> names) {
  system_.set_nodes(names);
  nodes_ = std::move(names);
}

}  // namespace bunraku::cli
