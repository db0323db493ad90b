/// @file
/// Rates and sensitivities as identities: S2 to S5.
///
/// JR03's derivatives are those of matrices in inertial axes at the bodies' moving origins. The language has components
/// in the bodies' own axes; for X from body space to body space the former is dt(X) + Ω̃X − XΩ̃, and where a side of X is
/// hinge space the term of that side is left out. Here i is hinge 1, counted from the base, and ℍ^i is its O_x.
#include "papers/table.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row s2[] = {
    {"3.19", "JR03 (3.19), (3.33)", "dt(M)+OM*M-M*OM", "OM*M-M*OM", any, algebra},
    {"3.20", "JR03 (3.20), (3.32)", "dt(~H)+OM*~H", "OM_s*~H", revolute4},
    {"3.21", "JR03 (3.21), (3.30)", "dt(Delta_phi)+OM_p*Delta_phi-Delta_phi*OM", "OM_p*Delta_phi-Delta_phi*OM_s",
     revolute4, holds, "Ω̃_s on the left in the axes of the parent"},
    {"3.22", "JR03 (3.22) corrected", "(dt(Delta_phi)+OM_p*Delta_phi-Delta_phi*OM)*~TURN",
     "OM_p*ang*Delta_phi*~TURN*(I-ang)-ang*Delta_phi*~TURN*(I-ang)*OM_p", revolute4, holds, "ω̃ℓ̃ − ℓ̃ω̃ = (ω̃ℓ)~"},
    {"3.22 printed", "JR03 (3.22), first matrix", "(dt(Delta_phi)+OM_p*Delta_phi-Delta_phi*OM)*~TURN",
     "OM_p*ang*Delta_phi*~TURN*(I-ang)", revolute4, fails, "ω̃ℓ̃ is not (ω̃ℓ)~"},
    {"3.25 out", "JR03 (3.25)", "(diff(E_phi,1)+HH_i*E_phi-E_phi*HH_i)[2,3]",
     "HH_i[2,2]*E_phi[2,3]-E_phi[2,3]*HH_i[3,3]", revolute4, algebra,
     "[φ(k+1,k)]_θi, outboard of i: k < i in the paper"},
    {"3.25 at", "JR03 (3.25)", "(diff(E_phi,1)+HH_i*E_phi-E_phi*HH_i)[1,2]",
     "HH_d[1,1]*E_phi[1,2]-E_phi[1,2]*HH_i[2,2]", revolute4, algebra},
    {"3.25 zero", "JR03 (3.25)", "(diff(E_phi,1)+HH_i*E_phi-E_phi*HH_i)[0,1]", "0*E_phi[0,1]", revolute4, holds,
     "zero for k ≥ i"},
    {"3.26", "JR03 (3.26)", "(diff(~H,1)+HH_i*~H)[2,2]", "HH_i[2,2]*~H[2,2]", revolute4, algebra, "outboard of i"},
    {"3.26 zero", "JR03 (3.26)", "(diff(~H,1)+HH_i*~H)[1,1]", "0*~H[1,1]", revolute4, holds, "zero for k ≥ i"},
    {"3.27", "JR03 (3.27)", "(diff(M,1)+HH_i*M-M*HH_i)[1,1]", "HH_d[1,1]*M[1,1]-M[1,1]*HH_d[1,1]", revolute4, algebra,
     "k = i"},
    {"3.27 zero", "JR03 (3.27)", "(diff(M,1)+HH_i*M-M*HH_i)[0,0]", "0*M[0,0]", revolute4, holds, "zero for k > i"},
    {"3.31", "JR03 (3.31)", "dt(E_phi)+OM*E_phi-E_phi*OM", "OM*E_phi-E_phi*OM_s", revolute4},
    {"3.34a", "JR03 (3.34)", "dt(phi)+OM*phi-phi*OM", "phi*OM*phit-phit*OM_s*phi", revolute4},
    {"3.34b", "JR03 (3.34)", "dt(phi)+OM*phi-phi*OM", "phi*OM_d*phi+OM_s*phi-phi*OM", revolute4},
    {"3.35", "JR03 (3.35)", "diff(Delta_phi,1)+TURN*HH_s*~TURN*Delta_phi-Delta_phi*HH_i",
     "TURN*HH_s*~TURN*Delta_phi-Delta_phi*HH_s", revolute4, algebra, "ℍ_s on the left in the axes of the parent"},
    {"3.36", "JR03 (3.36)", "diff(E_phi,1)+HH_i*E_phi-E_phi*HH_i", "HH_i*E_phi-E_phi*HH_s", revolute4, algebra},
    {"3.37", "JR03 (3.37)", "diff(phi,1)+HH_i*phi-phi*HH_i", "phi*HH_d*phi-phi*HH_i+HH_s*phi", revolute4, algebra},
    {"3.37 proof", "JR03 proof of lemma 3.4", "diff(phi,1)+HH_i*phi-phi*HH_i", "phi*HH_i*phit-phit*HH_s*phi",
     revolute4},
    {"3.38 across", "JR03 (3.38)", "(diff(phi,1)+HH_i*phi-phi*HH_i)[0,3]",
     "phi[0,1]*HH_d[1,1]*phi[1,3]-phi[0,3]*HH_i[3,3]", revolute4, algebra, "k ≥ i > j in the paper"},
    {"3.38 outside", "JR03 (3.38)", "(diff(phi,1)+HH_i*phi-phi*HH_i)[2,3]", "HH_i[2,2]*phi[2,3]-phi[2,3]*HH_i[3,3]",
     revolute4, algebra, "k, j < i"},
    {"3.38 zero", "JR03 (3.38)", "(diff(phi,1)+HH_i*phi-phi*HH_i)[0,1]", "0*phi[0,1]", revolute4, holds, "j ≥ i"},
    {"3.39", "JR03 (3.39)", "diff(~H,1)+HH_i*~H", "HH_s*~H", revolute4, algebra},
    {"3.40", "JR03 (3.40)", "diff(M,1)+HH_i*M-M*HH_i", "HH_i*M-M*HH_i", revolute4, algebra},
    {"3.41 dt", "JR03 (3.41)", "dt(H*phi)-H*phi*OM", "H*phi*(OM_d*phi-OM)", revolute4},
    {"3.41", "JR03 (3.41)", "diff(H*phi,1)-H*phi*HH_i", "H*phi*(HH_d*phi-HH_i)", revolute4},
    {"chain rule", "JR03 before §3.1", "dt(H*phi)*w",
     "diff(H*phi,0)*w*(~unit(0)*thetad)+diff(H*phi,1)*w*(~unit(1)*thetad)+diff(H*phi,2)*w*(~unit(2)*thetad)+"
     "diff(H*phi,3)*w*(~unit(3)*thetad)",
     revolute4, holds, "ġ = Σ [g]_θi θ̇(i)"},
    {"4.42", "JR03 (4.42)", "diff(phi*M*~phi,1)+HH_i*phi*M*~phi-phi*M*~phi*HH_i",
     "(phi*HH_d+HH_s)*phi*M*~phi-phi*M*~phi*(HH_d*~phi+HH_s)", revolute4, algebra},
};

constexpr Row s3[] = {
    {"4.43", "JR03 (4.43)", "diff(MASS,1)", "H*phi*(HH_d*phi*M-M*~phi*HH_d)*~phi*~H", revolute4},
    {"4.43 dt", "JR03 (4.43)", "dt(MASS)", "H*phi*(OM_d*phi*M-M*~phi*OM_d)*~phi*~H", revolute4},
    {"4.3 note", "JR03 lemma 4.3", "phi*M*~phi*~H", "(I+phi*K*H)*P*~phi*~H"},
    {"4.3", "JR03 lemma 4.3", "diff(MASS,1)", "H*phi*(HH_d*(I+phi*K*H)*P-P*~(I+phi*K*H)*HH_d)*~phi*~H", revolute4},
    {"5.51", "JR03 (5.51)", "diff(MASS,1)", "H*(phi*(HH_d*R-R*HH_d)*~phi+phi*HH_d*phit*R-R*~phit*HH_d*~phi)*~H",
     revolute4},
    {"5.52 path", "JR03 (5.52)", "diff(MASS,1)[0,2]", "H[0,0]*phi[0,1]*HH_d[1,1]*phi[1,2]*R[2,2]*~H[2,2]", revolute4,
     holds, "k > i ≥ j in the paper"},
    {"5.52 inside", "JR03 (5.52)", "diff(MASS,2)[0,1]",
     "H[0,0]*phi[0,2]*(cross(ang*~H*unit(2))*R-R*cross(ang*~H*unit(2)))[2,2]*~phi[1,2]*~H[1,1]", revolute4, holds,
     "k, j > i"},
    {"5.52 zero", "JR03 (5.52)", "diff(MASS,1)[2,3]", "0*MASS[2,3]", revolute4, holds, "j, k ≤ i"},
    {"R(2)", "JR03 §5.1 corrected", "diff(R,2)[2,2]", "0*R[2,2]", revolute4, holds,
     "R(k) is that of bodies on frozen hinges k − 1 … 1: in its own axes it does not depend on θ(k)"},
    {"R(2) printed", "JR03 §5.1", "R[2,2]+diff(R,3)[2,2]", "R[2,2]", revolute4, fails,
     "printed: R(2) freezes hinge 2; it is hinge 1 that would change it"},
    {"inverse", "JR03 (4.43), identity 1.1", "diff(~(I-H*psi*K)*inv(D)*(I-H*psi*K),1)",
     "-inv(MASS)*diff(MASS,1)*inv(MASS)", revolute4, holds, "by the derivatives of ψ, K and D"},
};

constexpr Row s4[] = {
    {"C_x x'", "JR03 (5.53), any hinges", "diff(MASS,x)", "C_x+~C_x", any, holds,
     "C_x = Hφ{Mφ*(H*_x + 𝕌H*) − ½[𝕌*M + M𝕌 + Q[Mφ*H*x]]φ*H*}, 𝕌 = cross(φ*H*x); its elements are the Christoffel "
     "symbols where hinges have coordinates"},
    {"bias", "JR03 after (5.53), any hinges", "C_v*thetad+H*phi*M*~phi*a_g", "BIAS"},
    {"skew", "JR03 (5.53), any hinges", "dt(MASS)", "C_v+~C_v", any, holds, "d𝓜/dt − 2C is skew"},
    {"symmetric", "JR03 after (5.53)", "C_x*thetad", "C_v*x", revolute4, holds, "ℂ_i(j,k) = ℂ_i(k,j)"},
    {"torsion", "JR03 (5.53), any hinges", "C_x*thetad", "C_v*x+MASS*BRACKET", serial, holds,
     "of spherical, planar and free hinges the fields of unit velocities do not commute: H*c = (H*_x)θ̇ − (H*_θ̇)x + "
     "cross(H*x)H*θ̇"},
    {"symmetric printed", "JR03 after (5.53)", "C_x*thetad", "C_v*x", mobile4, fails,
     "with free and spherical hinges no ℂ is symmetric, gives d𝓜/dt and 𝓒, all three"},
};

constexpr Row s5[] = {
    {"2.14 tree", "JR03 (2.14), on trees", "S*Delta_phi*(-~cross(~phit*~H*x))*inv(Delta_phi)", "(-~cross(~phi*~H*x))*S",
     branch5, holds, "𝕊ℍ_s = ℍ𝕊, with ℍ_s in the axes of the parent"},
    {"2.14 tree printed", "JR03 (2.14), on trees", "~S*(-~cross(~phi*~H*x))*S",
     "Delta_phi*(-~cross(~phit*~H*x))*inv(Delta_phi)", branch5, fails,
     "𝕊*ℍ𝕊 has blocks between siblings; ℍ_s is its diagonal"},
    {"2.11 slide", "JR03 (2.11), sliding hinge", "-~cross(~H*unit(2))", "cross(ang*~H*unit(2))", slider4, fails,
     "ℍ(i) = S[H*(i)] is not diag(h̃, h̃) then, nor skew"},
    {"3.31", "JR03 (3.31) for any hinge", "dt(E_phi)+OM*E_phi-E_phi*OM", "OM*E_phi-E_phi*(OM+~cross(~H*thetad))", any,
     algebra, "Ω̃_s is Ω̃ + cross(H*θ̇)* in general"},
    {"3.36", "JR03 (3.36) for any hinge", "diff(E_phi,x)", "~U_x*E_phi-E_phi*~U_x", any, holds,
     "in inertial axes about one fixed point E_φ does not change"},
    {"3.37", "JR03 (3.37) for any hinge", "diff(phi,x)", "phi*HD_x*phi-HD_x*phi", any, algebra},
    {"3.37 carried", "JR03 (3.37) for any hinge", "diff(phi,x)", "~U_x*phi-phi*~U_x"},
    {"3.39", "JR03 (3.39) for any hinge", "diff(~H,x)+O_x*~H", "O_x*~H-cross(~H*x)*~H+~Gamma_x", any, algebra,
     "H*_θ = ℍ_sH* + Γ, Γ = H*_x + cross(H*x)H*"},
    {"3.39 printed", "JR03 (3.39)", "diff(~H,x)", "-cross(~H*x)*~H", mobile4, fails,
     "Γ is zero for hinges of one velocity, sliding in three and cylindrical ones alone"},
    {"3.39 one", "JR03 (3.39)", "~H+diff(~H,x)", "~H-cross(~H*x)*~H", slider4, holds, "of one velocity each"},
    {"3.41", "JR03 (3.41) for any hinge", "diff(H*phi,x)", "H*phi*HD_x*phi+Gamma_x*phi"},
    {"3.41 printed", "JR03 (3.41)", "diff(H*phi,x)", "H*phi*HD_x*phi", mobile4, fails, "without Γ"},
    {"4.42", "JR03 (4.42) for any hinge", "diff(phi*M*~phi,x)",
     "~U_x*phi*M*~phi+phi*M*~phi*U_x-phi*(~U_x*M+M*U_x)*~phi"},
    {"4.43", "JR03 (4.43) for any hinge", "diff(MASS,x)",
     "H*phi*(HD_x*phi*M+M*~phi*~(HD_x))*~phi*~H+Gamma_x*phi*M*~phi*~H+~(Gamma_x*phi*M*~phi*~H)"},
    {"4.43 slide", "JR03 (4.43) with ℍ_δ*, sliding hinge", "diff(MASS,x)", "H*phi*(HD_x*phi*M+M*~phi*~(HD_x))*~phi*~H",
     slider4},
    {"4.43 printed", "JR03 (4.43), sliding hinge", "diff(MASS,x)", "H*phi*(HD_x*phi*M-M*~phi*HD_x)*~phi*~H", slider4,
     fails, "−Mφ*ℍ_δ is Mφ*ℍ_δ* only where ℍ_δ is skew"},
    {"4.43 without Γ", "JR03 (4.43), several velocities", "diff(MASS,x)", "H*phi*(HD_x*phi*M+M*~phi*~(HD_x))*~phi*~H",
     mobile4, fails},
    {"4.43 dt", "JR03 (4.43) for any hinge", "dt(MASS)",
     "(dH(thetad)-H*phit*~cross(~H*thetad))*phi*M*~phi*~H+~((dH(thetad)-H*phit*~cross(~H*thetad))*phi*M*~phi*~H)"},
    {"5.51", "JR03 (5.51) for any hinge", "diff(MASS,x)",
     "H*(phi*(HD_x*R+R*~(HD_x))*~phi+phi*HD_x*phit*R+R*~phit*~(HD_x)*~phi)*~H+Gamma_x*phi*M*~phi*~H+~(Gamma_x*phi*M*~"
     "phi*~H)"},
    {"5.51 printed", "JR03 (5.51), sliding hinge", "diff(MASS,x)",
     "H*(phi*(HD_x*R-R*HD_x)*~phi+phi*HD_x*phit*R-R*~phit*HD_x*~phi)*~H", slider4, fails, "as in (4.43)"},
    {"R", "JR03 (5.44) for any hinge", "diff(R,x)", "gather(E_phi,E_phi*(HD_x*R+R*~(HD_x))*~E_phi)", any, algebra},
    {"inverse", "JR03 (4.43), identity 1.1", "diff(~(I-H*psi*K)*inv(D)*(I-H*psi*K),x)",
     "-inv(MASS)*diff(MASS,x)*inv(MASS)", branch5, holds, "by the derivatives of ψ, K and D"},
    {"Jacobian", "RK92 (20)", "~B*~phi*~H+diff(~B*~phi*~H,x)", "~B*~phi*(~H+~dH(x)+U_x*~H)-~B*U_x*~phi*~H", any, holds,
     "of nodes, in their axes"},
    {"dt V", "RK92 (25)", "dt(V)", "alpha-~phi*a_g-OM*V", any, holds, "the rate of components is not α"},
    {"dt V printed", "RK92 (25)", "dt(V)", "alpha-~phi*a_g", branch5, fails, "α is the derivative in inertial axes"},
};

}  // namespace

std::span<const Row> rows_s2() {
  return s2;
}
std::span<const Row> rows_s3() {
  return s3;
}
std::span<const Row> rows_s4() {
  return s4;
}
std::span<const Row> rows_s5() {
  return s5;
}

}  // namespace bunraku::cli::papers
