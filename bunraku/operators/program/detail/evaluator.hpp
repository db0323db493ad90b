/// @file
/// Runs a plan, in any scalar: loops over the links of a folded model, with room for all values.
///
/// Nothing here decides on values: a D that is singular gives an inverse of zero, and after the sweep the driver may
/// ask which hinge it was.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/doubt_of.hpp"
#include "bunraku/kernels/room.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/layout.hpp"
#include "bunraku/operators/program/detail/placing.hpp"
#include "bunraku/operators/program/detail/scalar.hpp"

namespace bunraku::operators {

/// The factors of a Riccati recursion.
template <class S>
struct RiccatiBlocks {
  std::vector<ArticulatedInertia<S>> P;  ///< Of each link.
  std::vector<Force<S>> U;               ///< P H* of each velocity of all hinges when it was eliminated.
  std::vector<S> L;                      ///< Factors of D: see kernels::HingeFactors; of a cluster D⁻¹.
  std::vector<S> D;                      ///< By units, row by row.
  bool whole_D = false;                  ///< Whether D itself is asked for, not only its factors.
  /// Whether some D may be rounding of zero, of bodies' inertias; of several states, in which.
  typename kernels::DoubtOf<S>::type doubtful = {};
  std::vector<Force<S>> K;       ///< Of clusters: Ē G, by the user's velocities, in the parent.
  std::vector<Motion<S>> bar_H;  ///< Of clusters: φ_b* H*, members × coordinates from `bar`.
  std::vector<Force<S>> bar_U;   ///< Of clusters: P H̄*, likewise.
};

/// The rotor inertia of a hinge that is held: it takes up any force without yielding, so that D⁻¹ and G vanish beside
/// all else, and (I − HψK)*D⁻¹(I − HψK) is the inverse of the rows and columns of 𝓜 that belong to the other hinges.
template <class S>
inline constexpr S held_inertia = std::numeric_limits<S>::max() / S(4);

/// What kernels::eliminate_lanes works on.
template <class S>
struct LaneRoom {
  const kernels::Link<S>* links;  ///< Of the model.
  ArticulatedInertia<S>* P;       ///< What each link has gathered.
  const kernels::Spin<S>* spin;   ///< Of each link.
  const S* doubt;                 ///< See doubts_of().

  BUNRAKU_INLINE const kernels::Link<S>& link(int k) const { return links[k]; }
};
/// What it keeps.
template <class S>
struct LaneFactors {
  Force<S>* U;                                    ///< P H* of each velocity.
  S* D_inverse;                                   ///< Of each velocity.
  typename kernels::DoubtOf<S>::type doubtful{};  ///< See RiccatiBlocks.

  BUNRAKU_INLINE S inverse(const S& D, const S& doubt) {
    doubtful = doubtful | !(D > doubt);
    return S(1) / D;
  }
};

/// Room for the question whether some D is rounding of zero, which is asked of one state alone.
template <class S>
struct DoubtRoom {};
template <class S>
  requires(!kernels::is_wide<S>)
struct DoubtRoom<S> {
  std::vector<RigidInertia<S>> carried;  ///< R − M of each link.
  std::vector<S> rounding;               ///< Of a cluster's coordinates …
  std::vector<S> D;                      ///< … their D …
  std::vector<int> order;                ///< … and the order of its pivots.
};

/// The equations of a closure at a configuration, in scalar S.
template <class S>
struct ClosureAt {
  std::array<Force<S>, kernels::max_closure_rows> on_a{};  ///< Columns of A* at its first node, in the node's axes.
  std::array<Force<S>, kernels::max_closure_rows> on_b{};  ///< At its second.
  S slope{};                                               ///< Of hinge coordinates: q̇_a − slope q̇_b.
};

/// A node in scalar S.
template <class S>
struct NodeAt {
  int link = -1;        ///< On which link, or −1 on the world.
  Transform<S> X_LN{};  ///< Its frame in the link's.
};

/// A plan with room for its values. Its inputs are arrays that stay where they are.
///
/// With S of several states side by side (kernels::is_wide) it does the steps of plans that runs_in_lanes() allows, and
/// tells of which states something is to be asked: doubts(). Those are to be evaluated one by one.
template <class S>
class BUNRAKU_API Evaluator {
 public:
  using Doubt = typename kernels::DoubtOf<S>::type;  ///< Yes or no, or of which states.

  Evaluator(std::shared_ptr<const Plan> plan, std::shared_ptr<const Folded> folded,
            std::shared_ptr<const Attachments> attached)
    requires(!kernels::is_wide<S>)
      : Evaluator(std::make_shared<const EvaluatorLayout>(std::move(plan), std::move(folded), std::move(attached))) {}
  /// A layout may serve several.
  explicit Evaluator(std::shared_ptr<const EvaluatorLayout> layout)
    requires(!kernels::is_wide<S>);
  /// Of several states. The layout must outlive it; `doubts` are those of doubts_of().
  Evaluator(const EvaluatorLayout& layout, const kernels::NumberOf<S>* doubts)
    requires(kernels::is_wide<S>);
  Evaluator(const Evaluator&) = delete;  // values point into it
  Evaluator& operator=(const Evaluator&) = delete;

  const Plan& plan() const { return *plan_; }
  const Folded& folded() const { return *folded_; }
  int rows() const { return layout_->rows; }
  int cols() const { return layout_->cols; }
  int dimension(const Space& space) const { return layout_->dimension(space); }

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
  void apply(const S* x, S* y) { std::copy_n(result(x), rows(), y); }
  /// The same where it is computed: until the next call.
  const S* result(const S* x);
  /// After a state has run, of which of several states a D may be singular or a family not be symmetric.
  Doubt doubts() const
    requires(kernels::is_wide<S>);
  /// The Riccati recursions of the plan, for questions about D: values of the plan.
  const std::vector<int>& families() const { return layout_->riccatis; }
  const RiccatiBlocks<S>& family(int value) const { return riccati_[at(slots_[at(value)].extra)]; }
  /// Whether the blocks of a value are more unsymmetric than by rounding.
  Doubt asymmetric(int i) const;
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
    // the rest is that of SlotLayout
    int size = 0;
    bool adds_up = false;
    bool is_begun = false;
    int extra = -1;
    int first = 0;
    const int* begins = nullptr;
    std::span<const int> run = {};
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
  const UnitPlaces& places(SpaceKind kind) const { return layout_->places[static_cast<std::size_t>(kind)]; }
  int unit_size(SpaceKind kind, int unit) const { return layout_->unit_size(kind, unit); }

  void make(const kernels::NumberOf<S>* doubts);
  void make_slots();
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

  // steps_riccati.hpp
  void riccati(int i, Range range);
  bool eliminate_lanes(const Stretch& stretch, int begin, int end, RiccatiBlocks<S>& r, const S* gears)
    requires(kernels::is_wide<S>);
  template <class A>
  void eliminate(const A& a, int k, RiccatiBlocks<S>& r, const Value& v, const S* X, const S* gears);
  void hand_over(const kernels::Link<S>& l, const ArticulatedInertia<S>& moved, RiccatiBlocks<S>& r) const;
  void note_doubt(RiccatiBlocks<S>& r, int velocity, const S& D) const;
  void eliminate_cluster(const Unit& unit, RiccatiBlocks<S>& r, int X, const S* gears);
  // steps_rates.hpp
  void gravity(int i, Range range);
  void joint_rate(int i, Range range);
  void put_joint_rate(int i, int k, Motion<S>* columns);
  void carry(int i, Range range);
  // steps_closures.hpp
  void closures();
  void apply_closures(int i);
  void node_bias(int i, Range range);
  void rates(int i);
  void columns(int i);
  void norms(int i);
  void solve(int i);
  void whiten(const RiccatiBlocks<S>& r, const S* x, double* out) const;
  std::vector<double> row_scales(const Value& v);
  // steps_blocks.hpp
  void blocks(int i);
  void block_function(int i);
  void lyapunov(int i);
  void gather(int i, Range range);
  void spread(int i, Range range);
  void add_carried(const Value& v, int k, const S* up, int up_stride, S* to, int stride) const;
  void dense(int i);
  void run_owned(const Slot& slot);
  void matrix_of(int i, S* matrix);
  void function_of(int i, int unit, S* matrix, int n);
  Force<S> stepped(const Value& v, int k, Force<S> f) const;
  S* member_block(int i, int k, int& stride);

  /// Code for several kinds of processor may not hold what it shares with others: there somebody else keeps it.
  std::conditional_t<kernels::is_wide<S>, const EvaluatorLayout*, std::shared_ptr<const EvaluatorLayout>> layout_;
  const Plan* plan_;
  const Folded* folded_;
  const Attachments* attached_;
  std::vector<kernels::Link<S>> own_links_;  // where S is not double, or the armature is not the model's
  const kernels::Link<S>* links_ = nullptr;
  std::vector<S> armature_;
  std::vector<S> armature_blocks_;
  std::vector<S> stiffness_;
  std::vector<S> doubt_;  // see doubts_of()
  DoubtRoom<S> doubt_room_;
  std::vector<NodeAt<S>> nodes_;
  Joints<S> joints_;
  std::vector<RiccatiBlocks<S>> riccati_;
  std::vector<Slot> slots_;
  std::vector<S> storage_;
  std::vector<ClosureAt<S>> closures_;
  std::vector<S> lane_inverses_;           // scratch of eliminate_lanes, of all hinges' velocities
  std::vector<Force<S>> cluster_force_;    // scratch, as many as a cluster has links
  std::vector<Force<S>> cluster_leaving_;  // as many as it has coordinates
  std::vector<ArticulatedInertia<S>> cluster_inertia_;
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
#include "bunraku/operators/program/detail/steps_closures.hpp"
#include "bunraku/operators/program/detail/steps_rates.hpp"
#include "bunraku/operators/program/detail/steps_riccati.hpp"
#include "bunraku/operators/program/detail/steps_vectors.hpp"

namespace bunraku::operators {

extern template class Evaluator<double>;
extern template class Evaluator<float>;
extern template class Evaluator<Counting>;

}  // namespace bunraku::operators
