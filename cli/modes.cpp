#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/vibrations.hpp"
#include "bunraku/model/configuration.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

struct ModesArguments {
  ModelArguments model;
  StateArguments state;
  bool json = false;
};

Eigen::VectorXd configuration(const ModesArguments& arguments, const Model& model) {
  if (!arguments.state.q) {
    return initial_configuration(model);
  }
  return Eigen::Map<const Eigen::VectorXd>(arguments.state.one(model).q.data(), model.nq());
}

std::vector<Vibration> found(const ModesArguments& arguments) {
  const Model model = arguments.model.load();
  const Eigen::VectorXd q = configuration(arguments, model);
  if (model.closures().empty()) {
    State state(model);
    state.set(q);
    return vibrations(state);
  }
  ClosedSystem system(model);
  system.state().set(q);
  const AssemblyResult assembled = assemble(system);
  if (!assembled.closed) {
    throw Error(
        fmt::format("no configuration near the given one closes all loops: open by {:.3g}; give another with --q",
                    assembled.residual));
  }
  return vibrations(system);
}

std::string as_json(const std::vector<Vibration>& modes) {
  JsonWriter json;
  json.begin_object().key("frequencies").begin_array();
  for (const Vibration& mode : modes) {
    json.value(mode.frequency);
  }
  json.end_array().key("damping").begin_array();
  for (const Vibration& mode : modes) {
    json.value(mode.damping);
  }
  json.end_array().key("shapes").begin_array();
  for (const Vibration& mode : modes) {
    json.value(std::span<const double>(mode.shape));
  }
  json.end_array().end_object().newline();
  return std::string(json.text());
}

std::string as_text(const std::vector<Vibration>& modes) {
  std::string out;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const Vibration& mode = modes[i];
    out += fmt::format("mode {}: {:.6g} Hz, damping {:.4g}, shape {:.4g}\n", i + 1, mode.frequency, mode.damping,
                       fmt::join(mode.shape, " "));
  }
  return out;
}

}  // namespace

void add_modes(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand(
      "modes", "How the model swings about a configuration at rest: frequencies, damping and shapes, loops closed");
  const auto arguments = std::make_shared<ModesArguments>();
  arguments->model.add_to(*command);
  command
      ->add_option(
          "--q", arguments->state.q,
          "configuration, held by constant torques, or @NAME for a reference of the model; the one in which the "
          "file puts the model if not given")
      ->option_text("NUMBERS");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] {
    const std::vector<Vibration> modes = found(*arguments);
    print(arguments->json ? as_json(modes) : as_text(modes));
  });
}

}  // namespace bunraku::cli
