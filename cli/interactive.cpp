#include "interactive.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/operators/levels.hpp"
#include "errors.hpp"
#include "line_editor.hpp"
#include "operator_text.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

constexpr int small = 12;  ///< Matrices with no more rows and columns are shown without being asked for.

constexpr std::string_view help_text =
    "EXPR           what it is, what the identities make of it, and its value where that is small\n"
    "LHS = RHS      compare two expressions on random systems and on this one\n"
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
    return last_read_.empty() ? error : pointed(error, last_read_, session_.variables);
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
    const std::optional<Sides> sides = split_sides(line);
    return sides ? compare(*sides) : evaluate(line);
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
      for (const Body& body : session_.system.model().bodies()) {
        offer(body.name);
      }
      for (const Node& node : session_.system.model().nodes()) {
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
      for (const Operator& variable : session_.variables) {
        offer(variable.term().name);
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
    last_read_ = io::trimmed(text);
    return parse(last_read_, session_.variables);
  }

  std::string evaluate(std::string_view text) {
    const Operator x = read(text);
    Evaluation evaluation = session_.system(x);
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
    Evaluation evaluation = session_.system(x);
    return fmt::format("{}\n", spaces_text(x, evaluation.rows(), evaluation.cols())) + matrix(evaluation);
  }

  std::string matrix(Evaluation& evaluation) const {
    return dense_text(evaluation, session_.system.model(), session_.nodes, session_.order);
  }

  std::string plan(std::string_view text) { return to_string(session_.system(read(text)).plan()); }
  std::string explain(std::string_view text) {
    return derivation_text(derive(read(text), Search{.conditions = conditions_of(session_.system)}));
  }
  std::string levels(std::string_view text) { return to_string(bunraku::levels(session_.system, read(text))); }
  std::string latex(std::string_view text) { return to_latex(read(text)) + "\n"; }
  std::string symbols(std::string_view /*rest*/) { return symbols_text(); }
  std::string help(std::string_view /*rest*/) { return std::string(help_text); }

  std::string nodes(std::string_view list) {
    std::vector<std::string> names = split_names(list);
    session_.system.set_nodes(names);
    session_.nodes = std::move(names);
    return session_.nodes.empty() ? "B has no nodes now\n" : fmt::format("B: {}\n", fmt::join(session_.nodes, ", "));
  }

  std::string compare(const Sides& sides) {
    VerifyOptions options;
    options.models = {session_.system.model()};
    options.variables = session_.variables;
    return verdict_text(verify(read(sides.left), read(sides.right), options));
  }

  static constexpr std::array<Command, 8> commands{{{"dense", &Conversation::dense},
                                                    {"plan", &Conversation::plan},
                                                    {"explain", &Conversation::explain},
                                                    {"levels", &Conversation::levels},
                                                    {"latex", &Conversation::latex},
                                                    {"nodes", &Conversation::nodes},
                                                    {"symbols", &Conversation::symbols},
                                                    {"help", &Conversation::help}}};

  Session session_;
  std::string last_read_;
};

}  // namespace

bool converse(Session session) {
  const std::string name = session.system.model().name();
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
