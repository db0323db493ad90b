// Operator expressions of the papers as C++: what they come to, how, and whether a conjecture holds.
#include <bunraku/bunraku.hpp>

#include <iostream>

namespace bk = bunraku;
using namespace bk::soa;  // φ, ψ, H, M, K, D …

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  bk::State state(arm);
  const Eigen::VectorXd q = bk::random_configuration(arm, 1);
  const Eigen::VectorXd x = Eigen::VectorXd::Ones(arm.nv());
  state.set(q, x);

  // The inverse of the mass matrix: an O(N) recursion is found, with its derivation.
  const bk::Operator inverse_mass = inv(H * φ * M * ~φ * ~H);
  bk::System system(arm, q, x);
  bk::Evaluation apply = system(inverse_mass);
  std::cout << explain(inverse_mass) << '\n' << to_string(apply.plan()) << '\n';
  const Eigen::VectorXd y = apply * x;
  const Eigen::VectorXd tuned = bk::inverse_mass_times(state, x);
  std::cout << "the expression and the tuned algorithm are " << (y - tuned).norm() / tuned.norm() << " apart\n";

  // The inertia that a push at the tool meets: Λ⁻¹ = J 𝓜⁻¹ J*, with J = B*φ*H*: found as B*ψ*H*D⁻¹HψB.
  system.set_nodes({"tool"});
  bk::Evaluation lambda_inverse = system(~B * ~φ * ~H * inverse_mass * H * φ * B);
  std::cout << "Λ⁻¹ is evaluated as " << to_unicode(lambda_inverse.expression()) << '\n';
  const double apart = (lambda_inverse.dense() - bk::lambda_inverse(state, {"tool"})).norm();

  // A conjecture, on random chains and trees: with ψ it holds, with φ it does not.
  const bk::Verdict right = bk::verify((I - H * ψ * K) * (I + H * φ * K), I);
  const bk::Verdict wrong = bk::verify((I - H * φ * K) * (I + H * φ * K), I);
  std::cout << "with ψ: " << (right.holds ? "holds" : "refuted") << ", with φ: " << wrong.counterexample << '\n';
  return (y - tuned).norm() < 1e-10 * tuned.norm() && apart < 1e-10 && right.holds && !wrong.holds ? 0 : 1;
}
