#include "papers/references.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;

MatrixXd inverse_of(const MatrixXd& mass) {
  return mass.llt().solve(MatrixXd::Identity(mass.rows(), mass.cols()));
}

/// φ*H* 𝓜⁻¹ Hφ.
MatrixXd omega(Sample& s) {
  const MatrixXd gather = s.dense().H() * s.dense().phi();
  return gather.transpose() * s.mass().llt().solve(gather);
}

MatrixXd diagonal_blocks(const MatrixXd& x) {
  MatrixXd out = MatrixXd::Zero(x.rows(), x.cols());
  for (Eigen::Index i = 0; i < x.rows(); i += 6) {
    out.block<6, 6>(i, i) = x.block<6, 6>(i, i);
  }
  return out;
}

/// One block a body of the cross products of w.
MatrixXd crosses(const Eigen::VectorXd& w) {
  MatrixXd out = MatrixXd::Zero(w.size(), w.size());
  for (Eigen::Index i = 0; i < w.size(); i += 6) {
    out.block<6, 6>(i, i) = cross_matrix(w.segment<6>(i));
  }
  return out;
}

/// S[z] = [x̃ ỹ; 0 x̃] of each body.
MatrixXd force_crosses(const Eigen::VectorXd& w) {
  MatrixXd out = MatrixXd::Zero(w.size(), w.size());
  for (Eigen::Index i = 0; i < w.size(); i += 6) {
    out.block<3, 3>(i, i) = out.block<3, 3>(i + 3, i + 3) = tilde(w.segment<3>(i));
    out.block<3, 3>(i, i + 3) = tilde(w.segment<3>(i + 3));
  }
  return out;
}

/// ω̃ on the diagonal.
MatrixXd turning(Sample& s) {
  Eigen::VectorXd w = s.dense().V();
  for (Eigen::Index i = 0; i < w.size(); i += 6) {
    w.segment<3>(i + 3).setZero();
  }
  return crosses(w);
}

constexpr Reference all_references[] = {
    {"K1", "poses", "RK92 (3)–(5)", "phi", "[φ(i,j) of the poses of i and j, i on the way from j to the base]",
     [](Sample& s) -> MatrixXd { return s.dense().phi(); }},
    {"K1", "hinge poses", "JR03 (3.28)", "Delta_phi", "[φ(p,k) of the poses of k and its parent p]",
     [](Sample& s) -> MatrixXd { return s.dense().Delta_phi(); }},
    {"K2", "poses", "RJK89 (2.4), (2.9)", "inv(I-E_phi)", "[φ(i,j) of the poses of i and j]",
     [](Sample& s) -> MatrixXd { return s.dense().phi(); }},
    {"K2", "links", "RJK89 (2.3), (2.7)", "E_phi", "[φ(p,k) of the poses of k and its parent p]",
     [](Sample& s) -> MatrixXd { return s.dense().E_phi(); }},
    {"K3", "classical V", "RK88 (2.1)–(2.7)", "~phi*~H*thetad", "[ω and v of the bodies, link by link by 3-vectors]",
     [](Sample& s) -> MatrixXd { return s.dense().V(); }},
    {"K3", "classical alpha", "RK88 (2.1)–(2.7)", "~phi*(~H*thetadd+a)",
     "[their accelerations, link by link by 3-vectors]", [](Sample& s) -> MatrixXd { return s.dense().alpha(); }},
    {"K4", "classical J", "RK92 (20), RJK89 (2.13)–(2.14)", "~B*~phi*~H",
     "[velocities of the nodes for unit velocities, by 3-vectors]",
     [](Sample& s) -> MatrixXd { return s.dense().jacobian(); }},
    {"K5", "classical a", "RK88 (2.19), (2.32), (3.21)", "a",
     "[ω(p)×ω_r, ω(p)×(ω(p)×ℓ + v_r) + ω×v_r, (dH*/dt)θ̇, and −g at the base, by 3-vectors]",
     [](Sample& s) -> MatrixXd { return s.dense().a(); }},
    {"K5", "classical b", "RK88 (2.23)", "b", "[ω×Iω, m ω×(ω×p), by 3-vectors]",
     [](Sample& s) -> MatrixXd { return s.dense().b(); }},
    {"I1", "Newton–Euler f", "RK92 (6)–(12), RK88 (2.8)–(2.13)", "phi*(M*alpha+b)",
     "[forces of Newton's and Euler's equations, by 3-vectors]", [](Sample& s) -> MatrixXd { return s.dense().f(); }},
    {"I1", "Newton–Euler T", "RK92 (22)–(23)", "MASS*thetadd+BIAS", "[their torques]",
     [](Sample& s) -> MatrixXd { return s.dense().torques(); }},
    {"I1", "energy", "RK92 (22)", "MASS", "[the matrix of Σ m v_c·v_c + ω·I_c ω]",
     [](Sample& s) -> MatrixXd { return s.mass(); }},
    {"I2", "sums", "RK92 (29)", "R", "[Σ φ(i,j) M(j) φ*(i,j) over all j that i carries]",
     [](Sample& s) -> MatrixXd { return s.dense().R(); }},
    {"I2", "dense", "RK92 (28)", "R+phit*R+R*~phit", "[φ M φ* of the poses]",
     [](Sample& s) -> MatrixXd { return s.dense().phi() * s.dense().M() * s.dense().phi().transpose(); }},
    {"I2", "energy", "JR03 (5.45)", "H*R*~H+H*phit*R*~H+H*R*~phit*~H", "[the matrix of Σ m v_c·v_c + ω·I_c ω]",
     [](Sample& s) -> MatrixXd { return s.mass(); }},
    {"I3", "Newton–Euler", "RK92 (27)", "H*phi*(M*~phi*a+b+B*y)",
     "[torques of Newton's and Euler's equations at θ̈ = 0, and J*y]",
     [](Sample& s) -> MatrixXd { return s.dense().bias() + s.dense().jacobian().transpose() * s.y(); }},
    {"F1", "cut loose", "RK92 (34)–(37)", "P",
     "[the inertia that is felt at each body when its hinge is cut, by Schur complements]",
     [](Sample& s) -> MatrixXd { return s.articulated().P; }},
    {"F1", "cut loose G", "RK92 (36)", "G", "[P H* (H P H*)⁻¹ of that]",
     [](Sample& s) -> MatrixXd { return s.articulated().G; }},
    {"F1", "cut loose psi", "RK92 (39)–(40)", "psi", "[products of φ(p,k)(I − G H) of that along the paths]",
     [](Sample& s) -> MatrixXd { return s.articulated().psi; }},
    {"F1", "eliminated D", "RK92 (36), (43)", "D", "[D of the energy's matrix = U D U*, by elimination]",
     [](Sample& s) -> MatrixXd { return s.factors().D; }},
    {"F2", "eliminated", "RJK91 (11), RK92 (43)", "I+H*phi*K", "[U of the energy's matrix = U D U*, by elimination]",
     [](Sample& s) -> MatrixXd { return s.factors().U; }},
    {"F2", "eliminated inverse", "RJK91 (12), RK92 (45)", "I-H*psi*K", "[U⁻¹]",
     [](Sample& s) -> MatrixXd {
       const MatrixXd& U = s.factors().U;
       return U.triangularView<Eigen::UnitUpper>().solve(MatrixXd::Identity(U.rows(), U.cols()));
     }},
    {"F2", "energy", "RJK91 (13), RK92 (46)", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)", "[the inverse of the energy's matrix]",
     [](Sample& s) -> MatrixXd { return inverse_of(s.mass()); }},
    {"F3", "A.3 (a.22) dense", "RK88 (a.22)", "(I+Phi88*L88*H)*psi", "[φ(i,j) of the poses of i and j]",
     [](Sample& s) -> MatrixXd { return s.dense().phi(); }},
    {"F3", "A.4 (a.35) dense", "RK88 (a.35)", "(I-H*Psi88*L88)*H*phi", "[H ψ, ψ from bodies cut loose]",
     [](Sample& s) -> MatrixXd { return s.dense().H() * s.articulated().psi; }},
    {"F3", "A.5 (a.47) dense", "RK88 (a.47)", "P+psit*P+P*~psit", "[ψ M ψ*, ψ from bodies cut loose]",
     [](Sample& s) -> MatrixXd { return s.articulated().psi * s.dense().M() * s.articulated().psi.transpose(); }},
    {"F3", "A.6 (a.48) dense", "RK88 (a.48)", "P+phit*P+P*~phit+phit*P*~H*inv(D)*H*P*~phit", "[φ M φ* of the poses]",
     [](Sample& s) -> MatrixXd { return s.dense().phi() * s.dense().M() * s.dense().phi().transpose(); }},
    {"F4", "energy", "RK88 (4.12), RJK91 §4", "(I+H*phi*K)*sqrt(D)*~((I+H*phi*K)*sqrt(D))",
     "[the matrix of Σ m v_c·v_c + ω·I_c ω]", [](Sample& s) -> MatrixXd { return s.mass(); }},
    {"F5", "kinetic energy", "RJK91 §6", "0.5*~(sqrt(D)*~(I+H*phi*K)*thetad)*(sqrt(D)*~(I+H*phi*K)*thetad)",
     "[½ Σ m v_c·v_c + ω·I_c ω]",
     [](Sample& s) -> MatrixXd { return MatrixXd::Constant(1, 1, s.dense().kinetic_energy()); }},
    {"D1", "dense solve", "RK92 (26), (47)–(48)", "~(I-H*psi*K)*inv(D)*(I-H*psi*K)*T_free",
     "[a dense solve of the energy's matrix, for the torques of Newton and Euler]",
     [](Sample& s) -> MatrixXd { return s.mass().llt().solve(s.dense().torques() - s.dense().bias()); }},
    {"D3", "dense solve", "RJK89 (3.8)", "~psi*~H*inv(D)*(I-H*psi*K)*(T-BIAS)", "[φ*H* of that dense solve]",
     [](Sample& s) -> MatrixXd {
       return (s.dense().H() * s.dense().phi()).transpose() *
              s.mass().llt().solve(s.dense().torques() - s.dense().bias());
     }},
    {"D4", "dense solve", "RJK91 (17)–(18)", "-~(I-H*psi*K)*inv(D)*H*psi*B*y",
     "[a dense solve of the energy's matrix for −J*y]",
     [](Sample& s) -> MatrixXd { return -s.mass().llt().solve(s.dense().jacobian().transpose() * s.y()); }},
    {"D5", "dense solve", "RJK91 (19)–(20), RJK89 (3.10)", "~B*~psi*~H*inv(D)*H*psi*B",
     "[J 𝓜⁻¹ J*, J by 3-vectors, 𝓜 of the energy]",
     [](Sample& s) -> MatrixXd {
       const MatrixXd J = s.dense().jacobian();
       return J * s.mass().llt().solve(J.transpose());
     }},
    {"D5", "dense Omega", "RJK89 (3.10)", "Omega", "[φ*H* 𝓜⁻¹ Hφ, φ of the poses, 𝓜 of the energy]",
     [](Sample& s) -> MatrixXd { return omega(s); }},
    {"D5", "dense Upsilon", "RJK89 after (A.4)", "Upsilon", "[its diagonal blocks]",
     [](Sample& s) -> MatrixXd { return diagonal_blocks(omega(s)); }},
    {"S1", "dense S", "JR03 §2.1", "S", "[the identity at (p,k), p the parent of k]",
     [](Sample& s) -> MatrixXd { return s.dense().S(); }},
    {"S1", "dense cross", "JR03 (2.5)", "cross(w)", "[x̃ 0; ỹ x̃] of w(k) = (x, y)",
     [](Sample& s) -> MatrixXd { return crosses(s.w()); }},
    {"S1", "dense S[z]", "JR03 (2.7)", "-~cross(w)", "[x̃ ỹ; 0 x̃] of w(k) = (x, y)",
     [](Sample& s) -> MatrixXd { return force_crosses(s.w()); }},
    {"S1", "dense turning", "JR03 (2.16)", "cross(ang*V)", "[ω̃ 0; 0 ω̃] of each body's ω by 3-vectors",
     [](Sample& s) -> MatrixXd { return turning(s); }},
};

}  // namespace

std::vector<Reference> references() {
  std::vector<Reference> out(std::begin(all_references), std::end(all_references));
  for (const std::span<const Reference> more : {sensitivity_references(), flexible_references()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace bunraku::cli::papers
