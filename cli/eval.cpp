#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/io/detail/numbers.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

/// Something that `eval` can compute: what it needs, and how it is written.
struct Quantity {
  std::string_view name;
  Needs needs;
  std::string_view help;
  void (*write)(const Kinematics&, JsonWriter&);
};

void write_poses(const Kinematics& kinematics, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(kinematics.model().bodies().size()); ++i) {
    json.key(kinematics.model().body(i).name).value(kinematics.pose(i));
  }
  json.end_object();
}

void write_velocities(const Kinematics& kinematics, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(kinematics.model().bodies().size()); ++i) {
    json.key(kinematics.model().body(i).name).value(kinematics.velocity_in_world(i));
  }
  json.end_object();
}

void write_com(const Kinematics& kinematics, JsonWriter& json) {
  json.value(kinematics.center_of_mass());
}

constexpr std::array<Quantity, 3> quantities = {
    Quantity{"poses", {.q = true}, "{body: 4×4 pose in the world}", write_poses},
    Quantity{"velocities", {.q = true, .v = true}, "{body: [ω, v] at the body's origin, world axes}", write_velocities},
    Quantity{"com", {.q = true}, "centre of mass in the world", write_com}};

std::vector<const Quantity*> chosen(const std::string& wanted) {
  std::vector<const Quantity*> out;
  std::vector<std::string> known;
  known.reserve(quantities.size());
  for (const Quantity& quantity : quantities) {
    known.emplace_back(quantity.name);
  }
  for (const std::string& word : CLI::detail::split(wanted, ',')) {
    const std::string name(io::trimmed(word));
    const auto* const found =
        std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.name == name; });
    if (found == quantities.end()) {
      throw ArgumentError(fmt::format("--want: '{}' is not a quantity{}; known are: {}", name,
                                      bunraku::detail::did_you_mean(name, known), fmt::join(known, ", ")));
    }
    if (std::find(out.begin(), out.end(), found) == out.end()) {
      out.push_back(found);
    }
  }
  return out;
}

/// Says how far a long run is, once a second, when a person is looking.
class Progress {
 public:
  void count() {
    if (++states_ % 1000 != 0 || !shown_) {
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::seconds(1)) {
      last_ = now;
      fmt::print(stderr, "\r{} states", states_);
      printed_ = true;
    }
  }
  ~Progress() {
    if (printed_) {
      fmt::print(stderr, "\r\033[K");
    }
  }

 private:
  long states_ = 0;
  bool shown_ = isatty(STDERR_FILENO) == 1;
  bool printed_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Arguments {
  ModelArguments model;
  StateArguments states;
  std::string want;
  std::string gravity;
  bool ideal = false;
};

void eval(const Arguments& arguments) {
  const std::vector<const Quantity*> wanted = chosen(arguments.want);
  Model model = arguments.model.load();
  if (!arguments.gravity.empty()) {
    const std::vector<double> g = parse_numbers(arguments.gravity, "--gravity");
    if (g.size() != 3) {
      throw ArgumentError(fmt::format("--gravity has {} numbers, three are wanted", g.size()));
    }
    model = model.with_gravity({g[0], g[1], g[2]});
  }
  Needs needs;
  for (const Quantity* quantity : wanted) {
    needs.q = needs.q || quantity->needs.q;
    needs.v = needs.v || quantity->needs.v;
    needs.a = needs.a || quantity->needs.a;
    needs.tau = needs.tau || quantity->needs.tau;
  }
  Kinematics kinematics(model);
  WholeOutput output;
  JsonWriter json;
  Progress progress;
  arguments.states.for_each(model, needs, [&](const State& state) {
    if (needs.v) {
      kinematics.set_state(state.q, state.v);
    } else {
      kinematics.set_configuration(state.q);
    }
    json.clear();
    json.begin_object();
    for (const Quantity* quantity : wanted) {
      json.key(quantity->name);
      quantity->write(kinematics, json);
    }
    json.end_object().newline();
    output.write(json.text());
    progress.count();
  });
  output.commit();
}

}  // namespace

void add_eval(CLI::App& app, int& /*status*/) {
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate quantities at one state, or at each of many: one JSON object a line");
  const auto arguments = std::make_shared<Arguments>();
  arguments->model.add_to(*command);
  std::string help = "what to compute, separated by commas:";
  for (const Quantity& quantity : quantities) {
    help += fmt::format("\n{}: {}", quantity.name, quantity.help);
  }
  command->add_option("--want", arguments->want, help)->required()->option_text("LIST");
  command->add_option("--gravity", arguments->gravity, "gravity in the world in place of the model's")
      ->option_text("X,Y,Z");
  command->add_flag("--ideal", arguments->ideal, "leave out damping, friction, springs and limits; armature stays");
  arguments->states.add_to(*command);
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace bunraku::cli
