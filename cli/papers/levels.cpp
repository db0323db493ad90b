/// @file
/// The seven levels of RK92 Fig. 3: L1.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row l1[] = {
    {"level 1", "RK92 §IX, Fig. 3 corrected", "thetadd", "~(I-H*Psi92*G)*inv(D)*(I-H*Psi92*G)*((T-BIAS))", any, holds,
     "the user's expression, T' for T; RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"level 1 printed", "RK92 §IX", "thetadd", "inv(I-H*Psi92*G)*inv(D)*~(I-H*Psi92*G)*((T-BIAS))", any, fails,
     "(I−HΨG)⁻¹D⁻¹(I−HΨG)ᵀ"},
    {"level 2", "RK92 Fig. 3, level 2", "(I-H*Psi92*G)*x", "x-H*(Psi92*(G*x))", any, algebra, "H, Ψ, G taken apart"},
    {"level 2*", "RK92 Fig. 3, level 2", "~(I-H*Psi92*G)*x", "x-~G*(~Psi92*(~H*x))", any, algebra},
    {"level 3", "RK92 Fig. 3, level 3", "Psi92*w", "psi*(E_phi*w)", any, algebra,
     "Ψ is the transition operator of the filter"},
    {"level 4", "RK92 Fig. 3, level 4", "Psi92*w", "E_psi*(Psi92*w)+E_phi*w", any, holds, "the inward recursion"},
    {"level 4*", "RK92 Fig. 3, level 4", "~Psi92*w", "~E_phi*(~E_psi*(~psi*w)+w)", any, holds, "the outward recursion"},
    {"level 5", "RK92 Fig. 3, level 5", "(Psi92*w)[1]",
     "psi[1,2]*(Psi92*w)[2]+psi[1,3]*(Psi92*w)[3]+phi[1,2]*w[2]+phi[1,3]*w[3]", branch5, holds,
     "one transition ψ(k,k−1) a link"},
    {"level 6", "RK92 Fig. 3, level 6", "psi[1,2]", "phi[1,2]*(I-G*H)[2,2]", branch5, algebra,
     "within a link, and across a hinge"},
    {"level 6 op", "RK92 Fig. 3, level 6", "E_psi", "S*Delta_phi*(I-G*H)"},
    {"level 7", "RK92 Fig. 3, level 7", "TURN*~TURN", "I", any, holds, "the coordinate transform in φ is a rotation"},
    {"level 7 shift", "RK92 Fig. 3, level 7", "ang*Delta_phi*~TURN*ang+(I-ang)*Delta_phi*~TURN*(I-ang)", "I", any,
     holds, "and what is left is the pure shift [I ℓ̃; 0 I]"},
};

}  // namespace

std::span<const Row> rows_l1() {
  return l1;
}

}  // namespace bunraku::cli::papers
