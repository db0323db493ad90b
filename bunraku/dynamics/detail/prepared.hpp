/// @file
/// What of the dynamics is the program of its operator expression. The expressions stand in prepared.cpp, already in
/// the form in which they run, so that nothing is searched for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::detail {

/// The library's own expressions.
enum class Prepared {
  mass_root,          ///< 𝓜^½.
  inverse_mass_root,  ///< 𝓜^−½.
  inverse_mass,       ///< 𝓜⁻¹, of all hinges or of those that are not held.
  lambda_inverse,     ///< J𝓜⁻¹J* of nodes.
  factors,            ///< D; P, D and G body by body come with it.
  reactions,          ///< f, of θ̈ and forces on the bodies.
  fd1,                ///< θ̈ by RK92 47–54, of T and forces on the bodies; by 55–59 as well.
  fd3,                ///< θ̈ by RK92 60–65, likewise.
  fd4,                ///< θ̈ by RK92 66–73, likewise.
  fd2_links,          ///< α on the way of fd2, gravity's pseudo-acceleration of the base included.
  fd4_links,          ///< α on the way of fd4, likewise.
  count,
};

/// The programs that a state has used so far, each with room for its values.
template <class T>
class PreparedPrograms {
 public:
  /// Ready to be applied at the state as it is, with so many nodes or more, on the world where they are not set. The
  /// first time takes room, O(N), and so do more nodes than ever before; after that nothing is allocated.
  operators::Evaluator<T>& at(Prepared which, StateData<T>& state, std::size_t nodes = 0);

  /// Scratch of hybrid_dynamics(), one number a velocity of the user.
  struct Hybrid {
    std::vector<T> armature;  ///< With prescribed hinges held.
    std::vector<T> rate;      ///< θ̈.
    std::vector<T> needed;    ///< Torques for it, or what free hinges add to it.
    std::vector<T> left;      ///< Torques that are left for free hinges.
  };

  Hybrid hybrid;
  std::vector<T> loads;   ///< Forces from outside, by bodies: see lend_loads.
  std::vector<T> unit;    ///< Scratch of lambda_inverse(), one number a row of nodes …
  std::vector<T> column;  ///< … likewise.

 private:
  struct Entry {
    std::unique_ptr<operators::Evaluator<T>> evaluator;
    std::size_t nodes = 0;
    std::uint64_t version = 0;
  };
  std::array<Entry, static_cast<std::size_t>(Prepared::count)> entries_;
  std::shared_ptr<const operators::Folded> links_;
  std::shared_ptr<const operators::Folded> bodies_;
};

/// Those of a state.
template <class T>
PreparedPrograms<T>& programs_of(StateData<T>& state);

/// The program of an expression, ready at the state.
template <class T>
operators::Evaluator<T>& prepared(StateData<T>& state, Prepared which) {
  return programs_of(state).at(which, state);
}

/// Lends a program forces from outside as the vector that it has for them.
template <class T>
void lend_loads(StateData<T>& state, Forces<T> forces, operators::Evaluator<T>& program);

}  // namespace bunraku::detail
