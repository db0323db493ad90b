/// @file
/// Rollouts for benchmarks/support/batch_peers.py, which times other libraries at the same ones, in turn.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "batch_parts.hpp"

namespace bench {

namespace {

namespace bk = bunraku;
namespace fs = std::filesystem;

constexpr std::ptrdiff_t trajectories = 4096;
constexpr int steps = 64;
constexpr double step = 1e-3;
/// Newton metres: little enough for an arm's last links, whose speed grows with each step.
constexpr double most_torque = 1;

/// Writes numbers as numpy's file of an array of rows.
template <class T>
void write_npy(const fs::path& path, const std::vector<T>& numbers, std::ptrdiff_t rows) {
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}", sizeof(T), rows,
                                   numbers.size() / static_cast<std::size_t>(rows));
  constexpr std::size_t before = 10;  // magic, version and the header's length; the numbers start at a multiple of 64
  header.append(63 - (before + header.size()) % 64, ' ').push_back('\n');
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size() & 0xff) << static_cast<char>(header.size() >> 8)
       << header;
  file.write(reinterpret_cast<const char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(T)));
  if (!file.flush()) {
    throw std::runtime_error(fmt::format("{} cannot be written", path.string()));
  }
}

/// The first robot that URDF describes whole: a free base is not in the file.
const Robot& fixed_robot(const std::vector<Robot>& robots) {
  for (const Robot& robot : robots) {
    if (robot.model.nq() == robot.model.nv() && bk::urdf_losses(robot.model).empty()) {
      return robot;
    }
  }
  throw std::runtime_error("none of the robots is on a fixed base and can be written as URDF");
}

/// Where trajectories start, and what drives them.
struct Start {
  explicit Start(const bk::Model& model) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> torque(-most_torque, most_torque);
    for (const State& state : different_states(model, trajectories)) {
      q.insert(q.end(), state.q.begin(), state.q.end());
      v.insert(v.end(), state.v.begin(), state.v.end());
    }
    torques.resize(v.size() * steps);
    std::ranges::generate(torques, [&] { return torque(random); });
  }

  std::vector<double> q, v, torques;
};

/// Rollouts in one precision on so many threads.
template <class T>
class Rollouts {
 public:
  Rollouts(const bk::Model& model, const Start& start, int threads)
      : batch_(make_batch<T>(model, threads)),
        q_(start.q.begin(), start.q.end()),
        v_(start.v.begin(), start.v.end()),
        torques_(start.torques.begin(), start.torques.end()),
        out_q_(q_.size() * steps),
        out_v_(v_.size() * steps) {
    options_.step = step;
    options_.steps = steps;
    input_.torques = rows(torques_);
  }

  void run() {
    batch_
        .rollout(rows(q_), rows(v_), input_, options_, bk::StateRows<T>(out_q_.data(), trajectories, width(out_q_)),
                 bk::StateRows<T>(out_v_.data(), trajectories, width(out_v_)))
        .or_throw();
  }
  void write(const fs::path& folder) const {
    write_npy(folder / fmt::format("out_q_{}.npy", precision_of<T>), out_q_, trajectories);
    write_npy(folder / fmt::format("out_v_{}.npy", precision_of<T>), out_v_, trajectories);
  }

 private:
  static std::ptrdiff_t width(const std::vector<T>& numbers) {
    return static_cast<std::ptrdiff_t>(numbers.size()) / trajectories;
  }
  static bk::StateRows<const T> rows(const std::vector<T>& numbers) {
    return {numbers.data(), trajectories, width(numbers)};
  }

  bk::BasicBatch<T> batch_;
  std::vector<T> q_, v_, torques_, out_q_, out_v_;
  bk::RolloutInput<T> input_;
  bk::RolloutOptions options_;
};

/// Rollouts that are made when they are first asked for.
class Server {
 public:
  Server(const Robot& robot, fs::path folder) : robot_(robot), start_(robot.model), folder_(std::move(folder)) {
    std::ofstream(folder_ / "robot.urdf") << bk::to_urdf(robot.model) << std::flush;
    write_npy(folder_ / "q.npy", start_.q, trajectories);
    write_npy(folder_ / "v.npy", start_.v, trajectories);
    write_npy(folder_ / "torques.npy", start_.torques, trajectories);
  }

  double nanoseconds(const std::string& precision, int threads) {
    Batch& batch = batches_[{precision, threads}];
    if (!batch) {
      spread_([&] { batch = precision == "float" ? make<float>(threads) : make<double>(threads); });
    }
    return bench::nanoseconds(batch, threads == 1 ? Clock::thread : Clock::wall);
  }

 private:
  template <class T>
  Batch make(int threads) {
    auto rollouts = std::make_shared<Rollouts<T>>(robot_.model, start_, threads);
    rollouts->run();
    rollouts->write(folder_);
    return [rollouts] { rollouts->run(); };
  }

  const Robot& robot_;
  Start start_;
  fs::path folder_;
  Spread spread_;
  std::map<std::pair<std::string, int>, Batch> batches_;
};

}  // namespace

void serve_rollouts(const BatchOptions& options, const std::vector<Robot>& robots) {
  const Robot& robot = fixed_robot(robots);
  Server server(robot, options.serve);
  fmt::print(R"({{"robot": "{}", "states": {}, "steps": {}, "step": {}}})"
             "\n",
             robot.name, trajectories, steps, step);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string precision;
    int threads = 1;
    words >> precision >> threads;
    fmt::print("{:.0f}\n", server.nanoseconds(precision, threads));
    std::fflush(stdout);
  }
}

}  // namespace bench
