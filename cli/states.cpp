#include "states.hpp"

#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/model/configuration.hpp"
#include "limits.hpp"
#include "lines.hpp"
#include "state_lines.hpp"

namespace bunraku::cli {

void StateArguments::add_to(CLI::App& command) {
  command.add_option("--q", q,
                     "configuration, numbers separated by spaces or commas, or @NAME for a reference of the model; "
                     "neutral if not given");
  command.add_option("--v", v, "velocity; zero if not given");
  command.add_option("--a", a, "acceleration; zero if not given");
  command.add_option("--tau", tau, "hinge torques; zero if not given");
  command
      .add_option("--states", states,
                  "many states: a file, or - for standard input, with one {\"q\": […], \"v\": […], \"a\": […], "
                  "\"tau\": […]} a line")
      ->option_text("FILE.jsonl");
}

std::vector<double> parse_numbers(const std::string& text, const std::string& option) {
  std::vector<double> out;
  std::string_view rest = text;
  const bool has_commas = text.find(',') != std::string::npos;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(more ? comma + 1 : rest.size());
    if (has_commas && io::trimmed(part).empty()) {
      throw ArgumentError(fmt::format("{}: a number is missing {} in '{}'", option,
                                      more ? "before a comma" : "after the last comma",
                                      bunraku::detail::printable(text)));
    }
    for (std::string_view word = io::next_word(part); !word.empty(); word = io::next_word(part)) {
      const auto value = io::parse_number(word);
      if (!value || !std::isfinite(*value)) {
        throw ArgumentError(fmt::format("{}: '{}' is not a finite number", option, bunraku::detail::printable(word)));
      }
      out.push_back(*value);
    }
  }
  return out;
}

Model with_gravity(Model model, const std::string& text) {
  if (text.empty()) {
    return model;
  }
  const std::vector<double> g = parse_numbers(text, "--gravity");
  if (g.size() != 3) {
    throw ArgumentError(fmt::format("--gravity has {} numbers, three are wanted", g.size()));
  }
  return model.with_gravity({g[0], g[1], g[2]});
}

std::string missing(const Users& users, const Needs& given) {
  std::vector<std::string> out;
  const auto add = [&](const std::vector<std::string>& of, bool there, std::string_view name) {
    if (!of.empty() && !there) {
      out.push_back(fmt::format("there is no \"{}\", needed for {}", name, fmt::join(of, ", ")));
    }
  };
  add(users.q, given.q, "q");
  add(users.v, given.v, "v");
  add(users.a, given.a, "a");
  add(users.tau, given.tau, "tau");
  if (!users.a_or_tau.empty() && !given.a && !given.tau) {
    out.push_back(fmt::format("there is neither \"a\" nor \"tau\", needed for {}", fmt::join(users.a_or_tau, ", ")));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string wrong_length(std::string_view name, std::size_t numbers, int wanted) {
  return fmt::format("{} has {} numbers, the model wants {}", name, numbers, wanted);
}

namespace {

void read_lines(const std::string& path, LineReader& reader, const std::function<void(const GivenState&)>& f) {
  Lines lines(path, most_streamed, reader.cure());
  std::string line;
  while (lines.next(line)) {
    if (io::trimmed(line).empty()) {
      continue;
    }
    try {
      line.reserve(line.size() + LineReader::padding);
      f(reader.read(line));
    } catch (const Error& error) {  // of the line, or of what was computed from it
      reader.fail_at(lines.where(), error);
    }
  }
}

}  // namespace

void StateArguments::for_each(const Model& model, const Users& users,
                              const std::function<void(const GivenState&)>& f) const {
  check();
  if (states.empty()) {
    return f(one(model));
  }
  LineReader reader(model, users);
  read_lines(states, reader, f);
}

void StateArguments::check() const {
  if (!states.empty() && (q || v || a || tau)) {
    throw ArgumentError("give either --states or --q, --v, --a, --tau, not both");
  }
}

GivenState StateArguments::one(const Model& model) const {
  GivenState state;
  state.q.resize(static_cast<std::size_t>(model.nq()));
  neutral(model, std::span<double>(state.q));
  const auto take = [](const std::optional<std::string>& text, const char* option, std::vector<double>& out, int size) {
    if (text) {
      out = parse_numbers(*text, option);
      if (std::ssize(out) != size) {
        throw ArgumentError(wrong_length(option, out.size(), size));
      }
    } else {
      out.resize(static_cast<std::size_t>(size));  // q is neutral already
    }
    return text.has_value();
  };
  const bool by_name = q && q->starts_with('@');
  if (by_name) {
    state.q = model.reference(std::string_view(*q).substr(1)).q;
  }
  state.given = {.q = by_name || take(q, "--q", state.q, model.nq()),
                 .v = take(v, "--v", state.v, model.nv()),
                 .a = take(a, "--a", state.a, model.nv()),
                 .tau = take(tau, "--tau", state.tau, model.nv())};
  return state;
}

}  // namespace bunraku::cli
