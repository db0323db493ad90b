/// @file
/// 𝓜⁻¹x of many states by the program of an operator expression, against the tuned batch, and against single calls of
/// the same program.
#include <cstdio>

#include <fmt/format.h>

#include "batch_parts.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

template <class T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-10 : 1e-4;

/// The program on a batch, and by single calls.
template <class T>
class ProgramRun {
 public:
  ProgramRun(const bk::Model& model, const BatchRows<T>& in)
      : program_(model, inverse_mass(model)),
        batch_(make_batch<T>(model, 1)),
        state_(model, bk::PassiveForces::left_out),
        in_(in),
        out_(static_cast<std::size_t>(in.count * in.nv)) {}

  void in_batch() {
    batch_
        .apply(program_, rows(in_.q, in_.nq), rows(in_.v, in_.nv), rows(in_.torque, in_.nv),
               bk::StateRows<T>(out_.data(), in_.count, in_.nv))
        .or_throw();
  }
  void by_single_calls() {
    for (std::ptrdiff_t i = 0; i < in_.count; ++i) {
      state_.set(row(in_.q, in_.nq, i), row(in_.v, in_.nv, i));
      program_.template apply<T>(state_, row(in_.torque, in_.nv, i), std::span(out_).subspan(at(in_.nv, i), width()));
    }
  }
  std::span<const T> result(std::ptrdiff_t i) const { return row(out_, in_.nv, i); }

 private:
  bk::StateRows<const T> rows(const std::vector<T>& numbers, std::ptrdiff_t width) const {
    return {numbers.data(), in_.count, width};
  }
  static std::size_t at(std::ptrdiff_t width, std::ptrdiff_t i) { return static_cast<std::size_t>(i * width); }
  std::size_t width() const { return static_cast<std::size_t>(in_.nv); }
  static std::span<const T> row(const std::vector<T>& numbers, std::ptrdiff_t width, std::ptrdiff_t i) {
    return std::span(numbers).subspan(at(width, i), static_cast<std::size_t>(width));
  }

  bk::Program program_;
  bk::BasicBatch<T> batch_;
  bk::BasicState<T> state_;
  const BatchRows<T>& in_;
  std::vector<T> out_;
};

template <class T>
void check(const Robot& robot, const ProgramRun<T>& program, const BatchRun<T>& tuned, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::vector<double> expected(tuned.result(i).begin(), tuned.result(i).end());
    require_close<T>(
        program.result(i), expected, tolerance<T>,
        fmt::format("𝓜⁻¹x of {} in {}, state {}: the program and inverse_mass_times", robot.name, precision_of<T>, i));
  }
}

template <class T>
void run(const Robot& robot, const BatchRows<T>& rows, const BatchOptions& options, BatchFigures& figures) {
  ProgramRun<T> program(robot.model, rows);
  BatchRun<T> tuned(robot.model, BatchQuantity::solve, rows, rows.count);
  tuned();
  program.by_single_calls();
  check(robot, program, tuned, rows.count);
  program.in_batch();
  check(robot, program, tuned, rows.count);
  const std::vector<Batch> batches = {[&] { program.in_batch(); }, [&] { tuned(); },
                                      [&] { program.by_single_calls(); }};
  const std::vector<double> costs = measure(batches, options.seconds);
  BatchFigure figure{robot.name,
                     "program",
                     precision_of<T>,
                     1,
                     rows.count,
                     costs[0] / tuned.states(),
                     "bunraku, inverse_mass_times of a batch",
                     costs[1] / tuned.states()};
  figures.add(figure, fmt::format("program_tuned_{}", figure.precision));
  const double to_tuned = figure.ratio();
  figure.peer = "bunraku, single calls of the program";
  figure.theirs = costs[2] / tuned.states();
  figures.add(figure, fmt::format("program_single_{}", figure.precision));
  fmt::print("{:<16}{:>4} {:<7}{:>10.1f}{:>10.1f}{:>8.2f}{:>10.1f}{:>8.2f}\n", robot.name, rows.nv, figure.precision,
             figure.ours, costs[1] / tuned.states(), to_tuned, figure.theirs, figure.ratio());
  std::fflush(stdout);
}

}  // namespace

void measure_programs(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures) {
  const std::ptrdiff_t count = options.summary_states();
  fmt::print(
      "𝓜⁻¹x by the program of inv(H*phi*M*~phi*~H), with armature where the robot has some: {} a state,\n"
      "{} states, one core; against inverse_mass_times of a batch, and against single calls of the program.\n\n"
      "{:<16}{:>4} {:<7}{:>10}{:>10}{:>8}{:>10}{:>8}\n",
      counting() ? "instructions" : "least nanoseconds", count, "robot", "dof", "", "program", "tuned", "ratio",
      "single", "ratio");
  std::fflush(stdout);
  for (const Robot& robot : robots) {
    const std::vector<State> states = different_states(robot.model, count);
    run(robot, BatchRows<double>(robot.model, states, count), options, figures);
    run(robot, BatchRows<float>(robot.model, states, count), options, figures);
  }
  fmt::print("\ngeometric mean of the ratios\n");
  for (const char* const precision : {"double", "float"}) {
    fmt::print("  {:<8}{:>7.2f} to the tuned batch,{:>7.2f} to single calls\n", precision,
               figures.mean(fmt::format("program_tuned_{}", precision)),
               figures.mean(fmt::format("program_single_{}", precision)));
  }
}

}  // namespace bench
