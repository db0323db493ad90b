#include <memory>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

struct AssembleArguments {
  ModelArguments model;
  std::optional<std::string> q;
  bool any_limits = false;
  bool json = false;
};

std::string assemble(const AssembleArguments& arguments) {
  const Model model = arguments.model.load();
  ClosedSystem system(model);
  Eigen::VectorXd guess = initial_configuration(model);
  if (arguments.q) {
    const std::vector<double> given = parse_numbers(*arguments.q, "--q");
    if (std::ssize(given) != model.nq()) {
      throw ArgumentError(wrong_length("--q", given.size(), model.nq()));
    }
    guess = normalize(model, Eigen::Map<const Eigen::VectorXd>(given.data(), model.nq()));
  }
  system.state().set(guess);
  const AssemblyResult result = bunraku::assemble(system, {.limits = !arguments.any_limits});
  if (!result.closed) {
    throw Error(fmt::format(
        "no configuration was found that closes all loops: after {} guesses '{}' is open by {:.3g}{}{}", result.guesses,
        result.worst, result.residual, result.limited.empty() ? "" : ", with at their limits: ", result.limited));
  }
  const Eigen::VectorXd q = system.state().q();
  const int freedoms = closure_report(system).degrees_of_freedom;
  if (!arguments.json) {
    return fmt::format("q = {:.17g}\nclosed to {:.1e} in {} steps; {} degrees of freedom\n",
                       fmt::join(q.begin(), q.end(), " "), result.residual, result.steps, freedoms);
  }
  JsonWriter json;
  json.begin_object().key("q").value(std::span<const double>(q.data(), static_cast<std::size_t>(q.size())));
  json.key("residual").value(result.residual).key("dof").value(freedoms).end_object().newline();
  return std::string(json.text());
}

}  // namespace

void add_assemble(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand(
      "assemble", "Find a configuration that closes all loops, near a guess; exit 2 with the gap where there is none");
  const auto arguments = std::make_shared<AssembleArguments>();
  arguments->model.add_to(*command);
  command->add_option("--q", arguments->q, "the guess; the configuration in which the file puts the model if not given")
      ->option_text("NUMBERS");
  command->add_flag("--any-limits", arguments->any_limits, "let hinges leave their limits");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] { print(assemble(*arguments)); });
}

}  // namespace bunraku::cli
