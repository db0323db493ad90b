#include "support/near.hpp"

#include <algorithm>

namespace bunraku::test {

testing::AssertionResult is_near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return testing::AssertionFailure() << a.rows() << "×" << a.cols() << " against " << b.rows() << "×" << b.cols();
  }
  if (a.size() == 0) {
    return testing::AssertionSuccess();
  }
  if (!b.allFinite()) {
    return testing::AssertionFailure() << "what is expected is not finite:\n" << b;
  }
  const double scale = std::max(1.0, b.cwiseAbs().maxCoeff());
  const double worst = (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (worst <= tolerance * scale) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "differ by " << worst << ", " << tolerance * scale << " allowed:\n"
                                     << a << "\nagainst\n"
                                     << b;
}

}  // namespace bunraku::test
