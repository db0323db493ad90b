/// @file
/// The symbols of the papers: how they are written, between which spaces they act, what they mean.
#pragma once

#include <span>
#include <string_view>

#include "bunraku/operators/language/space.hpp"

namespace bunraku {

/// The operators and stacked vectors that a System gives values to.
enum class Symbol {
  E_phi,
  phi,
  phit,
  H,
  M,
  B,
  R,
  P,
  D,
  G,
  K,
  tau,
  taub,
  E_psi,
  psi,
  psit,
  Upsilon,
  Omega,
  S,
  Delta_phi,
  armature,
  V,
  alpha,
  a,
  b,
  f,
  T,
  thetad,
  thetadd,
  T_p,
  ang,
  stiffness,
  a_g,
  A,
  A_h,
  U,
  a_n,
  M_C,
};

/// One row of the table.
struct SymbolInfo {
  Symbol symbol;             ///< Which.
  std::string_view ascii;    ///< As typed.
  std::string_view unicode;  ///< As printed.
  std::string_view latex;    ///< As typeset.
  SpaceKind range;           ///< Where its values are.
  SpaceKind domain;          ///< What it acts on.
  Kind kind;                 ///< Along which direction.
  bool symmetric;            ///< Equal to its adjoint.
  std::string_view meaning;  ///< In words, and how it is defined.
  std::string_view source;   ///< Where the papers define it.
};

/// All symbols, in the order of Symbol.
BUNRAKU_API std::span<const SymbolInfo> symbol_table();
/// Whether a symbol belongs to a pair of inertia and armature: see Operator::of_family.
BUNRAKU_API bool has_family(Symbol symbol);
/// Whether a symbol is about loop closures: A, A_h, U, a_n, M_C.
BUNRAKU_API bool is_of_closures(Symbol symbol);
/// The row of a symbol. Throws ArgumentError where there is no such symbol.
BUNRAKU_API const SymbolInfo& info(Symbol symbol);

}  // namespace bunraku
