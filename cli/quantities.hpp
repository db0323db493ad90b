/// @file
/// The quantities that `eval` knows: what each needs of a state, how it is computed at one state and at many, and what
/// its numbers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "state_source.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// What the numbers of a quantity at a state are. They come row by row, the last axis fastest.
struct Shape {
  std::vector<std::int64_t> axes;   ///< None for a number, one for a list, two for a matrix, and so on.
  bool by_key = false;              ///< Whether there is such a thing for each of some keys:
  std::vector<std::string> keys{};  ///< bodies, or kinds of energy.
  /// Things of several shapes, each with its name; then there is nothing else.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> parts{};

  /// How many numbers.
  std::int64_t count() const;
};

/// All that a quantity is computed from at one state.
template <class T>
class Evaluator {
 public:
  Evaluator(const Model& model, PassiveForces passive, OffClosures off)
      : state_(model, passive), passive_(passive), off_(off) {}

  /// Goes to state i of a chunk; at rest where nothing needs v. Throws as BasicState::set.
  void set(const StateChunk<T>& chunk, std::ptrdiff_t i) {
    const auto at = [i](const StateRows<const T>& rows) {
      return std::span<const T>(rows.row(i), static_cast<std::size_t>(rows.cols()));
    };
    if (chunk.moving()) {
      state_.set(at(chunk.q()), at(chunk.v()));
    } else {
      state_.set(at(chunk.q()));
    }
    a_ = at(chunk.a());
    tau_ = at(chunk.tau());
    fresh_ = false;
    inverse_.fresh = forward_.fresh = false;
  }

  /// The model with its loops closed, at the state, or as near to it as was asked for.
  BasicClosedSystem<T>& closed() {
    if (!closed_) {
      closed_.emplace(state_.model(), passive_);
    }
    if (!fresh_) {
      closed_->state() = state_;
      settle(*closed_, off_);
      fresh_ = true;
    }
    return *closed_;
  }

  /// Derivatives of inverse dynamics by q, v and a, column by column, one after the other.
  std::span<const T> inverse_derivatives() {
    return inverse_.of(
        state_, [&](auto dq, auto dv, auto da) { bunraku::inverse_dynamics_derivatives(state_, a_, dq, dv, da); });
  }
  /// Derivatives of forward dynamics by q, v and tau, likewise.
  std::span<const T> forward_derivatives() {
    return forward_.of(state_, [&](auto dq, auto dv, auto dtau) {
      bunraku::forward_dynamics_derivatives(state_, tau_, dq, dv, dtau);
    });
  }

  /// The model.
  const Model& model() const { return state_.model(); }
  /// The model at the state.
  BasicState<T>& state() { return state_; }
  /// Accelerations of the state, where something needs them.
  std::span<const T> a() const { return a_; }
  /// Hinge torques of the state, where something needs them.
  std::span<const T> tau() const { return tau_; }
  /// Room for so many numbers, until the next call.
  std::span<T> room(std::size_t numbers) {
    room_.resize(numbers);
    return room_;
  }

 private:
  /// Three square matrices, computed once for a state.
  struct Three {
    std::vector<T> numbers;
    bool fresh = false;

    template <class F>
    std::span<const T> of(const BasicState<T>& state, const F& compute) {
      if (!fresh) {
        const auto n = static_cast<std::size_t>(state.model().nv());
        numbers.resize(3 * n * n);
        const std::span<T> all(numbers);
        compute(all.first(n * n), all.subspan(n * n, n * n), all.last(n * n));
        fresh = true;
      }
      return numbers;
    }
  };

  BasicState<T> state_;
  PassiveForces passive_;
  OffClosures off_;
  std::optional<BasicClosedSystem<T>> closed_;
  bool fresh_ = false;  // whether that is at the state
  std::span<const T> a_;
  std::span<const T> tau_;
  std::vector<T> room_;
  Three inverse_;
  Three forward_;
};

struct Request;

/// Computes a quantity at one state.
template <class T>
using StateFunction = void (*)(Evaluator<T>&, const Request&, std::span<T> out);
/// Computes a quantity at many states at once.
template <class T>
using BatchFunction = const BatchReport& (*)(BasicBatch<T>&, const StateChunk<T>&, const Request&,
                                             const StateRows<T>& out);

/// Such a function in either precision, made of a generic one.
template <template <class> class Function>
class InEither {
 public:
  constexpr InEither(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  template <class F>
  constexpr InEither(F f) : in_double_(f), in_float_(f) {}  // NOLINT(google-explicit-constructor)

  /// For a scalar; null where there is none.
  template <class T>
  Function<T> in() const {
    if constexpr (std::is_same_v<T, float>) {
      return in_float_;
    } else {
      return in_double_;
    }
  }

 private:
  Function<double> in_double_ = nullptr;
  Function<float> in_float_ = nullptr;
};

/// Something that `eval` can compute.
struct Quantity {
  std::string_view name;      ///< As it is asked for, but for its argument.
  std::string_view argument;  ///< How its argument is written, such as `:NODE:FRAME`; empty where it takes none.
  Needs needs;                ///< What it needs of a state.
  std::string_view help;      ///< Its value, in a few words.
  Shape (*shape)(const Model&, const Request&);  ///< What its numbers are.
  InEither<StateFunction> at_state;              ///< How it is computed.
  InEither<BatchFunction> at_states = nullptr;   ///< Null where batches do not have it.
};

/// One thing that was asked for.
struct Request {
  std::string key;                     ///< As it was asked for, without the spaces around commas.
  const Quantity* quantity = nullptr;  ///< What it is.
  std::vector<std::string> names;      ///< The nodes that it names.
  Frame frame = Frame::node;           ///< Of a Jacobian.
  std::string closed_list;             ///< The item whose list of nodes its name ended; empty if none.
  std::vector<Node> nodes;             ///< Those nodes in the model, once it is known.
  Shape shape;                         ///< Of its numbers, once the model is known.
};

/// Every quantity of the table.
std::span<const Quantity> quantities();
/// Whether it takes nodes separated by commas.
bool takes_list(const Quantity& quantity);

}  // namespace bunraku::cli
