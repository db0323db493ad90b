/// @file
/// Runs a plan, in any scalar: loops over the links of a folded model, with room for all values.
///
/// Nothing here decides on values: a D that is singular gives an inverse of zero, and after the sweep the driver may
/// ask which hinge it was.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/placing.hpp"
#include "bunraku/operators/program/detail/plan.hpp"
#include "bunraku/operators/program/detail/scalar.hpp"

namespace bunraku::operators {

/// A block of a user's variable: what one body's or node's numbers contribute.
struct VariableBlock {
  int unit = 0;                     ///< Whose step applies it.
  std::vector<int> rows = {};       ///< Numbers of the range.
  std::vector<int> cols = {};       ///< Numbers of the domain.
  std::vector<double> values = {};  ///< Row by row.
};

/// The values of a user's variable.
struct VariableBlocks {
  Operator variable = Operator::identity();  ///< Its name and spaces.
  std::vector<VariableBlock> blocks = {};    ///< In the order of bodies or nodes.
};

/// The values that functions give at a state: q and v are the user's.
void fill_defined(const Model& model, std::span<const double> q, std::span<const double> v,
                  std::vector<VariableBlocks>& variables);

/// What a program needs to know beside model and state.
struct Attachments {
  std::vector<Node> nodes = {};                ///< What B refers to.
  std::vector<VariableBlocks> variables = {};  ///< Values of users' variables.
};

/// The body or node that a part names, by name or number. Throws OperatorError.
BUNRAKU_API int part_of(const Model& model, std::span<const Node> nodes, const Space& space);

/// A variable with blocks of zeros for a model folded by bodies.
BUNRAKU_API VariableBlocks blocks_for(const Folded& folded, std::span<const Node> nodes, const Operator& variable);

/// Makes room for the operators of a plan that functions give; `bodies` is folded by bodies.
void attach_defined(const Folded& bodies, const Plan& plan, Attachments& attached);

/// Throws OperatorError where a recursion along E_ψ would not be block diagonal by bodies: one of a cluster hangs on
/// another.
BUNRAKU_API void check_clusters(const Plan& plan, const Folded& folded);

/// Throws OperatorError: a matrix or, with a unit, its block has no inverse or root.
[[noreturn]] BUNRAKU_API void refuse_matrix(const Plan& plan, const Folded& folded, int value, int unit,
                                            std::string_view why);

/// The numbers of a space that belong to each unit, and the blocks between two spaces.
struct UnitPlaces {
  std::vector<std::vector<int>> numbers;  ///< By unit.
};

/// The factors of a Riccati recursion.
template <class S>
struct RiccatiBlocks {
  std::vector<ArticulatedInertia<S>> P;  ///< Of each link.
  std::vector<Force<S>> U;               ///< P H* of each velocity of all hinges when it was eliminated.
  std::vector<S> L;                      ///< Factors of D: see kernels::HingeFactors; of a cluster D⁻¹.
  std::vector<S> D;                      ///< By units, row by row.
  bool whole_D = false;                  ///< Whether D itself is asked for, not only its factors.
  bool doubtful = false;                 ///< Whether some D may be rounding of zero, of bodies' inertias.
  std::vector<Force<S>> K;               ///< Of clusters: Ē G, by the user's velocities, in the parent.
  std::vector<Motion<S>> bar_H;          ///< Of clusters: φ_b* H*, members × coordinates from `bar`.
  std::vector<Force<S>> bar_U;           ///< Of clusters: P H̄*, likewise.
};

/// The rotor inertia of a hinge that is held: it takes up any force without yielding, so that D⁻¹ and G vanish beside
/// all else, and (I − HψK)*D⁻¹(I − HψK) is the inverse of the rows and columns of 𝓜 that belong to the other hinges.
template <class S>
inline constexpr S held_inertia = std::numeric_limits<S>::max() / S(4);

/// Room for the question whether some D is rounding of zero.
template <class S>
struct DoubtRoom {
  std::vector<RigidInertia<S>> carried;  ///< R − M of each link.
  std::vector<S> rounding;               ///< Of a cluster's coordinates …
  std::vector<S> D;                      ///< … their D …
  std::vector<int> order;                ///< … and the order of its pivots.
};

/// A plan with room for its values. Its inputs are arrays that stay where they are.
template <class S>
class BUNRAKU_API Evaluator {
 public:
  Evaluator(std::shared_ptr<const Plan> plan, std::shared_ptr<const Folded> folded,
            std::shared_ptr<const Attachments> attached);
  Evaluator(const Evaluator&) = delete;  // values point into it
  Evaluator& operator=(const Evaluator&) = delete;

  const Plan& plan() const { return *plan_; }
  const Folded& folded() const { return *folded_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int dimension(const Space& space) const;

  /// A new state: positions of all hinges, velocities of the user. Nothing is computed.
  void set_state(const S* q, const S* v) {
    q_ = q;
    v_ = v;
    fresh_ = false;
  }
  /// θ̈ or T, and T_p.
  void set_given(Symbol symbol, const S* x) {
    (symbol == Symbol::thetadd ? accelerations_ : symbol == Symbol::T ? torques_ : passive_) = x;
    fresh_ = false;
  }
  /// The numbers of a user's stacked vector, in place of those that are attached.
  void lend(const Operator& vector, const S* x);
  /// Other rotor inertias of the user's velocities than the model's, so that hinges can be held: see held_inertia.
  void set_armature(std::span<const S> armature);
  /// Another place for node i. For plans in which the vector alone meets nodes: what a state is enough for is kept.
  void set_node(int i, const Place& node);
  /// Computes what a state is enough for, unless it is there.
  void refresh();
  /// The expression applied to x; y may not be x.
  void apply(const S* x, S* y);
  /// The Riccati recursions of the plan, for questions about D: values of the plan.
  const std::vector<int>& families() const { return riccatis_; }
  const RiccatiBlocks<S>& family(int value) const { return riccati_[at(slots_[at(value)].extra)]; }
  /// Whether the blocks of a value are symmetric but for rounding.
  bool is_symmetric(int i) const;
  /// The factors of the hinge of link k, which is not coupled.
  kernels::HingeFactors<S> factors(const RiccatiBlocks<S>& r, int k) const {
    return {links_[k].nv, r.U.data() + links_[k].v, r.L.data() + folded_->places[at(k)].block};
  }
  const Joints<S>& joints() const { return joints_; }
  const kernels::Link<S>* links() const { return links_; }
  DoubtRoom<S>& doubt_room() { return doubt_room_; }
  /// Bytes read and written by one evaluation at a new state.
  double bytes() const;

 private:
  struct Slot {
    S* out = nullptr;
    S* rest = nullptr;        // for filter and smoother: ε or r
    const S* lent = nullptr;  // for constants: numbers from elsewhere
    int size = 0;
    bool adds_up = false;          // begins at zero before its loop
    bool is_begun = false;         // has something to do before its loop
    int extra = -1;                // for riccati, variables
    std::vector<int> begins = {};  // for blocks: where each unit's begins
    std::vector<int> run = {};     // for blocks and matrices: the values to run for each unit vector
    int body = -1;                 // for inject and extract
    int first = 0;                 // likewise: where its numbers begin
  };
  /// Links [begin, end).
  struct Range {
    int begin = 0;
    int end = 0;
  };

  const Value& value(int i) const { return plan_->values[at(i)]; }
  S* out(int i) { return slots_[at(i)].out; }
  /// The numbers of an operand, or nullptr.
  const S* in(const Value& v, std::size_t n) const {
    return n < v.in.size() && v.in[n] != no_value ? slots_[at(v.in[n])].out : nullptr;
  }
  const RiccatiBlocks<S>& used(const Value& v, std::size_t n = 0) const { return family(v.uses[n]); }
  const UnitPlaces& places(SpaceKind kind) const { return places_[static_cast<std::size_t>(kind)]; }
  int unit_size(SpaceKind kind, int unit) const { return static_cast<int>(places(kind).numbers[at(unit)].size()); }

  void make_places();
  void make_slots();
  void make_doubts();
  void fill_constants(int i);
  void run(const std::vector<Loop>& loops);
  void run_state(const std::vector<Loop>& loops);
  void begin(int i);
  void make_first(int i);
  void step(int i, Range range);
  void numbers(int i, Range range);
  static constexpr std::true_type inward{};
  static constexpr std::false_type outward{};
  template <bool to_base>
  void for_stretches(const std::vector<Stretch>& of, Range range, const auto& f, const auto& cluster) const;
  template <bool to_base>
  void for_links(Range range, std::bool_constant<to_base> way, const auto& f) const;
  template <bool to_base>
  void for_units(Range range, std::bool_constant<to_base> way, const auto& f, const auto& cluster) const;
  template <class F>
  static void with_arithmetic(kernels::Kind kind, const F& f);

  // steps_vectors.hpp
  void bias(int i, Range range);
  void gyroscopic(int i, Range range);
  void apply_part(int i, Range range);
  void apply_nodes(int i, Range range);
  void apply_blocks(int i, Range range);
  void apply_variable(int i, Range range);
  void shift(int i, Range range);
  void propagate(int i, Range range);
  void filter(int i, Range range);
  void smoother(int i, Range range);
  /// Which of a unit's coordinates a velocity of the user is.
  static std::size_t coordinate_of(const Unit& unit, int velocity) {
    return at(static_cast<int>(std::find(unit.coordinates.begin(), unit.coordinates.end(), velocity) -
                               unit.coordinates.begin()));
  }
  /// A unit's coordinate among the velocities of all hinges.
  std::size_t leader_of(const Unit& unit, std::size_t j) const {
    return at(folded_->coordinates.leaders[at(unit.coordinates[j])]);
  }
  /// What link k has been handed of an inward sum.
  Force<S> arrived(int k, const S* sum) const {
    return links_[k].leaf && !folded_->coupled ? Force<S>::zero() : force_at(sum + rigid * k);
  }
  /// Hands f to the parent of link k: the first to arrive sets the sum, but for couplings, where it begins at zero.
  void hand_over(int k, const Force<S>& f, S* sum) const {
    S* to = sum + rigid * links_[k].parent;
    if (links_[k].opens_parent && !folded_->coupled) {
      put(to, f);
    } else {
      add(to, f);
    }
  }
  S* hinge(S* x, int k) const { return x + folded_->places[at(k)].own; }
  const S* hinge(const S* x, int k) const { return x + folded_->places[at(k)].own; }

  // steps_blocks.hpp
  void riccati(int i, Range range);
  template <class A>
  void eliminate(const A& a, int k, RiccatiBlocks<S>& r, const Value& v, const S* X, const S* gears);
  void hand_over(const kernels::Link<S>& l, const ArticulatedInertia<S>& moved, RiccatiBlocks<S>& r) const;
  void note_doubt(RiccatiBlocks<S>& r, int velocity, const S& D) const;
  void eliminate_cluster(const Unit& unit, RiccatiBlocks<S>& r, int X, const S* gears);
  void blocks(int i);
  void block_function(int i);
  void gather(int i, Range range);
  void spread(int i, Range range);
  void dense(int i);
  void run_owned(const Slot& slot);
  void function_of(int i, int unit, S* matrix, int n);
  Force<S> stepped(const Value& v, int k, Force<S> f) const;
  S* member_block(int i, int k, int& stride);

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const Folded> folded_;
  std::shared_ptr<const Attachments> attached_;
  std::vector<kernels::Link<S>> own_links_;  // where S is not double, or the armature is not the model's
  const kernels::Link<S>* links_ = nullptr;
  std::vector<S> armature_;
  std::vector<S> armature_blocks_;
  std::vector<S> doubt_;  // of all hinges' velocities, a cluster's at its leaders': a D above it is positive
  DoubtRoom<S> doubt_room_;
  std::vector<NodePlace> nodes_;
  std::vector<Transform<S>> node_poses_;
  std::array<UnitPlaces, 5> places_;
  std::vector<int> bar_;  // by unit: the first of its H̄
  Joints<S> joints_;
  std::vector<RiccatiBlocks<S>> riccati_;
  std::vector<int> riccatis_;
  std::vector<Slot> slots_;
  std::vector<S> storage_;
  std::vector<Force<S>> cluster_force_;    // scratch, as many as a cluster has links
  std::vector<Force<S>> cluster_leaving_;  // as many as it has coordinates
  std::vector<ArticulatedInertia<S>> cluster_inertia_;
  int rows_ = 0;
  int cols_ = 0;
  const S* q_ = nullptr;
  const S* v_ = nullptr;
  const S* accelerations_ = nullptr;
  const S* torques_ = nullptr;
  const S* passive_ = nullptr;
  bool fresh_ = false;
  bool filled_ = false;
};

/// Throws Error naming the hinge where some D has no inverse, OperatorError where X or A of a family is not symmetric:
/// what the sweeps of a new state do not ask. In `float` and `double`.
template <class S>
void check_riccati(Evaluator<S>& evaluator);

}  // namespace bunraku::operators

#include "bunraku/operators/program/detail/evaluator_make.hpp"
#include "bunraku/operators/program/detail/evaluator_run.hpp"
#include "bunraku/operators/program/detail/steps_blocks.hpp"
#include "bunraku/operators/program/detail/steps_vectors.hpp"

namespace bunraku::operators {

extern template class Evaluator<double>;
extern template class Evaluator<float>;
extern template class Evaluator<Counting>;

}  // namespace bunraku::operators
