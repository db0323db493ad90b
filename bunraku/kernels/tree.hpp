/// @file
/// A model as the tuned sweeps see it: bodies joined by fixed hinges merged into links, links of one kind together, and
/// the links' frames turned so that the arithmetic is least. Users never see these frames.
#pragma once

#include <cstdint>
#include <vector>

#include "bunraku/kernels/coordinates.hpp"
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
  siblings,          ///< Of a run, not of a link: one-axis hinges on one parent that follow one velocity.
  coupled,           ///< Likewise: any other cluster of coupled hinges.
};

/// A body, or several that are fixed to each other.
template <class T>
struct Link {
  int parent = -1;            ///< Index, or −1 for the world; smaller than its own.
  Kind kind{};                ///< Which arithmetic.
  bool geared = false;        ///< Whether its hinge has armature.
  bool leaf = true;           ///< Whether nothing hangs on it.
  bool opens_parent = false;  ///< Whether no child of its parent comes after it: inward, it is the first there.
  int body = 0;               ///< The model's body that its hinge moves.
  int q = 0;                  ///< First position, among those of all hinges.
  int v = 0;                  ///< First velocity, likewise.
  int nv = 0;                 ///< Velocities.
  int special = 0;            ///< Floating and general: its place among these.
  T turn_c{};                 ///< Cosine of the constant turn about x.
  T turn_s{};                 ///< Sine of it.
  Mat3<T> turn{};             ///< The constant rotation in full.
  Vec3<T> p{};                ///< The hinge's frame in the parent's frame.
  RigidInertia<T> inertia{};  ///< About C's origin, in C's axes.
  Vec3<T> difference{};       ///< Of the principal elements of 𝒥: zz − yy, xx − zz, yy − xx.
  T armature{};               ///< One-axis hinges.
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
};

/// A revolute link.
template <class T>
struct RevoluteSlot {
  int link = 0;   ///< Index.
  int q = 0;      ///< Its angle, among the positions of all hinges.
  T offset_c{1};  ///< Cosine of what is added to the angle: adding it to the angle itself would lose digits.
  T offset_s{};   ///< Sine of it.
};

/// Where a body of the model is.
struct BodyPlace {
  int link = -1;             ///< The link that it is part of, or −1 for the world.
  Transform<double> X_LB{};  ///< Its frame in the link's; of what is fixed to the world, in the user's world.
};

/// A model, folded for scalar T.
template <class T>
struct Tree {
  /// O(N).
  Tree(const Model& model, const Coordinates<T>& coordinates);

  std::vector<Link<T>> links;             ///< Parent before child.
  std::vector<Run> runs;                  ///< All links in order.
  std::vector<Run> stages;                ///< All links in order, clusters as one.
  std::vector<CoupledLinks> clusters;     ///< Those of several links.
  std::vector<int> cluster_of;            ///< Of each link, or −1.
  std::vector<Follower<T>> within;        ///< Of each velocity: which of its cluster's it follows. Clusters' alone.
  std::vector<int> depth_first;           ///< All links, depth first, children in the order of the file.
  std::vector<int> nested;                ///< The same with the children that are in one cluster one after the other.
  std::vector<int> special;               ///< The floating and general links.
  std::vector<RevoluteSlot<T>> revolute;  ///< The revolute links.
  std::vector<BodyPlace> bodies;          ///< Of the model.
  Rotation<T> world_turn;                 ///< The world's frame as the sweeps have it, in the user's.

 private:
  void add(const Link<T>& link);
  void add_clusters(const Coordinates<T>& coordinates);
};

extern template struct Tree<double>;
extern template struct Tree<float>;

}  // namespace bunraku::kernels
