/// @file
/// Factors and the inverse of the mass matrix: F1, F2, F4, F5.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row f1[] = {
    {"35", "RK92 (35), RJK91 (8)", "P", "E_psi*P*~E_psi+M", any, holds, "while D = HPH* (no armature)"},
    {"35 mixed", "RK88 (a.44); holds with armature, too", "P", "E_psi*P*~E_phi+M"},
    {"36a", "RK92 (36)", "D", "H*P*~H"},
    {"36b", "RK92 (36)", "G", "P*~H*inv(D)"},
    {"38", "RK92 (38)", "psi[1,1]", "I", chain4, algebra},
    {"39", "RK92 (39), RJK91 (9)", "psi[1,2]", "phi[1,2]*(I-G*H)[2,2]", chain4, algebra},
    {"40", "RK92 (40)", "psi[0,3]", "psi[0,1]*psi[1,2]*psi[2,3]", chain4, algebra},
    {"41", "RK92 (41)", "(psi*E_phi)[0,3]", "psi[0,2]*phi[2,3]", chain4, algebra, "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"41 diag", "RK92 (41)", "(psi*E_phi)[1,1]", "0*psi[1,1]", chain4},
    {"41 text", "RK92 after (41) corrected", "psi*E_phi*(I-G*H)", "psit", any, algebra, "Ψ(I−GH) = ψE_ψ = ψ̃ of [11]"},
    {"41 text printed", "RK92 after (41)", "psi*E_phi*(I-G*H)", "psi", any, fails,
     "\"ψ when post-multiplied by (I−GH) results in the operator ψ of [11]\": Ψ(I−GH) is ψ̃ of [11]; as scanned, a "
     "tilde may be lost"},
    {"sym", "RK92 after (36): P = P*", "P", "~(E_psi*P*~E_phi+M)", any, holds,
     "the adjoint of the recursion, in which nothing is symmetric but M and P"},
    {"pos", "RK92 after (36): P > 0", "sqrt(P)*sqrt(P)", "P", any, holds, "the root exists"},
    {"id2 proof", "RK92, proof of identity 2; RJK91 appendix", "(I-G*H)*P*~(I-G*H)", "(I-G*H)*P"},
    {"4.4", "RK88 (4.4) corrected", "K[2,3]", "phi[2,3]*P[3,3]*~H[3,3]*inv(D)[3,3]", chain4, holds,
     "L(1) in the papers' numbering"},
    {"4.4 printed", "RK88 (4.4)", "K[2,3]", "phi[2,3]*P[3,3]*~H[3,3]*D[3,3]", chain4, fails,
     "printed with D(1) for D⁻¹(1)"},
    {"4.4 P", "RK88 (4.4), RJK91 (8)", "P[3,3]", "M[3,3]", chain4, algebra},
    {"4.5", "RK88 (4.5)", "P", "E_phi*(P-P*~H*inv(D)*H*P)*~E_phi+M"},
    {"4.6", "RK88 (4.6)", "K", "S*Delta_phi*P*~H*inv(D)", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"4.7", "RK88 (4.7), RJK91 (10)", "E_psi", "E_phi-K*H", any, algebra},
    {"10", "RJK91 (10)", "E_psi", "E_phi*(I-G*H)"},
    {"K", "RJK91 before (8)", "K[1,2]", "phi[1,2]*G[2,2]", chain4, algebra},
    {"3.1", "RJK89 (3.1)", "M", "P-E_phi*(P-P*~H*inv(H*P*~H)*H*P)*~E_phi"},
    {"3.2a", "RJK89 (3.2)", "D", "H*P*~H"},
    {"3.2b", "RJK89 (3.2)", "G", "P*~H*inv(D)"},
    {"3.2c", "RJK89 (3.2)", "K", "E_phi*G", any, algebra},
    {"3.2d", "RJK89 (3.2)", "tau", "G*H", any, algebra},
    {"3.2e", "RJK89 (3.2)", "taub", "I-tau", any, algebra},
    {"3.2f", "RJK89 (3.2)", "E_psi", "E_phi*taub"},
    {"3.2g", "RJK89 after (3.2)", "psi[1,3]", "phi[1,3]*taub[3,3]", branch5, algebra},
    {"3.3a", "RJK89 (3.3)", "psi", "inv(I-E_psi)"},
    {"3.3b", "RJK89 (3.3)", "psi", "I+E_psi+E_psi*E_psi+E_psi*E_psi*E_psi", branch5},
    {"3.3 nil", "RJK89 before (3.3)", "E_psi*E_psi*E_psi*E_psi", "0*psi", branch5},
    {"A.1a", "RJK89 (A.1)", "P[1,1]", "psi[1,2]*P[2,2]*~psi[1,2]+psi[1,3]*P[3,3]*~psi[1,3]+M[1,1]", branch5},
    {"A.1b", "RJK89 (A.1)", "D[3,3]", "H[3,3]*P[3,3]*~H[3,3]", branch5},
    {"A.1c", "RJK89 (A.1)", "G[3,3]", "P[3,3]*~H[3,3]*inv(D[3,3])", branch5},
    {"A.1d", "RJK89 (A.1)", "taub[3,3]", "I-G[3,3]*H[3,3]", branch5, algebra},
    {"A.1e", "RJK89 (A.1)", "psi[3,4]", "phi[3,4]*taub[4,4]", branch5, algebra},
    {"A.1f", "RJK89 (A.1)", "K[3,4]", "phi[3,4]*G[4,4]", branch5, algebra},
    {"psit", "RJK91 appendix", "psit", "psi*E_psi"},
    {"recursion", "RJK91 after (10)", "psi*w", "E_psi*psi*w+w"},
    {"q", "RK92, proof of identity 2: r = P + q", "R-P", "E_phi*(R-P+P*~H*inv(D)*H*P)*~E_phi"},
    {"q2", "RK92, proof of identity 2", "phit*P*~H*inv(D)*H*P*~phit", "(R-P)+phit*(R-P)+(R-P)*~phit"},
};

constexpr Row f2[] = {
    {"RK92 id.2", "RK92 (42)", "phi*M*~phi", "P+phit*P+P*~phit+phit*P*~H*inv(D)*H*P*~phit", any, holds,
     "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 id.3", "RK92 (43)", "MASS", "(I+H*phit*G)*D*~(I+H*phit*G)", any, holds, "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 id.4", "RK92 (44)", "(I-Psi92*G*H)*phit", "Psi92", any, holds, "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 id.4 proof", "RK92, proof of identity 4", "phit", "Psi92+Psi92*G*H*phit", any, holds,
     "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 id.4 blocks", "RK92, proof of identity 4", "phi[0,3]-psi[0,3]",
     "psi[0,2]*phi[2,3]*tau[3,3]*phi[3,3]+psi[0,1]*phi[1,2]*tau[2,2]*phi[2,3]+psi[0,0]*phi[0,1]*tau[1,1]*phi[1,3]",
     chain4},
    {"RK92 id.4 step", "RK92, proof of identity 4", "psi[0,2]", "psi[0,1]*phi[1,2]*(I-G*H)[2,2]", chain4, algebra},
    {"RK92 id.5", "RK92 (45)", "inv(I+H*phit*G)", "(I-H*Psi92*G)", any, holds, "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 id.5 proof", "RK92, proof of identity 5", "(I-H*Psi92*G)*(I+H*phit*G)", "I-H*Psi92*G+(I-H*Psi92*G)*H*phit*G",
     any, algebra},
    {"RK92 id.5 proof b", "RK92, proof of identity 5", "(I-H*Psi92*G)*(I+H*phit*G)", "I"},
    {"RK92 id.6", "RK92 (46)", "inv(MASS)", "~(I-H*Psi92*G)*inv(D)*(I-H*Psi92*G)", any, holds, "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"RK92 I.B printed", "RK92 §I.B", "MASS", "(I+H*Psi92*G)*D*~(I+H*Psi92*G)", any, fails,
     "as scanned: (I+HΨG)D(I+HΨG)*; Φ is meant, as in the abstract"},
    {"RK92 X.B printed", "RK92 §X.B", "MASS", "(I+H*phit*K)*D*~(I+H*phit*K)", any, fails,
     "ΦK with Φ = φ − I; either ΦG or φK is meant"},
    {"RJK91 lemma 1", "RJK91 (11)", "MASS", "(I+H*phi*K)*D*~(I+H*phi*K)"},
    {"RJK91 lemma 2", "RJK91 (12)", "inv(I+H*phi*K)", "(I-H*psi*K)"},
    {"RJK91 lemma 3", "RJK91 (13)", "inv(MASS)", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)"},
    {"RJK91 lemma 4", "RJK91 (16)", "(I-H*psi*K)*H*phi", "H*psi"},
    {"RJK91 lemma 5", "RJK91 lemma 5", "inv(psi)", "inv(phi)+K*H"},
    {"RJK91 lemma 5a", "RJK91, proof of lemma 5", "inv(phi)", "I-E_phi"},
    {"RJK91 lemma 5b", "RJK91, proof of lemma 5", "inv(psi)", "I-E_psi"},
    {"RJK91 lemma 5c", "RJK91, proof of lemma 5", "I-E_psi", "(I-E_phi)+K*H", any, algebra},
    {"RJK91 l.1 proof a", "RJK91, proof of lemma 1", "M", "P-E_psi*P*~E_psi"},
    {"RJK91 l.1 proof b", "RJK91, proof of lemma 1", "taub*P*~taub", "taub*P"},
    {"RJK91 l.1 proof c", "RJK91, proof of lemma 1", "M", "P-E_phi*P*~E_phi+K*D*~K"},
    {"RJK91 l.1 proof d", "RJK91, proof of lemma 1", "phi*M*~phi", "P+phit*P+P*~phit+phi*K*D*~K*~phi"},
    {"RJK91 l.1 proof e", "RJK91, proof of lemma 1", "MASS", "H*(P+phit*P+P*~phit+phi*K*D*~K*~phi)*~H"},
    {"RJK91 l.1 proof f", "RJK91, proof of lemma 1", "MASS", "D+H*phi*K*D+D*~K*~phi*~H+H*phi*K*D*~K*~phi*~H"},
    {"RJK91 l.2 proof a", "RJK91, proof of lemma 2", "inv(I+H*phi*K)", "I-H*phi*inv(I+K*H*phi)*K", any, algebra},
    {"RJK91 l.2 proof b", "RJK91, proof of lemma 2", "I-H*phi*inv(inv(psi)*phi)*K", "(I-H*psi*K)", any, algebra},
    {"RJK91 l.2 proof c", "RJK91, proof of lemma 2", "I+K*H*phi", "inv(psi)*phi"},
    {"RJK91 l.4 proof a", "RJK91, proof of lemma 4", "(I-H*psi*K)*H*phi", "H*(I-psi*K*H)*phi", any, algebra},
    {"RJK91 l.4 proof b", "RJK91, proof of lemma 4", "I-psi*K*H", "psi*inv(phi)"},
    {"RJK89 lemma 1", "RJK89 (3.4)", "MASS", "(I+H*phi*K)*D*~(I+H*phi*K)"},
    {"RJK89 lemma 2", "RJK89 (3.5)", "inv(I+H*phi*K)", "(I-H*psi*K)"},
    {"RJK89 lemma 3", "RJK89 (3.6)", "inv(MASS)", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)"},
    {"RJK89 lemma 4", "RJK89 (3.9)", "(I-H*psi*K)*H*phi", "H*psi"},
    {"RK88 fact 4.1", "RK88 (4.11)", "MASS", "(I+H*Phi88*L88)*D*~(I+H*Phi88*L88)", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"RK88 fact 4.2", "RK88 (4.14)", "inv(I+H*Phi88*L88)", "(I-H*Psi88*L88)", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"RK88 thm 4.1", "RK88 (4.16)", "inv(MASS)", "~(I-H*Psi88*L88)*inv(D)*(I-H*Psi88*L88)", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"RK88 id. 5.1", "RK88 (5.4)", "(I-H*Psi88*L88)*H*phi", "H*psi", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"RK88 id. 5.1 proof", "RK88, proof of identity 5.1", "H*psi*w", "H*phi*w-H*psi*S*L88*(H*phi*w)", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"RK88 (4.9)", "RK88 (4.9)", "(phi*S)[0,3]", "phi[0,2]*S[2,3]", chain4, algebra,
     "Φ(i,j) = φ(i,j+1): identity on the first subdiagonal"},
    {"RK88 (4.10)", "RK88 (4.10)", "(psi*S)[0,3]", "psi[0,2]*S[2,3]", chain4, algebra},
    {"JR03 id. 1.1", "JR03 identity 1.1", "MASS", "(I+H*phi*K)*D*~(I+H*phi*K)"},
    {"agree", "RK92 and RJK91: the same factor", "H*phit*G", "H*phi*K", any, algebra, "I + HΦG = I + HφK"},
    {"agree psi", "RK92 and RJK91: the same factor", "H*Psi92*G", "H*psi*K", any, algebra},
    {"psi M phi*", "from RK88 (a.46)", "psi*M*~phi", "psi*P+P*~E_phi*~phi"},
    {"phi K", "RK88 (a.41), with K", "phi*K*(I-H*psi*K)", "psi*K"},
    {"HP", "RK88 (a.1)–(a.2)", "H*P", "D*~G"},
};

constexpr Row f4[] = {
    {"4.1", "RK88 (4.1), (4.3)", "H*phi*w", "H*(E_phi*phi*w+w)", any, algebra},
    {"4.2", "RK88 (4.2), RJK91 §4", "(H*phi*sqrt(M))*~(H*phi*sqrt(M))", "MASS", any, algebra,
     "covariance of Y = Hφw, E(ww*) = M"},
    {"4.12", "RK88 (4.12), RJK91 §4", "(I+H*phi*K)*sqrt(D)*~((I+H*phi*K)*sqrt(D))", "MASS", any, holds,
     "covariance of (I+HφK)D^½w"},
    {"4.13a", "RK88 (4.13), RJK91 after (11)", "phi*K*x", "E_phi*phi*K*x+K*x", any, algebra,
     "ẑ(k) = φ(k,k−1)ẑ(k−1) + K ε(k−1)"},
    {"4.13b", "RK88 (4.13)", "(I+H*phi*K)*x", "H*(phi*K*x)+x", any, algebra},
    {"4.15a", "RK88 (4.15)", "psi*K*x", "E_phi*psi*K*x-K*H*psi*K*x+K*x"},
    {"4.15b", "RK88 (4.15), RJK91 after (12)", "(I-H*psi*K)*x", "x-H*(psi*K*x)", any, algebra},
    {"4.15c", "RK88 after (4.15): the two ẑ are the same", "phi*K*((I-H*psi*K)*x)", "psi*K*x"},
    {"white", "RJK91 §4: ε = (I−HψK)y is white, covariance D", "(I-H*psi*K)*(MASS)*~(I-H*psi*K)", "D"},
    {"inverse", "RJK91 (12)", "(I+H*phi*K)*((I-H*psi*K)*x)", "x"},
};

constexpr Row f5[] = {
    {"energy", "RJK91 §6", "0.5*~(sqrt(D)*~(I+H*phi*K)*thetad)*(sqrt(D)*~(I+H*phi*K)*thetad)", "0.5*~V*M*V", any, holds,
     "½ν*ν is the kinetic energy, ν = D^½(I+HφK)*θ̇"},
    {"power", "RJK91 §6 corrected", "~(sqrt(D)*~(I+H*phi*K)*thetad)*(inv(sqrt(D))*(I-H*psi*K)*T)", "~thetad*T", any,
     holds, "ν*ε = θ̇*T, ε = D^(−½)(I−HψK)T"},
    {"power printed", "RJK91 §6 as printed", "~(sqrt(D)*~(I+H*phi*K)*thetad)*(inv(sqrt(D))*(I-H*phi*K)*T)", "~thetad*T",
     any, fails, "with φ in ε"},
    {"diagonal", "RJK91 §6: the mass matrix of ν is I", "(inv(sqrt(D))*(I-H*psi*K))*(MASS)*~(inv(sqrt(D))*(I-H*psi*K))",
     "I"},
    {"inverse", "RJK91 §6", "thetad", "~(inv(sqrt(D))*(I-H*psi*K))*(sqrt(D)*~(I+H*phi*K)*thetad)", any, holds,
     "θ̇ from ν"},
    {"eom", "RJK91 §6", "sqrt(D)*~(I+H*phi*K)*thetadd", "inv(sqrt(D))*(I-H*psi*K)*T-inv(sqrt(D))*(I-H*psi*K)*(BIAS)",
     any, holds, "ν̇ = this + (d/dt D^½(I+HφK)*)θ̇, so μ = m⁻¹𝓒 − ṁ*θ̇ with m = (I+HφK)D^½"},
};

}  // namespace

std::span<const Row> rows_f1() {
  return f1;
}
std::span<const Row> rows_f2() {
  return f2;
}
std::span<const Row> rows_f4() {
  return f4;
}
std::span<const Row> rows_f5() {
  return f5;
}

}  // namespace bunraku::cli::papers
