/// @file
/// Step D of RJK89 with the secondary members' coordinates as unknowns (after 3.11): what it holds.
///
/// With L = A_PΛ_PA_P* and 𝔟_S = D_S^(−½)H_Sψ_SB_SA_S* step D is (L + 𝔟_S*𝔟_S) f̃ = r. L has a block for each group of
/// closures that meet in primary members: one for each arm that holds an object. Elimination of f̃ leaves
///
///   (I + 𝔟_S L⁻¹ 𝔟_S*) y = 𝔟_S L⁻¹ r,   f̃ = L⁻¹(r − 𝔟_S* y),
///
/// which is 𝓜_S + J_S*A_S*(A_PΛ_PA_P*)⁻¹A_SJ_S seen from both sides through D_S^(−½)W_S, and so needs no mass matrix.
/// Directions of a block that L hardly moves (an arm near a singularity), and closures within secondary members, are
/// not eliminated: with those of f̃ as unknowns μ beside y nothing is divided by what is nearly zero.
#pragma once

#include <cstddef>
#include <vector>

namespace bunraku::detail {

/// An index for the standard library.
inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// Closures that meet in primary members.
struct ClosedGroup {
  int first = 0;        ///< Its first closure in ClosedBlocks::closures.
  int count = 0;        ///< How many it has.
  int row = 0;          ///< Its first row in the order of groups.
  int rows = 0;         ///< How many it has.
  std::size_t at = 0;   ///< Where its block of L begins.
  int first_seen = 0;   ///< Its first coordinate in ClosedBlocks::seen.
  int seen = 0;         ///< How many coordinates of secondary members its closures see.
  bool primary = true;  ///< Whether primary members are in it; else L is zero there.
  bool whole = true;    ///< Whether the block was eliminated by its Cholesky factor; else by eigenvectors.
};

/// The way to go about step D; other than automatic for tests.
enum class StepD { automatic, dense, blocks };

/// Matrices are row by row; rows are in the order of groups.
template <class T>
struct ClosedBlocks {
  StepD wanted = StepD::automatic;
  bool chosen = false;    ///< Whether step D goes by blocks.
  bool factored = false;  ///< Whether factors belong to the present blocks.
  bool certain = false;   ///< Whether those leave no doubt about the rank.
  double dense_work = 0;  ///< Multiplications of step D with one Λ.
  double block_work = 0;  ///< The same by blocks.
  T least = T(1);         ///< The least pivot.

  std::vector<ClosedGroup> groups;
  std::vector<int> joined;     ///< Of each member: another that closures join it to, or itself.
  std::vector<int> group_of;   ///< Of each closure, and of members that stand for a group: the group.
  std::vector<int> closures;   ///< Numbers of closures, group by group.
  std::vector<int> row;        ///< Of each closure: its first row in the order of groups.
  std::vector<int> seen;       ///< Secondary coordinates of the groups' supports.
  std::vector<char> marked;    ///< Scratch of as many.
  std::vector<int> secondary;  ///< Of each member: where its coordinates begin among secondary ones; −1: primary.
  std::vector<int> every;      ///< Of each member: where its coordinates begin among all.
  int unknowns = 0;            ///< Coordinates of secondary members.
  int coordinates = 0;         ///< Coordinates of all members.
  int weak = 0;                ///< Directions kept as unknowns.

  std::vector<T> L;          ///< Blocks of L, scaled.
  std::vector<T> factor;     ///< Their Cholesky factors, or eigenvectors as rows.
  std::vector<T> values;     ///< Of each row: the eigenvalue, where eigenvectors are used.
  std::vector<T> b;          ///< 𝔟_S*, rows × unknowns, scaled.
  std::vector<T> x;          ///< L^(−½)𝔟_S*; of what is kept as unknown V_w*𝔟_S*.
  std::vector<T> S;          ///< I + 𝔟_S L⁻¹ 𝔟_S* and its Cholesky factor.
  std::vector<T> kept;       ///< V_w*𝔟_S* S^(−½), weak × unknowns.
  std::vector<int> weak_of;  ///< Of each row: its place among what is kept as unknown, or −1.
  std::vector<T> z;          ///< L^(−½)r, in the order of groups.
  std::vector<T> y;
  std::vector<T> mu;
  std::vector<T> ordered;   ///< A vector in the order of groups.
  std::vector<T> weighted;  ///< 𝔟f̃, for all coordinates.
  std::vector<T> kept_right;
  std::vector<T> kept_size;
};

}  // namespace bunraku::detail
