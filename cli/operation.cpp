#include "operation.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/derivatives.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/levels.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "interactive.hpp"
#include "json_writer.hpp"
#include "operator_text.hpp"
#include "output.hpp"
#include "vectors.hpp"

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
  explicit Taken(const Operator& of) {
    const Operator x = operators::differentiated(of);  // derivatives take more than they name
    velocities = mentions(x, {Symbol::V, Symbol::a, Symbol::b, Symbol::thetad, Symbol::thetadd, Symbol::alpha,
                              Symbol::f, Symbol::T, Symbol::T_p, Symbol::U, Symbol::a_n});
    thetadd = mentions(x, {Symbol::thetadd});
    from_thetadd = mentions(x, {Symbol::alpha, Symbol::f, Symbol::T});
  }

  bool velocities = false;
  bool thetadd = false;
  bool from_thetadd = false;  ///< What follows from θ̈.
};

/// As it is typed; `0` where it vanishes.
std::string text_of(const Operator& x) {
  return operators::is_zero(x) ? "0" : to_ascii(x);
}

/// An expression, a model, and its states.
class Operation {
 public:
  explicit Operation(const OpArguments& arguments)
      : arguments_(arguments),
        system_(with_gravity(arguments.model.load(), arguments.gravity),
                arguments.ideal ? PassiveForces::left_out : PassiveForces::included),
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
    set_single_state("this mode", Taken(x));
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
    refuse_states("a session");
    if (arguments_.states.a && arguments_.states.tau) {
      throw ArgumentError("both --a and --tau are given, and either follows from the other: leave one out");
    }
    GivenState at;
    arguments_.states.for_each(model(), {}, [&](const GivenState& state) { at = state; });
    return converse(Session(system_, nodes_, std::move(variables), order_, std::move(at)));
  }

 private:
  const Model& model() const { return system_.model(); }

  // -------------------------------------------------------------------------------------------------------------------
  // States

  void set(const GivenState& state) {
    const std::vector<double> at_rest(static_cast<std::size_t>(model().nv()));
    system_.set_state(state.q, state.v.empty() ? at_rest : state.v);
  }

  /// Gives θ̈ or T. A line may have both, as `eval` takes them: then θ̈ asked for by itself is that of tau, as `fd`,
  /// and T, α and f are those of a, as `id`.
  void set_accelerations(const GivenState& state, const Taken& taken) {
    const bool both = state.given.a && state.given.tau;
    if (both && taken.thetadd && taken.from_thetadd) {
      throw ArgumentError("both a and tau are given, and thetadd is either: leave one out");
    }
    if (state.given.a && !(both && taken.thetadd)) {
      system_.set_accelerations(state.a);
    } else if (state.given.tau) {
      system_.set_torques(state.tau);
    }
  }

  void refuse_states(const char* what) const {
    if (!arguments_.states.states.empty()) {
      throw ArgumentError(fmt::format("--states is for --dense and --apply; {} has one state: --q, --v", what));
    }
  }

  void set_single_state(const char* what, const Taken& taken) {
    refuse_states(what);
    arguments_.states.for_each(model(), {}, [&](const GivenState& state) {
      set(state);
      set_accelerations(state, taken);
    });
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
    if (taken.thetadd || taken.from_thetadd) {
      users.a_or_tau.push_back(name);
    }
    arguments_.states.for_each(model(), users, [&](const GivenState& state) {
      set(state);
      set_accelerations(state, taken);
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
      output.write(dense_text(evaluation, model(), order_));
    });
    output.commit();
  }

  void write_dense(const Operator& x, Evaluation& evaluation, WholeOutput& output) const {
    const std::vector<double> columns = dense_matrix(evaluation, order_);
    const auto rows = static_cast<std::size_t>(evaluation.rows());
    const auto cols = static_cast<std::size_t>(evaluation.cols());
    JsonWriter json([&](std::string_view text) { output.write(text); });
    json.begin_object().key("rows").value(evaluation.rows()).key("cols").value(evaluation.cols());
    json.key("kind").value(to_string(x.kind())).key("data").matrix(columns, rows, cols);
    json.end_object().newline().finish();
  }

  void plan(const Operator& x) {
    const PlanReport report = system_(x).plan();
    if (!arguments_.json) {
      return print(to_string(report));
    }
    JsonWriter json;
    json.begin_object().key("expression").value(report.expression).key("sweeps").begin_array();
    for (const Sweep& sweep : report.sweeps) {
      json.begin_object().key("direction").value(sweep.direction).key("text").value(sweep.text);
      json.key("once_per_state").boolean(sweep.once_per_state).end_object();
    }
    json.end_array()
        .key("fused")
        .value(report.fused)
        .key("flops")
        .value(report.flops)
        .key("bytes")
        .value(report.bytes)
        .end_object()
        .newline();
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
      json.key("expression").value(text_of(step.expression)).key("adjoint").boolean(step.adjoint);
      json.key("changed").begin_array();
      for (const Change& each : step.changed) {
        json.begin_object().key("old").value(text_of(each.before)).key("new").value(text_of(each.after)).end_object();
      }
      json.end_array().end_object();
    }
    json.end_array();
    if (!derivation.conditions.empty()) {
      json.key("conditions").begin_array();
      for (const std::string& condition : derivation.conditions) {
        json.value(condition);
      }
      json.end_array();
    }
    json.key("result").value(text_of(derivation.result));
    if (!derivation.note.empty()) {
      json.key("note").value(derivation.note);
    }
    json.end_object().newline();
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
    JsonWriter json;
    json.begin_object().key("expression").value(to_ascii(x)).key("unicode").value(to_unicode(x));
    json.key("range").value(space_name(x.range().kind)).key("domain").value(space_name(x.domain().kind));
    json.key("rows").value(evaluation.rows()).key("cols").value(evaluation.cols());
    json.key("kind").value(to_string(x.kind())).key("simplified").value(report.expression);
    json.key("sweeps").value(report.fused).end_object().newline();
    print(json.text());
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Vectors

  void apply(const Operator& x) {
    Evaluation evaluation = system_(x);
    const std::vector<Place> in =
        places_of(model(), evaluation.nodes(), evaluation.expression().domain(), evaluation.cols(), order_);
    const std::vector<Place> out =
        places_of(model(), evaluation.nodes(), evaluation.expression().range(), evaluation.rows(), order_);
    const std::vector<std::vector<double>> vectors = read_vectors(arguments_.apply, evaluation.cols());
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
