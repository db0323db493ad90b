/// What is marked as new in an expression.
#include "bunraku/operators/language/detail/marks.hpp"

#include <string>

#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"

namespace bunraku::test {
namespace {

std::string marked(const char* before, const char* after) {
  const Operator x = parse(after);
  return operators::marked_unicode(x, operators::new_parts(parse(before), x));
}

TEST(Marks, FactorsBetweenThoseThatStay) {
  EXPECT_EQ(marked("H*phi*M*~H", "H*phi*M*~H"), "H φ M H∗");
  EXPECT_EQ(marked("H*phi*M*~H", "H*psi*M*~H"), "H ⟦ψ⟧ M H∗");
  EXPECT_EQ(marked("H*phi*M*~H", "H*psi*P*~H"), "H ⟦ψ P⟧ H∗");
  EXPECT_EQ(marked("H*phi*M*~phi*~H", "H*psi*M*~psi*~H"), "H ⟦ψ⟧ M ⟦ψ⟧∗ H∗");
  EXPECT_EQ(marked("H*phi*~H", "H*(psi*P + P*~phi)*~H"), "H ⟦ψ P + P φ∗⟧ H∗");
  EXPECT_EQ(marked("H*phi*~H", "H*psi*P*~phi*~H"), "H ⟦ψ P φ∗⟧ H∗");
  EXPECT_EQ(marked("H*phi*phi*~H", "H*phi*~H"), "⟦H φ H∗⟧") << "nothing is new in it";
  EXPECT_EQ(marked("H*phi", "~thetad*D"), "⟦θ̇∗ D⟧");
}

TEST(Marks, TermsInWhateverOrder) {
  EXPECT_EQ(marked("phi + M + P", "P + psi + phi"), "P + ⟦ψ⟧ + φ");
  EXPECT_EQ(marked("phi + M*P", "phi + M*R"), "φ + M ⟦R⟧");
  EXPECT_EQ(marked("phi - M*P", "phi - M*R"), "φ - M ⟦R⟧");
  EXPECT_EQ(marked("phi - 2*P", "phi - 2*R"), "φ - 2 ⟦R⟧");
  EXPECT_EQ(marked("phi + P", "phi - P"), "φ - ⟦P⟧");
  EXPECT_EQ(marked("phi - P", "phi - 2*P"), "φ - ⟦2 P⟧");
  EXPECT_EQ(marked("P + phi", "M - R + phi"), "⟦M - R⟧ + φ");
  EXPECT_EQ(marked("phi + P", "phi - M + R"), "φ + ⟦-M + R⟧");
  EXPECT_EQ(marked("phi + P + M", "P + M"), "⟦P + M⟧") << "nothing is new in it";
  EXPECT_EQ(marked("phi + P", "M + R"), "⟦M + R⟧");
}

TEST(Marks, Within) {
  EXPECT_EQ(marked("inv(phi*M)", "inv(phi*P)"), "(φ ⟦P⟧)⁻¹");
  EXPECT_EQ(marked("inv(phi + M)", "inv(phi*M)"), "⟦φ M⟧⁻¹");
  EXPECT_EQ(marked("~(phi + M)", "~(phi + P)"), "(φ + ⟦P⟧)∗");
  EXPECT_EQ(marked("-(phi*M)", "-(phi*P)"), "-φ ⟦P⟧");
  EXPECT_EQ(marked("sqrt(M)*phi", "sqrt(P)*phi"), "⟦P⟧^½ φ");
  EXPECT_EQ(marked("gather(E_phi, M + P)", "gather(E_phi, M + R)"), "gather(E_φ, M + ⟦R⟧)");
  EXPECT_EQ(marked("cross(phi*V)*M", "cross(V)*M"), "cross(⟦V⟧) M");
  EXPECT_EQ(marked("(phi*M)[1, 2]", "(phi*P)[1, 2]"), "(φ ⟦P⟧)[1, 2]");
  EXPECT_EQ(marked("phi[1, 2]", "phi[1, 3]"), "⟦φ[1, 3]⟧");
}

}  // namespace
}  // namespace bunraku::test
