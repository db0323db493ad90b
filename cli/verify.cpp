#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "operator_text.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

constexpr const char* verify_examples =
    "Both sides are evaluated as they are written, inverses by dense matrices, on random chains and trees with hinges\n"
    "of all types and on the models given, each at a random state. Where these agree and the identities make both "
    "sides\n"
    "equal on all such systems, it is proved, and the derivation is shown; where only the numbers say so, it holds.\n"
    "Random systems have no armature unless it is named, no coupled hinges and no massless bodies: --with adds them.\n"
    "\n"
    "Exit status: 0 holds, 1 refuted, 2 error.\n"
    "\n"
    "Examples:\n"
    "  bunraku verify 'inv(phi)' 'I - E_phi'\n"
    "  bunraku verify 'H ψ M ψ∗ H∗ = D' robot.urdf hand.urdf\n"
    "  bunraku verify '~(A*phi) = ~phi*~A' --let 'A:body<-body'";

struct VerifyArguments {
  std::string left;
  std::string right;  ///< A model where both sides stand in `left`.
  std::vector<std::string> models;
  ModelArguments model;
  std::vector<std::string> variables;
  int samples = VerifyOptions().chains + VerifyOptions().trees;
  std::uint64_t seed = VerifyOptions().seed;
  double tolerance = VerifyOptions().tolerance;
  std::vector<std::string> with;
  bool json = false;
};

/// The two expressions, and the models to test on.
struct Question {
  Sides sides;
  std::vector<std::string> models;
};

Question question_of(const VerifyArguments& arguments) {
  Question out{.sides = {io::trimmed(arguments.left), io::trimmed(arguments.right)}, .models = arguments.models};
  if (const std::optional<Sides> both = split_sides(arguments.left)) {
    out.sides = *both;
    if (!arguments.right.empty()) {
      out.models.insert(out.models.begin(), arguments.right);
    }
  } else if (arguments.right.empty()) {
    throw ArgumentError("there is nothing to compare with: give LHS and RHS, or 'LHS = RHS' in one");
  }
  return out;
}

VerifyOptions options_of(const VerifyArguments& arguments) {
  VerifyOptions options;
  if (arguments.samples < 0 || arguments.samples > 1'000'000) {
    throw ArgumentError("--samples is a number of systems, from 0 to 1000000");
  }
  if (!(arguments.tolerance >= 0)) {
    throw ArgumentError("--tolerance is a relative difference, zero or more");
  }
  options.chains = arguments.samples * 2 / 5;
  options.trees = arguments.samples - options.chains;
  options.seed = arguments.seed;
  options.tolerance = arguments.tolerance;
  options.variables = parse_variables(arguments.variables);
  for (const std::string& each : arguments.with) {
    options.armature = options.armature || each == "armature";
    options.couplings = options.couplings || each == "couplings";
    options.massless = options.massless || each == "massless";
  }
  return options;
}

std::string as_json(const Verdict& verdict) {
  JsonWriter json;
  json.begin_object().key("holds").boolean(verdict.holds).key("residual");
  if (std::isfinite(verdict.residual)) {
    json.value(verdict.residual);
  } else {
    json.null();
  }
  json.key("proved").boolean(verdict.proof.has_value());
  json.key("samples").value(verdict.samples).key("counterexample");
  if (verdict.holds) {
    json.null();
  } else {
    json.value(verdict.counterexample);
  }
  json.end_object().newline();
  return std::string(json.text());
}

void run_verify(const VerifyArguments& arguments, int& status) {
  VerifyOptions options = options_of(arguments);
  const Question question = question_of(arguments);
  const Operator left = parse(question.sides.left, options.variables);
  const Operator right = parse(question.sides.right, options.variables);
  ModelArguments model = arguments.model;
  for (const std::string& path : question.models) {
    model.path = path;
    options.models.push_back(model.load());
  }
  if (arguments.samples == 0 && options.models.empty()) {
    throw ArgumentError("there is nothing to test on: with --samples 0 a model is needed");
  }
  const Verdict verdict = verify(left, right, options);
  print(arguments.json ? as_json(verdict) : verdict_text(verdict));
  status = verdict.holds ? success : finding;
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "verify", "Test whether two operator expressions are equal: exit 0 when they are, 1 when not, 2 on an error");
  const auto arguments = std::make_shared<VerifyArguments>();
  command->add_option("lhs", arguments->left, "an expression, or two: 'LHS = RHS'")->required()->option_text("LHS");
  command->add_option("rhs", arguments->right, "the expression to compare it with")->option_text("RHS");
  command->add_option("models", arguments->models, "models to test on besides random systems")->option_text("MODEL...");
  command->add_option("--let", arguments->variables, let_help)
      ->option_text("NAME:RANGE[<-DOMAIN]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--samples", arguments->samples, "random systems to test on")
      ->option_text(fmt::format("N ({})", arguments->samples));
  command->add_option("--with", arguments->with, "what random systems have besides: armature, couplings, massless")
      ->option_text("KIND,...")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::IsMember({"armature", "couplings", "massless"}));
  command->add_option("--seed", arguments->seed, "for the random systems and states")
      ->option_text(fmt::format("S ({})", arguments->seed));
  command->add_option("--tolerance", arguments->tolerance, "largest relative difference with which it holds")
      ->option_text(fmt::format("X ({:g})", arguments->tolerance));
  command->add_flag("--json", arguments->json, "for programs");
  arguments->model.add_options_to(*command);
  command->footer(verify_examples);
  command->callback([arguments, &status] { run_verify(*arguments, status); });
}

}  // namespace bunraku::cli
