/// @file
/// A model as the tuned sweeps see it: bodies joined by fixed hinges merged into links, links of one kind together, and
/// the links' frames turned so that the arithmetic is least. Users never see these frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bunraku/kernels/coordinates.hpp"
#include "bunraku/kernels/singular.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::kernels {

/// Which arithmetic a link's hinge needs. One-axis hinges move about or along z of the link's frame C. A revolute
/// hinge's constant rotation from the parent's frame is, after turning the parent about its own z, mostly one about x.
enum class Kind : std::uint8_t {
  revolute_none,     ///< Without constant rotation: parallel axes.
  revolute_quarter,  ///< After a quarter turn about x.
  revolute_x,        ///< After a turn about x.
  revolute_full,     ///< After any rotation.
  prismatic,         ///< Along z after any rotation.
  floating,          ///< Free against the world, without armature.
  general,           ///< Anything else: pose and joint map are asked of the hinge.
  lump,              ///< The same, of a lump of a flexible body that does not turn and carries nothing; see lumps.hpp.
  siblings,          ///< Of a run, not of a link: one-axis hinges on one parent that follow one velocity.
  modal,             ///< Likewise: the nodes of a flexible body, which share their modes; see modes.hpp.
  coupled,           ///< Likewise: any other cluster of coupled hinges.
  embedded,          ///< Likewise: a cluster with loops in it, which moves by what they leave free; see embedded.hpp.
};

/// A body, or several that are fixed to each other, with its constants in scalar S: the same for all states, or lanes
/// of a pack where they differ from state to state.
template <class S>
struct Link {
  int parent = -1;            ///< Index, or −1 for the world; smaller than its own.
  Kind kind{};                ///< Which arithmetic.
  bool geared = false;        ///< Whether its hinge has armature.
  bool leaf = true;           ///< Whether nothing hangs on it.
  bool opens_parent = false;  ///< Whether no child of its parent comes after it: inward, it is the first there.
  int body = 0;               ///< The model's body that its hinge moves.
  int q = 0;                  ///< First position, among those of all hinges.
  int v = 0;                  ///< First velocity, likewise.
  int rate = 0;               ///< Where its velocities are to be read; see HingeSlot.
  int nv = 0;                 ///< Velocities.
  int special = 0;            ///< Floating and general: its place among these.
  S turn_c{};                 ///< Cosine of the constant turn about x.
  S turn_s{};                 ///< Sine of it.
  Mat3<S> turn{};             ///< The constant rotation in full.
  Vec3<S> p{};                ///< The hinge's frame in the parent's frame.
  RigidInertia<S> inertia{};  ///< About C's origin, in C's axes.
  Vec3<S> difference{};       ///< Of the principal elements of 𝒥: zz − yy, xx − zz, yy − xx.
  S armature{};               ///< One-axis hinges.
};

/// Consecutive links with the same arithmetic.
struct Run {
  Kind kind{};       ///< Of all of them.
  bool geared{};     ///< Of all of them.
  int begin = 0;     ///< First link.
  int end = 0;       ///< One beyond the last.
  int cluster = -1;  ///< Which cluster it is; see Kind::siblings.
};

/// Consecutive links whose hinges are coupled, with those between them: they are eliminated together.
struct CoupledLinks {
  int begin = 0;    ///< First link.
  int end = 0;      ///< One beyond the last.
  int parent = -1;  ///< The link that all of it hangs on, or −1.
  std::vector<int>
      coordinates;         ///< The velocities that move it, among those of all hinges: of hinges that follow none.
  std::size_t factor = 0;  ///< Where its block starts among those of all clusters, a square of the coordinates.
  std::vector<int> closures = {};  ///< Of the model: the loops in it.
  int embedded = -1;               ///< Its place among the clusters with loops.
  std::size_t basis = 0;           ///< With loops: where its block starts among theirs, a square of the coordinates.
  int lumps = -1;                  ///< The place of the sums of its lumps, or −1.
  int lumps_begin = 0;             ///< The first of its lumps, which come last, or its end.
};

/// Sums over the lumps of a flexible body, in the frame of the link that all of them hang on; see lumps.hpp.
struct LumpSums {
  std::vector<int> links = {};             ///< Which they are.
  bool opens_parent = false;               ///< Whether one of them is, going inward, the first on the parent.
  int modes = 0;                           ///< n.
  int q = 0;                               ///< η, among the positions of all hinges: of any of the lumps.
  double mass = 0;                         ///< Σ m.
  Vec3<double> moment{};                   ///< Σ m p + h at η = 0.
  Mat3<double> second{};                   ///< The second moments at η = 0: 𝒥 = tr(Q) − Q.
  std::vector<Vec3<double>> moved = {};    ///< Σ m g_i.
  std::vector<Mat3<double>> at_rest = {};  ///< T_i(0) = Σ (m p + h) g_i*.
  std::vector<Mat3<double>> change = {};   ///< Σ m g_l g_i*, at i n + l.
  std::vector<double> mass_matrix = {};    ///< Σ m g_l·g_i, likewise.
  double least = 0;                        ///< The least eigenvalue of that: no D of the modes is below it.
};

/// A revolute link.
struct RevoluteSlot {
  int link = 0;         ///< Index.
  int q = 0;            ///< Its angle, among the positions of all hinges.
  double offset_c = 1;  ///< Cosine of what is added to the angle: adding it to the angle itself would lose digits.
  double offset_s = 0;  ///< Sine of it.
};

/// Where a body of the model is.
struct BodyPlace {
  int link = -1;             ///< The link that it is part of, or −1 for the world.
  Transform<double> X_LB{};  ///< Its frame in the link's; of what is fixed to the world, in the user's world.
};

/// What of a model's numbers may be others than its own, and which loops are closed.
struct TreeOptions {
  bool any_placement = false;  ///< Placements: no constant rotation counts as a simple one.
  bool any_armature = false;   ///< Armature: every hinge counts as geared.
  bool any_stiffness = false;  ///< Stiffness: every hinge counts as sprung.
  bool any_inertia = false;    ///< Masses and inertias: no sums are made of them.
  /// Closures of the model whose loops are clusters, each once. All others are cut open. For single numbers alone.
  std::vector<int> embedded = {};
};

/// A model, folded: immutable, shared by all scalars and threads.
struct BUNRAKU_API Tree {
  /// O(N).
  explicit Tree(const Model& m, const TreeOptions& options = {});

  /// The hinge of link k.
  const Hinge& hinge(int k) const {
    return model.bodies()[static_cast<std::size_t>(links[static_cast<std::size_t>(k)].body)].hinge;
  }

  Model model;                           ///< Of which it is made.
  Coordinates<double> coordinates;       ///< Of all hinges.
  std::vector<Link<double>> links;       ///< Parent before child.
  std::vector<Run> runs;                 ///< All links in order.
  std::vector<Run> stages;               ///< All links in order, clusters as one.
  std::vector<CoupledLinks> clusters;    ///< Those of several links.
  std::vector<int> cluster_of;           ///< Of each link, or −1.
  std::vector<Follower<double>> within;  ///< Of each velocity: which of its cluster's it follows. Clusters' alone.
  std::vector<int> depth_first;          ///< All links, depth first, children in the order of the file.
  std::vector<int> nested;               ///< The same with the children that are in one cluster one after the other.
  std::vector<int> special;              ///< The floating and general links, lumps among them.
  std::vector<int> carriers;             ///< Those of them that are no lumps.
  std::vector<int> lump_links;           ///< Those that are.
  std::vector<LumpSums> lumps;           ///< Of clusters that have some.
  std::vector<RevoluteSlot> revolute;    ///< The revolute links.
  std::vector<BodyPlace> bodies;         ///< Of the model.
  std::vector<Rotation<double>> R_FT;  ///< Of each link: its constant rotation is that of its hinge's frame times this.
  std::vector<int> springs;            ///< Bodies whose hinges have springs.
  std::vector<double> neutral;         ///< The user's positions at the neutral configuration.
  std::vector<double> doubt;           ///< Of each velocity: a D above it is certainly positive; see singular.hpp.
  std::vector<double> doubt_float;     ///< The same in `float`.
  std::size_t factor_numbers = 0;      ///< Of the blocks of all clusters.
  std::size_t largest_cluster = 0;     ///< The most coordinates of a cluster.
  std::size_t basis_numbers = 0;       ///< Of the bases of all clusters with loops.
  int loop_clusters = 0;               ///< How many clusters have loops.
  bool near_together = true;           ///< Whether links stay as near as their lengths let them: see tree.cpp.
  int most_modes = 0;                  ///< The most modes of a cluster of kind `modal`.
  Rotation<double> world_turn;         ///< The world's frame as the sweeps have it, in the user's.

 private:
  void add(const Link<double>& link);
  void add_clusters(std::span<const std::vector<int>> closures);
  bool is_modal(const CoupledLinks& cluster) const;
  void add_lumps(CoupledLinks& cluster);
};

/// Of each velocity of all hinges: what D must be above to be certainly positive in T; see singular.hpp. O(N).
template <class T>
std::vector<double> doubts_of(const Tree& tree, std::span<const BodyBound> bounds);

/// @name Hinges that the user defines, in plain numbers
/// Of type `custom` alone; they throw what the user's functions throw. Not inline: they belong to no variant.
/// @{
/// At q the pose, rotation row by row and translation, and the columns of H*: 12 + 6 nv numbers.
BUNRAKU_API void custom_hinge_at(const Hinge& hinge, const double* q, double* numbers);
/// (dH*/dt) v: 6 numbers.
BUNRAKU_API void custom_hinge_rate(const Hinge& hinge, const double* q, const double* v, double* numbers);
/// q ⊟ rest: nv numbers.
BUNRAKU_API void custom_hinge_stretch(const Hinge& hinge, const double* q, double* numbers);
/// q1 ⊟ q0: nv numbers.
BUNRAKU_API void custom_hinge_difference(const Hinge& hinge, const double* q0, const double* q1, double* numbers);
/// q ⊞ v dt: nq numbers, which may be q.
BUNRAKU_API void custom_hinge_integrate(const Hinge& hinge, const double* q, const double* v, double dt,
                                        double* numbers);
/// Puts q back on its manifold.
BUNRAKU_API void custom_hinge_normalize(const Hinge& hinge, double* q);
/// @}

}  // namespace bunraku::kernels
