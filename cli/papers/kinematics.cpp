/// @file
/// Kinematics and the operators φ, H, B: K1 to K6.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row k1[] = {
    {"4a", "RK92 (4), RK88 (3.2)", "phi[2,2]", "I", chain4, algebra, "φ(i,i) = I"},
    {"4b", "RK92 (3)–(4)", "inv(Delta_phi)", "swap*~Delta_phi*swap", any, holds,
     "φ⁻¹(i,j) = φ(j,i): by (3) φ(j,i) is φ with −ℓ, its adjoint with the two halves exchanged"},
    {"4b+", "RK92 (4)", "swap[2,2]*~phi[0,2]*swap[0,0]*phi[0,1]", "swap[2,2]*~phi[1,2]*swap[1,1]", chain4, holds,
     "φ(j,i)φ(i,k) = φ(j,k), j the outermost; φ(j,i) as in 4b"},
    {"4c", "RK92 (4)", "phi[0,1]*phi[1,2]", "phi[0,2]", chain4, algebra},
    {"5", "RK92 (5), RK88 (3.3)", "phi[0,3]", "E_phi[0,1]*E_phi[1,2]*E_phi[2,3]", chain4, algebra},
    {"4c tree", "RK92 (4) on a tree", "phi[0,1]*phi[1,3]*phi[3,4]", "phi[0,4]", branch5, algebra},
    {"3", "RK92 (3)", "(I-ang)*Delta_phi*ang", "0*Delta_phi", any, holds, "lower left block of φ(i,j) is zero"},
    {"3 diag", "RK92 (3)", "swap*ang*Delta_phi*ang*swap", "(I-ang)*Delta_phi*(I-ang)", any, algebra,
     "the two diagonal blocks are equal (the rotation; the identity in the papers' coordinate-free form)"},
    {"3 tilde", "RK92 (3)", "ang*Delta_phi*~TURN*swap*ang", "-~(ang*Delta_phi*~TURN*swap*ang)", any, holds,
     "upper right block is skew: ℓ̃"},
};

constexpr Row k2[] = {
    {"2.3", "RJK89 (2.3)", "E_phi[1,2]", "phi[1,2]", chain4, algebra},
    {"2.3 nil", "RJK89 after (2.3)", "E_phi*E_phi*E_phi*E_phi", "0*phi", chain4, holds, "E_φⁿ = 0, n = 4"},
    {"2.4a", "RJK89 (2.4), (2.9), JR03 (1.3)", "phi", "inv(I-E_phi)"},
    {"2.4b", "RJK89 (2.4)", "phi", "I+E_phi+E_phi*E_phi+E_phi*E_phi*E_phi", chain4, algebra},
    {"2.4c", "RJK89 (2.4)", "phi[0,3]", "phi[0,1]*phi[1,2]*phi[2,3]", chain4, algebra},
    {"2.4d", "RJK91 appendix", "phit", "phi*E_phi", any, algebra},
    {"2.4e", "RJK91 appendix", "phit", "E_phi*phi", any, algebra},
    {"2.7", "RJK89 (2.7)", "E_phi[1,3]", "phi[1,3]", branch5, algebra, "the branch point"},
    {"2.7 zero", "RJK89 (2.7), last case", "E_phi[2,3]", "0*phi[2,3]", branch5},
    {"2.9", "RJK89 (2.9)", "phi", "I+E_phi+E_phi*E_phi+E_phi*E_phi*E_phi", branch5, algebra, "the tree is four deep"},
    {"2.10", "RJK89 (2.10)", "phi[0,4]", "phi[0,1]*phi[1,3]*phi[3,4]", branch5, algebra, "along the path"},
    {"2.10 zero", "RJK89 (2.10), last case", "phi[2,4]", "0*M[2,4]", branch5},
    {"3.29", "JR03 (3.29)", "E_phi", "S*Delta_phi", any, algebra},
    {"recursion", "RJK89 after (2.5)", "phi*w", "E_phi*(phi*w)+w", any, algebra, "φw by an inward recursion"},
    {"recursion*", "RJK89 after (2.5)", "~phi*w", "~E_phi*(~phi*w)+w", any, algebra, "φ*w by an outward recursion"},
};

constexpr Row k3[] = {
    {"7", "RK92 (7), RJK89 (2.2), (2.8)", "V", "~E_phi*V+~H*thetad", any, algebra},
    {"8", "RK92 (8), RJK89 (2.2), (2.8)", "alpha", "~E_phi*alpha+~H*thetadd+a"},
    {"9a", "RK92 (9)", "V0", "~B*V"},
    {"9b", "RK92 (9)", "alpha0", "~B*alpha+a0"},
    {"21a", "RK92 (21), RK88 (3.11)", "V[3]",
     "~H[3,3]*thetad[3]+~phi[2,3]*~H[2,2]*thetad[2]+~phi[1,3]*~H[1,1]*thetad[1]+~phi[0,3]*~H[0,0]*thetad[0]", chain4},
    {"21b", "RK92 (21), RK88 (3.12), RJK89 (2.5)", "V", "~phi*~H*thetad", any, algebra},
    {"21c", "RK92 (21)", "V0", "~B*~phi*~H*thetad"},
    {"3.14", "RK88 (3.14)", "alpha[2]",
     "(~H[2,2]*thetadd[2]+a[2])+~phi[1,2]*(~H[1,1]*thetadd[1]+a[1])+~phi[0,2]*(~H[0,0]*thetadd[0]+a[0])", chain4},
    {"25b", "RK92 (25), RK88 (3.15), RJK89 (2.5)", "alpha", "~phi*~H*thetadd+~phi*a"},
    {"after 23", "RK92 after (23), RK88 after (3.17)", "alpha0", "~B*~phi*~H*thetadd+~B*~phi*a+a0", any, holds,
     "so J̇θ̇ = B*φ*a + a(0)"},
};

constexpr Row k4[] = {
    {"20", "RK92 (19)–(20), RJK91 (1)", "~B*~phi*~H*thetad", "V0"},
    {"20*", "RK92 (20), RJK91 (5)", "~(~B*~phi*~H)", "H*phi*B", any, algebra},
    {"2.14", "RJK89 (2.14)", "V0", "~B*V"},
    {"duality", "RJK91 §2, T = J*f(0)", "~V0*y", "~thetad*(H*phi*B*y)", any, holds, "virtual work"},
    {"recursion", "RJK91 §2", "phi*B*y", "E_phi*phi*B*y+B*y", any, algebra},
};

constexpr Row k5[] = {
    {"2.19", "RK88 (2.19)", "a[2]", "cross(ang*~E_phi*V)[2,2]*(ang*V+(I-ang)*~E_phi*ang*V)[2]", revolute4, holds,
     "a(k) = (ω(k+1)×ω(k), ω(k+1)×[ω(k+1)×ℓ]); ang picks the angular half, ang·E_φ*·V is ω(k+1) in the axes of k"},
    {"2.19 first", "RK88 (2.19), first form", "a[2]", "cross(ang*~E_phi*V)[2,2]*(~H*thetad+(I-ang)*~E_phi*ang*V)[2]",
     revolute4, holds, "ω(k+1)×h θ̇"},
    {"2.32", "RK88 (2.32) corrected", "a[2]", "cross(ang*~E_phi*V)[2,2]*((I-ang)*~E_phi*ang*V+2*~H*thetad)[2]", slider4,
     holds, "sliding hinge: the Coriolis term carries 2"},
    {"2.32 printed", "RK88 (2.32), first form as scanned", "a[2]",
     "cross(ang*~E_phi*V)[2,2]*((I-ang)*~E_phi*ang*V+~H*thetad)[2]", slider4, fails,
     "as scanned: ω(k+1)×[ω(k+1)×ℓ + hθ̇] lacks the factor 2"},
    {"2.32 printed b", "RK88 (2.32), second form as scanned", "a[2]",
     "cross(ang*~E_phi*V)[2,2]*((I-ang)*~E_phi*ang*V+(I-ang)*V)[2]", slider4, fails,
     "as scanned: v(k) in place of 2hθ̇"},
    {"any hinge", "RK88 (2.19), (2.32), (3.21)", "a", "cross(V)*~H*thetad+(I-~E_phi)*cross(ang*V)*V+a_g+h", any, holds,
     "any hinge; h = (dH*/dt)θ̇ in the body's axes, which only universal hinges have; a_g = E g, the base's "
     "pseudo-acceleration"},
    {"2.23", "RK88 (2.23)", "b", "-~cross(ang*V)*M*ang*V", any, algebra,
     "b(k) = (ω×Iω, m ω×(ω×p)) = S[Ω]MΩ with Ω = (ω,0)"},
    {"3.21 ball", "RK88 (3.21)", "alpha-~phi*a_g", "~phi*(~H*thetadd+a-a_g)", any, holds,
     "accelerations without the pseudo part"},
    {"3.21 uniform", "RK88 (3.21)", "~phi*a_g", "a_g+~E_phi*~phi*a_g", any, algebra},
};

constexpr Row k6[] = {
    {"74a", "RK92 (74), RK88 (b.7)", "~H[0,0]*H[0,0]", "I", mobile4, algebra,
     "free base: H(n+1) is square and orthogonal"},
    {"74b", "RK92 (74), RK88 (b.7)", "H[0,0]*~H[0,0]", "I", mobile4, algebra},
    {"b.2", "RK88 (b.2)", "V[0]", "~H[0,0]*thetad[0]", mobile4, algebra},
    {"b.6", "RK88 (b.6), RK92 (75)–(76)", "(alpha-a)[0]", "~H[0,0]*thetadd[0]", mobile4, holds,
     "α(N) = Ẇ(N): printed without gravity, so a_g is taken off (a(N) carries nothing else in the papers; here also "
     "ω×v, since Ẇ are components in the base's own axes)"},
    {"77", "RK92 (77), RK88 (b.8)", "~H[0,0]*T[0]", "f[0]", mobile4, algebra},
    {"79a", "RK92 (79), RK88 (b.9)", "T+H*phi*B*y", "MASS*thetadd+BIAS+H*phi*B*y", mobile4},
    {"79b", "RK92 (79), RK88 (b.10)", "thetadd", "inv(MASS)*(T_y-BIAS-H*phi*B*y)", mobile4, holds,
     "T is the torque without a tip force; with f(0) = y the same motion needs T + HφBy"},
    {"79c", "RK88 (b.10)", "thetadd", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)*(T_y-BIAS-H*phi*B*y)", mobile4},
    {"ball", "RK88 App. B, ball joint", "H[2,2]*ang[2,2]*~H[2,2]", "I", mobile4, algebra,
     "H = [I 0]: three angular freedoms"},
    {"ball lin", "RK88 App. B, ball joint", "H[2,2]*swap[2,2]*~H[2,2]", "0*D[2,2]", mobile4, holds,
     "and no linear ones"},
    {"free root", "RK92 (74)", "I+(I-G*H)[0,0]", "I", mobile4, holds,
     "across a free hinge nothing is carried: GH = I, ψ(base) = 0"},
};

}  // namespace

std::span<const Row> rows_k1() {
  return k1;
}
std::span<const Row> rows_k2() {
  return k2;
}
std::span<const Row> rows_k3() {
  return k3;
}
std::span<const Row> rows_k4() {
  return k4;
}
std::span<const Row> rows_k5() {
  return k5;
}
std::span<const Row> rows_k6() {
  return k6;
}

}  // namespace bunraku::cli::papers
