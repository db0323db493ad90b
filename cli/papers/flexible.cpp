/// @file
/// Flexible bodies: X1. RJK89 §4 says that factors, inverse and recursions go over to them; here they are, on trees.
#include "papers/flexible.hpp"

#include <Eigen/Cholesky>

#include "papers/references.hpp"

namespace bunraku::cli::papers {

namespace {

using enum Systems;
using enum Claim;

constexpr Row x1[] = {
    {"E phi", "RJK89 (2.4)", "phi", "inv(I-E_phi)", flexible, holds,
     "rigid and flexible bodies in one tree; nodes are in body space"},
    {"V", "RJK89 (4.1)", "V", "~E_phi*V+~H*thetad", flexible, algebra, "θ̇ = (η̇, β) in any order"},
    {"alpha", "RJK89 §4, end", "alpha", "~phi*(~H*thetadd+a)", flexible, algebra},
    {"T", "RJK89 §4, end", "T+T_p", "MASS*thetadd+BIAS", flexible, holds,
     "T_p = −Kη − Dη̇ of stiffness K_k and dampers"},
    {"R", "RJK89 §4, end", "phi*M*~phi", "R+phit*R+R*~phit", flexible},
    {"Riccati psi", "RJK89 §4, end", "psi*M*~phi", "psi*P+P*~phit", flexible, holds,
     "ψMφ* = ψP + P E_φ*φ*: modes and hinges are eliminated in one recursion"},
    {"D", "RJK89 §4, end", "D", "H*P*~H", flexible, algebra, "of a body's modes: n×n, summed over its nodes"},
    {"E psi", "RJK89 §4, end", "psi", "inv(I-E_phi*(I-G*H))", flexible},
    {"factors", "RJK89 §4, end", "MASS", "(I+H*phi*K)*D*~(I+H*phi*K)", flexible},
    {"inverse factor", "RJK89 §4, end", "(I+H*phi*K)*(I-H*psi*K)", "I", flexible},
    {"inverse", "RJK89 §4, end", "inv(MASS)", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)", flexible},
    {"filter", "RJK89 §4, end", "(I-H*psi*K)*H*phi", "H*psi", flexible},
    {"filter phi", "RJK89 §4, end", "phi", "psi+phi*K*H*psi", flexible},
    {"forward", "RJK89 §4, end", "thetadd", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)*(T+T_p-BIAS)", flexible},
    {"Omega", "RJK89 §4, end", "~B*~psi*~H*inv(D)*H*psi*B", "~B*~phi*~H*inv(MASS)*H*phi*B", flexible},
    {"M psi", "RJK89 §4, end", "H*phi*M*~psi*~H", "(I+H*phi*K)*D", flexible},
};

constexpr Reference references_x1[] = {
    {"X1", "nodes", "RJK89 (4.1)", "phi", "[φ(i,j) of the poses of bodies and nodes, nodes deformed]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().phi(); }, flexible},
    {"X1", "H", "RJK89 (4.1)–(4.3)", "H", "[joint maps, of nodes (T(λη)λ; γ − eη*S)]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().H(); }, flexible},
    {"X1", "nodes V", "RJK89 (4.3)", "~phi*~H*thetad", "[ω and v of bodies and nodes by 3-vectors]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().V(); }, flexible},
    {"X1", "nodes alpha", "RJK89 §4, end", "alpha", "[their accelerations by 3-vectors]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().alpha(); }, flexible},
    {"X1", "tips", "RJK89 (4.3)", "~B*~phi*~H", "[velocities of points on nodes for unit velocities, by 3-vectors]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().jacobian(); }, flexible},
    {"X1", "energy", "RJK89 §4, 𝓜^f", "MASS", "[the matrix of Σ m v_c·v_c + ω·I_c ω over bodies and nodes]",
     [](Sample& s) -> Eigen::MatrixXd { return s.mass(); }, flexible},
    {"X1", "Newton–Euler", "RJK89 §4, end", "BIAS",
     "[torques and modal forces of Newton's and Euler's equations at θ̈ = 0]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().bias(); }, flexible},
    {"X1", "Newton–Euler T", "RJK89 §4, end", "T+T_p", "[torques and modal forces of those equations]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().torques(); }, flexible},
    {"X1", "cut loose", "RJK89 §4, end", "P",
     "[the inertia that is felt at each body and node cut loose, by Schur complements]",
     [](Sample& s) -> Eigen::MatrixXd { return s.dense().P(); }, flexible},
    {"X1", "eliminated D", "RJK89 §4, end", "D", "[D of the energy's matrix = U D U*, modes of a body in one block]",
     [](Sample& s) -> Eigen::MatrixXd { return s.factors().D; }, flexible},
    {"X1", "eliminated", "RJK89 §4, end", "I+H*phi*K", "[U of the energy's matrix = U D U*, by elimination]",
     [](Sample& s) -> Eigen::MatrixXd { return s.factors().U; }, flexible},
    {"X1", "energy inverse", "RJK89 §4, end", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)", "[the inverse of the energy's matrix]",
     [](Sample& s) -> Eigen::MatrixXd {
       return s.mass().llt().solve(Eigen::MatrixXd::Identity(s.mass().rows(), s.mass().cols()));
     },
     flexible},
    {"X1", "dense solve", "RJK89 §4, end", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)*(T+T_p-BIAS)",
     "[a dense solve of the energy's matrix, for the torques of Newton and Euler]",
     [](Sample& s) -> Eigen::MatrixXd { return s.mass().llt().solve(s.dense().torques() - s.dense().bias()); },
     flexible},
    {"X1", "nodal energy", "RJK89 §4, 𝓜^f", "MASS", "[the energy's matrix, every node with six displacements]",
     [](Sample& s) -> Eigen::MatrixXd { return s.mass(); }, nodal},
    {"X1", "nodal inverse", "RJK89 §4, end", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)", "[its inverse, likewise]",
     [](Sample& s) -> Eigen::MatrixXd {
       return s.mass().llt().solve(Eigen::MatrixXd::Identity(s.mass().rows(), s.mass().cols()));
     },
     nodal},
};

}  // namespace

std::span<const Row> rows_x1() {
  return x1;
}

std::span<const Reference> flexible_references() {
  return references_x1;
}

}  // namespace bunraku::cli::papers
