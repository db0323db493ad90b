/// @file
/// The tuned sweeps: inverse and forward dynamics, 𝓜, 𝓜⁻¹ and 𝓜⁻¹x over the coordinates of all hinges. They run over
/// the links of tree.hpp, run by run of one kind, so that no arithmetic waits for a question about a hinge's type.
///
/// Where hinges follow others, θ̇ = S θ̇_user, what is inverted is S*𝓜S: forward dynamics and 𝓜⁻¹x take torques of all
/// hinges, of which S* counts, and give S θ̈. Clusters of coupled links are runs of their own.
///
/// Accelerations are those of the papers, α = dV/dt with the inertial derivative: then no linear velocity needs to be
/// known, and the acceleration of a point at p is a + A p with A = ω̇~ + ω~ω~.
#pragma once

#include <limits>
#include <vector>

#include "bunraku/kernels/lanes.hpp"
#include "bunraku/kernels/turns.hpp"

namespace bunraku::kernels {

/// A link's motion in inverse dynamics, in its own axes; gravity is the world's acceleration upward.
template <class T>
struct Moving {
  Vec3<T> w{};   ///< ω.
  Vec3<T> wd{};  ///< ω̇.
  Vec3<T> a{};   ///< Acceleration of the origin.
  Mat3<T> A{};   ///< ω̇~ + ω~ω~.
};

/// A link's turning in forward dynamics, in its own axes.
template <class T>
struct Turning {
  Vec3<T> w{};  ///< ω.
  Sym3<T> W{};  ///< ω~ω~.
};

/// The innovations factors by coordinates: a hinge with several is taken as a chain of massless one-axis hinges, the
/// last coordinate outermost, so that every D is one number.
template <class T>
struct Factors {
  std::vector<Force<T>> U{};   ///< P H* of each coordinate.
  std::vector<T> D_inverse{};  ///< 1/D of each coordinate; 1 of those that follow another.
  std::vector<T> L{};          ///< Of each cluster, coordinates squared: D = L d L* above the diagonal.
  bool doubtful = false;       ///< Whether some D may be rounding of zero.

  /// 1/D. A D that is not above `doubt` may be rounding of zero, which is noted; where it is not positive the inverse
  /// is zero, as if the hinge were locked, so that nothing is divided by zero and no hinge inward of it looks singular
  /// on its account. A branch and no choice of numbers: the division, of which there is one for both cases, must not
  /// wait for the comparison.
  BUNRAKU_INLINE T inverse(T D, const T& doubt) {
    if (!(D > doubt)) [[unlikely]] {
      doubtful = true;
      D = D > T(0) ? D : std::numeric_limits<T>::infinity();
    }
    return T(1) / D;
  }
};

/// What links on one parent that follow one velocity have in sum, in the parent's frame.
template <class T>
struct Sibling {
  T D{};                          ///< HPH* + armature.
  T epsilon{};                    ///< Innovation.
  Force<T> U = Force<T>::zero();  ///< PH*.
};

/// So many rows of 𝓜⁻¹ are made at a time.
inline constexpr int combined_rows = 4;

/// In deeper trees 𝓜⁻¹ is made column by column.
inline constexpr int deepest_combined = 48;

/// A row of W with its part in some rows of 𝓜⁻¹.
template <class T>
struct AncestorRow {
  const T* row = nullptr;        ///< Its numbers.
  T factor[combined_rows] = {};  ///< What it is multiplied with in each row.
};

/// Scratch and sweeps. All arrays are allocated once.
template <class T>
class Sweeps {
 public:
  /// O(N) memory. The coordinates must outlive this.
  Sweeps(const Model& model, const Coordinates<T>& coordinates);

  /// A new state in arrays over all hinges that stay where they are until the next; nothing is computed.
  void set_state(const T* q, const T* v) {
    q_ = q;
    v_ = v;
    positions_ = articulated_ = false;
  }

  /// T = Hφ[Mφ*(H*θ̈ + a) + b] + armature (RK92 6–12) for velocities and accelerations of all hinges: one sweep
  /// outward, one inward.
  void inverse(const T* velocity, const T* acceleration, T* torque);
  /// θ̈ from T: ω outward; P, D, U and ε inward; θ̈ outward (RK92 §VII). Throws Error where D is singular.
  void forward(const T* torque, T* acceleration);
  /// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x, one sweep inward, one outward. Throws as forward.
  void solve(const T* x, T* out);
  /// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33), both triangles.
  void mass_matrix(T* out);
  /// 𝓜⁻¹ = [I − HψK]* D⁻¹ [I − HψK], both triangles, over the user's coordinates. Throws as forward.
  void inverse_mass_matrix(T* out);
  /// ln det 𝓜 = Σ ln D. Throws as forward.
  T log_determinant();

  /// Zeros, as velocities or accelerations.
  const T* zeros() const { return zeros_.data(); }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // sweeps.cpp
  void need_positions();
  void need_articulated();
  void spin();
  void place(int k);
  Motion<T> joint_map_rate(const Link<T>& l, const T* velocity) const;
  Transform<T> pose_of(int k) const;
  void settle_doubts(const Factors<T>& factors);
  void settle_doubt(const CoupledLinks& c, const Factors<T>& factors);
  void prepare_clusters();
  const Transform<T>& placed(const Link<T>& l) const { return placed_[at(l.special)]; }
  Vec3<T> slid(const Link<T>& l) const { return l.p + l.turn.column(2) * q_[l.q]; }
  /// The pose in the parent of a link that is not revolute.
  Transform<T> pose(const Link<T>& l) const {
    return l.kind == Kind::prismatic ? Transform<T>{Rotation<T>(l.turn), slid(l)} : placed(l);
  }
  /// Column j of H*.
  const Motion<T>& column(int j) const { return H_[at(j)]; }

  // newton_euler.cpp
  template <Kind kind>
  void move_revolute(int begin, int end, const T* velocity, const T* acceleration);
  void move_prismatic(int k, const T* velocity, const T* acceleration);
  void move_special(int k, const T* velocity, const T* acceleration);
  void settle(int k, const Vec3<T>& w, const Vec3<T>& wd, const Vec3<T>& a);
  template <Kind kind>
  void push_revolute(int begin, int end, const T* acceleration, T* torque);
  void push_other(int k, const T* acceleration, T* torque);

  // articulated_bodies.cpp
  template <Kind kind>
  void spin_revolute(int begin, int end);
  void spin_other(int k);
  void turn_all();
  Motion<T> hinge_bias_of(int k) const;
  void settle(int k, const Vec3<T>& w);
  void eliminate(Factors<T>& factors);
  /// Without care the sweep ends at a revolute hinge whose D may be rounding of zero, and says so: then nothing that
  /// comes after needs to know whether there was one.
  template <bool forces, bool careful>
  bool eliminate(Factors<T>& factors, const T* torque);
  template <bool forces, Kind kind, bool geared, bool careful>
  bool eliminate_revolute(int begin, int end, Factors<T>& factors, const T* torque);
  template <bool forces>
  void eliminate_floating(int k, Factors<T>& factors, const T* torque);
  template <bool forces>
  void eliminate_other(int k, Factors<T>& factors, const T* torque);
  ArticulatedInertia<T> gathered(int k) const;
  Mat3<T> hand_over(const Link<T>& l, const Vec3<T>& p, const ArticulatedInertia<T>& P);
  template <Kind kind>
  void accelerate_revolute(int begin, int end, T* acceleration);
  void accelerate_other(int k, T* acceleration);

  // coupled.cpp
  Motion<T> bias_of(int k) const;
  template <bool forces, Kind kind>
  void join_sibling(int k, const T* torque, Sibling<T>& sum);
  template <bool forces>
  void eliminate_siblings(const CoupledLinks& c, Factors<T>& factors, const T* torque);
  void filter_siblings(const CoupledLinks& c, const T* x);
  template <bool biased>
  void smooth_siblings(const CoupledLinks& c, const Factors<T>& factors, T* out);
  template <bool forces>
  void join_coupled(int k, const CoupledLinks& c, const ArticulatedInertia<T>& P, Factors<T>& factors, const T* torque);
  template <bool forces>
  void eliminate_coupled(const CoupledLinks& c, Factors<T>& factors, const T* torque);
  void filter_coupled(const CoupledLinks& c, const T* x);
  template <bool biased>
  void smooth_coupled(const CoupledLinks& c, const Factors<T>& factors, T* out);
  template <bool forces>
  void eliminate_cluster(const Run& run, Factors<T>& factors, const T* torque);
  void filter_cluster(const Run& run, const T* x);
  template <bool biased>
  void smooth_cluster(const Run& run, const Factors<T>& factors, T* out);

  // solve.cpp
  template <Kind kind>
  void filter_revolute(int begin, int end, const T* x);
  void filter_other(int k, const T* x);
  template <Kind kind>
  void smooth_revolute(int begin, int end, T* out);
  void smooth_other(int k, T* out);

  // composite_bodies.cpp, innovations.cpp
  /// The registers of a link's subtree.
  struct Span {
    int begin = 0;
    int end = 0;
  };
  static Span registers(const ColumnLayout& layout, int k) {
    return {layout.register_begin[at(k)], layout.register_end[at(k)]};
  }
  template <Kind kind>
  void compose_revolute(int begin, int end, T* out);
  void compose_other(int k, T* out);
  void compose_floating(int k, T* out);
  RigidInertia<T> composed(int k) const;
  void hand_over(const Link<T>& l, const Vec3<T>& p, const RigidInertia<T>& R);
  template <class F>
  void carry(const Vec3<T>& p, Span span, F&& turn);
  template <Kind kind>
  void carry(const Link<T>& l, const Spin<T>& spin, Span span);
  void carry(const Transform<T>& X, Span span);
  void insert(const ColumnLayout& layout, int e, const Force<T>& f);
  const T* cells() const { return reinterpret_cast<const T*>(columns_.data()); }
  template <Kind kind>
  void innovate_revolute(int begin, int end, T* out);
  void innovate_other(int k, T* out);
  void innovate_floating(int k, T* out);
  void innovate_siblings(const CoupledLinks& c, T* out);
  void innovate_coupled(const CoupledLinks& c, T* out);
  void combine_rows(T* out);
  void solve_unit(int j, T* out);

  Model model_;
  const Coordinates<T>& coordinates_;
  Tree<T> tree_;
  ColumnLayout composite_layout_;   // of 𝓜, over all hinges
  ColumnLayout innovation_layout_;  // of 𝓜⁻¹, over the user's coordinates
  const T* q_ = nullptr;
  const T* v_ = nullptr;
  bool positions_ = false;
  bool articulated_ = false;
  Vec3<T> base_acceleration_{};             // of the world: gravity, turned
  std::vector<T> unit_;                     // one for each velocity, zero between calls
  std::vector<T> zeros_;                    // one for each velocity
  std::vector<T> solved_;                   // likewise, where some follow others
  std::vector<Spin<T>> spin_;               // one for each link; revolute ones
  std::vector<Transform<T>> placed_;        // special links in their parents
  std::vector<Motion<T>> H_;                // columns of H*
  std::vector<Moving<T>> moving_;           // [0] is the world
  std::vector<Turning<T>> turning_;         // [0] is the world
  std::vector<Vec3<T>> arm_acceleration_;   // ω~ω~p of the parent
  std::vector<Motion<T>> special_bias_;     // special links: a but for arm_acceleration_
  std::vector<Force<T>> force_;             // one for each link
  std::vector<Motion<T>> alpha_;            // [0] is the world
  std::vector<ArticulatedInertia<T>> P_;    // of what hangs on each link
  std::vector<T> epsilon_;                  // innovations of all hinges
  Factors<T> of_state_;                     // for solve and what belongs to it
  Factors<T> of_forward_;                   // forward dynamics has its own: it never depends on calls before
  std::vector<RigidInertia<T>> composite_;  // of what hangs on each link
  std::vector<Columns<T>> columns_;         // forces of unit columns, lane by lane
  std::vector<AncestorRow<T>> ancestors_;   // scratch: as many as the tree is deep
  std::vector<Columns<T>> rows_;            // scratch: rows over all columns
  std::vector<T> doubt_;                    // of each velocity: a D above it is certainly positive
  std::vector<Lanes<T>> parts_;             // scratch: rows of a cluster over its columns
  std::vector<T> square_;                   // scratch: D of a cluster
  std::vector<T> rounding_;                 // scratch: of a cluster's coordinates
  std::vector<int> pivots_;                 // likewise
};

}  // namespace bunraku::kernels
