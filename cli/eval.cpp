#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "states.hpp"
#include "want.hpp"

namespace bunraku::cli {

namespace {

struct Arguments {
  ModelArguments model;
  StateArguments states;
  std::vector<std::string> want;
  std::string gravity;
  bool ideal = false;
};

void eval(const Arguments& arguments) {
  if (arguments.model.path == "-" && arguments.states.states == "-") {
    throw ArgumentError("the model and --states cannot both come from standard input");
  }
  std::vector<Request> wanted = parse_want(arguments.want);  // before the model: a slip there should cost no time
  const Model model = with_gravity(arguments.model.load(), arguments.gravity);
  find_nodes(model, wanted);
  check_sizes(model, wanted);
  const Users users = users_of(wanted);
  Evaluator evaluator(model, arguments.ideal ? PassiveForces::left_out : PassiveForces::included);
  WholeOutput output;
  JsonWriter json([&](std::string_view text) { output.write(text); });
  Progress progress;
  long states = 0;
  arguments.states.for_each(model, users, [&](const GivenState& state) {
    evaluator.set_state(state, !users.v.empty());
    json.begin_object();
    for (const Request& request : wanted) {
      json.key(request.key);
      request.quantity->write(evaluator, request, json);
    }
    json.end_object().newline().finish();
    if (++states % 1000 == 0) {
      progress.show([&] { return fmt::format("{} states", states); });
    }
  });
  output.commit();
}

}  // namespace

void add_eval(CLI::App& app, int& /*status*/) {
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate quantities at one state, or at each of many: one JSON object a line");
  const auto arguments = std::make_shared<Arguments>();
  arguments->model.add_to(*command);
  command->add_option("--want", arguments->want, want_help())
      ->required()
      ->option_text("LIST")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--gravity", arguments->gravity, "gravity in the world in place of the model's")
      ->option_text("X,Y,Z");
  command->add_flag("--ideal", arguments->ideal, "leave out damping, friction, springs and limits; armature stays");
  arguments->states.add_to(*command);
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace bunraku::cli
