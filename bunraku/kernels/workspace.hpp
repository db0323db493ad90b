/// @file
/// What the sweeps work on: a tree's constants in scalar S, and scratch of that scalar.
///
/// Sweeps are free functions over a workspace, each in the file of its name. They run over the links of tree.hpp, run
/// by run of one kind, so that no arithmetic waits for a question about a hinge's type, and branch on topology alone,
/// so that S may be a number, a pack of numbers of several states, a dual number, a recorder.
///
/// Where hinges follow others, θ̇ = S θ̇_user, what is inverted is S*𝓜S: forward dynamics and 𝓜⁻¹x take the torques of
/// hinges that follow none, S* of all, and give θ̈ at these; the others' places in such arrays mean nothing. Clusters of
/// coupled links are runs of their own.
///
/// Accelerations are those of the papers, α = dV/dt with the inertial derivative: then no linear velocity needs to be
/// known, and the acceleration of a point at p is a + A p with A = ω̇~ + ω~ω~.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "bunraku/kernels/columns.hpp"
#include "bunraku/kernels/constants.hpp"
#include "bunraku/kernels/doubt_of.hpp"
#include "bunraku/kernels/doubts.hpp"
#include "bunraku/kernels/index.hpp"
#include "bunraku/kernels/turns.hpp"

namespace bunraku::kernels {

/// A link's motion in inverse dynamics, in its own axes; gravity is the world's acceleration upward.
template <class S>
struct Moving {
  Vec3<S> w{};   ///< ω.
  Vec3<S> wd{};  ///< ω̇.
  Vec3<S> a{};   ///< Acceleration of the origin.
  Mat3<S> A{};   ///< ω̇~ + ω~ω~.
};

/// A register of revolute hinges. Lanes without one have the last one's angle, and a place that nobody reads.
template <class S>
struct SpinRegister {
  Column<S> c{};                        ///< Cosines of what is added to the angles.
  Column<S> s{};                        ///< Sines.
  int q[columns_per_register<S>]{};     ///< Where the angles are.
  int link[columns_per_register<S>]{};  ///< Which links turn.
  bool in_row{};                        ///< Whether every lane has one, and the angles come one after the other.
};

/// A link's turning in forward dynamics, in its own axes.
template <class S>
struct Turning {
  Vec3<S> w{};  ///< ω.
  Sym3<S> W{};  ///< ω~ω~.
};

/// The innovations factors by coordinates: a hinge with several is taken as a chain of massless one-axis hinges, the
/// last coordinate outermost, so that every D is one number.
template <class S>
struct Factors {
  std::vector<Force<S>> U{};                ///< P H* of each coordinate.
  std::vector<S> D_inverse{};               ///< 1/D of each coordinate; 1 of those that follow another.
  std::vector<S> L{};                       ///< Of each cluster, coordinates squared: D = L d L* above the diagonal.
  typename DoubtOf<S>::type doubtful = {};  ///< Whether some D may be rounding of zero.

  /// 1/D. A D that is not above `doubt` may be rounding of zero, which is noted; where it is not positive the inverse
  /// is zero, as if the hinge were locked, so that nothing is divided by zero and no hinge inward of it looks singular
  /// on its account. A branch and no choice of numbers: the division, of which there is one for both cases, must not
  /// wait for the comparison. In a pack the lane is noted and its numbers mean nothing from there on: its state is
  /// looked at alone.
  BUNRAKU_INLINE S inverse(S D, const S& doubt) {
    if constexpr (is_wide<S>) {
      doubtful = doubtful | !(D > doubt);
    } else if (!(D > doubt)) [[unlikely]] {
      doubtful = true;
      D = D > S(0) ? D : S(std::numeric_limits<double>::infinity());
    }
    return S(1) / D;
  }
};

/// Who settles doubts: of a single state Doubts, of other scalars nobody.
template <class S>
struct DoubtsOf {
  explicit DoubtsOf(const Tree&) {}
};
template <class T>
struct DoubtsOf<Pack<T, 1>> : Doubts<T> {
  using Doubts<T>::Doubts;
};

/// What links on one parent that follow one velocity have in sum, in the parent's frame.
template <class S>
struct Sibling {
  S D{};                          ///< HPH* + armature.
  S epsilon{};                    ///< Innovation.
  Force<S> U = Force<S>::zero();  ///< PH*.
};

/// Numbers between rows of [θ̈_b X] of a cluster with m coordinates: whole registers of any variant.
constexpr std::size_t embedded_stride(std::size_t m) {
  constexpr std::size_t step = 8;
  return (m + step) / step * step;
}
/// So many columns of a cluster with loops go side by side at most.
template <class S>
inline constexpr int embedded_lanes = columns_per_register<S> < 8 ? columns_per_register<S> : 8;
/// Motions of a link, or forces on it, for as many columns as go side by side.
template <class S>
struct alignas(embedded_lanes<S> * sizeof(NumberOf<S>)) EmbeddedColumns {
  static constexpr int lanes = embedded_lanes<S>;  ///< Columns.
  NumberOf<S> x[6][lanes] = {};                    ///< Angular before linear, moments before forces.
};
/// A number for each of them.
template <class S>
struct alignas(embedded_lanes<S> * sizeof(NumberOf<S>)) EmbeddedNumbers {
  NumberOf<S> x[embedded_lanes<S>] = {};  ///< The numbers.
};
/// A link of a cluster with loops, among the others there.
struct EmbeddedLink {
  bool carries_inner = false;  ///< Whether others of its cluster hang on it.
  bool opens_inner = false;    ///< Whether it is, going inward, the first of its cluster on its parent.
  bool carries_outer = false;  ///< Whether links of no cluster, or of another one, hang on it.
  bool carries = false;        ///< Whether such links hang on it or on what it carries.
  int place = 0;               ///< Of its first velocity among those of its cluster.
};

/// What the loops of a state leave free, and scratch of the clusters that have them; see embedded.hpp.
template <class S>
struct Embedded {
  std::vector<NumberOf<S>> rows{};              ///< [θ̈_b X] of each cluster, a row for each coordinate.
  std::vector<std::size_t> first{};             ///< Where those of each cluster begin.
  const int* independent = nullptr;             ///< Columns of X in each cluster.
  std::vector<char> plain{};                    ///< Of each: whether no hinge of it follows another.
  std::vector<int> carriers_end{};              ///< Of each: one beyond the last link that carries others.
  std::vector<EmbeddedLink> links{};            ///< Of all links.
  std::vector<S> numbers{};                     ///< Scratch: of the largest cluster.
  std::vector<EmbeddedNumbers<S>> moments{};    ///< Likewise.
  std::vector<EmbeddedColumns<S>> columns{};    ///< Scratch: of the links of the largest cluster.
  std::vector<EmbeddedColumns<S>> reactions{};  ///< Likewise.
  std::vector<ArticulatedInertia<S>> locked{};  ///< Likewise.

  /// Room for a tree's clusters. O(N).
  void prepare(const Tree& t) {
    std::size_t count = 0;
    std::size_t most = 0;
    links.resize(t.links.size());
    for (const CoupledLinks& c : t.clusters) {
      if (c.embedded < 0) {
        continue;
      }
      first.push_back(count);
      count += c.coordinates.size() * embedded_stride(c.coordinates.size());
      int place = 0;
      for (int k = c.begin; k < c.end; ++k) {
        links[at(k)].place = place;
        place += t.links[at(k)].nv;
      }
      plain.push_back(at(place) == c.coordinates.size());
      most = at(c.end - c.begin) > most ? at(c.end - c.begin) : most;
    }
    for (std::size_t k = t.links.size(); k-- > 0;) {
      const int parent = t.links[k].parent;
      if (parent < 0) {
        continue;
      }
      EmbeddedLink& up = links[at(parent)];
      if (t.cluster_of[k] >= 0 && t.cluster_of[k] == t.cluster_of[at(parent)]) {
        links[k].opens_inner = !up.carries_inner;
        up.carries_inner = true;
        up.carries = up.carries || links[k].carries;
      } else {
        up.carries = up.carries_outer = true;
      }
    }
    for (const CoupledLinks& c : t.clusters) {
      if (c.embedded >= 0) {
        int end = c.end;
        while (end > c.begin && !links[at(end - 1)].carries) {
          --end;
        }
        carriers_end.push_back(end);
      }
    }
    rows.resize(count);
    numbers.resize(t.largest_cluster);
    moments.resize(t.largest_cluster);
    columns.resize(most);
    reactions.resize(most);
    locked.resize(most);
  }
};

/// So many rows of 𝓜⁻¹ are made at a time.
inline constexpr int combined_rows = 4;

/// In deeper trees 𝓜⁻¹ is made column by column.
inline constexpr int deepest_combined = 48;

/// A row of W with its part in some rows of 𝓜⁻¹.
template <class S>
struct AncestorRow {
  const S* row = nullptr;        ///< Its numbers.
  int coordinate = 0;            ///< Whose it is.
  S factor[combined_rows] = {};  ///< What it is multiplied with in each row.
};

/// Numbers in a row of a mode beside D, for Ū and ε: whole registers.
template <class S>
inline constexpr int modal_tail = (7 + columns_per_register<S> - 1) / columns_per_register<S> * columns_per_register<S>;
/// Vectors over the modes that are at hand beside the rows.
inline constexpr int modal_vectors = 6;
/// n and what fills up the last register.
template <class S>
constexpr int padded(int n) {
  return (n + columns_per_register<S> - 1) / columns_per_register<S> * columns_per_register<S>;
}
/// Registers that the rows of so many modes take; see modal_rows.hpp.
template <class S>
constexpr std::size_t modal_registers(int n) {
  return at((n * (padded<S>(n) + modal_tail<S>)+modal_vectors * padded<S>(n)) / columns_per_register<S>);
}

/// How columns of 𝓜 and of 𝓜⁻¹ are laid out for scalar S. Immutable.
struct Layouts {
  Layouts(const Tree& tree, int lanes) : composite(tree, false, lanes), innovation(tree, true, lanes) {}
  ColumnLayout composite;   ///< Of 𝓜, over all hinges.
  ColumnLayout innovation;  ///< Of 𝓜⁻¹, over the user's coordinates.
};

/// Scratch of all sweeps, allocated once, and which of it belongs to the state.
template <class S>
struct Workspace {
  /// O(N) memory. What it is made from must outlive it.
  Workspace(const Tree& t, const Constants<S>& c, const Layouts& l);

  /// A new state, in arrays over all hinges that stay where they are until the next; nothing is computed.
  void set_state(const S* new_q, const S* new_v) {
    q = new_q;
    v = new_v;
    has_positions = has_lumps = has_articulated = has_links = has_poses = has_velocities = false;
  }
  /// Other constants.
  void set_constants(const Constants<S>& c);
  /// Link k.
  BUNRAKU_INLINE const Link<S>& link(int k) const { return links[at(k)]; }

  const Tree* tree;
  const Constants<S>* constants = nullptr;
  const ColumnLayout& composite_layout;
  const ColumnLayout& innovation_layout;
  const Link<S>* links = nullptr;
  const S* armature = nullptr;  // of each velocity
  const S* doubt = nullptr;     // of each velocity: a D above it is certainly positive
  const S* q = nullptr;
  const S* v = nullptr;
  bool has_positions = false;
  bool has_lumps = false;
  bool has_articulated = false;
  bool has_links = false;
  bool has_poses = false;
  bool has_velocities = false;
  Vec3<S> base_acceleration{};                  // of the world: gravity, turned
  std::vector<S> unit;                          // one for each velocity, zero between calls
  std::vector<S> zeros;                         // one for each velocity
  std::vector<S> solved;                        // likewise, where some follow others
  std::vector<Spin<S>> spin;                    // one for each link, revolute ones, and one that nobody reads
  std::vector<SpinRegister<S>> spin_registers;  // of single states: of revolute links
  std::vector<Transform<S>> placed;             // special links in their parents
  std::vector<Motion<S>> H;                     // columns of H*
  std::vector<Moving<S>> moving;                // [0] is the world
  std::vector<Turning<S>> turning;              // [0] is the world
  std::vector<Vec3<S>> arm_acceleration;        // ω~ω~p of the parent
  std::vector<Motion<S>> special_bias;          // special links: a but for arm_acceleration
  std::vector<Force<S>> force;                  // one for each link
  std::vector<Motion<S>> alpha;                 // [0] is the world
  std::vector<ArticulatedInertia<S>> P;         // of what hangs on each link
  std::vector<S> epsilon;                       // innovations of all hinges
  Factors<S> of_state;                          // for solve and what belongs to it
  Factors<S> of_forward;                        // forward dynamics has its own: it never depends on calls before
  std::vector<RigidInertia<S>> composite;       // of what hangs on each link
  std::vector<Columns<S>> columns;              // forces of unit columns, lane by lane
  std::vector<AncestorRow<S>> ancestors;        // scratch: as many as the tree is deep
  std::vector<Columns<S>> rows;                 // scratch: rows over all columns
  std::vector<Column<S>> parts;                 // scratch: rows of a cluster over its columns
  std::vector<Column<S>> modal;                 // scratch: rows of the modes of a flexible body; modal_rows.hpp
  DoubtsOf<S> doubts;                           // scratch of the rare question
  Embedded<S> embedded;                         // where there are loops
  std::vector<Transform<S>> pose;               // links in the world; kinematics.hpp
  std::vector<Transform<S>> pose_in;            // links in their parents; likewise
  std::vector<Motion<S>> velocity;              // of links, in their own axes at their origins; kinematics.hpp
};

template <class S>
Workspace<S>::Workspace(const Tree& t, const Constants<S>& c, const Layouts& l)
    : tree(&t),
      composite_layout(l.composite),
      innovation_layout(l.innovation),
      unit(at(t.coordinates.nv)),
      zeros(at(t.coordinates.nv)),
      solved(t.coordinates.has_mimics ? at(t.coordinates.nv) : 0),
      spin(t.links.size() + 1),
      placed(t.special.size()),
      H(at(t.coordinates.nv)),
      moving(t.links.size() + 1),
      turning(t.links.size() + 1),
      arm_acceleration(t.links.size()),
      special_bias(t.special.size()),
      force(t.links.size()),
      alpha(t.links.size() + 1),
      P(t.links.size()),
      epsilon(at(t.coordinates.nv)),
      of_state{std::vector<Force<S>>(at(t.coordinates.nv)), std::vector<S>(at(t.coordinates.nv), S(1)), {}},
      of_forward(of_state),
      composite(t.links.size()),
      columns(at(l.composite.registers > l.innovation.registers ? l.composite.registers : l.innovation.registers)),
      ancestors(at(l.innovation.depth + 1)),
      rows(columns.size()),
      doubts(t),
      pose(t.links.size()),
      pose_in(t.links.size()),
      velocity(t.links.size() + 1) {
  if constexpr (columns_per_register<S> > 1) {
    constexpr int lanes = columns_per_register<S>;
    const int count = static_cast<int>(t.revolute.size());
    for (int first = 0; first < count; first += lanes) {
      SpinRegister<S>& each = spin_registers.emplace_back();
      each.in_row = first + lanes <= count;
      for (int lane = 0; lane < lanes; ++lane) {
        const RevoluteSlot& slot = t.revolute[at(first + lane < count ? first + lane : count - 1)];
        each.c.set(lane, static_cast<NumberOf<S>>(slot.offset_c));
        each.s.set(lane, static_cast<NumberOf<S>>(slot.offset_s));
        each.q[lane] = slot.q;
        each.link[lane] = first + lane < count ? slot.link : static_cast<int>(t.links.size());
        each.in_row = each.in_row && slot.q == each.q[0] + lane;
      }
    }
  }
  for (const Link<double>& each : t.links) {
    for (int j = 0; j < each.nv && each.kind < Kind::general; ++j) {  // those of general hinges come with each state
      H[at(each.v + j)][each.kind == Kind::prismatic ? 5 : each.kind < Kind::prismatic ? 2 : j] = S(1);
    }
  }
  of_state.L.resize(t.factor_numbers);
  of_forward.L.resize(t.factor_numbers);
  if (l.innovation.depth <= deepest_combined) {
    parts.resize(t.largest_cluster * at(l.innovation.registers));
  }
  modal.resize(modal_registers<S>(t.most_modes));
  if (t.loop_clusters > 0) {
    embedded.prepare(t);
  }
  set_constants(c);
}

template <class S>
void Workspace<S>::set_constants(const Constants<S>& c) {
  constants = &c;
  links = c.links.data();
  armature = c.armature.data();
  doubt = c.doubt.data();
  base_acceleration = c.base_acceleration;
  moving[0].a = base_acceleration;
  alpha[0].linear = base_acceleration;
  has_positions = has_lumps = has_articulated = has_links = has_poses = has_velocities = false;
}

/// Calls f() with the factors of the last forward dynamics as those of the state, which it is at.
template <class S, class F>
void by_factors_of_forward(Workspace<S>& ws, F&& f) {
  const bool had = std::exchange(ws.has_articulated, true);
  std::swap(ws.of_state, ws.of_forward);
  f();
  std::swap(ws.of_state, ws.of_forward);
  ws.has_articulated = had;
}

}  // namespace bunraku::kernels
