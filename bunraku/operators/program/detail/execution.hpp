/// @file
/// A system's state, and an expression that is evaluated at it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bunraku/model/passive_forces.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// What gives the symbols their values. A copy is a copy.
class SystemData {
 public:
  SystemData(const Model& of, PassiveForces forces);

  void set_state(std::span<const double> q, std::span<const double> v);
  void set_accelerations(std::span<const double> a);
  void set_torques(std::span<const double> tau);
  void set_nodes(std::vector<Node> nodes);
  void bind(VariableBlocks values);

  const Model& model() const { return bodies->model; }
  /// Those given, or where there are none the closures' own.
  std::span<const Node> nodes() const { return attached->nodes.empty() ? closure_own : attached->nodes; }
  Meaning meaning() const {
    return {.accelerations = accelerations.has_value(), .torques = torques.has_value(), .coupled = bodies->coupled};
  }
  /// T_p at the state.
  void passive_torques(std::span<double> out) const;

  PassiveForces passive;
  std::shared_ptr<const Folded> bodies;
  std::shared_ptr<const Folded> links;
  std::shared_ptr<const Attachments> attached;
  std::vector<Node> closure_own;  ///< The closures' own nodes.
  std::vector<double> q;          ///< Of all hinges.
  std::vector<double> user_q;     ///< Of the user.
  std::vector<double> v;          ///< Of the user.
  std::optional<std::vector<double>> accelerations;
  std::optional<std::vector<double>> torques;
  std::uint64_t version = 1;  ///< Changes with whatever results depend on.
};

/// A plan at work for a system, which may change meanwhile.
class Execution {
 public:
  /// Throws OperatorError where the model gives a symbol no meaning or an inverse is refused. `asked` is what x was
  /// made of: by it node space begins with the closures' nodes or not.
  Execution(const Operator& x, const Operator& asked, Inverses inverses, std::shared_ptr<const SystemData> data);

  const Plan& plan() const { return *plan_; }
  const SystemData& data() const { return *data_; }
  int rows() const { return evaluator_->rows(); }
  int cols() const { return evaluator_->cols(); }
  /// Numbers in a space or in a part of it.
  int dimension(const Space& space) const { return evaluator_->dimension(space); }
  /// Those of node space.
  std::span<const Node> nodes() const { return defined_->nodes; }
  /// Applies the expression; x has cols() numbers (any for a stacked vector), y has rows(). No allocation while the
  /// state stays as it is.
  void apply(const double* x, double* y);
  /// Operations of one evaluation at a new state, counted by doing them.
  double flops() const;
  /// Bytes read and written by it.
  double bytes() const { return evaluator_->bytes(); }

 private:
  void prepare();
  void refresh();
  void check_values() const;
  std::shared_ptr<const Folded> folded() const { return plan_->mergeable ? data_->links : data_->bodies; }

  Operator expression_;
  Operator asked_;
  Inverses inverses_;
  std::shared_ptr<const SystemData> data_;
  Meaning meaning_;
  std::shared_ptr<const Attachments> attached_;  // the system's
  std::shared_ptr<Attachments> defined_;         // and with what functions give
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Evaluator<double>> evaluator_;
  std::vector<double> passive_;
  std::size_t node_count_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace bunraku::operators
