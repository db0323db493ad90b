#include "bunraku/operators/language/symbols.hpp"

#include <array>
#include <string>

#include "bunraku/error.hpp"

namespace bunraku {

namespace {

using enum SpaceKind;
using enum Kind;

constexpr std::array table{
    SymbolInfo{Symbol::E_phi, "E_phi", "E_φ", R"(\mathcal{E}_{\phi})", body, body, causal, false,
               "shifts forces from every body to its parent: φ(p,k) at (p,k)", "RJK89 (2.3), (2.8)"},
    SymbolInfo{Symbol::phi, "phi", "φ", R"(\phi)", body, body, causal, false,
               "gathers forces inward along the tree: (I − E_φ)⁻¹", "RK92 (17), RJK89 (2.4), (2.10)"},
    SymbolInfo{Symbol::phit, "phit", "φ̃", R"(\tilde{\phi})", body, body, causal, false, "φ − I, strictly inward",
               "RK92 (28)"},
    SymbolInfo{Symbol::H, "H", "H", "H", hinge, body, memoryless, false,
               "projects each body's force on its hinge; H* is the joint map", "RK92 (13), (18)"},
    SymbolInfo{Symbol::M, "M", "M", "M", body, body, memoryless, true, "each body's spatial inertia about its origin",
               "RK92 (2)"},
    SymbolInfo{Symbol::B, "B", "B", "B", body, node, memoryless, false,
               "takes forces at the nodes to the bodies that carry them", "RK92 (18), RJK89 (2.13)"},
    SymbolInfo{Symbol::R, "R", "R", "R", body, body, memoryless, true,
               "composite inertia: the body and all outside it as one, R = M + Σ φ R φ*", "RK92 (29)–(31)"},
    SymbolInfo{Symbol::P, "P", "P", "P", body, body, memoryless, true,
               "articulated inertia: P = M + Σ φ [I − G H] P φ*", "RK92 (34)–(37)"},
    SymbolInfo{Symbol::D, "D", "D", "D", hinge, hinge, memoryless, true,
               "articulated inertia seen at the hinges: H P H* + 𝒜", "RK92 (36)"},
    SymbolInfo{Symbol::G, "G", "G", "G", body, hinge, memoryless, false, "the Kalman gain P H* D⁻¹", "RK92 (36)"},
    SymbolInfo{Symbol::K, "K", "K", "K", body, hinge, causal, false, "the gain shifted to the parents: E_φ G",
               "RJK89 (3.2)"},
    SymbolInfo{Symbol::tau, "tau", "τ", R"(\tau)", body, body, memoryless, false, "the projection G H", "RJK89 (3.2)"},
    SymbolInfo{Symbol::taub, "taub", "τ̄", R"(\bar{\tau})", body, body, memoryless, false, "I − τ = I − G H",
               "RJK89 (3.2)"},
    SymbolInfo{Symbol::E_psi, "E_psi", "E_ψ", R"(\mathcal{E}_{\psi})", body, body, causal, false,
               "shifts through free hinges: E_φ (I − G H) = E_φ − K H", "RJK91 (10)"},
    SymbolInfo{Symbol::psi, "psi", "ψ", R"(\psi)", body, body, causal, false,
               "gathers forces inward through free hinges: (I − E_ψ)⁻¹", "RK92 (38)–(40), RJK89 (3.3)"},
    SymbolInfo{Symbol::psit, "psit", "ψ̃", R"(\tilde{\psi})", body, body, causal, false, "ψ − I, strictly inward",
               "RK88 (5.11), RJK89 (A.4)"},
    SymbolInfo{Symbol::Upsilon, "Upsilon", "Υ", R"(\Upsilon)", body, body, memoryless, true,
               "the diagonal of Ω: Υ(k) = ψ*(p,k) Υ(p) ψ(p,k) + H* D⁻¹ H", "RJK91 after (20), RJK89 (A.3)"},
    SymbolInfo{Symbol::Omega, "Omega", "Ω", R"(\Omega)", body, body, general, true,
               "what forces at the bodies accelerate: ψ* H* D⁻¹ H ψ", "RJK89 (3.10)"},
    SymbolInfo{Symbol::S, "S", "𝕊", R"(\mathbb{S})", body, body, causal, false,
               "shifts numbers from every body to its parent as they stand: I at (p,k)", "JR03 §2.1"},
    SymbolInfo{Symbol::Delta_phi, "Delta_phi", "Δ_φ", R"(\Delta_{\phi})", body, body, memoryless, false,
               "φ(p,k) on the diagonal: E_φ = 𝕊 Δ_φ", "JR03 (3.28)"},
    SymbolInfo{Symbol::armature, "armature", "𝒜", R"(\mathcal{A})", hinge, hinge, memoryless, true,
               "the inertia of the rotors about their hinges", "not in the papers"},
    SymbolInfo{Symbol::V, "V", "V", "V", body, number, memoryless, false, "velocities of the bodies: φ* H* θ̇",
               "RK92 (21)"},
    SymbolInfo{Symbol::alpha, "alpha", "α", R"(\alpha)", body, number, memoryless, false,
               "accelerations of the bodies, gravity as one of the base: φ* (H* θ̈ + a)",
               "RK92 (25), RK88 (3.15), (3.21)"},
    SymbolInfo{Symbol::a, "a", "a", "a", body, number, memoryless, false,
               "velocity-dependent accelerations, with the base's pseudo-acceleration for gravity",
               "RK88 (2.19), (2.32), (3.21)"},
    SymbolInfo{Symbol::b, "b", "b", "b", body, number, memoryless, false, "gyroscopic forces", "RK88 (2.23)"},
    SymbolInfo{Symbol::f, "f", "f", "f", body, number, memoryless, false,
               "forces on the bodies through their hinges: φ (M α + b)", "RK92 (24)"},
    SymbolInfo{Symbol::T, "T", "T", "T", hinge, number, memoryless, false,
               "hinge forces: H f + 𝒜 θ̈ − T_p, or those that are given", "RK92 (12), (24)"},
    SymbolInfo{Symbol::thetad, "thetad", "θ̇", R"(\dot{\theta})", hinge, number, memoryless, false, "hinge velocities",
               "RK92 (7)"},
    SymbolInfo{Symbol::thetadd, "thetadd", "θ̈", R"(\ddot{\theta})", hinge, number, memoryless, false,
               "hinge accelerations", "RK92 (8)"},
    SymbolInfo{Symbol::T_p, "T_p", "T_p", "T_{p}", hinge, number, memoryless, false,
               "the hinges' own forces: damping, Coulomb friction (sign(θ̇), zero at rest) and springs; "
               "𝓜 θ̈ + 𝓒 = T + T_p",
               "not in the papers"},
    SymbolInfo{Symbol::ang, "ang", "ang", R"(\operatorname{ang})", body, body, memoryless, true,
               "the angular part: the identity on moments and angular velocities, zero on the rest",
               "not in the papers"},
    SymbolInfo{Symbol::stiffness, "stiffness", "𝒦", R"(\mathcal{K})", hinge, hinge, memoryless, true,
               "how the hinges' springs pull back: −∂T_p/∂θ", "not in the papers"},
    SymbolInfo{Symbol::a_g, "a_g", "a_g", "a_{g}", body, number, memoryless, false,
               "gravity's part of a: the base's pseudo-acceleration at the bodies that hang on the world",
               "RK88 (3.21)"},
    SymbolInfo{Symbol::A, "A", "A", "A", closure, node, general, false,
               "what the closures' equations take of the velocities of their nodes: A B* V + A_h θ̇ = 0",
               "RJK89 (2.15)–(2.16)"},
    SymbolInfo{Symbol::A_h, "A_h", "A_h", "A_{h}", closure, hinge, general, false,
               "what they take of hinge velocities: couplings of hinge coordinates", "not in the papers"},
    SymbolInfo{Symbol::U, "U", "U", "U", closure, number, memoryless, false,
               "what the closures ask of accelerations, velocity terms included: (A B* φ* H* + A_h) θ̈ = U",
               "RJK89 (2.17)"},
    SymbolInfo{Symbol::a_n, "a_n", "a_n", "a_{n}", node, number, memoryless, false,
               "velocity-dependent accelerations of the nodes, and the base's pseudo-acceleration for gravity at those "
               "on the world: B* α + a_n are theirs",
               "RK88 (2.19), RJK89 (2.17)"},
    SymbolInfo{Symbol::M_C, "M_C", "M_C", "M_{C}", hinge, hinge, general, true,
               "what the closed system has in place of 𝓜⁻¹: 𝓜⁻¹ − 𝓜⁻¹ Y* (Y 𝓜⁻¹ Y*)⁻¹ Y 𝓜⁻¹, Y = A B* φ* H* + A_h",
               "RJK89 (3.11)–(3.13)"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].symbol) != i) {
      return false;
    }
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const SymbolInfo> symbol_table() {
  return table;
}

bool has_family(Symbol symbol) {
  switch (symbol) {
    case Symbol::P:
    case Symbol::D:
    case Symbol::G:
    case Symbol::K:
    case Symbol::tau:
    case Symbol::taub:
    case Symbol::E_psi:
    case Symbol::psi:
    case Symbol::psit:
    case Symbol::Upsilon:
    case Symbol::Omega:
      return true;
    default:
      return false;
  }
}

bool is_of_closures(Symbol symbol) {
  return symbol >= Symbol::A;
}

const SymbolInfo& info(Symbol symbol) {
  if (static_cast<std::size_t>(symbol) >= table.size()) {
    throw ArgumentError("there is no symbol number " + std::to_string(static_cast<int>(symbol)));
  }
  return table[static_cast<std::size_t>(symbol)];
}

}  // namespace bunraku
