#include "operation.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/operators/levels.hpp"
#include "bunraku/operators/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "interactive.hpp"
#include "json_writer.hpp"
#include "operator_text.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

bool mentions(const Operator& x, std::initializer_list<Symbol> symbols) {
  return (x.term().type == TermType::symbol &&
          std::find(symbols.begin(), symbols.end(), x.term().symbol) != symbols.end()) ||
         std::any_of(x.term().parts.begin(), x.term().parts.end(),
                     [&](const Operator& part) { return mentions(part, symbols); });
}

/// What an expression takes from a state.
struct Taken {
  explicit Taken(const Operator& x)
      : velocities(mentions(x, {Symbol::V, Symbol::a, Symbol::b, Symbol::thetad, Symbol::alpha, Symbol::f, Symbol::T})),
        accelerations(mentions(x, {Symbol::alpha, Symbol::f, Symbol::T, Symbol::thetadd})) {}

  bool velocities;
  bool accelerations;
};

/// An expression, a model, and its states.
class Operation {
 public:
  explicit Operation(const OpArguments& arguments)
      : arguments_(arguments),
        system_(with_gravity(arguments.model.load(), arguments.gravity)),
        nodes_(split_names(arguments.nodes)),
        order_(arguments.order == "paper" ? Order::paper : Order::file) {
    if (!nodes_.empty()) {
      system_.set_nodes(nodes_);
    }
  }

  void run(const Operator& x, Mode mode) {
    switch (mode) {
      case Mode::dense:
        return dense(x);
      case Mode::apply:
        return apply(x);
      default:
        break;
    }
    set_single_state("this mode");
    switch (mode) {
      case Mode::plan:
        return plan(x);
      case Mode::explain:
        return explain(x);
      case Mode::levels:
        return levels(x);
      case Mode::latex:
        return text("latex", to_latex(x));
      case Mode::unicode:
        return text("unicode", to_unicode(x));
      default:
        return summary(x);
    }
  }

  /// Reads expressions until they end; see converse.
  bool interact(Variables variables) {
    set_single_state("a session");
    return converse({system_, nodes_, std::move(variables), order_});
  }

 private:
  const Model& model() const { return system_.model(); }

  // -------------------------------------------------------------------------------------------------------------------
  // States

  void set(const GivenState& state) {
    const std::vector<double> at_rest(static_cast<std::size_t>(model().nv()));
    system_.set_state(state.q, state.v.empty() ? at_rest : state.v);
  }

  void set_accelerations(const GivenState& state, bool has_a, bool has_tau) {
    if (has_a && has_tau) {
      throw ArgumentError("both a and tau are given, and either follows from the other: leave one out");
    }
    if (has_a) {
      system_.set_accelerations(state.a);
    } else if (has_tau) {
      system_.set_torques(state.tau);
    }
  }

  void set_from_options(const GivenState& state) {
    set(state);
    set_accelerations(state, !arguments_.states.a.empty(), !arguments_.states.tau.empty());
  }

  void set_single_state(const char* what) {
    if (!arguments_.states.states.empty()) {
      throw ArgumentError(fmt::format("--states is for --dense and --apply; {} has one state: --q, --v", what));
    }
    arguments_.states.for_each(model(), {}, [&](const GivenState& state) { set_from_options(state); });
  }

  /// Calls f at each state.
  template <class F>
  void for_each_state(const Operator& x, const F& f) {
    const Taken taken(x);
    const std::string name = bunraku::detail::printable(to_ascii(x), 80);
    Users users;
    users.q.push_back(name);
    if (taken.velocities) {
      users.v.push_back(name);
    }
    const bool from_file = !arguments_.states.states.empty();
    arguments_.states.for_each(model(), users, [&](const GivenState& state) {
      if (!from_file) {
        set_from_options(state);
      } else {
        set(state);
        if (taken.accelerations) {
          if (state.a.empty() && state.tau.empty() && model().nv() > 0) {
            throw ArgumentError(fmt::format("there is neither \"a\" nor \"tau\", needed for {}", name));
          }
          set_accelerations(state, !state.a.empty(), !state.tau.empty());
        }
      }
      f();
    });
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Modes

  void dense(const Operator& x) {
    Evaluation evaluation = system_(x);
    WholeOutput output;
    bool first = true;
    for_each_state(x, [&] {
      if (arguments_.json) {
        write_dense(x, evaluation, output);
        return;
      }
      output.write(first ? fmt::format("{}\n{}\n", to_unicode(x), spaces_text(x, evaluation.rows(), evaluation.cols()))
                         : "\n");
      first = false;
      output.write(dense_text(evaluation, model(), nodes_, order_));
    });
    output.commit();
  }

  void write_dense(const Operator& x, Evaluation& evaluation, WholeOutput& output) const {
    const std::vector<double> columns = dense_matrix(evaluation, order_);
    const auto rows = static_cast<std::size_t>(evaluation.rows());
    const auto cols = static_cast<std::size_t>(evaluation.cols());
    JsonWriter json;
    json.begin_object().key("rows").value(evaluation.rows()).key("cols").value(evaluation.cols());
    json.key("kind").value(to_string(x.kind())).key("data").begin_array();
    for (std::size_t i = 0; i < rows; ++i) {
      json.begin_array();
      for (std::size_t j = 0; j < cols; ++j) {
        json.value(columns[i + j * rows]);
      }
      json.end_array();
      output.write(json.text());  // row by row: the text of a large matrix takes more room than its numbers
      json.forget();
    }
    json.end_array().end_object().newline();
    output.write(json.text());
  }

  void plan(const Operator& x) {
    const PlanReport report = system_(x).plan();
    if (!arguments_.json) {
      return print(to_string(report));
    }
    JsonWriter json;
    json.begin_object().key("expression").value(report.expression).key("sweeps").begin_array();
    for (const Sweep& sweep : report.sweeps) {
      json.begin_object().key("direction").value(sweep.direction).key("text").value(sweep.text).end_object();
    }
    json.end_array().key("flops").value(report.flops).key("bytes").value(report.bytes).end_object().newline();
    print(json.text());
  }

  void explain(const Operator& x) {
    const Derivation derivation = derive(x, Search{.conditions = conditions_of(system_)});
    if (!arguments_.json) {
      return print(derivation_text(derivation));
    }
    JsonWriter json;
    json.begin_object().key("steps").begin_array();
    for (const DerivationStep& step : derivation.steps) {
      json.begin_object().key("rule").value(step.rule).key("source").value(step.source);
      json.key("expression").value(to_ascii(step.expression)).end_object();
    }
    json.end_array().key("result").value(to_ascii(derivation.result)).end_object().newline();
    print(json.text());
  }

  void levels(const Operator& x) {
    const std::vector<Level> found = bunraku::levels(system_, x);
    if (!arguments_.json) {
      return print(to_string(found));
    }
    JsonWriter json;
    json.begin_object().key("levels").begin_array();
    for (const Level& level : found) {
      json.begin_object().key("number").value(level.number).key("title").value(level.title).key("lines").begin_array();
      for (const std::string& line : level.lines) {
        json.value(line);
      }
      json.end_array().end_object();
    }
    json.end_array().end_object().newline();
    print(json.text());
  }

  void text(std::string_view key, const std::string& written) const {
    if (!arguments_.json) {
      return print(written + "\n");
    }
    JsonWriter json;
    json.begin_object().key(key).value(written).end_object().newline();
    print(json.text());
  }

  void summary(const Operator& x) {
    const Evaluation evaluation = system_(x);
    if (!arguments_.json) {
      return print(summary_text(x, evaluation));
    }
    const PlanReport report = evaluation.plan();
    const auto sweeps = std::count_if(report.sweeps.begin(), report.sweeps.end(),
                                      [](const Sweep& sweep) { return sweep.direction != "local"; });
    JsonWriter json;
    json.begin_object().key("expression").value(to_ascii(x)).key("unicode").value(to_unicode(x));
    json.key("range").value(space_name(x.range().kind)).key("domain").value(space_name(x.domain().kind));
    json.key("rows").value(evaluation.rows()).key("cols").value(evaluation.cols());
    json.key("kind").value(to_string(x.kind())).key("simplified").value(report.expression);
    json.key("sweeps").value(static_cast<int>(sweeps)).end_object().newline();
    print(json.text());
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Vectors

  void apply(const Operator& x) {
    Evaluation evaluation = system_(x);
    const std::vector<Place> in =
        places_of(model(), nodes_, evaluation.expression().domain(), evaluation.cols(), order_);
    const std::vector<Place> out =
        places_of(model(), nodes_, evaluation.expression().range(), evaluation.rows(), order_);
    const std::vector<std::vector<double>> vectors = read_vectors(evaluation.cols());
    std::vector<double> argument(in.size());
    std::vector<double> result(out.size());
    std::vector<double> shown(out.size());
    WholeOutput output;
    JsonWriter json;
    for_each_state(x, [&] {
      for (const std::vector<double>& vector : vectors) {
        for (std::size_t i = 0; i < in.size(); ++i) {
          argument[static_cast<std::size_t>(in[i].index)] = vector[i];
        }
        evaluation.apply(argument, result);
        for (std::size_t i = 0; i < out.size(); ++i) {
          shown[i] = result[static_cast<std::size_t>(out[i].index)];
        }
        if (arguments_.json) {
          json.clear();
          output.write(json.value(std::span<const double>(shown)).newline().text());
        } else {
          output.write(fmt::format("{:.6g}\n", fmt::join(shown, "  ")));
        }
      }
    });
    output.commit();
  }

  std::vector<std::vector<double>> read_vectors(int size) const {
    if (arguments_.apply == "-") {
      return read_vectors(std::cin, "<standard input>", size);
    }
    std::ifstream in(arguments_.apply, std::ios::binary);
    if (!in) {
      throw ModelError({arguments_.apply, 0}, fmt::format("there is no readable file '{}'", arguments_.apply),
                       "check the path");
    }
    return read_vectors(in, arguments_.apply, size);
  }

  static std::vector<std::vector<double>> read_vectors(std::istream& in, const std::string& file, int size) {
    const std::string cure = fmt::format("write one array a line: [{} numbers]", size);
    simdjson::dom::parser parser;
    std::vector<std::vector<double>> out;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      if (io::trimmed(line).empty()) {
        continue;
      }
      line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
      out.emplace_back();
      try {
        const simdjson::dom::array array = parser.parse(line.data(), line.size(), false);
        for (const simdjson::dom::element element : array) {
          out.back().push_back(element.get_double());
        }
      } catch (const simdjson::simdjson_error& error) {
        throw ModelError({file, number}, fmt::format("this is not a JSON array of numbers: {}", error.what()), cure);
      }
      if (std::ssize(out.back()) != size) {
        throw ModelError({file, number},
                         fmt::format("the vector has {} numbers, the expression acts on {}", out.back().size(), size),
                         cure);
      }
    }
    if (in.bad()) {
      throw ModelError({file, 0}, "the vectors cannot be read to the end");
    }
    return out;
  }

  const OpArguments& arguments_;
  System system_;
  std::vector<std::string> nodes_;
  Order order_;
};

}  // namespace

void operate(const OpArguments& arguments, const Operator& x, Mode mode) {
  Operation(arguments).run(x, mode);
}

bool interact(const OpArguments& arguments, Variables variables) {
  return Operation(arguments).interact(std::move(variables));
}

}  // namespace bunraku::cli
