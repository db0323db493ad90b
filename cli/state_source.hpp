/// @file
/// States of a model in chunks, in the scalar that they are computed in: from the options, from lines, from arrays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/batch/state_rows.hpp"
#include "states.hpp"
#include "workers.hpp"

namespace bunraku::cli {

/// Some states, as many as fit well into memory.
template <class T>
struct StateChunk {
  /// One of the vectors of all states.
  struct Vector {
    std::string_view name;                    ///< As users call it.
    std::vector<double> GivenState::* given;  ///< Where a state that was read has it.
    std::ptrdiff_t size;                      ///< Numbers of a state.
    bool needed;                              ///< Whether it is there.
    std::vector<T> numbers;                   ///< A row a state.

    /// The numbers of state i.
    std::span<T> of(std::ptrdiff_t i) { return {numbers.data() + i * size, static_cast<std::size_t>(size)}; }
  };

  /// No states; of the vectors only what has users is kept.
  StateChunk(const Model& model, const Users& users)
      : vectors{{{"q", &GivenState::q, model.nq(), !users.q.empty(), {}},
                 {"v", &GivenState::v, model.nv(), !users.v.empty(), {}},
                 {"a", &GivenState::a, model.nv(), !users.a.empty(), {}},
                 {"tau", &GivenState::tau, model.nv(), !users.tau.empty(), {}}}} {}

  /// Room for n states.
  void resize(std::ptrdiff_t n) {
    states = n;
    for (Vector& vector : vectors) {
      vector.numbers.resize(vector.needed ? static_cast<std::size_t>(n * vector.size) : 0);
    }
  }
  /// The numbers that it has of a state.
  std::ptrdiff_t numbers_of_state() const {
    std::ptrdiff_t out = 0;
    for (const Vector& vector : vectors) {
      out += vector.needed ? vector.size : 0;
    }
    return out;
  }

  /// @name The states of each vector
  /// @{
  StateRows<const T> q() const { return rows(vectors[0]); }    ///< Configurations.
  StateRows<const T> v() const { return rows(vectors[1]); }    ///< Velocities.
  StateRows<const T> a() const { return rows(vectors[2]); }    ///< Accelerations.
  StateRows<const T> tau() const { return rows(vectors[3]); }  ///< Hinge torques.
  /// @}
  /// Whether anything needs velocities.
  bool moving() const { return vectors[1].needed; }

  std::ptrdiff_t states = 0;      ///< How many there are.
  std::array<Vector, 4> vectors;  ///< q, v, a, tau.

 private:
  StateRows<const T> rows(const Vector& vector) const {
    return vector.needed ? StateRows<const T>(vector.numbers.data(), states, vector.size) : StateRows<const T>();
  }
};

/// Where states come from.
template <class T>
class StateSource {
 public:
  StateSource() = default;
  virtual ~StateSource() = default;
  StateSource(const StateSource&) = delete;
  StateSource& operator=(const StateSource&) = delete;

  /// Takes the next states, `most` or less; false where there are no more. A mistake in one is thrown when those before
  /// it have been taken, as ModelError or ArgumentError that names its place.
  virtual bool next(StateChunk<T>& chunk, std::ptrdiff_t most, Workers& workers) = 0;
  /// Throws what went wrong with state i of those that were taken last, its place before it. Called where `error` is
  /// being handled.
  [[noreturn]] virtual void fail(std::ptrdiff_t i, const Error& error) const = 0;
  /// How many states there are in all, where that is known.
  virtual std::optional<std::int64_t> total() const { return std::nullopt; }
};

/// Takes numbers over into the scalar that they are computed in. Throws ArgumentError that names one that is beyond the
/// scalar's range.
template <class T>
void convert(std::string_view name, std::span<const double> from, std::span<T> to);

/// The state that the options give. Throws ArgumentError.
template <class T>
std::unique_ptr<StateSource<T>> source_of_options(const StateArguments& arguments, const Model& model);
/// The states of a file with a JSON object a line. Throws ModelError for a file that cannot be read. Model and users
/// must stay.
template <class T>
std::unique_ptr<StateSource<T>> source_of_lines(const std::string& path, const Model& model, const Users& users);

}  // namespace bunraku::cli
