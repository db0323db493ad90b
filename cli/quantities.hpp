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
#include "bunraku/dynamics/kinematics.hpp"
#include "json_writer.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// All that a quantity is computed from at a state. What nothing asks for does not follow the state, so that a run over
/// many states pays for what it wants alone.
class Evaluator {
 public:
  Evaluator(const Model& model, PassiveForces passive);

  /// Takes the next state, which must stay where it is while quantities are computed; at rest where nothing needs v.
  void set_state(const GivenState& state, bool moving);

  /// The model.
  const Model& model() const { return dynamics_.model(); }
  /// The state, as it was given.
  const GivenState& state() const { return *state_; }
  /// Poses and velocities there.
  const Kinematics& kinematics();
  /// Dynamics there.
  Dynamics& dynamics();
  /// Room for so many numbers, until the next call.
  std::span<double> room(std::size_t numbers);

 private:
  std::span<const double> velocity() const { return moving_ ? state_->v : at_rest_; }

  Kinematics kinematics_;
  Dynamics dynamics_;
  std::vector<double> at_rest_;
  std::vector<double> room_;
  const GivenState* state_ = nullptr;
  bool moving_ = false;
  bool kinematics_follow_ = false;
  bool dynamics_follow_ = false;
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
  std::string key;                              ///< As it was asked for, without the spaces around commas.
  const Quantity* quantity = nullptr;           ///< What it is.
  std::vector<std::string> names;               ///< The nodes that it names.
  ReferenceFrame frame = ReferenceFrame::node;  ///< Of a Jacobian.
  std::string closed_list;                      ///< The item whose list of nodes its name ended; empty if none.
  std::vector<Node> nodes;                      ///< Those nodes in the model, once it is known.
};

/// Every quantity of the table, those that are not there yet included.
std::span<const Quantity> quantities();
/// Whether it takes nodes separated by commas.
bool takes_list(const Quantity& quantity);

}  // namespace bunraku::cli
