/// @file
/// The quantities that `eval` knows: what each needs of a state, and how it is computed and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/dynamics/dynamics.hpp"
#include "json_writer.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// All that a quantity is computed from at a state.
class Evaluator {
 public:
  Evaluator(const Model& model, PassiveForces passive);

  /// Takes the next state, which must stay where it is while quantities are computed; at rest where nothing needs v.
  void set_state(const GivenState& given, bool moving);

  /// The model.
  const Model& model() const { return state_.model(); }
  /// The state, as it was given.
  const GivenState& given() const { return *given_; }
  /// The model there.
  State& state() { return state_; }
  /// Room for so many numbers, until the next call.
  std::span<double> room(std::size_t numbers);

 private:
  State state_;
  std::vector<double> room_;
  const GivenState* given_ = nullptr;
};

struct Request;

/// Of a matrix.
struct Size {
  std::int64_t rows;  ///< Its rows.
  std::int64_t cols;  ///< Its columns.
};

/// Something that `eval` can compute.
struct Quantity {
  std::string_view name;      ///< As it is asked for, but for its argument.
  std::string_view argument;  ///< How its argument is written, such as `:NODE:FRAME`; empty where it takes none.
  Needs needs;                ///< What it needs of a state.
  std::string_view help;      ///< Its value, in a few words.
  void (*write)(Evaluator&, const Request&, JsonWriter&);  ///< Null where this version does not compute it yet.
  Size (*size)(const Model&, const Request&) = nullptr;    ///< Of its matrix; null where it has none.
};

/// One thing that was asked for.
struct Request {
  std::string key;                     ///< As it was asked for, without the spaces around commas.
  const Quantity* quantity = nullptr;  ///< What it is.
  std::vector<std::string> names;      ///< The nodes that it names.
  Frame frame = Frame::node;           ///< Of a Jacobian.
  std::string closed_list;             ///< The item whose list of nodes its name ended; empty if none.
  std::vector<Node> nodes;             ///< Those nodes in the model, once it is known.
};

/// Every quantity of the table, those that are not there yet included.
std::span<const Quantity> quantities();
/// Whether it takes nodes separated by commas.
bool takes_list(const Quantity& quantity);

}  // namespace bunraku::cli
