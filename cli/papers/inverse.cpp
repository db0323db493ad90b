/// @file
/// Inverse dynamics and the mass matrix: I1 to I3.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row i1[] = {
    {"11", "RK92 (11), RJK89 (2.2), (2.8)", "f", "E_phi*f+M*alpha+b"},
    {"12", "RK92 (12)", "T", "H*f", any, algebra},
    {"11 tip", "RK92 (10)–(11)", "f+phi*B*y", "E_phi*(f+phi*B*y)+M*alpha+b+B*y", any, holds, "with f(0) = y"},
    {"24a", "RK92 (24), RK88 (3.17)", "f+phi*B*y", "phi*(M*alpha+b+B*y)"},
    {"24b", "RK92 (24)", "T_y", "H*(f+phi*B*y)"},
    {"25a", "RK92 (25), RK88 (3.18)", "T_y", "H*phi*(M*alpha+b+B*y)"},
    {"22", "RK92 (22)", "~thetad*MASS*thetad", "~V*M*V", any, holds, "𝓜 = HφMφ*H*: twice the kinetic energy, from V"},
    {"23", "RK92 (23), RJK89 (2.5), (2.11), JR03 (1.2)", "T", "MASS*thetadd+BIAS", any, holds, "f(0) = 0"},
    {"23 tip", "RK92 (23), RJK91 (2)–(5), RK88 (3.19)–(3.20)", "T_y", "MASS*thetadd+BIAS+H*phi*B*y"},
    {"2.5c", "RJK89 (2.5), (2.11)", "f", "phi*M*~phi*~H*thetadd+phi*(M*~phi*a+b)"},
    {"2.1", "RJK89 (2.1) corrected", "f[1]", "phi[1,2]*f[2]+M[1,1]*alpha[1]+b[1]", chain4, holds,
     "φ(k,k−1) moves f(k−1)"},
    {"2.1 printed", "RJK89 (2.1) as printed", "f[1]", "(Delta_phi*S*f)[1]+M[1,1]*alpha[1]+b[1]", chain4, fails,
     "φ(k+1,k)f(k−1): the joint transform of body k itself (Δ_φ) applied to the outboard body's force"},
    {"1.2 scanned", "JR03 before (1.3), as scanned", "MASS", "H*phi*M*phi*~H", any, fails,
     "𝓜 = HφMφH*: the adjoint on the second φ is missing"},
};

constexpr Row i2[] = {
    {"28", "RK92 (28)", "phi*M*~phi", "R+phit*R+R*~phit", any, holds, "r = R"},
    {"29", "RK92 (29)", "R[1,1]", "M[1,1]+phi[1,2]*M[2,2]*~phi[1,2]+phi[1,3]*M[3,3]*~phi[1,3]", chain4},
    {"29 proof", "RK92, proof of identity 1", "(phi*M*~phi)[0,2]",
     "phi[0,2]*M[2,2]*~phi[2,2]+phi[0,3]*M[3,3]*~phi[2,3]", chain4},
    {"29 proof b", "RK92, proof of identity 1", "(phi*M*~phi)[0,2]", "phi[0,2]*R[2,2]", chain4},
    {"31", "RK92 (31), JR03 (5.44)", "R", "E_phi*R*~E_phi+M"},
    {"31 tree", "RK92 (31) on a tree", "R[1,1]", "M[1,1]+phi[1,2]*R[2,2]*~phi[1,2]+phi[1,3]*R[3,3]*~phi[1,3]", branch5},
    {"32", "RK92 (32)", "(MASS)[2,2]", "H[2,2]*R[2,2]*~H[2,2]", chain4},
    {"33", "RK92 (33)", "(MASS)[0,2]", "H[0,0]*phi[0,1]*(phi[1,2]*R[2,2]*~H[2,2])", chain4, holds,
     "x(i) = φ(i,i−1)x(i−1), m(i,k) = H(i)x(i)"},
    {"5.45", "JR03 (5.45)", "MASS", "H*R*~H+H*phit*R*~H+H*R*~phit*~H"},
    {"5.46a", "JR03 (5.46)", "(MASS)[3,3]", "H[3,3]*R[3,3]*~H[3,3]", branch5},
    {"5.46b", "JR03 (5.46)", "(MASS)[0,4]", "H[0,0]*phi[0,4]*R[4,4]*~H[4,4]", branch5, algebra},
    {"5.46c", "JR03 (5.46)", "(MASS)[4,0]", "~(MASS)[0,4]", branch5, algebra},
    {"5.46 tree", "JR03 (5.46) on a tree", "(MASS)[2,4]", "0*D[2,4]", branch5, holds,
     "bodies on different branches: no element"},
    {"X.A", "RK92 §X.A, 𝒫 = HφM^½", "H*phi*sqrt(M)*~(H*phi*sqrt(M))", "MASS", any, algebra},
};

constexpr Row i3[] = {
    {"26", "RK92 (26), RK88 (3.22), RJK91 (6)–(7)", "MASS*thetadd", "T_y-H*phi*(M*~phi*a+b+B*y)", any, holds,
     "T is the torque without a tip force; with f(0) = y the same motion needs T + HφBy"},
    {"27", "RK92 (27), RK88 (3.23)", "H*phi*(M*~phi*a+b+B*y)", "BIAS+H*phi*B*y", any, algebra},
    {"27 RNE", "RK92 after (27)", "H*phi*(M*~phi*a+b+B*y)", "T-MASS*thetadd+H*phi*B*y", any, holds,
     "T̂ = inverse dynamics with θ̈ = 0"},
    {"2.12", "RJK89 (2.12)", "T-BIAS", "MASS*thetadd"},
};

}  // namespace

std::span<const Row> rows_i1() {
  return i1;
}
std::span<const Row> rows_i2() {
  return i2;
}
std::span<const Row> rows_i3() {
  return i3;
}

}  // namespace bunraku::cli::papers
