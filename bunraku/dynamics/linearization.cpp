#include "bunraku/dynamics/linearization.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/matrices.hpp"

namespace bunraku {

namespace {

/// A block of a matrix that is written column by column.
template <class T>
Eigen::Map<MatrixX<T>, 0, Eigen::OuterStride<>> block(const detail::MatrixSpan<T>& x, int row, int column, int n) {
  return {x.data + column * x.stride + row, n, n, Eigen::OuterStride<>(x.stride)};
}

/// [A − λI, B].
Eigen::MatrixXcd pencil(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, std::complex<double> eigenvalue) {
  Eigen::MatrixXcd out(A.rows(), A.cols() + B.cols());
  out << A.cast<std::complex<double>>(), B.cast<std::complex<double>>();
  out.diagonal().array() -= eigenvalue;
  return out;
}

}  // namespace

template <class T>
void linearize(BasicState<T>& state, In<T> torque, MatrixOut<T> A, MatrixOut<T> B) {
  const int n = state.model().nv();
  const detail::MatrixSpan<T> a = detail::wanted(A, 2 * n, 2 * n, "A");
  const detail::MatrixSpan<T> b = detail::wanted(B, 2 * n, n, "B");
  forward_dynamics_derivatives<T>(state, torque, block(a, n, 0, n), block(a, n, n, n), block(b, n, 0, n));
  tangent_rate(state.model(), state.q(), state.v(), block(a, 0, 0, n));
  block(a, 0, n, n).setIdentity();
  block(b, 0, 0, n).setZero();
}

std::vector<LinearMode> linear_modes(MatrixIn<double> A, MatrixIn<double> B) {
  const auto m = static_cast<Eigen::Index>(A.rows());
  const detail::MatrixSpan<const double> a = detail::given_columns(A, m, "A");
  const detail::MatrixSpan<const double> b = detail::given_columns(B, m, "B");
  if (a.cols != m) {
    detail::refuse_shape(a.rows, a.cols, m, m, "A");
  }
  using Given = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  const Eigen::MatrixXd own = Given(a.data, m, m, Eigen::OuterStride<>(a.stride));
  const Eigen::MatrixXd inputs = Given(b.data, m, b.cols, Eigen::OuterStride<>(b.stride));
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(own, false);
  if (solver.info() != Eigen::Success) {
    throw Error("the eigenvalues of A do not converge: are its numbers of very different size?");
  }
  std::vector<LinearMode> out;
  for (const std::complex<double>& each : solver.eigenvalues()) {
    const double size = std::abs(each);
    const Eigen::VectorXd values = pencil(own, inputs, each).bdcSvd().singularValues();
    const double reach = m == 0 || values(0) == 0 ? 0 : values(m - 1) / values(0);
    out.push_back({.eigenvalue = each,
                   .frequency = size / (2 * std::numbers::pi),
                   .damping = size == 0 ? 0 : -each.real() / size,
                   .reach = reach,
                   .controllable = reach > 64 * static_cast<double>(m) * std::numeric_limits<double>::epsilon()});
  }
  std::ranges::stable_sort(out, [](const LinearMode& x, const LinearMode& y) {
    return x.frequency < y.frequency * (1 - 1e-12);  // of a pair of conjugate ones the solver has Im λ > 0 first
  });
  return out;
}

template void linearize(BasicState<double>&, In<double>, MatrixOut<double>, MatrixOut<double>);
template void linearize(BasicState<float>&, In<float>, MatrixOut<float>, MatrixOut<float>);

}  // namespace bunraku
