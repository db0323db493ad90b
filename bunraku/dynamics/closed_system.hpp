/// @file
/// Closed systems (RJK89 §2.5, §3; RK88 Part II): trees whose loops are closed, manipulators and the objects that they
/// hold, tools that come and go.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/dynamics/state.hpp"

namespace bunraku {

namespace detail {
template <class T>
struct ClosedData;
}  // namespace detail

/// What the closures of a system came to at a state. Sizes σ are those of the scaled columns 𝔟 = D^(−½)HψBA* (RJK89
/// 3.13), each row relative to what it would be if nothing in it vanished by chance, so that they depend on no unit.
struct ClosureReport {
  int rows = 0;                ///< Equations of all closures.
  int rank = 0;                ///< How many of them are independent here.
  int degrees_of_freedom = 0;  ///< 𝒩 − rank.
  int generic_rank = 0;        ///< How many are independent at most configurations near by.
  /// Whether more are independent near by than here: the equations then do not determine the motion, and the
  /// accelerations are one of those that satisfy them. Closures that are redundant everywhere are not singular.
  bool singular = false;
  double last_kept = 1;                ///< The least σ that counts, relative to the largest, or less.
  double first_dropped = 0;            ///< The largest that does not, likewise.
  std::vector<std::string> redundant;  ///< Closures some of whose forces are not unique.
  /// Whether some rows of these closures are nearly, but not quite redundant, as rounded numbers in a file make them.
  bool nearly_redundant = false;
};

/// Thrown where closures contradict each other: no acceleration satisfies all of them. Names them.
class BUNRAKU_API ContradictionError : public Error {
 public:
  using Error::Error;
};

/// Which side of the partition of RJK89 a member is on; step D is in terms of the mass matrix of secondary members
/// where that is cheaper.
enum class Role {
  primary,    ///< A manipulator, which stays.
  secondary,  ///< An object or a tool, which comes and goes.
};

/// Trees and closures between them, with a state of each tree and all scratch. One closure may join two nodes of one
/// tree, a node and the world, or nodes of two trees. Nothing allocates after members and closures are there and each
/// function was called once; removed members and closures leave their memory to those that come later.
///
/// Vectors of a system are stacked: member by member in the order of their numbers, see first().
template <class T>
class BUNRAKU_API BasicClosedSystem {
 public:
  /// One tree, with the closures of its model.
  explicit BasicClosedSystem(const Model& model, PassiveForces passive = PassiveForces::included);
  ~BasicClosedSystem();
  BasicClosedSystem(const BasicClosedSystem&) = delete;
  BasicClosedSystem& operator=(const BasicClosedSystem&) = delete;
  BasicClosedSystem(BasicClosedSystem&&) noexcept;             ///< Takes all over; the other is then of no use.
  BasicClosedSystem& operator=(BasicClosedSystem&&) noexcept;  ///< Takes all over; the other is then of no use.

  /// Adds a tree with the closures of its model; returns its number. O(N) memory, unless one of the same model was
  /// removed, whose memory it takes over.
  int add_member(const Model& model, Role role = Role::primary, PassiveForces passive = PassiveForces::included);
  /// Removes a tree and all closures with it. The other members keep their numbers. Throws ArgumentError for a number
  /// that is no member's.
  void remove_member(int member);
  /// Members there are, counting those removed: their numbers are below this.
  int members() const;
  /// Whether that is the number of a member.
  bool has_member(int member) const;

  /// Adds a closure between nodes, or hinges, of two members, or of one twice; returns its number. Throws ArgumentError
  /// for members, nodes or hinges that do not exist, a node joined to itself, axes without direction, by name. O(d).
  int add_closure(const Closure& closure, int member_a = 0, int member_b = 0);
  /// Removes a closure; its number may be given to another.
  void remove_closure(int closure);
  /// Opens a closure for a while. It keeps its number and its memory, and nothing allocates.
  void detach(int closure);
  /// Closes it again.
  void attach(int closure);
  /// Whether it holds.
  bool is_attached(int closure) const;
  /// Another hinge, length or polynomial in place of a closure's own; the nodes stay. Costs nothing but step D: no
  /// sweep over the bodies is repeated (RJK89 §3).
  void change_closure(int closure, const Closure& with);
  /// The number of the closure of that name. Throws ArgumentError, naming the nearest name.
  int closure_index(std::string_view name) const;
  /// Numbers of closures are below this; removed ones are counted.
  int closures() const;
  /// Whether that is the number of a closure.
  bool has_closure(int closure) const;
  /// A closure.
  const Closure& closure(int closure) const;
  /// dŨ/dt of a closure, a number for each of its rows: accelerations that it asks for beside what its motion does.
  /// Zero to begin with.
  void set_rate(int closure, In<T> rate);

  /// A member's state: set its q and v there. Throws ArgumentError.
  BasicState<T>& state(int member = 0);
  /// Sets q and v of all members, stacked.
  void set(const Input<T>& q, const Input<T>& v);
  /// Positions of all members.
  int nq() const;
  /// Velocities of all members, 𝒩.
  int nv() const;
  /// Where a member's velocities begin in stacked vectors.
  int first(int member) const;
  /// Equations of all closures that are attached.
  int rows() const;
  /// σ relative to the largest below which a row counts as dependent. 1e-9 (`float`: 1e-4) to begin with.
  void set_rank_tolerance(double tolerance);

  /// For the library's own sources.
  detail::ClosedData<T>& data() { return *data_; }
  /// For the library's own sources.
  const detail::ClosedData<T>& data() const { return *data_; }

 private:
  std::unique_ptr<detail::ClosedData<T>> data_;
};

extern template class BasicClosedSystem<double>;
extern template class BasicClosedSystem<float>;

/// A closed system in double precision.
using ClosedSystem = BasicClosedSystem<double>;

}  // namespace bunraku
