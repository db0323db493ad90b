#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "commands.hpp"
#include "operation.hpp"
#include "operator_text.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

constexpr const char* op_examples =
    "Without a mode: what the expression is, what the identities make of it, and in how many sweeps it is evaluated.\n"
    "Without an expression: one after another is read from the terminal, or from standard input; `help` lists what\n"
    "can be typed there.\n"
    "\n"
    "An expression is written as typed, as in the papers, or as in LaTeX: H*phi*M*~phi*~H, H φ M φ∗ H∗,\n"
    "H \\phi M \\phi^{*} H^{*}. `bunraku op --symbols` lists the symbols and functions.\n"
    "\n"
    "Examples:\n"
    "  bunraku op robot.urdf 'H*phi*M*~phi*~H' --dense               the mass matrix at the neutral configuration\n"
    "  bunraku op robot.urdf 'inv(H*phi*M*~phi*~H)' --plan           its inverse, in two sweeps\n"
    "  bunraku op robot.urdf 'inv(H*phi*M*~phi*~H)' --explain        and why\n"
    "  bunraku op robot.urdf '~B*~phi*~H' --nodes tool0 --q '0 1 0' --dense --json   a Jacobian\n"
    "  bunraku op robot.urdf 'inv(H φ M φ∗ H∗)' --apply torques.jsonl --json   applied to vectors, in O(N)\n"
    "  bunraku op robot.urdf                                         type expressions";

Mode mode_of(const OpArguments& arguments) {
  struct Choice {
    const char* option;
    bool chosen;
    Mode mode;
  };
  const std::array<Choice, 7> choices{{{"--dense", arguments.dense, Mode::dense},
                                       {"--plan", arguments.plan, Mode::plan},
                                       {"--explain", arguments.explain, Mode::explain},
                                       {"--levels", arguments.levels, Mode::levels},
                                       {"--latex", arguments.latex, Mode::latex},
                                       {"--unicode", arguments.unicode, Mode::unicode},
                                       {"--apply", !arguments.apply.empty(), Mode::apply}}};
  const Choice* found = nullptr;
  for (const Choice& each : choices) {
    if (each.chosen && found != nullptr) {
      throw ArgumentError(fmt::format("give either {} or {}, not both", found->option, each.option));
    }
    found = each.chosen ? &each : found;
  }
  if (found != nullptr && arguments.expression_option->count() == 0) {
    throw ArgumentError(fmt::format("{} needs an expression: bunraku op MODEL EXPR {}", found->option, found->option));
  }
  return found == nullptr ? Mode::summary : found->mode;
}

/// Standard input can be read once.
void check_inputs(const OpArguments& arguments) {
  std::vector<std::string> users;
  if (arguments.model.path == "-") {
    users.emplace_back("the model");
  }
  if (arguments.states.states == "-") {
    users.emplace_back("--states");
  }
  if (arguments.apply == "-") {
    users.emplace_back("--apply");
  }
  if (arguments.expression_option->count() == 0) {
    users.emplace_back("the expressions");
  }
  if (users.size() > 1) {
    throw ArgumentError(fmt::format("{} and {} cannot both come from standard input", users[0], users[1]));
  }
}

void run_op(const OpArguments& arguments, int& status) {
  if (arguments.symbols) {
    return print(arguments.json ? symbols_json() : symbols_text());
  }
  if (arguments.model.path.empty()) {
    throw ArgumentError("a model is missing: bunraku op MODEL EXPR; only --symbols needs none");
  }
  // before the model: a slip there should cost no time
  const Mode mode = mode_of(arguments);
  check_inputs(arguments);
  Variables variables = parse_variables(arguments.variables);
  if (arguments.expression_option->count() == 0) {
    status = interact(arguments, std::move(variables)) ? success : finding;
    return;
  }
  const std::string_view text = io::trimmed(arguments.expression);
  const Operator x = parse(text, variables);
  try {
    operate(arguments, x, mode);
  } catch (const OperatorError& error) {
    throw pointed(error, text, variables);
  }
}

void add_modes(CLI::App& command, OpArguments& arguments) {
  const std::string group = "Modes";
  command.add_flag("--dense", arguments.dense, "the matrix at the state")->group(group);
  command.add_flag("--plan", arguments.plan, "the sweeps that evaluate it, and what they cost")->group(group);
  command.add_flag("--explain", arguments.explain, "which identities lead to what is evaluated")->group(group);
  command.add_flag("--levels", arguments.levels, "from the expression down to coordinate transforms, in seven levels")
      ->group(group);
  command.add_flag("--latex", arguments.latex, "the expression for a document")->group(group);
  command.add_flag("--unicode", arguments.unicode, "the expression as in the papers")->group(group);
  command
      .add_option(
          "--apply", arguments.apply,
          "apply it to vectors: a file, or - for standard input, with one JSON array a line; one comes back for "
          "each, at every state")
      ->option_text("FILE")
      ->group(group);
  command.add_flag("--symbols", arguments.symbols, "list the symbols and functions; needs no model")->group(group);
}

}  // namespace

void add_op(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("op", "Evaluate, plan, explain or take apart an operator expression");
  const auto arguments = std::make_shared<OpArguments>();
  arguments->model.add_model_to(*command);
  arguments->expression_option = command
                                     ->add_option("expression", arguments->expression,
                                                  "such as H*phi*M*~phi*~H; without it, expressions are typed")
                                     ->option_text("EXPR");
  add_modes(*command, *arguments);
  command->add_option("--nodes", arguments->nodes, "the nodes that B stands for, in this order: nodes or bodies")
      ->option_text("A,B,...");
  command->add_option("--gravity", arguments->gravity, "gravity in the world in place of the model's")
      ->option_text("X,Y,Z");
  command->add_flag("--ideal", arguments->ideal,
                    "leave out damping, friction, springs and limits: T_p is zero; armature stays");
  command
      ->add_option("--order", arguments->order,
                   "bodies and hinges of matrices and vectors: as in the file, or as in the papers, from tips to base")
      ->option_text("file|paper")
      ->check(CLI::IsMember({"file", "paper"}));
  command->add_option("--let", arguments->variables, let_help)
      ->option_text("NAME:RANGE[<-DOMAIN]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--json", arguments->json, "for programs");
  arguments->states.add_to(*command);
  command->get_option("--a")->description("acceleration, from which thetadd, alpha, f and T follow");
  command->get_option("--tau")->description("hinge torques, from which they follow by forward dynamics");
  arguments->model.add_options_to(*command);
  command->footer(op_examples);
  command->callback([arguments, &status] { run_op(*arguments, status); });
}

}  // namespace bunraku::cli
