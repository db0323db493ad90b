/// @file
/// Forward dynamics: D1 to D5.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row d1[] = {
    {"dense", "RK92 (26)", "thetadd", "inv(MASS)*T_free", any, holds,
     "the reference: a dense solve; T is the torque without a tip force; with f(0) = y the same motion needs T + HφBy"},
    {"FD1 47-48", "RK92 (47)–(48)", "thetadd", "~(I-H*Psi92*G)*inv(D)*(I-H*Psi92*G)*T_free", any, holds,
     "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"FD1 4.18", "RK88 (4.17)–(4.18)", "thetadd", "~(I-H*Psi88*L88)*inv(D)*(I-H*Psi88*L88)*T_free", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"FD1 50", "RK92 (50), RK88 (4.19)", "psi*K*x", "E_psi*(psi*K*x)+E_phi*G*x", any, holds, "z = ψKT'"},
    {"FD1 51a", "RK92 (51), RK88 (4.20)", "(I-H*psi*K)*x", "x-H*(psi*K*x)", any, algebra},
    {"FD1 53", "RK92 (53), RK88 (4.22)", "~psi*~H*x", "~E_psi*(~psi*~H*x)+~H*x", any, holds, "λ = ψ*H*ν"},
    {"FD1 54", "RK92 (54), RK88 (4.22)", "~(I-H*psi*K)*x", "x-~G*~E_phi*(~psi*~H*x)", any, algebra},
    {"FD1 lambda", "RK92 after (54)", "~psi*~H*(inv(D)*(I-H*psi*K)*T_free)", "~phi*~H*thetadd", any, holds,
     "λ = α when the biases are zero"},
    {"FD2 56", "RK92 (56)", "alpha",
     "~(I-G*H)*~Psi92*~H*(inv(D)*(I-H*psi*K)*T_free)+~H*(inv(D)*(I-H*psi*K)*T_free)+~phi*a", any, holds,
     "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"FD2 5.6", "RK88 (5.6)", "alpha", "~psi*~H*inv(D)*(I-H*Psi88*L88)*T_free+~phi*a", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"FD2 57", "RK92 (57), RK88 (5.7)", "alpha0", "~B*(~psi*~H*(inv(D)*(I-H*psi*K)*T_free)+~phi*a)+a0"},
    {"FD2 59a", "RK92 (59), ζ", "~phi*a", "~E_phi*(~phi*a)+a", any, algebra},
    {"FD2 59b", "RK92 (59), α = λ + ζ", "alpha", "~psi*~H*(inv(D)*(I-H*psi*K)*T_free)+~phi*a"},
    {"FD3 60-62", "RK92 (60)–(62)", "thetadd",
     "~(I-H*Psi92*G)*inv(D)*(T_y-H*Psi92*(G*T_y+(I-G*H)*(M*~phi*a+b+B*y))-H*(M*~phi*a+b+B*y))", any, holds,
     "RK92: Φ = φ̃, Ψ = ψE_φ"},
    {"FD3 5.8-5.10", "RK88 (5.8)–(5.10)", "thetadd", "~(I-H*Psi88*L88)*inv(D)*(T_y-H*psi*(S*L88*T_y+M*~phi*a+b+B*y))",
     any, holds, "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"FD3 61 proof", "RK92, proof of algorithm 3", "(I-H*Psi92*G)*(x-H*phi*w)", "x-H*Psi92*(G*x+(I-G*H)*w)-H*w"},
    {"FD3 5.10 proof", "RK88, proof of FD3", "(I-H*Psi88*L88)*x", "x-H*psi*S*L88*x", any, algebra},
    {"FD3 64", "RK92 (64)", "Psi92*(G*x+(I-G*H)*w)", "E_psi*(Psi92*(G*x+(I-G*H)*w)+w)+E_phi*G*x", any, holds,
     "z, with f(0) in ζ and z(0) = 0"},
    {"FD3 65", "RK92 (65) corrected", "(I-H*Psi92*G)*(x-H*phi*w)", "x-H*(Psi92*(G*x+(I-G*H)*w))-H*w", any, holds,
     "ε = T − Hz − Hζ"},
    {"FD3 65 printed", "RK92 (65)", "(I-H*Psi92*G)*(x-H*phi*w)", "x-H*(Psi92*(G*x+(I-G*H)*w))-H-w", any, ill_typed,
     "ε = T − Hz − H − ζ"},
    {"FD3 63 printed", "RK92 (63) with (60)", "thetadd",
     "~(I-H*Psi92*G)*inv(D)*(T_y-H*Psi92*(G*T_y+(I-G*H)*(M*~phi*a+b+B*y))-H*psi*B*y-H*(M*~phi*a+b+B*y))", any, fails,
     "z(0) = f(0) although ζ holds Bf(0): the tip force enters twice"},
    {"FD4 67-68", "RK92 (67)–(68) corrected", "thetadd",
     "~(I-H*psi*K)*inv(D)*(T_y-H*psi*(K*T_y+P*a+b+B*y)+H*P*a)-~G*~Psi92*~(I-G*H)*a-~G*a", any, holds,
     "ν = D⁻¹(I−HΨG)T − D⁻¹Hψ[Pa+b+Bf(0)] + D⁻¹HPa"},
    {"FD4 67", "RK92 (67) corrected", "thetadd", "~(I-H*psi*K)*inv(D)*(T_y-H*psi*(K*T_y+P*a+b+B*y))-~K*~psi*a"},
    {"FD4 5.14-5.15", "RK88 (5.14)–(5.15)", "thetadd",
     "~(I-H*Psi88*L88)*inv(D)*(T_y-H*psi*(S*L88*T_y+b+B*y)-H*psit*P*a)-~L88*~Psi88*~(I-G*H)*a-~G*a", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K; (5.14) from the proof of FD4, its display is lost in the "
     "scan"},
    {"FD4 67 printed", "RK92 (67)", "thetadd",
     "~(I-H*psi*K)*inv(D)*(T_y-H*psi*(K*T_y+(I-G*H)*P*a+b+B*y)+H*P*a)-~G*~Psi92*~(I-G*H)*a-~G*a", any, fails,
     "(I−GH)Pa in place of Pa"},
    {"FD4 67 printed Psi", "RK92 (67)", "thetadd",
     "~(I-H*psi*K)*inv(D)*((I-H*psi*K)*T_y-H*Psi92*((I-G*H)*P*a+b+B*y)+H*P*a)-~G*~Psi92*~(I-G*H)*a-~G*a", any, fails,
     "nor with ψ read as Ψ"},
    {"FD4 70", "RK92 (70), RK88 (5.16)", "(psi*(P*w+K*x+b+B*y)-P*w)",
     "E_psi*((psi*(P*w+K*x+b+B*y)-P*w)+P*w)+E_phi*G*x+b+B*y", any, holds, "z, a = w arbitrary"},
    {"FD4 71", "RK92 (71), RK88 (5.16)", "(I-H*psi*K)*x-H*psi*(b+B*y)-H*psit*P*w", "x-H*(psi*(P*w+K*x+b+B*y)-P*w)", any,
     algebra},
    {"FD4 72", "RK92 (72), RK88 (5.17)", "(~psi*(~H*x+~(I-G*H)*w))", "~E_psi*(~psi*(~H*x+~(I-G*H)*w))+~H*x+~(I-G*H)*w"},
    {"FD4 73", "RK92 (73), RK88 (5.17)", "~(I-H*psi*K)*x-~G*~Psi92*~(I-G*H)*w-~G*w",
     "x-~G*~E_phi*(~psi*(~H*x+~(I-G*H)*w))-~G*w"},
    {"FD4 alpha", "RK92 (72)", "alpha", "~psi*(~H*(inv(D)*(T_y-H*psi*(K*T_y+P*a+b+B*y)+H*P*a))+~(I-G*H)*a)", any, holds,
     "λ(k) of (72) is the acceleration itself"},
    {"V 66", "RK92 (66), RK88 (5.13) corrected", "V", "~phi*~H*thetad", any, algebra},
    {"V 66 printed", "RK92 (66), RK88 (5.13)", "V", "~B*~phi*~H*thetad", any, ill_typed,
     "node space on the right, body space on the left"},
};

constexpr Row d2[] = {
    {"quadratic", "RK92 end of §VII", "cross(V)*~H*thetad+(I-~E_phi)*cross(ang*V)*V+h", "a-a_g", any, holds,
     "a and b as quadratic forms of V, so that a delayed V can be put in; h as in K5"},
    {"error", "RK92 end of §VII", "inv(MASS)*(T-H*phi*(M*~phi*(a+w)+b+u))-thetadd",
     "-~(I-H*psi*K)*inv(D)*H*psi*(M*~phi*w+u)", any, holds, "w = δa, u = δb from the delay: what it costs in θ̈"},
};

constexpr Row d3[] = {
    {"3.7", "RJK89 (3.7)", "thetadd", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)*(T-BIAS)"},
    {"3.8", "RJK89 (3.8), before (A.2) corrected", "~phi*~H*thetadd", "~psi*~H*inv(D)*(I-H*psi*K)*(T-BIAS)", any, holds,
     "α̂ᶠ; printed before (A.2) without H*, which is refuted by its type"},
    {"3.8 mid", "RJK89 after (3.9)", "~phi*~H*~(I-H*psi*K)*inv(D)*(I-H*psi*K)*x", "~psi*~H*inv(D)*(I-H*psi*K)*x"},
    {"A.2a", "RJK89 (A.2)", "psi*K*x", "E_psi*psi*K*x+K*x"},
    {"A.2a blocks", "RJK89 (A.2)", "(psi*K*x)[1]",
     "psi[1,2]*(psi*K*x)[2]+psi[1,3]*(psi*K*x)[3]+K[1,2]*x[2]+K[1,3]*x[3]", branch5, holds, "at the branch point"},
    {"A.2b", "RJK89 (A.2) corrected", "(I-H*psi*K)*(T-BIAS)", "(T-BIAS)-H*(psi*K*(T-BIAS))", any, algebra,
     "ε = T̂ − Hz"},
    {"A.2b printed", "RJK89 (A.2)", "thetadd", "~(I-H*psi*K)*inv(D)*(T-H*(psi*K*(T-BIAS)))", any, fails,
     "ε = T − Hz, with T for T̂"},
    {"A.2c", "RJK89 (A.2)", "~psi*~H*x", "~E_psi*~psi*~H*x+~H*x"},
    {"A.2d", "RJK89 (A.2) corrected", "~(I-H*psi*K)*x", "x-~K*(~psi*~H*x)", any, algebra, "K*(k+1,k)α̂(k+1)"},
    {"A.2d blocks", "RJK89 (A.2)", "(~(I-H*psi*K)*x)[4]", "x[4]-~K[3,4]*(~psi*~H*x)[3]", branch5, algebra},
    {"A.2 text printed", "RJK89 before (A.2)", "~phi*~H*thetadd", "~psi*inv(D)*(I-H*psi*K)*(T-BIAS)", any, ill_typed,
     "H* is missing"},
};

constexpr Row d4[] = {
    {"17", "RJK91 (17)", "-inv(MASS)*H*phi*B*y", "-~(I-H*psi*K)*inv(D)*(I-H*psi*K)*H*phi*B*y"},
    {"18", "RJK91 (18)", "-inv(MASS)*H*phi*B*y", "(-~(I-H*psi*K)*inv(D)*H*psi*B*y)"},
    {"sum", "RJK91 before (17)", "thetadd", "inv(MASS)*(T_y-BIAS)+(-~(I-H*psi*K)*inv(D)*H*psi*B*y)", any, holds,
     "θ̈ = θ̈_f + Δθ̈; T is the torque without a tip force; with f(0) = y the same motion needs T + HφBy"},
    {"18 z", "RJK91 after (18) corrected", "psi*B*y", "E_psi*psi*B*y+B*y", any, holds, "ẑ(0) = f(0), ψ(1,0) = φ(1,0)"},
    {"18 lambda", "RJK91 after (18)", "~phi*~H*(-~(I-H*psi*K)*inv(D)*H*psi*B*y)", "-~psi*~H*inv(D)*H*psi*B*y", any,
     holds, "λ"},
    {"18 last", "RJK91 after (18)", "(-~(I-H*psi*K)*inv(D)*H*psi*B*y)",
     "-inv(D)*H*psi*B*y-~K*(-~psi*~H*inv(D)*H*psi*B*y)", any, algebra},
    {"6.3", "RK88 II (6.3) corrected", "-inv(MASS)*H*phi*B*y", "-~(I-H*Psi88*L88)*inv(D)*H*psi*B*y", any, holds,
     "RK88: Φ = φS, Ψ = ψS, L = Δ_φG (memoryless), SL = K"},
    {"6.11g printed", "RK88 II (6.11g)", "-inv(MASS)*H*phi*B*y", "~(I-H*Psi88*L88)*inv(D)*H*psi*B*y", any, fails,
     "without the sign (and with the missing H put in)"},
    {"6.4 printed", "RK88 II (6.4b) as scanned", "-inv(MASS)*H*phi*B*y", "-~(I-H*Psi88*L88)*inv(D)*H*phi*B*y", any,
     fails, "ẑ(k) = φ(k,k−1)ẑ(k−1) in place of ψ"},
    {"6.11j", "RK88 II (6.11j) corrected", "alpha0",
     "(~B*~phi*~H*inv(MASS)*(T_y-BIAS)+~B*~phi*a+a0)+~B*~phi*~H*(-~(I-H*psi*K)*inv(D)*H*psi*B*y)", any, holds,
     "α(0) = α_f(0) + Δα(0)"},
    {"6.11j printed", "RK88 II (6.11j), (4.9h)", "~B*~phi*~H*(-~(I-H*psi*K)*inv(D)*H*psi*B*y)",
     "(~B*~phi*~H*inv(MASS)*(T_y-BIAS)+~B*~phi*a+a0)+~B*~phi*~H*(-~(I-H*psi*K)*inv(D)*H*psi*B*y)", any, fails,
     "printed Δα(0) on the left"},
    {"A.6 z", "RJK89 (A.6) corrected", "psi*(-B*y)", "E_psi*psi*(-B*y)+(-B*y)", any, holds,
     "x̂ = −BA*f̃ with y = A*f̃; no K(k,k−1) before x̂"},
    {"A.6", "RJK89 (3.12), (A.6) corrected", "-inv(MASS)*H*phi*B*y", "~(I-H*psi*K)*inv(D)*(H*psi*(-B*y))", any, holds,
     "ε = +Hz"},
    {"A.6 printed", "RJK89 (A.6)", "-inv(MASS)*H*phi*B*y", "~(I-H*psi*K)*inv(D)*(-H*psi*(-B*y))", any, fails,
     "ε = −Hz"},
    {"6.5a printed", "RK88 II (6.5a), (6.11g)", "-inv(MASS)*H*phi*B*y", "-~(I-H*Psi88*L88)*inv(D)*psi*B*y", any,
     ill_typed, "H is missing"},
    {"A.6 z printed", "RJK89 (A.6)", "psi*K*(-B*y)", "E_psi*psi*K*(-B*y)+K*(-B*y)", any, ill_typed,
     "K(k,k−1)x̂(k−1), with x̂ = −BA*f̃ in body space"},
};

constexpr Row d5[] = {
    {"19", "RJK91 (19)", "(~B*~phi*~H*inv(MASS)*H*phi*B)", "~B*~phi*~H*~(I-H*psi*K)*inv(D)*(I-H*psi*K)*H*phi*B"},
    {"20", "RJK91 (20), RK88 II (6.7)", "(~B*~phi*~H*inv(MASS)*H*phi*B)", "~B*~psi*~H*inv(D)*H*psi*B"},
    {"3.10a", "RJK89 (3.10)", "(~B*~phi*~H*inv(MASS)*H*phi*B)", "~((I-H*psi*K)*H*phi*B)*inv(D)*((I-H*psi*K)*H*phi*B)"},
    {"3.10b", "RJK89 (3.10)", "(~B*~phi*~H*inv(MASS)*H*phi*B)", "~B*Omega*B"},
    {"3.10c", "RJK89 (3.10)", "Omega", "~psi*~H*inv(D)*H*psi", any, algebra},
    {"20 rec", "RJK91 after (20), RK88 II (6.10b)", "Upsilon[2,2]",
     "~psi[1,2]*Upsilon[1,1]*psi[1,2]+~H[2,2]*inv(D)[2,2]*H[2,2]", chain4, holds, "Ω(k) of RJK91 is Υ(k)"},
    {"20 base", "RJK91 after (20)", "Upsilon[0,0]", "~H[0,0]*inv(D)[0,0]*H[0,0]", chain4, algebra},
    {"6.9", "RK88 II (6.9b)", "Upsilon[3,3]",
     "~psi[3,3]*~H[3,3]*inv(D)[3,3]*H[3,3]*psi[3,3]+~psi[2,3]*~H[2,2]*inv(D)[2,2]*H[2,2]*psi[2,3]+~psi[1,3]*~H[1,1]*"
     "inv(D)[1,1]*H[1,1]*psi[1,3]+~psi[0,3]*~H[0,0]*inv(D)[0,0]*H[0,0]*psi[0,3]",
     chain4},
    {"6.9 printed", "RK88 II (6.9b) as scanned", "Upsilon", "~psi*~H*inv(D)*~H*psi", any, ill_typed,
     "H*(k) on both sides of D⁻¹(k)"},
    {"tip", "RJK91 after (20): Ω(0) = φ*(1,0)Ω(1)φ(1,0)", "(~B*~phi*~H*inv(MASS)*H*phi*B)", "~B*Upsilon*B", mobile4,
     holds, "one node"},
    {"A.3", "RJK89 (A.3)", "~H*inv(D)*H", "Upsilon-~E_psi*Upsilon*E_psi", serial},
    {"A.3 tree", "RJK89 (A.3)", "~H*inv(D)*H", "Upsilon-~E_psi*Upsilon*E_psi", branch5, fails,
     "on a tree E_ψ*ΥE_ψ has blocks between siblings, so no block-diagonal Υ solves (A.3)"},
    {"A.3 diag", "RJK89 (A.3) corrected", "Upsilon[3,3]", "~psi[1,3]*Upsilon[1,1]*psi[1,3]+~H[3,3]*inv(D)[3,3]*H[3,3]",
     branch5, holds, "only the diagonal blocks of (A.3)"},
    {"lemma 5", "RJK89 (A.4)", "Omega", "Upsilon+~psit*Upsilon+Upsilon*psit", serial},
    {"lemma 5 tree", "RJK89 (A.4)", "Omega", "Upsilon+~psit*Upsilon+Upsilon*psit", branch5, fails,
     "serial chains only"},
    {"diag", "RJK89 after (A.4)", "Omega[3,3]", "Upsilon[3,3]", branch5},
    {"A.5a", "RJK89 (A.5) corrected", "Omega[0,2]", "Omega[0,1]*psi[1,2]", chain4, algebra},
    {"A.5a printed", "RJK89 (A.5)", "Omega[0,2]", "Upsilon[0,1]*psi[1,2]", chain4, fails, "Υ is block diagonal"},
    {"A.5b", "RJK89 (A.5)", "Omega[0,4]", "Omega[0,1]*psi[1,4]", branch5, algebra, "along a path"},
    {"A.5c", "RJK89 (A.5) corrected", "Omega[2,4]", "~psi[1,2]*Upsilon[1,1]*psi[1,4]", branch5, holds,
     "different branches, c = 1 the closest common ancestor"},
    {"A.5c printed", "RJK89 (A.5)", "Omega[2,2]+Omega[2,4]*Omega[4,2]", "Omega[2,2]", branch5, fails,
     "printed Ω = 0 between branches"},
    {"lemma 5 corrected", "RJK89 (A.4) with its extra term", "Omega",
     "(Upsilon+~psit*Upsilon+Upsilon*psit)+~psi*(~H*inv(D)*H-(Upsilon-~E_psi*Upsilon*E_psi))*psi", any, holds,
     "the residual of (A.3), the sibling blocks, carried outward from both sides; zero on serial chains"},
    {"J", "RK88 II (6.12)", "~B*~psi*~H*inv(D)*(I-H*psi*K)", "(~B*~phi*~H)*inv(MASS)"},
};

}  // namespace

std::span<const Row> rows_d1() {
  return d1;
}
std::span<const Row> rows_d2() {
  return d2;
}
std::span<const Row> rows_d3() {
  return d3;
}
std::span<const Row> rows_d4() {
  return d4;
}
std::span<const Row> rows_d5() {
  return d5;
}

}  // namespace bunraku::cli::papers
