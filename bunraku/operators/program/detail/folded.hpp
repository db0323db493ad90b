/// @file
/// A model as programs see it: what never changes, in double precision, apart from any scalar and any state.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bunraku/export.hpp"
#include "bunraku/kernels/one_axis.hpp"
#include "bunraku/kernels/tree.hpp"
#include "bunraku/model/detail/clusters.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/operators/language/space.hpp"

namespace bunraku::operators {

/// Over what a program runs.
enum class Fold {
  links,   ///< Bodies joined by fixed hinges merged, frames turned so that the arithmetic is least: the kernels' tree.
  bodies,  ///< Every body, in the user's frames and order.
};

/// How a link's pose and joint map follow from its coordinates.
enum class Placing {
  turn,        ///< A revolute hinge of the folded tree: cosine and sine suffice.
  slide,       ///< A prismatic hinge of the folded tree.
  float_free,  ///< A free body against the world: only how it is turned matters.
  law,         ///< The hinge's own law, in the folded tree.
  one_axis,    ///< A hinge with one axis in the user's frames: constant + cosine + sine.
  body,        ///< The hinge's own law, in the user's frames.
};

/// What of a link is not arithmetic.
struct LinkPlace {
  Placing placing{};     ///< How it is placed.
  int own = 0;           ///< Its first velocity among the user's.
  double ratio = 1;      ///< Of a follower: its velocity over its leader's.
  int block = 0;         ///< The first number of its nv × nv block among those of all units.
  int unit = 0;          ///< The unit that it belongs to.
  bool coupled = false;  ///< Whether its hinge is eliminated together with others.
};

/// Links whose hinges are eliminated together: mostly one.
struct Unit {
  std::vector<int> members = {};      ///< Links, in their order; the first is the unit's place in sweeps.
  int parent = -1;                    ///< The link on which it hangs, or −1.
  std::vector<int> coordinates = {};  ///< The user's velocities that move it.
  int block = 0;                      ///< The first number of its n × n block.
};

/// Consecutive links or units with the same arithmetic.
struct Stretch {
  kernels::Kind kind{};  ///< Of all of them.
  bool cluster = false;  ///< One unit of several links: `begin` is its first member.
  int begin = 0;         ///< First link.
  int end = 0;           ///< One beyond the last.
};

/// Where a node is.
struct NodePlace {
  int link = -1;             ///< On which link, or −1 on the world.
  Transform<double> X_LN{};  ///< Its frame in the link's.
};

/// The table of a space: where the numbers of each link, node or closure begin.
struct SpaceTable {
  std::vector<int> first;  ///< One more than there are owners.

  int owners() const { return static_cast<int>(first.size()) - 1; }        ///< Links, nodes or closures.
  int begin(int i) const { return first[static_cast<std::size_t>(i)]; }    ///< First number of an owner.
  int end(int i) const { return first[static_cast<std::size_t>(i) + 1]; }  ///< One beyond the last.
  int dimension() const { return first.empty() ? 0 : first.back(); }       ///< Of the whole.
};

/// A model folded for programs. Immutable, shared by threads.
class BUNRAKU_API Folded {
 public:
  /// O(N).
  Folded(const Model& of, Fold how);

  Model model;                               ///< Of which.
  Fold fold;                                 ///< How.
  kernels::Coordinates<double> coordinates;  ///< Of all hinges.
  std::vector<kernels::Link<double>> links;  ///< Parent before child; v counts all hinges' velocities.
  std::vector<LinkPlace> places;             ///< Of each link.
  std::vector<kernels::OneAxis> one_axis;    ///< Of each link, with Fold::bodies.
  std::vector<kernels::RevoluteSlot> turns;  ///< Links placed by Placing::turn.
  std::vector<int> posed;                    ///< Links whose pose is a transform: all but those that turn.
  std::vector<Unit> units;                   ///< In the order of their first members.
  std::vector<Stretch> by_link;              ///< All links.
  std::vector<Stretch> by_unit;              ///< All units.
  std::vector<kernels::BodyPlace> bodies;    ///< Of the model's bodies.
  std::vector<double> armature;              ///< Of the user's velocities, followers' included.
  std::vector<double> stiffness;             ///< Likewise, of springs.
  std::vector<double> armature_blocks;       ///< 𝒜 as blocks of the units.
  SpaceTable body;                           ///< Body space, by link.
  SpaceTable closure;                        ///< Closure space, by closure.
  Vec3<double> gravity{};                    ///< In the world's frame as the links have it.
  bool coupled = false;                      ///< Whether some units have several links.
  bool nested = false;                       ///< Whether one of them hangs on another of its unit.

  /// Numbers in a space; of node space with so many nodes.
  int dimension(SpaceKind kind, int nodes) const;
  /// Where a node is.
  NodePlace place(const Place& node) const;

 private:
  void take_links();
  void take_bodies();
  void make_units();
  void list_stretches();
};

}  // namespace bunraku::operators
