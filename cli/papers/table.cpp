#include "papers/table.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace bunraku::cli::papers {

// each in the source named after its family
std::span<const Row> rows_k1();
std::span<const Row> rows_k2();
std::span<const Row> rows_k3();
std::span<const Row> rows_k4();
std::span<const Row> rows_k5();
std::span<const Row> rows_k6();
std::span<const Row> rows_i1();
std::span<const Row> rows_i2();
std::span<const Row> rows_i3();
std::span<const Row> rows_f1();
std::span<const Row> rows_f2();
std::span<const Row> rows_f3();
std::span<const Row> rows_f4();
std::span<const Row> rows_f5();
std::span<const Row> rows_d1();
std::span<const Row> rows_d2();
std::span<const Row> rows_d3();
std::span<const Row> rows_d4();
std::span<const Row> rows_d5();
std::span<const Row> rows_s1();
std::span<const Row> rows_s2();
std::span<const Row> rows_s3();
std::span<const Row> rows_s4();
std::span<const Row> rows_s5();
std::span<const Row> rows_x1();
std::span<const Row> rows_l1();

namespace {

struct Abbreviation {
  std::string_view name;
  std::string_view text;
};

constexpr Abbreviation abbreviations[] = {
    {"MASS", "H*phi*M*~phi*~H"},               // 𝓜
    {"BIAS", "H*phi*(M*~phi*a+b)"},            // 𝓒
    {"T_y", "T+H*phi*B*y"},                    // what makes the same motion while the nodes push with y = f(0)
    {"T_free", "T_y-H*phi*(M*~phi*a+b+B*y)"},  // the same without its biases: T' of RK92 (26)
    {"Phi88", "phi*S"},                        // RK88's Φ, strictly inward
    {"Psi88", "psi*S"},                        // RK88's Ψ
    {"L88", "Delta_phi*G"},                    // RK88's L, memoryless; S L = K
    {"Psi92", "psi*E_phi"},                    // RK92's Ψ; its Φ is phit
    {"TURN", "ang*Delta_phi*ang+(I-ang)*Delta_phi*(I-ang)"},  // the rotation in Δ_φ
    {"HH_i", "cross(ang*~phi*~H*unit(1))"},                   // JR03's ℍ^i for i = 1, a revolute hinge
    {"HH_s", "cross(ang*~phit*~H*unit(1))"},                  // its ℍ^i_s
    {"HH_d", "cross(ang*~H*unit(1))"},                        // its ℍ^i_δ
    {"OM", "cross(ang*V)"},                                   // its Ω̃
    {"OM_s", "cross(ang*~phit*~H*thetad)"},                   // its Ω̃_s, in the axes of the child
    {"OM_p", "TURN*OM_s*~TURN"},                              // the same in the axes of the parent
    {"OM_d", "cross(ang*~H*thetad)"},                         // its Ω̃_δ
    {"O_x", "cross(ang*~phi*~H*x)"},                          // Ω̃ of the motion x in place of θ̇
    {"U_x", "cross(~phi*~H*x)"},                              // with linear velocities
    {"HD_x", "-~cross(~H*x)"},                                // ℍ_δ along x, for any hinge
    {"Gamma_x", "dH(x)+H*~cross(~H*x)"},                      // Γ*, how H changes as the parent sees it
    {"C_x",                                                   // Coriolis matrices of the motions x and θ̇
     "H*phi*(M*~phi*(~dH(x)+U_x*~H)-0.5*(~U_x*M+M*U_x+Q(M*~phi*~H*x))*~phi*~H)"},
    {"C_v", "H*phi*(M*~phi*(~dH(thetad)+cross(V)*~H)-0.5*(~cross(V)*M+M*cross(V)+Q(M*V))*~phi*~H)"},
    {"BRACKET", "inv(H*~H)*H*(~dH(x)*thetad-~dH(thetad)*x+cross(~H*x)*~H*thetad)"},  // of the fields x and θ̇
};

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

std::span<const Item> items() {
  static const std::array all{
      Item{"K1", "φ is a group", rows_k1()},
      Item{"K2", "E_φ is nilpotent, φ = (I − E_φ)⁻¹, on chains and trees", rows_k2()},
      Item{"K3", "velocities and accelerations", rows_k3()},
      Item{"K4", "Jacobians of nodes", rows_k4()},
      Item{"K5", "velocity-dependent terms, and gravity", rows_k5()},
      Item{"K6", "a mobile base, ball joints", rows_k6()},
      Item{"I1", "inverse dynamics", rows_i1()},
      Item{"I2", "composite bodies, the elements of 𝓜", rows_i2()},
      Item{"I3", "bias torques", rows_i3()},
      Item{"F1", "the Riccati recursion", rows_f1()},
      Item{"F2", "factors of 𝓜 and of its inverse", rows_f2()},
      Item{"F3", "RK88 appendix A, line by line", rows_f3()},
      Item{"F4", "innovations, 𝓜 as a covariance", rows_f4()},
      Item{"F5", "the diagonal form of the equations of motion", rows_f5()},
      Item{"D1", "the four algorithms of forward dynamics", rows_d1()},
      Item{"D2", "two sweeps with velocities of the step before", rows_d2()},
      Item{"D3", "forward dynamics of trees", rows_d3()},
      Item{"D4", "what forces at the nodes change", rows_d4()},
      Item{"D5", "the operational-space inertia", rows_d5()},
      Item{"C1", "two arms closed at a point", {}},
      Item{"C2", "closed systems: steps A to F", {}},
      Item{"C3", "a closure that is changed", {}},
      Item{"C4", "several arms with a common object", {}},
      Item{"C5", "contacts", {}},
      Item{"C6", "redundant closures", {}},
      Item{"X1", "flexible bodies", rows_x1()},
      Item{"S1", "the shift operator, cross products, ℍ", rows_s1()},
      Item{"S2", "rates and sensitivities of φ, H, M, E_φ, Δ_φ, φMφ*", rows_s2()},
      Item{"S3", "sensitivities of the mass matrix", rows_s3()},
      Item{"S4", "Christoffel symbols", rows_s4()},
      Item{"S5", "the same for any hinges, on trees", rows_s5()},
      Item{"L1", "the seven levels of an expression", rows_l1()},
  };
  return all;
}

std::string expand(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_name(text[end])) {
      ++end;
    }
    const std::string_view name = text.substr(i, end - i);
    const auto* const found = std::find_if(std::begin(abbreviations), std::end(abbreviations),
                                           [&](const Abbreviation& each) { return each.name == name; });
    if (found != std::end(abbreviations)) {
      out += "(" + expand(found->text) + ")";
    } else {
      out += name;
    }
    if (end < text.size()) {
      out += text[end++];
    }
    i = end;
  }
  return out;
}

}  // namespace bunraku::cli::papers
