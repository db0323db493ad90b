#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "evaluation.hpp"
#include "npy_source.hpp"
#include "states.hpp"
#include "want.hpp"

namespace bunraku::cli {

namespace {

struct EvalArguments {
  ModelArguments model;
  StateArguments states;
  std::vector<std::string> npy;
  std::optional<std::string> npy_out;
  std::vector<std::string> want;
  std::string gravity;
  std::string precision = "double";
  int threads = 1;
  std::string off = "refuse";
  bool ideal = false;
};

/// What --off says.
OffClosures off_closures(const std::string& text) {
  return text == "project"    ? OffClosures::project
         : text == "assemble" ? OffClosures::assemble
         : text == "keep"     ? OffClosures::keep
                              : OffClosures::refuse;
}

/// Throws where the options do not go together. Before the model is read: a slip there should cost no time.
void check(const EvalArguments& arguments) {
  const StateArguments& states = arguments.states;
  states.check();
  if (!arguments.npy.empty() && (!states.states.empty() || states.q || states.v || states.a || states.tau)) {
    throw ArgumentError("give either --npy, or --states, or --q, --v, --a, --tau");
  }
  if (arguments.model.path == "-" && states.states == "-") {
    throw ArgumentError("the model and --states cannot both come from standard input");
  }
  if (states.states.ends_with(".npy")) {
    throw ArgumentError("--states takes lines of JSON; for arrays write --npy q=FILE.npy,v=FILE.npy");
  }
  if (arguments.npy_out && arguments.npy_out->empty()) {
    throw ArgumentError("--npy-out names no folder");
  }
  constexpr int most_threads = 1024;
  if (arguments.threads < 0 || arguments.threads > most_threads) {
    throw ArgumentError(
        fmt::format("--threads is {}, and from 0, for all cores, to {} is wanted", arguments.threads, most_threads));
  }
}

template <class T>
void evaluate(const EvalArguments& arguments, const std::vector<NpyInput>& npy, const EvalTask& task) {
  const StateArguments& states = arguments.states;
  const bool many = !npy.empty() || !states.states.empty();
  const std::unique_ptr<StateSource<T>> source = !npy.empty() ? source_of_arrays<T>(npy, task.model, task.users)
                                                 : many ? source_of_lines<T>(states.states, task.model, task.users)
                                                        : source_of_options<T>(states, task.model);
  const std::unique_ptr<Answers<T>> answers =
      arguments.npy_out ? answers_as_arrays<T>(task.wanted, *arguments.npy_out) : answers_as_text<T>(task.wanted);
  Workers workers(many ? arguments.threads : 1);
  evaluate(task, *source, *answers, workers);
}

void eval(const EvalArguments& arguments) {
  check(arguments);
  std::vector<Request> wanted = parse_want(arguments.want);
  const std::vector<NpyInput> npy = parse_npy_inputs(arguments.npy);
  const Model model = with_gravity(arguments.model.load(), arguments.gravity);
  find_nodes(model, wanted);
  find_shapes(model, wanted);
  const Users users = users_of(wanted);
  const EvalTask task{.model = model,
                      .wanted = wanted,
                      .users = users,
                      .passive = arguments.ideal ? PassiveForces::left_out : PassiveForces::included,
                      .off = off_closures(arguments.off)};
  arguments.precision == "float" ? evaluate<float>(arguments, npy, task) : evaluate<double>(arguments, npy, task);
}

}  // namespace

void add_eval(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand(
      "eval", "Evaluate quantities at one state, or at each of many: one JSON object a line, or arrays");
  const auto arguments = std::make_shared<EvalArguments>();
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
  command
      ->add_option("--npy", arguments->npy,
                   "many states: NumPy's files with arrays of states × numbers; NAME is q, v, a or tau (repeatable)")
      ->option_text("NAME=FILE,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--npy-out", arguments->npy_out,
                   "write an array DIR/QUANTITY.npy for each quantity, in place of text")
      ->option_text("DIR");
  command->add_option("--threads", arguments->threads, "threads to compute on, 1 if not given; 0: one for each core")
      ->option_text("N");
  command->add_option("--precision", arguments->precision, "of all numbers; double if not given")
      ->option_text("double|float")
      ->check(CLI::IsMember({"double", "float"}));
  command
      ->add_option(
          "--off", arguments->off,
          "what becomes of a state that opens closures, for quantities of closed systems: refuse (if not given), "
          "project its velocities, assemble it, or keep it as it is")
      ->option_text("refuse|project|assemble|keep")
      ->check(CLI::IsMember({"refuse", "project", "assemble", "keep"}));
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace bunraku::cli
