/// @file
/// Bytes of memory that a batch takes a state, beside input and output.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <malloc.h>

#include "batch_parts.hpp"

namespace bench {

namespace {

/// A line of /proc/self/status, in bytes.
double status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) {
      return 1024 * std::stod(line.substr(key.size() + 1));
    }
  }
  throw std::runtime_error(fmt::format("/proc/self/status has no {}", key));
}

/// By how much the memory in use grows at most while a batch is made and run. What malloc has set aside is given back
/// first, so that nobody lives on that; the kernel then counts the pages.
double peak_bytes(const Batch& batch) {
  malloc_trim(0);
  if (!(std::ofstream("/proc/self/clear_refs") << 5 << std::flush)) {  // the peak starts anew
    throw std::runtime_error("the system does not let a program measure its memory: /proc/self/clear_refs");
  }
  const double before = status_bytes("VmRSS");
  batch();
  return status_bytes("VmHWM") - before;
}

template <class T>
double scratch(const Robot& robot, BatchQuantity quantity, const BatchRows<T>& rows, std::vector<T>& out) {
  return peak_bytes([&] {
           auto batch = make_batch<T>(robot.model, 1);
           compute<T>(quantity, batch, rows, 0, rows.count, out);
         }) /
         static_cast<double>(rows.count);
}

}  // namespace

void measure_memory(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures) {
  const std::ptrdiff_t count = std::ranges::max(options.states);
  fmt::print(
      "Bytes a state that a batch of {} states takes beside input and output, in double, at most.\n\n{:<16}{:>4}",
      count, "robot", "dof");
  for (const BatchQuantity quantity : batch_quantities()) {
    fmt::print("{:>14}", name_of(quantity));
  }
  fmt::print("\n");
  std::fflush(stdout);
  for (const Robot& robot : robots) {
    const BatchRows<double> rows(robot.model, different_states(robot.model, count), count);
    fmt::print("{:<16}{:>4}", robot.name, rows.nv);
    for (const BatchQuantity quantity : batch_quantities()) {
      if (BatchRun<double>::too_large(robot.model, quantity, count)) {
        fmt::print("{:>14}", "-");
        continue;
      }
      std::vector<double> out(static_cast<std::size_t>(count * numbers_of(robot.model, quantity)), 0.0);
      const double bytes = scratch(robot, quantity, rows, out);
      fmt::print("{:>14.1f}", bytes);
      std::fflush(stdout);
      figures.memory.push_back(fmt::format(
          R"(    {{"robot": "{}", "quantity": "{}", "precision": "double", "states": {}, "bytes": {:.1f}}})",
          robot.name, name_of(quantity), count, bytes));
    }
    fmt::print("\n");
  }
}

}  // namespace bench
