#include "bunraku/operators/rewriting/identities.hpp"

#include <vector>

#include "bunraku/operators/language/text.hpp"

namespace bunraku {

namespace {

/// What an identity needs of a system.
enum Needs : unsigned { nothing = 0, no_armature = 1, no_couplings = 2, some_armature = 4 };

struct Row {
  const char* name;
  const char* source;
  const char* left;
  const char* right;
  unsigned needs = nothing;
  bool both_ways = false;
};

// Those that need nothing hold with armature and couplings, too: they follow from ψ = (I − E_φ + K H)⁻¹ and from the
// recursion for P alone. Most are used from left to right only, towards what is cheaper to evaluate or is known to a
// further rule: a definition used both ways doubles the search without finding more.
constexpr Row rows[] = {
    // the mass matrix
    {"innovations factorization", "RJK91 lemma 1 (11), RK92 (43)", "H*phi*M*~phi*~H", "(I + H*phi*K)*D*~(I + H*phi*K)",
     no_armature, true},
    {"innovations factorization with armature", "RJK91 lemma 1 (11), with 𝒜 in D", "H*phi*M*~phi*~H + armature",
     "(I + H*phi*K)*D*~(I + H*phi*K)", some_armature, true},
    {"no armature", "not in the papers", "armature", "0*armature", no_armature},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "inv(I + H*phi*K)", "I - H*psi*K"},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "inv(I - H*psi*K)", "I + H*phi*K"},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "(I - H*psi*K)*(I + H*phi*K)", "I"},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "(I + H*phi*K)*(I - H*psi*K)", "I"},

    // φ and ψ
    {"closing the loop", "RJK91 lemma 4 (16), RK88 (a.35)", "(I - H*psi*K)*H*phi", "H*psi"},
    {"opening the loop", "RK88 (a.32)", "(I + H*phi*K)*H*psi", "H*phi"},
    {"gain through the filter", "RK88 (a.41)", "phi*K*(I - H*psi*K)", "psi*K"},
    {"gain through the filter", "RK88 (a.39)", "psi*K*(I + H*phi*K)", "phi*K"},
    {"φ through ψ", "RK88 (a.14)", "psi + psi*K*H*phi", "phi"},
    {"φ through ψ", "RK88 (a.22)", "psi + phi*K*H*psi", "phi"},
    {"ψ through φ", "RK88 (a.15)", "phi - psi*K*H*phi", "psi"},
    {"ψ through φ", "RK88 (a.23)", "phi - phi*K*H*psi", "psi"},
    {"inverse of φ", "RJK89 (2.4), RJK91 lemma 5", "inv(phi)", "I - E_phi"},
    {"inverse of ψ", "RJK89 (3.3), RJK91 lemma 5", "inv(psi)", "I - E_psi"},
    {"inverse of a shift", "RJK89 (2.4)", "inv(I - E_phi)", "phi"},
    {"inverse of a shift", "RJK89 (3.3)", "inv(I - E_psi)", "psi"},
    {"ψ⁻¹ and φ", "RJK91 lemma 5", "inv(psi)*phi", "I + K*H*phi"},
    {"ψ⁻¹ and φ", "RJK91 lemma 5", "phi*inv(psi)", "I + phi*K*H"},
    {"φ⁻¹ and ψ", "RJK91 lemma 5", "inv(phi)*psi", "I - K*H*psi"},
    {"φ⁻¹ and ψ", "RJK91, proof of lemma 4", "psi*inv(phi)", "I - psi*K*H"},
    {"feedback", "RJK91, proof of lemma 2", "inv(I + K*H*phi)", "I - K*H*psi"},
    {"feedback", "RJK91, proof of lemma 2", "inv(I + phi*K*H)", "I - psi*K*H"},
    {"feedback", "RJK91, proof of lemma 2", "inv(I - K*H*psi)", "I + K*H*phi"},
    {"feedback", "RJK91, proof of lemma 2", "inv(I - psi*K*H)", "I + phi*K*H"},
    {"one step of φ", "RJK91 appendix", "E_phi*phi", "phit"},
    {"one step of φ", "RJK91 appendix", "phi*E_phi", "phit"},
    {"one step of ψ", "RK88 (a.8)", "E_psi*psi", "psit"},
    {"one step of ψ", "RK88 (a.8)", "psi*E_psi", "psit"},
    {"one step of the gain", "RK88 (a.13)", "phit*G", "phi*K", no_couplings},

    // definitions
    {"definition of φ̃", "RK88 (a.3)–(a.4)", "phit", "phi - I", nothing, true},
    {"definition of φ̃", "RK88 (a.3)–(a.4)", "I - phi", "-phit"},
    {"definition of ψ̃", "RK88 (a.3)–(a.4)", "psit", "psi - I", nothing, true},
    {"definition of ψ̃", "RK88 (a.3)–(a.4)", "I - psi", "-psit"},
    {"definition of E_ψ", "RK88 (4.7), RJK91 (10)", "E_psi", "E_phi - K*H", nothing, true},
    {"definition of E_ψ", "RJK89 (3.2)", "E_phi*taub", "E_psi", no_couplings},
    {"definition of τ", "RJK89 (3.2)", "tau", "G*H", no_couplings},
    {"definition of τ̄", "RJK89 (3.2)", "taub", "I - tau", no_couplings, true},
    {"definition of K", "RJK89 (3.2)", "E_phi*G", "K", no_couplings},
    {"definition of Ω", "RJK89 (3.10), RJK91 (20)", "Omega", "~psi*~H*inv(D)*H*psi"},
    {"shift and transform", "JR03 (3.29)", "S*Delta_phi", "E_phi"},
    {"velocities", "RK92 (21)", "~phi*~H*thetad", "V"},

    // inertias
    {"composite bodies", "RK92 (28)", "R + phit*R + R*~phit", "phi*M*~phi"},
    {"composite bodies", "RK92 (31)", "R - E_phi*R*~E_phi", "M"},
    {"gain", "RK92 (36), RK88 (a.1), (a.2)", "H*P", "D*~G", no_couplings},
    {"inertia at the hinges", "RK92 (36)", "H*P*~H", "D", no_armature | no_couplings},
    {"gain at the hinges", "RK92 (36)", "H*G", "I", no_armature | no_couplings},
    {"articulated bodies, mixed", "RK88 (a.46)", "psi*M*~phi", "psi*P + P*~phit", no_couplings},
    {"articulated bodies, mixed", "RK88 (a.44)", "P - E_psi*P*~E_phi", "M", no_couplings},
    {"articulated bodies", "RK88 (a.47)", "P + psit*P + P*~psit", "psi*M*~psi", no_armature | no_couplings},
    {"articulated bodies", "RK92 (35), RJK91 (8)", "P - E_psi*P*~E_psi", "M", no_armature | no_couplings},
    {"white innovations", "RK88 (a.47)", "H*psi*M*~psi*~H", "D", no_armature},
    {"projection", "RJK89 (3.2)", "tau*tau", "tau", no_armature | no_couplings},
    {"projection", "RJK91, proof of lemma 1", "taub*P*~taub", "taub*P", no_armature | no_couplings},
};

std::vector<Identity> read_rows() {
  std::vector<Identity> out;
  for (const Row& row : rows) {
    const Operator left = parse(row.left);
    const Operator right = parse(row.right);
    out.push_back({row.name, row.source, left, in_space(right, left.range()), (row.needs & no_armature) != 0,
                   (row.needs & some_armature) != 0, (row.needs & no_couplings) != 0, row.both_ways});
  }
  return out;
}

}  // namespace

std::span<const Identity> identities() {
  static const std::vector<Identity> table = read_rows();
  return table;
}

}  // namespace bunraku
