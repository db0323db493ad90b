/// @file
/// The parts of the benchmark `batch`, and what they share: quantities, states as rows, figures.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <bunraku/batch/batch.hpp>
#include <bunraku/bunraku.hpp>

#include "meter.hpp"
#include "robots.hpp"

namespace bench {

/// What is asked for.
struct BatchOptions : CommonOptions {
  std::vector<std::string> robots;
  std::string models = default_models();
  std::vector<std::ptrdiff_t> states = {1, 16, 256, 4096, 65536, 1000000};
  int threads = 0;  ///< 0: as many as there are cores.
  std::vector<std::string> parts;
  std::string serve;  ///< A folder for the rollouts, where the peers' script has started the program.

  bool wants(const char* part) const;
  /// The number of states at which sides are compared: 4096, or the most where that is not among them.
  std::ptrdiff_t summary_states() const;
};

/// What is computed of each state.
enum class BatchQuantity { id, fd, mass, inverse_mass, solve };

/// All of them.
std::span<const BatchQuantity> batch_quantities();
/// As the figures have it.
const char* name_of(BatchQuantity quantity);
/// How many numbers a state has of it.
std::ptrdiff_t numbers_of(const bunraku::Model& model, BatchQuantity quantity);

/// "double" or "float".
template <class T>
inline constexpr const char* precision_of = std::is_same_v<T, double> ? "double" : "float";

/// So many random states, but 4096 at most: larger batches have these over and over.
std::vector<State> different_states(const bunraku::Model& model, std::ptrdiff_t count);

/// States as users have them: row by row.
template <class T>
struct BatchRows {
  /// So many rows: these states, over and over.
  BatchRows(const bunraku::Model& model, std::span<const State> states, std::ptrdiff_t rows);

  std::ptrdiff_t nq;
  std::ptrdiff_t nv;
  std::ptrdiff_t count;
  std::vector<T> q, v, acceleration, torque;
};

/// A quantity of `count` states from row `first` on into `out`. Throws bunraku::Error where a state has none.
template <class T>
void compute(BatchQuantity quantity, bunraku::BasicBatch<T>& batch, const BatchRows<T>& in, std::ptrdiff_t first,
             std::ptrdiff_t count, std::span<T> out);

/// A batch without friction and springs, which Pinocchio's algorithms do not have.
template <class T>
bunraku::BasicBatch<T> make_batch(const bunraku::Model& model, int threads);

/// Calls for a quantity at so many states, to be timed as a whole. Few states are computed several times, each call at
/// other rows, so that the clock has something to see.
template <class T>
class BatchRun {
 public:
  BatchRun(const bunraku::Model& model, BatchQuantity quantity, const BatchRows<T>& in, std::ptrdiff_t count,
           int threads = 1);
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;
  BatchRun(BatchRun&&) = delete;
  BatchRun& operator=(BatchRun&&) = delete;
  ~BatchRun() = default;

  void operator()();
  /// How many states that computes.
  double states() const { return static_cast<double>(calls_ * count_); }
  /// Of one state, as last computed.
  std::span<const T> result(std::ptrdiff_t state) const;
  bunraku::BasicBatch<T>& batch() { return batch_; }

  /// Whether the results of so many states are too much for the memory of a common machine.
  static bool too_large(const bunraku::Model& model, BatchQuantity quantity, std::ptrdiff_t count);

 private:
  bunraku::BasicBatch<T> batch_;
  const BatchRows<T>& in_;
  BatchQuantity quantity_;
  std::ptrdiff_t count_;
  std::ptrdiff_t calls_;
  std::vector<T> out_;
};

/// How few rounds will do for so many states: a run of a million is a mean by itself.
int least_rounds(std::ptrdiff_t states);

/// A line of the file of figures.
struct BatchFigure {
  std::string robot;
  std::string quantity;
  std::string precision;
  int threads;
  std::ptrdiff_t states;
  double ours;  ///< Nanoseconds a state, or instructions.
  std::string peer;
  double theirs;
  double ratio() const { return theirs / ours; }
};

/// All that is measured.
struct BatchFigures {
  std::vector<BatchFigure> rows;
  std::map<std::string, std::vector<double>> ratios;  ///< Of which the summary has the geometric means.
  std::vector<std::string> memory;                    ///< As JSON.

  void add(const BatchFigure& figure, const std::string& summary_key);
  double mean(const std::string& key) const;
  std::string json(std::ptrdiff_t summary_states) const;
};

/// A quantity that was compared: where two sides are apart by more than `tolerance` of the largest number, throws
/// std::runtime_error saying who they are.
template <class T>
void require_close(std::span<const T> ours, std::span<const double> theirs, double tolerance, const std::string& what);

/// All sizes on one core, against single calls of Pinocchio's.
void measure_states(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures);
/// All sizes on all cores, against one, and against Pinocchio's pool.
void measure_threads(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures);
/// Inertial parameters of its own for every state, against the model's for all.
void measure_parameters(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures);
/// 𝓜⁻¹x by the program of an operator expression, against the tuned batch and against the program's single calls.
void measure_programs(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures);
/// Bytes of memory a state beside input and output.
void measure_memory(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures);
/// Writes a robot, initial states and torques into the folder, then times a rollout for each line that comes in.
void serve_rollouts(const BatchOptions& options, const std::vector<Robot>& robots);

}  // namespace bench
