#include "interactive.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/operators/levels.hpp"
#include "definitions.hpp"
#include "errors.hpp"
#include "line_editor.hpp"
#include "operator_text.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

constexpr int small = 12;  ///< Matrices with no more rows and columns are shown without being asked for.

constexpr std::string_view help_text =
    "EXPR           what it is, what the identities make of it, and its value where that is small\n"
    "NAME = EXPR    from now on NAME stands for the expression: Minv = inv(H*phi*M*~phi*~H)\n"
    "LHS == RHS     compare two expressions on random systems and on this one; = does where LHS is no new name\n"
    "q = 0.1 0.2 …  the configuration; or neutral, random, a reference's name; q alone shows it\n"
    "v = …          the velocities: numbers, zero or random\n"
    "a = …          the accelerations, from which thetadd, alpha, f and T follow\n"
    "tau = …        the hinge torques, from which they follow by forward dynamics\n"
    "state          q, v, a and tau\n"
    "names          what was defined\n"
    "dense EXPR     its matrix at this state\n"
    "plan EXPR      the sweeps that evaluate it\n"
    "explain EXPR   which identities lead there\n"
    "levels EXPR    from the expression down to coordinate transforms\n"
    "latex EXPR     for a document\n"
    "nodes A,B      the nodes that B stands for\n"
    "symbols        what expressions are made of\n"
    "help, quit\n";

/// The first word of a line, once a space follows it.
std::string_view first_word(std::string_view line) {
  const std::string_view word = io::next_word(line);
  return line.empty() ? std::string_view() : word;
}

class Conversation {
 public:
  explicit Conversation(Session session) : session_(std::move(session)) {}

  /// An error with its place in the expression that was read last.
  OperatorError with_place(const OperatorError& error) const {
    return last_read_.empty() ? error : pointed(error, last_read_, session_.variables());
  }
  /// The answer to a line. Throws Error.
  std::string answer(std::string_view line) {
    last_read_.clear();
    std::string_view rest = line;
    const std::string_view word = io::next_word(rest);
    for (const Command& command : commands) {
      if (command.name == word) {
        return (this->*command.answer)(io::trimmed(rest));
      }
    }
    if (const std::optional<Sides> sides = split_sides(line)) {
      return equation(*sides);
    }
    return line == "q" || line == "v" ? session_.shown(line) : evaluate(line);
  }

  /// How a line may go on: names of bodies in brackets and after `nodes`, names of the language elsewhere.
  Completions completions(std::string_view before) const {
    Completions out;
    const auto offer = [&](std::string_view word) {
      if (word.starts_with(before.substr(out.start))) {
        out.words.emplace_back(word);
      }
    };
    const std::size_t bracket = before.rfind('[');
    const bool in_brackets = bracket != std::string_view::npos && before.find(']', bracket) == std::string_view::npos;
    if (in_brackets || first_word(before) == "nodes") {
      out.start = before.find_last_of("[, ") + 1;
      for (const Body& body : session_.system().model().bodies()) {
        offer(body.name);
      }
      for (const Node& node : session_.system().model().nodes()) {
        offer(node.name);
      }
    } else {
      const auto is_word = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      };
      out.start = before.size();
      while (out.start > 0 && is_word(before[out.start - 1])) {
        --out.start;
      }
      for (const std::string& name : known_names()) {
        offer(name);
      }
      for (const Operator& variable : session_.variables()) {
        offer(variable.term().name);
      }
      for (const auto& [name, text] : definitions_.all()) {
        offer(name);
      }
      if (io::trimmed(before.substr(0, out.start)).empty()) {
        for (const Command& command : commands) {
          offer(command.name);
        }
        offer("quit");
      }
    }
    std::sort(out.words.begin(), out.words.end());
    out.words.erase(std::unique(out.words.begin(), out.words.end()), out.words.end());
    return out;
  }

 private:
  struct Command {
    std::string_view name;
    std::string (Conversation::*answer)(std::string_view rest);
  };

  Operator read(std::string_view text) {
    last_read_ = definitions_.expanded(io::trimmed(text));
    return parse(last_read_, session_.variables());
  }

  /// What a line with an equals sign says: a new state, a definition, or a conjecture. The vectors a and τ of the
  /// algebra are on the left of conjectures, too; what stands on the right tells.
  std::string equation(const Sides& sides) {
    if (!sides.doubled && Session::is_vector(sides.left) &&
        (!parses(sides.left) || session_.gives_vector(sides.right))) {
      return session_.set(sides.left, sides.right);
    }
    if (!sides.doubled && Definitions::may_define(sides.left) && !is_variable(sides.left)) {
      return define(sides);
    }
    return compare(sides);
  }

  bool parses(std::string_view name) const { return !is_free_name(name) || is_variable(name); }
  bool is_variable(std::string_view name) const {
    const Variables& all = session_.variables();
    return std::any_of(all.begin(), all.end(), [&](const Operator& x) { return x.term().name == name; });
  }

  std::string define(const Sides& sides) {
    const Operator x = read(sides.right);
    const Evaluation evaluation = session_.system()(x);  // what cannot be evaluated is refused here, not at each use
    definitions_.define(sides.left, last_read_);
    return fmt::format("{} = {}\n  {}\n", sides.left, to_unicode(x),
                       spaces_text(x, evaluation.rows(), evaluation.cols()));
  }

  std::string state(std::string_view /*rest*/) {
    return session_.shown("q") + session_.shown("v") + session_.shown("a") + session_.shown("tau");
  }

  std::string names(std::string_view /*rest*/) {
    std::string out;
    for (const auto& [name, text] : definitions_.all()) {
      out += fmt::format("{} = {}\n", name, text);
    }
    return out.empty() ? "nothing is defined: NAME = EXPR does it\n" : out;
  }

  std::string evaluate(std::string_view text) {
    const Operator x = read(text);
    Evaluation evaluation = session_.system()(x);
    std::string out = summary_text(x, evaluation);
    if (evaluation.rows() > small || evaluation.cols() > small) {
      return out;
    }
    try {
      return out + matrix(evaluation);
    } catch (const OperatorError& error) {  // a variable without values, accelerations that were not given
      return out + fmt::format("  no value: {}\n    {}\n", error.problem(), error.cure());
    }
  }

  std::string dense(std::string_view text) {
    const Operator x = read(text);
    Evaluation evaluation = session_.system()(x);
    return fmt::format("{}\n", spaces_text(x, evaluation.rows(), evaluation.cols())) + matrix(evaluation);
  }

  std::string matrix(Evaluation& evaluation) const {
    return dense_text(evaluation, session_.system().model(), session_.order());
  }

  std::string plan(std::string_view text) { return to_string(session_.system()(read(text)).plan()); }
  std::string explain(std::string_view text) {
    return derivation_text(derive(read(text), Search{.conditions = conditions_of(session_.system())}));
  }
  std::string levels(std::string_view text) { return to_string(bunraku::levels(session_.system(), read(text))); }
  std::string latex(std::string_view text) { return to_latex(read(text)) + "\n"; }
  std::string symbols(std::string_view /*rest*/) { return symbols_text(); }
  std::string help(std::string_view /*rest*/) { return std::string(help_text); }

  std::string nodes(std::string_view list) {
    std::vector<std::string> names = split_names(list);
    session_.set_nodes(std::move(names));
    return session_.nodes().empty() ? "B has no nodes now\n"
                                    : fmt::format("B: {}\n", fmt::join(session_.nodes(), ", "));
  }

  std::string compare(const Sides& sides) {
    VerifyOptions options;
    options.models = {session_.system().model()};
    options.variables = session_.variables();
    return verdict_text(verify(read(sides.left), read(sides.right), options));
  }

  static constexpr std::array<Command, 10> commands{{{"dense", &Conversation::dense},
                                                     {"plan", &Conversation::plan},
                                                     {"explain", &Conversation::explain},
                                                     {"levels", &Conversation::levels},
                                                     {"latex", &Conversation::latex},
                                                     {"nodes", &Conversation::nodes},
                                                     {"symbols", &Conversation::symbols},
                                                     {"state", &Conversation::state},
                                                     {"names", &Conversation::names},
                                                     {"help", &Conversation::help}}};

  Session session_;
  Definitions definitions_;
  std::string last_read_;
};

}  // namespace

bool converse(Session session) {
  const std::string name = session.system().model().name();
  Conversation conversation(std::move(session));
  LineEditor editor(name + "> ", [&](std::string_view before) { return conversation.completions(before); });
  if (editor.at_terminal()) {
    print(fmt::format("An expression such as H*phi*M*~phi*~H, or `help`; {}Ctrl-D ends.\n",
                      editor.edits() ? "Tab completes, " : ""));
  }
  bool all_well = true;
  while (const std::optional<std::string> line = editor.next()) {
    const std::string_view text = io::trimmed(*line);
    if (text == "quit" || text == "exit") {
      break;
    }
    if (text.empty() || text.starts_with('#')) {
      continue;
    }
    std::string answer;
    try {
      answer = conversation.answer(text);
    } catch (const OperatorError& error) {
      all_well = false;
      print_to_stderr(error_text(conversation.with_place(error)));
      continue;
    } catch (const std::exception& error) {
      all_well = false;
      print_to_stderr(error_text(error));
      continue;
    }
    print(answer);
  }
  return all_well || editor.at_terminal();  // a person has seen what went wrong
}

}  // namespace bunraku::cli
