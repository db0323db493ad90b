/// @file
/// Runs a plan: one loop over the bodies after another, on values of O(N) numbers.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "bunraku/operators/program/detail/bindings.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

/// A plan with room for its values. Bindings must outlive it.
class Execution {
 public:
  Execution(Plan plan, Bindings& bindings);

  const Plan& plan() const { return plan_; }
  /// Numbers in the result and in the vector applied to.
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  /// Applies the expression; x has cols() numbers (none for a stacked vector), y has rows(). No allocation while the
  /// state stays as it is.
  void apply(const double* x, double* y);
  /// The work of one application.
  Work work() const;

 private:
  /// What a value needs at run time.
  struct Slot {
    const Value* value = nullptr;
    Step step = Step::input;  // from here on what `value` says, at hand for the loops
    Symbol symbol = Symbol::phi;
    bool adjoint = false;
    bool inverse = false;  // D⁻¹
    double* out = nullptr;
    const double* in = nullptr;
    const double* other = nullptr;
    double* rest = nullptr;  // for filter and smoother: ε or r
    int size = 0;
    int body = -1;                             // for inject and extract
    int solved = -1;                           // for apply_solved: index into solved_
    int dense = -1;                            // for apply_dense: index into dense_
    const VariableBlocks* variable = nullptr;  // for apply
    std::vector<std::pair<double, const double*>> terms = {};
  };
  /// Inverses or roots of the blocks of a memoryless expression, one a cluster.
  struct Solved {
    Operator what = Operator::identity();  // the inverse or root
    std::unique_ptr<Execution> inner;      // applies what is inverted
    std::vector<Matrix> blocks;
  };
  struct Dense {
    std::unique_ptr<Execution> inner;  // applies what is inverted, or whose root is taken
    bool root = false;
    Matrix matrix;
  };

  void check_symbols();
  void make_slots();
  void connect(Slot& slot) const;
  void prepare(Slot& slot);
  void list_loops();
  void refresh();
  void refresh(Solved& solved);
  void refresh(Dense& dense);
  void bind_values();
  void clear_sums(const Loop& loop);
  void run(const Loop& loop);
  void body_step(const Slot& slot, int k);
  void cluster_step(const Slot& slot, int cluster, Direction direction);
  void filter_step(const Slot& slot, int k);
  void smoother_step(const Slot& slot, int k);
  void shift_step(const Slot& slot, int k);
  void apply_step(const Slot& slot, int k);
  void plain_step(const Slot& slot, int cluster);
  void number_step(const Slot& slot);
  void range_step(const Slot& slot, int begin, int end);
  void part_step(const Slot& slot, int cluster, SpaceKind kind);
  void cluster_filter_step(const Slot& slot, int cluster);
  void cluster_smoother_step(const Slot& slot, int cluster);
  void cluster_apply_step(const Slot& slot, int cluster);
  void apply_to_coordinates(const Matrix& block, const Slot& slot, int cluster);
  void add_gain(const double* x, int cluster, double* out);
  double gain_adjoint(const double* x, int cluster, Eigen::Index j) const;
  /// Whether a step can be done body by body with hinges coupled, too.
  static bool is_bodywise(const Slot& slot);
  void apply_matrix(const Matrix& block, const Slot& slot, int cluster);
  void apply_variable(const Slot& slot, int cluster);
  /// The numbers of a cluster's part in a space.
  template <class Visit>
  void visit_part(SpaceKind kind, int cluster, const Visit& visit) const;

  Plan plan_;
  Bindings& bindings_;
  std::size_t node_count_;
  int rows_ = 0;
  int cols_ = 0;
  std::vector<double> storage_;
  std::vector<double> rests_;
  std::vector<Slot> slots_;
  std::vector<std::vector<const Slot*>> loop_slots_;  // what each loop of the plan does at a body
  std::vector<Solved> solved_;
  std::vector<Dense> dense_;
  std::set<Symbol> symbols_;
  std::vector<double> scratch_;
  std::uint64_t version_ = 0;
};

template <class Visit>
void Execution::visit_part(SpaceKind kind, int c, const Visit& visit) const {
  const Cluster& cluster = bindings_.clusters()[static_cast<std::size_t>(c)];
  if (kind == SpaceKind::hinge) {
    for (const int i : cluster.coordinates) {
      visit(i);
    }
  } else if (kind == SpaceKind::number) {
    visit(0);
  } else {
    for (const int k : kind == SpaceKind::body ? cluster.members : cluster.nodes) {
      for (int i = 0; i < 6; ++i) {
        visit(6 * k + i);
      }
    }
  }
}

}  // namespace bunraku::operators
