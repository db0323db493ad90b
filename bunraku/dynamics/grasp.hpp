/// @file
/// Several arms and an object that they hold (RK88 Part II): accelerations and contact forces, internal forces, load
/// sharing, and whether one-sided contacts hold.
///
/// A contact is where a node of an arm, its tip, meets a node of the object, the contact's frame, which is fixed in the
/// object: contacts do not slip. Its z axis is the **inward** normal n, from finger into object; x and y are tangents.
/// Contact forces are f(0) = (N, F): what the finger exerts **on the object**, at that node's origin, in its axes, N·m
/// and N. Vectors of all contacts are stacked, six numbers a contact.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/results.hpp"

namespace bunraku {

namespace detail {
template <class T>
struct GraspData;
}  // namespace detail

/// What a contact lets move: V⁻ = V⁺ + H*(0)W, H*(0) = (h; 0) (RK88 Part II, a.6).
enum class ContactType {
  rigid,        ///< Nothing. Two-sided.
  revolute,     ///< A turn about `axis`: h is that axis. Two-sided.
  line,         ///< The same, as an edge does that lies on the object along `axis`: one-sided.
  ball,         ///< Any turn: h = I. Two-sided.
  point,        ///< The same, as a point with friction does: one-sided.
  soft_finger,  ///< Turns about the tangents, none about the normal. One-sided.
};
/// `rigid`, `revolute`, `line`, `ball`, `point` or `soft_finger`.
BUNRAKU_API std::string_view to_string(ContactType type);

/// How a soft finger's friction and torsion go together.
enum class TorsionLimit {
  separate,   ///< |F_t| ≤ μF_n and |N_n| ≤ γF_n.
  ellipsoid,  ///< (|F_t|/μ)² + (N_n/γ)² ≤ F_n².
};

/// A contact. Limits that are infinite are not checked.
struct Contact {
  std::string arm;                              ///< The arm's name.
  std::string tip;                              ///< A node of its model.
  std::string node;                             ///< A node of the object's model: the contact's frame.
  ContactType type = ContactType::rigid;        ///< What it lets move.
  Vec3<double> axis = Vec3<double>::unit_x();   ///< Of revolute and line contacts, in the contact's axes.
  double friction = infinite;                   ///< μ, of one-sided contacts.
  double torsion = infinite;                    ///< γ, m, of soft fingers, and of lines about the centre of pressure.
  double half_length = infinite;                ///< c, m, of lines.
  TorsionLimit limit = TorsionLimit::separate;  ///< Of soft fingers.

  /// No limit.
  static constexpr double infinite = std::numeric_limits<double>::infinity();
};

/// An arm, or a hand with several tips.
struct GraspArm {
  std::string name;                                 ///< Unique among the arms.
  Model model;                                      ///< What it is.
  PassiveForces passive = PassiveForces::included;  ///< As of State.
};

/// Arms, an object, and contacts between them, with a state of each and all scratch. Vectors of hinges are stacked:
/// those of the arms in their order, then the object's.
template <class T>
class BUNRAKU_API BasicGrasp {
 public:
  /// Throws ArgumentError for arms of one name, contacts of arms or nodes that do not exist, tips that hold twice,
  /// limits that are no limits, by name.
  BasicGrasp(const std::vector<GraspArm>& arms, const Model& object, const std::vector<Contact>& contacts);
  ~BasicGrasp();
  BasicGrasp(const BasicGrasp&) = delete;
  BasicGrasp& operator=(const BasicGrasp&) = delete;
  BasicGrasp(BasicGrasp&&) noexcept;             ///< Takes all over; the other is then of no use.
  BasicGrasp& operator=(BasicGrasp&&) noexcept;  ///< Takes all over; the other is then of no use.

  /// ℓ.
  int arms() const;
  /// The number of the arm of that name. Throws ArgumentError, naming the nearest name.
  int arm_index(std::string_view name) const;
  /// How many contacts there are.
  int contacts() const;
  /// A contact. Throws ArgumentError.
  const Contact& contact(int i) const;
  /// An arm's state: set its q and v there. Throws ArgumentError.
  BasicState<T>& arm(int i);
  /// The object's state.
  BasicState<T>& object();
  /// The closed system that it is: arms are its members in their order, then the object; a closure for each contact,
  /// with the finger as a and the object as b.
  BasicClosedSystem<T>& system();
  const BasicClosedSystem<T>& system() const;  ///< @copydoc system()
  /// The number of a contact's closure there. Throws ArgumentError.
  int closure(int contact) const;

  /// Takes the present attitude of each finger on the object as the one in which it holds. Without this, rigid contacts
  /// hold the tip's frame in the contact's, and revolute and line contacts axis on axis. Allocates.
  void align();
  /// How far, in m and in rad, tips may be off before grasp_forward_dynamics refuses: 1e-3 to begin with.
  void set_reach(double tolerance);

  /// For the library's own sources.
  detail::GraspData<T>& data() const { return *data_; }

 private:
  std::unique_ptr<detail::GraspData<T>> data_;
};

extern template class BasicGrasp<double>;
extern template class BasicGrasp<float>;

/// A grasp in double precision.
using Grasp = BasicGrasp<double>;

/// θ̈ of arms and object, with f(0) = Q*(QΩQ*)⁻¹Q(J𝓜⁻¹T + G₁) (RK88 Part II, b.4–b.9, in rows Q with QH*(0) = 0, which
/// needs no regular Ω). Time grows with the number of arms: O(n + ℓ) where no arm is near a singularity. `torques` has
/// those of the object, too. Throws Error where a tip does not reach its contact, by name, and as
/// closed_forward_dynamics. Allocates nothing after the first call.
template <class T>
BUNRAKU_API const ClosureReport& grasp_forward_dynamics(BasicGrasp<T>& grasp, In<T> torques, Out<T> out);

/// f(0) of a contact, of the last grasp_forward_dynamics. Throws ArgumentError; Error where there was none.
template <class T>
BUNRAKU_API Force<T> contact_force(const BasicGrasp<T>& grasp, int contact);
/// f(0) of all contacts, stacked.
template <class T>
BUNRAKU_API void contact_forces(const BasicGrasp<T>& grasp, Out<T> out);
/// α⁻(0) = Aα(C) + a(C) of a contact, of the last grasp_forward_dynamics: the inertial derivative of the object's
/// spatial velocity at the contact, in its axes; true, without gravity's pseudo-acceleration. O(d). Throws as
/// contact_force.
template <class T>
BUNRAKU_API Motion<T> contact_acceleration(BasicGrasp<T>& grasp, int contact);

/// How many independent internal forces there are: rows(Q) − rank(QA). Throws nothing; allocates. O(rows²(rows + n_S)).
template <class T>
BUNRAKU_API int internal_force_count(BasicGrasp<T>& grasp);
/// Contact forces that do not move the object: Q* times a basis of ker (QA)*, 6ℓ × internal_force_count. Of an
/// articulated object they do not move its hinges either. Columns are independent; with moments in units of the
/// contacts' root mean square distance from their middle they are orthonormal. O(rows²(rows + n_S)); allocates.
template <class T>
BUNRAKU_API void internal_forces(BasicGrasp<T>& grasp, MatrixOut<T> out);

/// Contact forces for accelerations of the object, f = 𝓦A(A*𝓦A)⁻¹(M(C)α + b(C)), with 𝓦 the arms' own spatial
/// inertias Λ_i at the contacts: an arm that moves more easily takes less. What contacts cannot transmit is left out:
/// of all f = Q*λ that do it these have the least f*𝓦⁻¹f, in any units. Throws Error where no contact forces do it,
/// with what is missing. O(ℓ³); allocates.
template <class T>
BUNRAKU_API void load_sharing(BasicGrasp<T>& grasp, In<T> object_accelerations, Out<T> out);
/// The same with other 𝓦: 6 × 6ℓ, for each contact six columns, symmetric and positive definite, in its axes. Throws
/// ArgumentError where they are not.
template <class T>
BUNRAKU_API void load_sharing(BasicGrasp<T>& grasp, In<T> object_accelerations, MatrixIn<T> weights, Out<T> out);

/// Which limit of a contact.
enum class ContactLimit {
  push,      ///< F_n ≥ 0.
  friction,  ///< |F_t| ≤ μF_n; of an ellipsoid friction and torsion together, with margin F_n − √(…).
  torsion,   ///< |N_n| ≤ γF_n.
  pressure,  ///< The centre of pressure of a line is on it: |N·(n×t)| ≤ cF_n.
};
/// `push`, `friction`, `torsion` or `pressure`.
BUNRAKU_API std::string_view to_string(ContactLimit limit);

/// How far a contact is from a limit.
struct ContactMargin {
  int contact = 0;                          ///< Which.
  ContactLimit limit = ContactLimit::push;  ///< Which limit.
  double margin = 0;                        ///< What is left, N or N·m; negative beyond the limit.
  double relative = 0;                      ///< Of |F|.
  bool violated = false;                    ///< Below −1e-9 |F|.
};

/// What was found of all contacts.
enum class GraspVerdict {
  holds,         ///< All one-sided contacts are within their limits.
  violated,      ///< Some are not.
  undetermined,  ///< Forces of some are not unique, and no violation is certain: choose an internal force.
};

/// Margins of all one-sided contacts.
struct GraspCheck {
  GraspVerdict verdict = GraspVerdict::holds;  ///< All together.
  std::vector<ContactMargin> margins;          ///< Of contacts whose forces are known.
  std::vector<int> undetermined;               ///< One-sided contacts whose forces are not unique.
};

/// Checks one-sided contacts with the forces of the last grasp_forward_dynamics. Of redundant contacts those without
/// unique forces are not judged. O(ℓ); allocates nothing after the first call. There until the next.
template <class T>
BUNRAKU_API const GraspCheck& check_contacts(BasicGrasp<T>& grasp);
/// The same with contact forces that were chosen, such as those of load_sharing and an internal force.
template <class T>
BUNRAKU_API const GraspCheck& check_contacts(BasicGrasp<T>& grasp, In<T> forces);
/// A line for each violation and each contact that is undetermined, by name; empty where all hold.
template <class T>
BUNRAKU_API std::string describe(const BasicGrasp<T>& grasp, const GraspCheck& check);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE VectorX<T> grasp_forward_dynamics(BasicGrasp<T>& grasp, In<T> torques) {
  VectorX<T> out(grasp.system().nv());
  grasp_forward_dynamics(grasp, torques, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> contact_forces(const BasicGrasp<T>& grasp) {
  VectorX<T> out(6 * grasp.contacts());
  contact_forces(grasp, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> internal_forces(BasicGrasp<T>& grasp) {
  MatrixX<T> out(6 * grasp.contacts(), internal_force_count(grasp));
  internal_forces(grasp, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> load_sharing(BasicGrasp<T>& grasp, In<T> object_accelerations) {
  VectorX<T> out(6 * grasp.contacts());
  load_sharing(grasp, object_accelerations, out);
  return out;
}
/// @}

}  // namespace bunraku
