/// @file
/// Bodies that bend: nodes with mass, mode shapes, modal stiffness and damping, and how such a body joins a model.
///
/// A flexible body has a frame, at the node where its hinge holds it, and n modes that vanish there. Node j, at ρ_j in
/// that frame when the body is at rest, moves against it by Π_j η = (λ_j η; γ_j η), rotation over translation
/// (RJK89 4.1–4.3). In a model the frame is a body, and each node another one that hangs on it by a modal hinge; the
/// modes' coordinates η, which all nodes share, are the coordinates of the first node's hinge. So whatever holds of
/// trees of bodies with coupled hinges holds of flexible bodies: body space has the nodes' velocities, the papers' V^f,
/// in it, and eliminating the modes is one step of the recursion between the nodes and the frame.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/model/builder.hpp"

namespace bunraku {

/// A node of a flexible body.
struct FlexibleNode {
  std::string name = {};                      ///< Unique in the body; empty: it is but a lump of mass.
  Vec3<double> place = Vec3<double>::zero();  ///< ρ: where it is at rest, in the body's frame, m.
  RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< Of its lump, about the node, in the body's axes.
  ModalShape shape = {};                                        ///< Π: how the modes displace it.
};

/// A body that bends, apart from how it hangs on others. SI units; those of η are what the shapes are given for.
struct FlexibleBody {
  std::vector<FlexibleNode> nodes = {};  ///< Each with shapes of all modes.
  std::vector<double> stiffness = {};    ///< Of each mode: its force is −stiffness · η.
  std::vector<double> damping = {};      ///< Of each mode: −damping · η̇; empty: none.
  RigidInertia<double> inertia =
      RigidInertia<double>::zero();  ///< Of what does not move with the modes, about the frame.

  /// How many modes it has.
  int modes() const { return static_cast<int>(stiffness.size()); }
};

/// Mass, first moment and inertia of the body at rest, about its frame's origin.
BUNRAKU_API RigidInertia<double> rigid_inertia(const FlexibleBody& body);

/// M_ηη = Σ Π*MΠ at rest, n×n row by row.
BUNRAKU_API std::vector<double> modal_mass(const FlexibleBody& body);

/// The frequencies of the body with its frame held still, Hz, rising. Throws ArgumentError where M_ηη is singular.
BUNRAKU_API std::vector<double> held_frequencies(const FlexibleBody& body);

/// A body with the same motion, kinetic energy and weight, and as few lumps as that takes. Nameless nodes that do not
/// turn count by Σ m x x* of x = (1, ρ, γ, S) alone, of which a factor has as many rows as x has independent numbers:
/// so many lumps of equal mass stand for all. What turns about one axis in which it is symmetric counts likewise, apart
/// from its mass. Named nodes stay as they are, and so do other nameless ones that turn.
BUNRAKU_API FlexibleBody with_fewest_lumps(const FlexibleBody& body);

/// Adds a flexible body to a builder: `body`, whose inertia counts as well, with a body for each node, named
/// `BODY.NODE`, `BODY.lump1` and so on, and the hinges `BODY.modes`, which leads, and `BODY.modes2` …. Lumps are made
/// as few as can be. What hangs on a node names `BODY.NODE` as its parent. With no modes it is a rigid body with named
/// nodes. Throws ModelError, naming the body and the node, for shapes of a wrong number, numbers that are not finite, a
/// name that is there twice, negative stiffness or damping, more than max_modes modes.
BUNRAKU_API void add_flexible_body(ModelBuilder& builder, BodySpec body, const FlexibleBody& flexible);

/// Makes a body that was added before flexible, in its place: the inertia that it had is replaced by the one of
/// `flexible`. `held` has, by the name of a hinge that is on the body, or of a node on it, the name of the flexible
/// node that holds it from now on, at the distance that the two have at rest; what is not named stays on the frame.
/// Throws ModelError as add_flexible_body does, and ArgumentError for names that do not exist.
BUNRAKU_API void make_flexible(ModelBuilder& builder, std::string_view body, const FlexibleBody& flexible,
                               const std::map<std::string, std::string>& held);

/// A flexible body of a model as it was given, but for its lumps, of which there may be fewer. Stiffness and damping
/// are those of the model's hinges.
BUNRAKU_API FlexibleBody flexible_body(const Model& model, const FlexiblePart& part);

}  // namespace bunraku
