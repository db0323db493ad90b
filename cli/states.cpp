#include "states.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <simdjson.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/operator.hpp"
#include "limits.hpp"
#include "lines.hpp"

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

namespace {

template <class E>
void check_length(const std::vector<double>& values, int wanted, std::string_view name) {
  if (std::ssize(values) != wanted) {
    throw E(fmt::format("{} has {} numbers, the model wants {}", name, values.size(), wanted));
  }
}

/// A line is not a state.
class LineError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
};

/// One line of a file of states.
class LineReader {
 public:
  LineReader(const Model& model, const Users& users) : model_(model), users_(users) {}

  /// Parses `line`, whose buffer has the parser's padding. Throws LineError.
  const GivenState& read(std::string& line) {
    line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    state_.given = {};
    state_.q.clear();
    state_.v.clear();
    state_.a.clear();
    state_.tau.clear();
    try {
      const simdjson::dom::object object = parser_.parse(line.data(), line.size(), false);
      for (const auto field : object) {
        take(field.key, field.value);
      }
    } catch (const simdjson::simdjson_error& error) {
      throw LineError(fmt::format("this is not a JSON object of number lists: {}", error.what()));
    }
    if (const std::string lacks = missing(); !lacks.empty()) {
      throw LineError(lacks);
    }
    return state_;
  }

  /// What a line should be.
  std::string cure() const {
    std::vector<std::string> wanted;
    const auto add = [&](const std::vector<std::string>& users, std::string_view name, int size) {
      if (!users.empty()) {
        wanted.push_back(fmt::format("\"{}\": [{} numbers]", name, size));
      }
    };
    add(users_.q, "q", model_.nq());
    add(users_.v, "v", model_.nv());
    add(users_.a, "a", model_.nv());
    add(users_.tau, "tau", model_.nv());
    if (!users_.a_or_tau.empty()) {
      wanted.push_back(fmt::format("\"a\" or \"tau\": [{} numbers]", model_.nv()));
    }
    return fmt::format("write one object a line: {{{}}}", fmt::join(wanted, ", "));
  }

 private:
  /// Names all that is missing, and what for; empty where nothing is.
  std::string missing() const {
    std::vector<std::string> out;
    const Needs& seen = state_.given;
    const auto add = [&](const std::vector<std::string>& users, bool there, std::string_view name) {
      if (!users.empty() && !there) {
        out.push_back(fmt::format("there is no \"{}\", needed for {}", name, fmt::join(users, ", ")));
      }
    };
    add(users_.q, seen.q, "q");
    add(users_.v, seen.v, "v");
    add(users_.a, seen.a, "a");
    add(users_.tau, seen.tau, "tau");
    if (!users_.a_or_tau.empty() && !seen.a && !seen.tau) {
      out.push_back(fmt::format("there is neither \"a\" nor \"tau\", needed for {}", fmt::join(users_.a_or_tau, ", ")));
    }
    return fmt::format("{}", fmt::join(out, "; "));
  }

  void take(std::string_view key, const simdjson::dom::element& value) {
    struct Field {
      std::string_view name;
      std::vector<double>& values;
      bool& seen;
      int size;
    };
    Needs& seen = state_.given;
    const std::array<Field, 4> fields = {
        Field{"q", state_.q, seen.q, model_.nq()}, Field{"v", state_.v, seen.v, model_.nv()},
        Field{"a", state_.a, seen.a, model_.nv()}, Field{"tau", state_.tau, seen.tau, model_.nv()}};
    for (const Field& field : fields) {
      if (key != field.name) {
        continue;
      }
      if (field.seen) {
        throw LineError(fmt::format("\"{}\" is there twice", key));
      }
      field.seen = true;
      field.values.clear();
      for (const simdjson::dom::element number : value.get_array()) {
        field.values.push_back(number.get_double());
      }
      check_length<LineError>(field.values, field.size, key);
      return;
    }
    throw LineError(fmt::format("\"{}\" is none of q, v, a, tau", key));
  }

  const Model& model_;
  const Users& users_;
  GivenState state_;
  simdjson::dom::parser parser_;
};

void read_lines(const std::string& path, LineReader& reader, const std::function<void(const GivenState&)>& f) {
  Lines lines(path, most_streamed, reader.cure());
  std::string line;
  while (lines.next(line)) {
    if (io::trimmed(line).empty()) {
      continue;
    }
    try {
      f(reader.read(line));
    } catch (const LineError& error) {
      throw ModelError(lines.where(), error.what(), reader.cure());
    } catch (const OperatorError& error) {  // of what was computed from it
      throw ModelError(lines.where(), error.problem(), error.cure());
    } catch (const Error& error) {
      throw ModelError(lines.where(), error.what());
    }
  }
}

}  // namespace

void StateArguments::for_each(const Model& model, const Users& users,
                              const std::function<void(const GivenState&)>& f) const {
  if (!states.empty()) {
    if (q || v || a || tau) {
      throw ArgumentError("give either --states or --q, --v, --a, --tau, not both");
    }
    LineReader reader(model, users);
    read_lines(states, reader, f);
    return;
  }
  GivenState state;
  state.q.resize(static_cast<std::size_t>(model.nq()));
  neutral(model, std::span<double>(state.q));
  const auto take = [](const std::optional<std::string>& text, const char* option, std::vector<double>& out, int size) {
    if (text) {
      out = parse_numbers(*text, option);
      check_length<ArgumentError>(out, size, option);
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
  f(state);
}

}  // namespace bunraku::cli
