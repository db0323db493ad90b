/// @file
/// What a grasp holds.
#pragma once

#include <vector>

#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/grasp.hpp"

namespace bunraku::detail {

template <class T>
struct GraspData {
  std::vector<GraspArm> arms;
  std::vector<Contact> contacts;
  std::vector<int> closures;     ///< Of each contact.
  std::vector<Node> tips;        ///< Of each contact.
  std::vector<Node> nodes;       ///< Of each contact, on the object.
  std::vector<int> arm_of;       ///< Of each contact.
  double reach = 1e-3;           ///< Of tips, m and rad.
  bool solved = false;           ///< Whether forces are there.
  std::vector<T> accelerations;  ///< Of the last forward dynamics, stacked.
  std::vector<Force<T>> forces;  ///< f(0), of each contact.
  GraspCheck check;
  BasicClosedSystem<T> system;

  explicit GraspData(const Model& first, PassiveForces passive) : system(first, passive) {}

  /// The member that is the object.
  int object() const { return static_cast<int>(arms.size()); }
  /// A contact's closure, with rows and forces.
  const ClosedClosure<T>& closed(std::size_t contact) { return system.data().at(closures[contact]); }
};

/// Throws ArgumentError where there is no such contact.
template <class T>
std::size_t contact_number(const GraspData<T>& d, int i);
/// A contact's tip with the axes that the contact has now.
template <class T>
Node aligned_tip(BasicGrasp<T>& grasp, std::size_t contact);

}  // namespace bunraku::detail
