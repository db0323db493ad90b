/// @file
/// Hinges: how a body may move against its parent, with limits, armature, friction, springs and couplings.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/export.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku {

/// The kinds of hinge. F is the hinge's frame on the parent, M its frame on the child; at the neutral configuration
/// they coincide. The joint map H* gives the child's velocity against the parent, at M's origin and in M's axes.
enum class HingeType {
  fixed,          ///< No motion.
  revolute,       ///< q = angle about `axis`; v = its rate.
  continuous,     ///< A revolute hinge without limits; q is one angle, not a point on a circle.
  prismatic,      ///< q = displacement along `axis`; v = its rate.
  helical,        ///< q = angle about `axis`, with `pitch` metres of travel a turn; v = its rate.
  cylindrical,    ///< q = (angle about, displacement along) `axis`; v = their rates.
  universal,      ///< q = (angle about `axis` on the parent, angle about `axis2` on the child); v = their rates.
  planar,         ///< q = (x along `axis2`, y, angle about the normal `axis`); v in the child's axes.
  spherical,      ///< q = quaternion (w, x, y, z); v = ω of the child in the child's axes.
  translational,  ///< q = (x, y, z) in F's axes; v = their rates.
  free,           ///< q = (w, x, y, z, px, py, pz); v = (ω, v) of the child in the child's axes.
  modal,          ///< A node of a flexible body: q = the modes' coordinates η, v = their rates; see ModalShape.
  custom,         ///< Given by the user: see CustomHinge.
};

/// The name used in files and messages, such as `revolute`.
BUNRAKU_API std::string_view to_string(HingeType type);
/// The type of that name, or nothing.
BUNRAKU_API std::optional<HingeType> hinge_type_from_string(std::string_view name);

/// Number of configuration coordinates of a type; `modal` and `custom` are asked of the hinge itself.
BUNRAKU_API int configuration_size(HingeType type);
/// Number of velocity coordinates of a type; `modal` and `custom` are asked of the hinge itself.
BUNRAKU_API int velocity_size(HingeType type);

/// Whether a type goes by Hinge::axis.
BUNRAKU_API bool has_axis(HingeType type);
/// Whether a type goes by Hinge::axis2, too.
BUNRAKU_API bool has_second_axis(HingeType type);

/// Whether v is the rate of q, number by number, so that motion is q + v dt. Of the others `custom` may be anything,
/// and the rest are groups.
BUNRAKU_INLINE constexpr bool has_plain_coordinates(HingeType type) {
  return type != HingeType::planar && type != HingeType::spherical && type != HingeType::free &&
         type != HingeType::custom;
}

/// The most velocity coordinates that a hinge can have, other than a modal one.
inline constexpr int max_hinge_velocities = 6;
/// The most configuration coordinates that a hinge can have, other than a modal one.
inline constexpr int max_hinge_positions = 7;
/// The most modes that a flexible body can have.
inline constexpr int max_modes = 64;
/// Room for the velocities of any hinge, modal ones included.
inline constexpr int most_hinge_velocities = max_modes > max_hinge_velocities ? max_modes : max_hinge_velocities;
/// Room for the positions of any hinge, modal ones included.
inline constexpr int most_hinge_positions = max_modes > max_hinge_positions ? max_modes : max_hinge_positions;

/// A hinge that the user defines by its pose and its joint map. Implementations must be immutable: one object is
/// shared by all threads that use the model. All arrays are plain doubles; 3×3 and 6×n arrays are column by column.
class BUNRAKU_API CustomHinge {
 public:
  virtual ~CustomHinge();

  /// Number of configuration coordinates, 1 … 7.
  virtual int configuration_size() const = 0;
  /// Number of velocity coordinates, 1 … 6.
  virtual int velocity_size() const = 0;
  /// X_FM(q), the pose of the child's hinge frame in the parent's; the identity at neutral().
  virtual Transform<double> pose(const double* q) const = 0;
  /// H*(q): column i is the velocity of M against F for unit v_i, at M's origin in M's axes.
  virtual void joint_map(const double* q, Motion<double>* columns) const = 0;

  /// dH*/dt along the motion v: column i is the rate of H*'s column i, in M's axes. By default from
  /// sixth-order central differences of joint_map along integrate, coordinate by coordinate in steps of 2⁻⁸, which q
  /// takes without rounding: good to about 1e-11 of the joint map's size and speed, at large q too, for a joint map
  /// that varies over a radian or a metre rather than a thousandth of it. (Beyond 2⁴⁰ the step grows with q.) 6 nv
  /// calls of joint_map; override it with the closed form where there is one.
  virtual void joint_map_rate(const double* q, const double* v, Motion<double>* columns) const;
  /// (dH*/dt) v in M's axes. By default from joint_map_rate.
  virtual Motion<double> bias(const double* q, const double* v) const;
  /// q ⊕ v dt. By default q + v dt, for hinges whose v is the rate of q; throws Error where their sizes differ.
  virtual void integrate(const double* q, const double* v, double dt, double* out) const;
  /// The v with integrate(q0, v, 1) = q1. By default q1 − q0; throws Error as integrate does.
  virtual void difference(const double* q0, const double* q1, double* v) const;
  /// The configuration with X_FM = identity. By default all zero.
  virtual void neutral(double* q) const;
  /// Puts q back on its manifold. By default nothing.
  virtual void normalize(double* q) const;
};

/// How the modes of a flexible body displace one of its nodes, F being the node's frame at rest: for coordinates η it
/// turns by the rotation vector Σ λ_i η_i and moves by Σ γ_i η_i − ½ (η*Sη) e, in F's axes. All nodes of a body have
/// the same η: the hinge of one leads, those of the others mimic it.
struct ModalShape {
  std::vector<Vec3<double>> rotation = {};     ///< λ of each mode, rad for η = 1; empty: the node does not turn.
  std::vector<Vec3<double>> translation = {};  ///< γ of each mode, m for η = 1.
  std::vector<double> shortening = {};         ///< S, n×n row by row, m for η = 1; empty: none.
  Vec3<double> shortening_axis = Vec3<double>::unit_x();  ///< e: bending draws the node in against it.

  /// How many modes there are.
  int modes() const { return static_cast<int>(translation.size()); }
};

/// Properties of one velocity coordinate of a hinge. SI units of that coordinate (N·m or N, rad or m).
struct HingeDof {
  /// Smallest position; for hinges whose positions are plain coordinates.
  double lower = -std::numeric_limits<double>::infinity();
  /// Largest position.
  double upper = std::numeric_limits<double>::infinity();
  /// Largest speed.
  double velocity = std::numeric_limits<double>::infinity();
  /// Largest torque or force of the actuator.
  double effort = std::numeric_limits<double>::infinity();
  /// Rotor inertia seen at the hinge, added to the diagonal of the mass matrix.
  double armature = 0;
  /// Viscous friction: torque −damping · v.
  double damping = 0;
  /// Coulomb friction: torque −friction · sign(v), zero at rest, so that a hinge that rests never sticks. For
  /// simulations see inverse_dynamics.hpp.
  double friction = 0;
  /// Spring: torque −stiffness · difference(rest, q).
  double stiffness = 0;
};

/// q = ratio · q_of(hinge) + offset: this hinge has no coordinates of its own. Both have one coordinate, or both are
/// modal with as many modes, ratio 1 and offset 0.
struct Mimic {
  std::string hinge;  ///< Name of the hinge that leads, as written in the file.
  double ratio = 1;   ///< Factor.
  double offset = 0;  ///< Added, in rad or m.
};

/// What a hinge is, apart from where it sits.
struct Hinge {
  std::string name = {};                       ///< Unique among the hinges.
  HingeType type = HingeType::fixed;           ///< Kind of motion.
  Vec3<double> axis = Vec3<double>::unit_z();  ///< Unit axis in F, or the normal of a planar hinge.
  /// Universal: the second axis in M. Planar: the direction of x, at right angles to `axis`.
  Vec3<double> axis2 = Vec3<double>::unit_x();
  double pitch = 0;                                ///< Helical: metres a turn.
  std::vector<HingeDof> dofs = {};                 ///< One for each velocity coordinate; empty: all defaults.
  std::vector<double> rest = {};                   ///< The springs' rest configuration; empty: neutral.
  std::optional<Mimic> mimic = {};                 ///< Set where the hinge follows another.
  std::shared_ptr<const CustomHinge> custom = {};  ///< Set for type custom, and for it alone.
  std::shared_ptr<const ModalShape> modal = {};    ///< Set for type modal, and for it alone.

  /// Coordinates of the type, whether or not they are the hinge's own (a mimic hinge has none of its own).
  BUNRAKU_API int configuration_size() const;
  /// Velocity coordinates of the type.
  BUNRAKU_API int velocity_size() const;
};

/// X_FM(q). `q` holds configuration_size() numbers; a quaternion in it must have unit norm.
BUNRAKU_API Transform<double> hinge_pose(const Hinge& hinge, const double* q);
/// The columns of H*(q), velocity_size() of them, at M's origin in M's axes.
BUNRAKU_API void hinge_joint_map(const Hinge& hinge, const double* q, Motion<double>* columns);
/// The columns of dH*/dt along the motion v, velocity_size() of them, in M's axes: zero for all but universal, modal
/// and custom hinges.
BUNRAKU_API void hinge_joint_map_rate(const Hinge& hinge, const double* q, const double* v, Motion<double>* columns);
/// (dH*/dt) v in M's axes: zero for all but universal, modal and custom hinges.
BUNRAKU_API Motion<double> hinge_bias(const Hinge& hinge, const double* q, const double* v);
/// q ⊕ v dt: where the constant velocity v leads in time dt, exactly.
BUNRAKU_API void hinge_integrate(const Hinge& hinge, const double* q, const double* v, double dt, double* out);
/// q1 ⊖ q0: the constant velocity that leads from q0 to q1 in unit time, the shortest way.
BUNRAKU_API void hinge_difference(const Hinge& hinge, const double* q0, const double* q1, double* v);
/// The configuration at which F and M coincide.
BUNRAKU_API void hinge_neutral(const Hinge& hinge, double* q);
/// The q whose pose comes nearest to X: exactly it where X is a pose of the hinge. A hinge of the user's own searches,
/// by Gauss–Newton from neutral.
BUNRAKU_API void hinge_nearest(const Hinge& hinge, const Transform<double>& X, double* q);
/// Gives quaternions unit norm; a zero quaternion becomes no rotation.
BUNRAKU_API void hinge_normalize(const Hinge& hinge, double* q);

}  // namespace bunraku
