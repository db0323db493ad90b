#include "bunraku/operators/rewriting/identities.hpp"

#include <vector>

#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku {

namespace {

/// What an identity needs of a system.
enum Needs : unsigned { nothing = 0, no_armature = 1, no_couplings = 2, couplings = 4, no_ties = 8 };

struct Row {
  const char* name;
  const char* source;
  const char* left;
  const char* right;  ///< Or nothing, where the language has the definition.
  unsigned needs = nothing;
  IdentityUse use = IdentityUse::rule;
};

using enum IdentityUse;

// Rules are tried in this order, and their adjoints with them; each is one line of a derivation. Within one family
// they are terminating and complete: every right word is lighter than the left one, and all overlaps join. Those that
// need nothing hold with armature and couplings, too: they follow from ψ = (I − E_φ + K H)⁻¹ and from the innovations
// factorization alone. Those that need no couplings take G for P H* D⁻¹ and K for E_φ G, which is not so where a body
// hangs on another one that is eliminated with it; the last few rules say what is left of them between hinges.
constexpr Row rows[] = {
    // definitions
    {"no armature", "not in the papers", "armature", "0*armature", no_armature},
    {"no tied coordinates", "not in the papers", "A_h", "0*A_h", no_ties},
    {"definition of M_C", "RJK89 (3.11)–(3.13)", "M_C", nullptr, nothing, definition},
    {"definition of φ̃", "RK88 (a.3)–(a.4)", "phit", "phi - I"},
    {"definition of ψ̃", "RK88 (a.3)–(a.4)", "psit", "psi - I"},
    {"definition of τ", "RJK89 (3.2)", "tau", "G*H", no_couplings},
    {"definition of τ̄", "RJK89 (3.2)", "taub", "I - G*H", no_couplings},
    {"definition of E_ψ", "RK88 (4.7), RJK91 (10)", "E_psi", "E_phi - K*H"},
    {"definition of Ω", "RJK89 (3.10), RJK91 (20)", "Omega", "~psi*~H*inv(D)*H*psi"},
    {"shift and transform", "JR03 (3.29)", "S*Delta_phi", "E_phi"},

    // inverses
    {"innovations factorization", "RJK91 lemma 1 (11), RK92 (43)", "H*phi*M*~phi*~H + armature",
     "(I + H*phi*K)*D*~(I + H*phi*K)", nothing, factorization},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "inv(I + H*phi*K)", "I - H*psi*K", nothing, causal_inverse},
    {"causal inverse", "RJK91 lemma 2 (12), RK92 (45)", "inv(I - H*psi*K)", "I + H*phi*K", nothing, causal_inverse},
    {"feedback", "RJK91, proof of lemma 2", "inv(I + K*H*phi)", "I - K*H*psi", nothing, feedback},
    {"feedback", "RJK91, proof of lemma 2", "inv(I + phi*K*H)", "I - psi*K*H", nothing, feedback},
    {"feedback", "RJK91, proof of lemma 2", "inv(I - K*H*psi)", "I + K*H*phi", nothing, feedback},
    {"feedback", "RJK91, proof of lemma 2", "inv(I - psi*K*H)", "I + phi*K*H", nothing, feedback},
    {"inverse of φ", "RJK89 (2.4), RJK91 lemma 5", "inv(phi)", "I - E_phi", nothing, inverse_of_loop},
    {"inverse of ψ", "RJK89 (3.3), RJK91 lemma 5", "inv(psi)", "I - E_psi", nothing, inverse_of_loop},
    {"inverse of a shift", "RJK89 (2.4)", "inv(I - E_phi)", "phi", nothing, loop},
    {"inverse of a shift", "RJK89 (3.3)", "inv(I - E_psi)", "psi", nothing, loop},
    {"push-through", "Henderson and Searle 1981", "inv(I + x*y)", "I - x*inv(I + y*x)*y", nothing, inversion_lemma},
    {"inversion lemma", "Woodbury 1950", "inv(z + x*y)", "inv(z) - inv(z)*x*inv(I + y*inv(z)*x)*y*inv(z)", nothing,
     inversion_lemma},

    {"inverse", "x⁻¹x = x x⁻¹ = I", "inv(z)*z", "I", nothing, cancellation},

    // φ and ψ
    {"closing the loop", "RJK91 lemma 4 (16), RK88 (a.14), (a.35)", "psi*K*H*phi", "phi - psi"},
    {"closing the loop", "RJK91 lemma 4 (16), RK88 (a.22), (a.41)", "phi*K*H*psi", "phi - psi"},
    {"one step of φ", "RJK91 appendix", "E_phi*phi", "phi - I"},
    {"one step of φ", "RJK91 appendix", "phi*E_phi", "phi - I"},
    {"one step of ψ", "RK88 (a.8)", "psi*E_phi", "psi - I + psi*K*H"},
    {"one step of ψ", "RK88 (a.8)", "E_phi*psi", "psi - I + K*H*psi"},
    {"velocities", "RK92 (21)", "~phi*~H*thetad", "V"},
    {"velocities", "RK92 (21)", "~E_phi*V", "V - ~H*thetad"},
    {"velocities", "RK92 (21), RK88 (a.14)", "~psi*~H*~K*V", "V - ~psi*~H*thetad"},
    {"velocities", "RK92 (21), RK88 (a.46)", "psi*M*V", "psi*P*~H*thetad + P*V - P*~H*thetad", no_couplings},
    {"velocities", "RK92 (21), RK88 (a.13)", "~G*V", "~G*~H*thetad + ~K*V", no_couplings},
    {"velocities", "RK92 (21), (35)", "E_phi*P*V", "P*V - M*V + K*D*~K*V + K*D*thetad", no_couplings},
    {"velocities", "RK92 (21), RJK91, proof of lemma 1", "~V*K*D*~K*V",
     "~V*M*V - ~V*K*D*thetad - ~thetad*D*~K*V - ~thetad*D*thetad + ~thetad*armature*thetad"},
    {"velocities", "RK92 (21), RJK91, proof of lemma 1", "phi*K*D*~K*V",
     "phi*M*V - phi*P*~H*thetad - P*V + P*~H*thetad", no_couplings},

    // inertias
    {"composite bodies", "RK92 (28)", "phi*R + R*~phi", "phi*M*~phi + R", nothing, pair},
    {"composite bodies", "RK92 (31)", "E_phi*R*~E_phi", "R - M"},
    {"articulated bodies, mixed", "RK88 (a.46)", "psi*M*~phi", "psi*P + P*~phi - P", no_couplings},
    {"articulated bodies", "RK88 (a.47)", "psi*M*~psi", "psi*P + P*~psi - P - psi*K*armature*~K*~psi", no_couplings},
    {"articulated bodies, factored", "RJK91, proof of lemma 1", "phi*K*D*~K*~phi", "phi*M*~phi - phi*P - P*~phi + P",
     no_couplings},
    {"one step of articulated bodies", "RK92 (35), RJK91 (8)", "E_phi*P*~E_phi", "P - M + K*D*~K", no_couplings},
    {"one step of articulated bodies", "RK88 (a.44)", "psi*P*~E_phi", "psi*P + P*~E_phi - psi*M", no_couplings},
    {"one step of articulated bodies", "RK88 (a.44)", "phi*P*~E_phi", "phi*P + P*~E_phi - phi*M + phi*K*D*~K",
     no_couplings},
    {"gain", "RK92 (36), RK88 (a.1), (a.2)", "H*P", "D*~G", no_couplings},
    {"gain through the filter", "RK88 (a.13), (a.39)", "psi*G", "G + psi*K*armature*inv(D)", no_couplings},
    {"one step of the gain", "RK88 (a.13)", "phi*G", "G + phi*K", no_couplings},
    {"definition of K", "RJK89 (3.2)", "E_phi*G", "K", no_couplings},
    {"gain at the hinges", "RK92 (36)", "H*G", "I - armature*inv(D)", no_couplings},

    // ψ of one family and P, G, K of another, that of X and Y
    {"two families", "ψ₁ − ψ₂ = ψ₁ (K₂ − K₁) H ψ₂", "psi*K_{X, Y}*H*psi_{X, Y}",
     "psi - psi_{X, Y} + psi*K*H*psi_{X, Y}"},
    {"two families", "as RK88 (a.13), (a.39)", "psi*G_{X, Y}",
     "G_{X, Y} - psi*K + psi*K_{X, Y} + psi*K*Y*inv(D_{X, Y})", no_couplings},
    {"two families", "as RK88 (a.46)", "psi*X*~phi",
     "psi*P_{X, Y} + P_{X, Y}*~phi - P_{X, Y} - psi*(K - K_{X, Y})*D_{X, Y}*~K_{X, Y}*~phi", no_couplings},
    {"two families", "as RK88 (a.47)", "psi*X*~psi_{X, Y}",
     "psi*P_{X, Y} + P_{X, Y}*~psi_{X, Y} - P_{X, Y} - psi*K*Y*~K_{X, Y}*~psi_{X, Y}", no_couplings},

    // the same between hinges, where these are coupled
    {"mixed innovations", "RK88 (a.46)", "H*psi*M*~phi*~H", "D + D*~K*~phi*~H - armature + H*psi*K*armature",
     couplings},
    {"white innovations", "RK88 (a.47)", "H*psi*M*~psi*~H", "D - (I - H*psi*K)*armature*~(I - H*psi*K)", couplings},
    {"innovations factorization", "RK92 (43)", "H*phi*K*D*~K*~phi*~H",
     "H*phi*M*~phi*~H + armature - D - H*phi*K*D - D*~K*~phi*~H", couplings},
};

std::vector<Identity> read_rows() {
  using enum SpaceKind;
  const Variables variables{Operator::variable("x", body, hinge), Operator::variable("y", hinge, body),
                            Operator::variable("z", body, body), Operator::variable("X", body, body),
                            Operator::variable("Y", hinge, hinge)};
  std::vector<Identity> out;
  for (const Row& row : rows) {
    const Operator left = parse(row.left, variables);
    const Operator right = row.right == nullptr ? operators::expanded(left) : parse(row.right, variables);
    out.push_back({row.name, row.source, left, in_space(right, left.range()), (row.needs & no_armature) != 0,
                   (row.needs & no_couplings) != 0, (row.needs & couplings) != 0, row.use, (row.needs & no_ties) != 0});
  }
  return out;
}

}  // namespace

std::span<const Identity> identities() {
  static const std::vector<Identity> table = read_rows();
  return table;
}

}  // namespace bunraku
