#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/equilibrium.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "open_tree.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

struct TrimArguments {
  ModelArguments model;
  StateArguments guess;
  std::vector<std::string> free;
  bool json = false;
};

std::string trimmed(const TrimArguments& arguments) {
  const Model model = open_tree(arguments.model.load(), "trim");
  State state(model);
  if (arguments.guess.q) {
    state.set(normalize(
        model, Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(arguments.guess.one(model).q.data(), model.nq()))));
  } else {
    state.set(initial_configuration(model));
  }
  const HingeSet free =
      arguments.free.empty() ? HingeSet::all(model) : HingeSet(model, std::span<const std::string>(arguments.free));
  const TrimResult result = trim(state, free);
  if (!result.found) {
    throw Error(
        fmt::format("no equilibrium was found near the guess: after {} steps hinge '{}' still needs {:.3g}; "
                    "give another guess with --q, or leave that hinge out of --free",
                    result.steps, result.worst, result.residual));
  }
  const Eigen::VectorXd q = state.q();
  const Eigen::VectorXd torque = inverse_dynamics<double>(state, Eigen::VectorXd::Zero(model.nv()));
  if (!arguments.json) {
    return fmt::format("q = {:.17g}\ntau = {:.17g}\n{} equilibrium of the free hinges, found in {} steps\n",
                       fmt::join(q.begin(), q.end(), " "), fmt::join(torque.begin(), torque.end(), " "),
                       result.stable ? "stable" : "unstable", result.steps);
  }
  JsonWriter json;
  json.begin_object().key("q").value(std::span<const double>(q.data(), static_cast<std::size_t>(q.size())));
  json.key("tau").value(std::span<const double>(torque.data(), static_cast<std::size_t>(torque.size())));
  json.key("residual").value(result.residual).key("stable").boolean(result.stable).end_object().newline();
  return std::string(json.text());
}

}  // namespace

void add_trim(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand(
      "trim", "Find where the model rests without torque on some hinges, near a guess; exit 2 where there is none");
  const auto arguments = std::make_shared<TrimArguments>();
  arguments->model.add_to(*command);
  command
      ->add_option("--q", arguments->guess.q,
                   "the guess, or @NAME for a reference of the model; the configuration in which the file puts the "
                   "model if not given")
      ->option_text("NUMBERS");
  command
      ->add_option("--free", arguments->free,
                   "hinges without torque, separated by commas, which move; all where none are named")
      ->option_text("HINGES")
      ->delimiter(',');
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] { print(trimmed(*arguments)); });
}

}  // namespace bunraku::cli
