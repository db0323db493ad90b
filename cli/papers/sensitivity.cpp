/// @file
/// What the sensitivities are made of: S1.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row s1[] = {
    {"2.1 1", "JR03 lemma 2.1", "(S*A*~S)*S*C", "S*A*C", serial, algebra},
    {"2.1 2", "JR03 lemma 2.1", "(~S*A*S)*~S*C", "~S*A*C", serial, algebra},
    {"2.1 3", "JR03 lemma 2.1", "A*~S*(S*C*~S)", "A*C*~S", serial, algebra},
    {"2.1 4", "JR03 lemma 2.1", "A*S*(~S*C*S)", "A*C*S", serial, algebra},
    {"2.1 5", "JR03 lemma 2.1", "(S*A*~S)*(S*C*~S)", "S*A*C*~S", serial, algebra},
    {"2.1 6", "JR03 lemma 2.1", "(~S*A*S)*(~S*C*S)", "~S*A*C*S", serial, algebra},
    {"2.1 7", "JR03 lemma 2.1", "(S*~S)*S*A", "S*A", serial, algebra},
    {"2.1 8", "JR03 lemma 2.1", "S*A*(~S*S)", "S*A", serial, algebra},
    {"2.1 9", "JR03 lemma 2.1", "(~S*S)*~S*A", "~S*A", serial, algebra},
    {"2.1 10", "JR03 lemma 2.1", "~S*A*(S*~S)", "~S*A", serial, algebra},
    {"2.1 11", "JR03 lemma 2.1", "(~S*S)*A*~S", "A*~S", serial, algebra},
    {"2.1 12", "JR03 lemma 2.1", "A*(~S*S)*~S", "A*~S", serial, algebra},
    {"2.1 13", "JR03 lemma 2.1", "(S*~S)*A*S", "A*S", serial, algebra},
    {"2.1 14", "JR03 lemma 2.1", "A*(S*~S)*S", "A*S", serial, algebra},
    {"2.1 tree", "JR03 lemma 2.1", "(S*A*~S)*S*C", "S*A*C", branch5, fails,
     "serial chains only; S*S has blocks between siblings on a tree"},
    {"2.1 tree b", "JR03 lemma 2.1", "A*S*(~S*C*S)", "A*C*S", branch5, fails, "SS* counts the children"},
    {"2.5 upper", "JR03 (2.5)", "ang*cross(w)*ang", "ang*cross(w)", any, algebra, "upper right block zero"},
    {"2.5 diag", "JR03 (2.5)", "swap*(ang*cross(w)*ang)*swap", "(I-ang)*cross(w)*(I-ang)", any, algebra,
     "equal diagonal blocks x̃"},
    {"2.5 ang", "JR03 (2.5)", "cross(ang*w)", "ang*cross(w)*ang+(I-ang)*cross(w)*(I-ang)", any, algebra},
    {"2.5 lin", "JR03 (2.5)", "cross((I-ang)*w)", "swap*cross(ang*swap*w)*ang", any, algebra, "lower left block ỹ"},
    {"2.6a", "JR03 (2.6)", "w+cross(w)*w", "w", any, algebra},
    {"2.6b", "JR03 (2.6)", "cross(w)*u", "-cross(u)*w", any, algebra},
    {"2.6 jacobi", "JR03 after (2.9): a Lie bracket", "cross(cross(w)*u)", "cross(w)*cross(u)-cross(u)*cross(w)"},
    {"2.7", "JR03 (2.7)", "(-~cross(w))",
     "ang*cross(w)*ang+(I-ang)*cross(w)*(I-ang)+ang*swap*((I-ang)*cross(w)*ang)*swap*(I-ang)", any, algebra,
     "S[z] = −z̃* = [x̃ ỹ; 0 x̃]"},
    {"2.8", "JR03 (2.8)", "(swap*cross(swap*(w)))", "-~(swap*cross(swap*(w)))", any, algebra,
     "Q[z] = [x̃ ỹ; ỹ 0], written swap·cross(swap z); skew"},
    {"2.8 corner", "JR03 (2.8)", "(I-ang)*(swap*cross(swap*(w)))*(I-ang)", "0*ang"},
    {"2.9a", "JR03 (2.9)", "~cross(w)*u", "(swap*cross(swap*(u)))*w", any, algebra},
    {"2.9b", "JR03 (2.9)", "~cross(w)*u", "-~(swap*cross(swap*(u)))*w", any, algebra},
    {"2.9c", "JR03 (2.9)", "(-~cross(w))*u", "-(swap*cross(swap*(u)))*w", any, algebra},
    {"2.10a", "JR03 (2.10), lemma 2.3", "(swap*cross(swap*(Delta_phi*w)))",
     "Delta_phi*(swap*cross(swap*(w)))*~Delta_phi"},
    {"2.10b", "JR03 (2.10)", "(-~cross(~Delta_phi*w))", "inv(Delta_phi)*(-~cross(w))*Delta_phi"},
    {"2.10c", "JR03 (2.10)", "cross(~Delta_phi*w)", "~Delta_phi*cross(w)*~inv(Delta_phi)"},
    {"2.10d", "JR03 (2.10)", "cross(~Delta_phi*w)*~Delta_phi", "~Delta_phi*cross(w)"},
    {"2.11", "JR03 (2.11) corrected", "(-~cross(~H*unit(1)))", "HH_d", revolute4, algebra,
     "revolute hinges, i = hinge 1: ℍ^i = cross(ang φ*H* unit(i)), ℍ^i_δ = cross(ang H* unit(i)), ℍ^i_s = cross(ang "
     "φ̃*H* unit(i)), ℍ(i) in each body's own axes"},
    {"2.11 printed", "JR03 (2.11)", "-cross(~H*unit(1))", "HH_d", revolute4, fails, "S*[H*(i)] has the opposite sign"},
    {"2.12a", "JR03 (2.12) corrected", "(~S*HH_i*S)[2,2]", "(TURN*HH_s*~TURN)[2,2]", revolute4, holds,
     "ℍ_s = S*ℍ^iS is ℍ(i) for bodies outboard of i (k < i in the paper)"},
    {"2.12b", "JR03 (2.12) corrected", "(~S*HH_i*S)[0,0]", "0*ang[0,0]", revolute4, holds, "zero inboard"},
    {"2.12c", "JR03 (2.12) corrected", "(~S*HH_i*S)[1,1]", "0*ang[1,1]", revolute4, holds, "zero at i"},
    {"2.12 printed", "JR03 (2.12)", "ang[2,2]+(~S*HH_i*S)[2,2]", "ang[2,2]", revolute4, fails,
     "printed zero for k ≤ i"},
    {"2.13a", "JR03 (2.13)", "HH_i[1,1]", "HH_d[1,1]", revolute4, algebra},
    {"2.13b", "JR03 (2.13)", "HH_i[0,0]", "0*ang[0,0]", revolute4},
    {"2.13c", "JR03 (2.13)", "S[1,2]*(TURN*HH_i*~TURN)[2,2]*~S[1,2]", "HH_d[1,1]", revolute4, holds,
     "ℍ^i at body 2 is ℍ(i) turned into its axes"},
    {"2.14a", "JR03 (2.14)", "HH_i", "HH_s+HH_d", revolute4, algebra},
    {"2.14b", "JR03 (2.14)", "TURN*HH_s*~TURN", "~S*HH_i*S", revolute4, holds,
     "ℍ_s = S*ℍ^iS; Δ_φ's rotation appears because blocks are in each body's own axes"},
    {"2.14b any", "JR03 (2.14) for any hinge", "inv(Delta_phi)*(~S*(-~cross(~phi*~H*x))*S)*Delta_phi",
     "-~cross(~phit*~H*x)", serial, holds, "general hinges: ℍ(i) = S[H*(i)] carried by φ*"},
    {"2.14 skew i", "JR03 after (2.14)", "HH_i", "-~HH_i", revolute4, algebra},
    {"2.14 skew s", "JR03 after (2.14)", "HH_s", "-~HH_s", revolute4, algebra},
    {"2.14 skew delta", "JR03 after (2.14)", "HH_d", "-~HH_d", revolute4, algebra},
    {"2.15a", "JR03 lemma 2.4", "(HH_s*(phi*M*~phi))[3,0]", "HH_s[3,3]*(phi*M*~phi)[3,0]", revolute4, algebra},
    {"2.15a0", "JR03 lemma 2.4", "(HH_s*(phi*M*~phi))[1,0]", "0*M[1,0]", revolute4, holds, "δ_{k<i}"},
    {"2.15b", "JR03 lemma 2.4", "((phi*M*~phi)*HH_s)[0,3]", "(phi*M*~phi)[0,3]*HH_s[3,3]", revolute4, algebra},
    {"2.15b0", "JR03 lemma 2.4", "((phi*M*~phi)*HH_s)[0,1]", "0*M[0,1]", revolute4},
    {"2.15c", "JR03 lemma 2.4", "(HH_i*(phi*M*~phi))[1,0]", "HH_d[1,1]*(phi*M*~phi)[1,0]", revolute4, algebra},
    {"2.15c0", "JR03 lemma 2.4", "(HH_i*(phi*M*~phi))[0,2]", "0*M[0,2]", revolute4},
    {"2.15d", "JR03 lemma 2.4", "((phi*M*~phi)*HH_i)[0,1]", "(phi*M*~phi)[0,1]*HH_d[1,1]", revolute4, algebra},
    {"2.15d0", "JR03 lemma 2.4", "((phi*M*~phi)*HH_i)[2,0]", "0*M[2,0]", revolute4},
    {"2.15e", "JR03 lemma 2.4", "(HH_d*(phi*M*~phi))[1,3]", "HH_d[1,1]*(phi*M*~phi)[1,3]", revolute4, algebra},
    {"2.15e0", "JR03 lemma 2.4", "(HH_d*(phi*M*~phi))[2,3]", "0*M[2,3]", revolute4},
    {"2.15f", "JR03 lemma 2.4", "((phi*M*~phi)*HH_d)[3,1]", "(phi*M*~phi)[3,1]*HH_d[1,1]", revolute4, algebra},
    {"2.15f0", "JR03 lemma 2.4", "((phi*M*~phi)*HH_d)[3,2]", "0*M[3,2]", revolute4},
    {"2.15g", "JR03 lemma 2.4", "(phi*HH_d*(phi*M*~phi))[0,3]", "phi[0,1]*HH_d[1,1]*(phi*M*~phi)[1,3]", revolute4,
     algebra, "[Xℍ_δY](k,j) = X(k,i)ℍ(i)Y(i,j)"},
    {"2.16", "JR03 (2.16)–(2.17)", "cross(ang*V)",
     "cross(ang*~phi*~H*unit(0)*~unit(0)*thetad)+cross(ang*~phi*~H*unit(1)*~unit(1)*thetad)+cross(ang*~phi*~H*unit(2)*~"
     "unit(2)*thetad)+cross(ang*~phi*~H*unit(3)*~unit(3)*thetad)",
     revolute4, holds, "Ω̃ = Σℍ^iθ̇(i) = cross((ω,0))"},
    {"2.18a", "JR03 (2.18)",
     "cross(ang*~phi*~H*unit(0)*~unit(0)*thetad)+cross(ang*~phi*~H*unit(1)*~unit(1)*thetad)+cross(ang*~phi*~H*unit(2)*~"
     "unit(2)*thetad)+cross(ang*~phi*~H*unit(3)*~unit(3)*thetad)",
     "cross(ang*~phit*~H*thetad)+cross(ang*~H*thetad)", revolute4, algebra},
    {"2.18b", "JR03 (2.18)", "TURN*cross(ang*~phit*~H*thetad)*~TURN", "~S*cross(ang*V)*S", revolute4},
    {"2.18 skew", "JR03 (2.16)", "cross(ang*V)", "-~cross(ang*V)", any, algebra},
    {"3.29", "JR03 (3.28)–(3.29)", "E_phi", "S*Delta_phi", any, algebra},
};

}  // namespace

std::span<const Row> rows_s1() {
  return s1;
}

}  // namespace bunraku::cli::papers
