#include "states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string_view>

#include <fmt/format.h>
#include <simdjson.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/operators/operator.hpp"

namespace bunraku::cli {

void StateArguments::add_to(CLI::App& command) {
  command.add_option("--q", q, "configuration, numbers separated by spaces or commas; neutral if not given");
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
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<double> out;
  std::string_view rest = spaced;
  for (std::string_view word = io::next_word(rest); !word.empty(); word = io::next_word(rest)) {
    const auto value = io::parse_number(word);
    if (!value || !std::isfinite(*value)) {
      throw ArgumentError(fmt::format("{}: '{}' is not a finite number", option, word));
    }
    out.push_back(*value);
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
    seen_ = {};
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
    if ((!seen_.q && !users_.q.empty()) || (!seen_.v && !users_.v.empty()) || (!seen_.a && !users_.a.empty()) ||
        (!seen_.tau && !users_.tau.empty())) {
      throw LineError(missing());
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
    return fmt::format("write one object a line: {{{}}}", fmt::join(wanted, ", "));
  }

 private:
  /// Names all that is missing, and what for.
  std::string missing() const {
    std::vector<std::string> out;
    const auto add = [&](const std::vector<std::string>& users, bool seen, std::string_view name) {
      if (!users.empty() && !seen) {
        out.push_back(fmt::format("there is no \"{}\", needed for {}", name, fmt::join(users, ", ")));
      }
    };
    add(users_.q, seen_.q, "q");
    add(users_.v, seen_.v, "v");
    add(users_.a, seen_.a, "a");
    add(users_.tau, seen_.tau, "tau");
    return fmt::format("{}", fmt::join(out, "; "));
  }

  void take(std::string_view key, const simdjson::dom::element& value) {
    struct Field {
      std::string_view name;
      std::vector<double>& values;
      bool& seen;
      int size;
    };
    const std::array<Field, 4> fields = {
        Field{"q", state_.q, seen_.q, model_.nq()}, Field{"v", state_.v, seen_.v, model_.nv()},
        Field{"a", state_.a, seen_.a, model_.nv()}, Field{"tau", state_.tau, seen_.tau, model_.nv()}};
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
  Needs seen_;
  GivenState state_;
  simdjson::dom::parser parser_;
};

void read_lines(std::istream& in, const std::string& file, LineReader& reader,
                const std::function<void(const GivenState&)>& f) {
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (number == 1 && line.starts_with(byte_order_mark)) {
      line.erase(0, byte_order_mark.size());
    }
    if (io::trimmed(line).empty()) {
      continue;
    }
    try {
      f(reader.read(line));
    } catch (const LineError& error) {
      throw ModelError({file, number}, error.what(), reader.cure());
    } catch (const OperatorError& error) {  // of what was computed from it
      throw ModelError({file, number}, error.problem(), error.cure());
    } catch (const Error& error) {
      throw ModelError({file, number}, error.what());
    }
  }
  if (in.bad()) {
    throw ModelError({file, 0}, "the states cannot be read to the end");
  }
}

}  // namespace

void StateArguments::for_each(const Model& model, const Users& users,
                              const std::function<void(const GivenState&)>& f) const {
  if (!states.empty()) {
    if (!q.empty() || !v.empty() || !a.empty() || !tau.empty()) {
      throw ArgumentError("give either --states or --q, --v, --a, --tau, not both");
    }
    LineReader reader(model, users);
    if (states == "-") {
      std::ios::sync_with_stdio(false);
      read_lines(std::cin, "<standard input>", reader, f);
      return;
    }
    std::ifstream in(states, std::ios::binary);
    if (!in) {
      throw ModelError({states, 0}, fmt::format("there is no readable file '{}'", states), "check the path");
    }
    read_lines(in, states, reader, f);
    return;
  }
  GivenState state;
  const auto nv = static_cast<std::size_t>(model.nv());
  state.q.resize(static_cast<std::size_t>(model.nq()));
  for (const Body& body : model.bodies()) {
    if (body.nq > 0) {
      hinge_neutral(body.hinge, &state.q[static_cast<std::size_t>(body.q_index)]);
    }
  }
  const auto given = [](const std::string& text, const char* option, std::vector<double>& out, std::size_t size) {
    if (text.empty()) {
      out.resize(size);  // q is neutral already
      return;
    }
    out = parse_numbers(text, option);
    check_length<ArgumentError>(out, static_cast<int>(size), option);
  };
  given(q, "--q", state.q, state.q.size());
  given(v, "--v", state.v, nv);
  given(a, "--a", state.a, nv);
  given(tau, "--tau", state.tau, nv);
  f(state);
}

}  // namespace bunraku::cli
