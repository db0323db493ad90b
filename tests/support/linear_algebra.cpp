#include "support/linear_algebra.hpp"

#include <stdexcept>

#include <Eigen/Dense>

namespace bunraku::test {
namespace {

/// Adds x times the numbers [begin, end) of one column to those of another.
void add_multiple(double x, const double* from, double* to, Eigen::Index begin, Eigen::Index end) {
  for (Eigen::Index i = begin; i < end; ++i) {
    to[i] += x * from[i];
  }
}

/// f of each block, for an A that consists of blocks along its diagonal.
template <class F>
Eigen::MatrixXd by_blocks(const Eigen::MatrixXd& A, const F& f) {
  const Eigen::Index n = A.rows();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(n, n);
  const auto is_zero = [&](Eigen::Index i, Eigen::Index j) {
    return A.data()[j * n + i] == 0 && A.data()[i * n + j] == 0;
  };
  for (Eigen::Index begin = 0; begin < n;) {
    Eigen::Index end = begin + 1;
    for (Eigen::Index i = begin; i < end; ++i) {
      for (Eigen::Index last = n; last > end; --last) {
        end = is_zero(i, last - 1) ? end : last;
      }
    }
    out.block(begin, begin, end - begin, end - begin) = f(A.block(begin, begin, end - begin, end - begin));
    begin = end;
  }
  return out;
}

}  // namespace

Eigen::MatrixXd product(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const Eigen::Index rows = A.rows();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows, B.cols());
  const double* b = B.data();
  for (Eigen::Index k = 0; k < A.cols(); ++k) {
    const double* column = A.data() + k * rows;
    Eigen::Index begin = 0;  // what is not zero of it
    Eigen::Index end = rows;
    while (begin < end && column[begin] == 0) {
      ++begin;
    }
    while (begin < end && column[end - 1] == 0) {
      --end;
    }
    for (Eigen::Index j = 0; j < B.cols() && begin < end; ++j) {
      if (const double x = b[j * B.rows() + k]; x != 0) {
        add_multiple(x, column, out.data() + j * rows, begin, end);
      }
    }
  }
  return out;
}

Eigen::MatrixXd sum_of_powers(const Eigen::MatrixXd& X) {
  const Eigen::Index n = X.rows();
  Eigen::MatrixXd out = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {  // Y = I + Y X, of which the columns before are known
    for (Eigen::Index i = 0; i < n; ++i) {
      const double x = X.data()[j * n + i];
      if (x != 0 && i >= j) {
        throw std::logic_error("not strictly upper triangular");
      }
      if (x != 0) {
        add_multiple(x, out.data() + i * n, out.data() + j * n, 0, i + 1);
      }
    }
  }
  return out;
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& A) {
  return A.inverse();
}

Eigen::MatrixXd pivoted_inverse_of(const Eigen::MatrixXd& A) {
  return by_blocks(A, [](const Eigen::MatrixXd& block) -> Eigen::MatrixXd { return block.fullPivLu().inverse(); });
}

Eigen::MatrixXd congruence(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return product(product(A, B), A.transpose());
}

double condition_number(const Eigen::MatrixXd& A) {
  return A.norm() * inverse_of(A).norm();
}

Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.ldlt().solve(B);
}

double log_determinant_of(const Eigen::MatrixXd& A) {
  return A.partialPivLu().matrixLU().diagonal().cwiseAbs().array().log().sum();
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& A) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(A).singularValues();
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

double eigenvalue_ratio(const Eigen::MatrixXd& A) {
  const Eigen::VectorXd values = symmetric_eigenvalues(A);
  return values.maxCoeff() / values.minCoeff();
}

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& A) {
  return by_blocks(A, [](const Eigen::MatrixXd& block) -> Eigen::MatrixXd {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(block).operatorSqrt();
  });
}

Eigen::MatrixXd lyapunov_solution(const Eigen::MatrixXd& r, const Eigen::MatrixXd& x) {
  const Eigen::Index n = r.rows();
  Eigen::MatrixXd y = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index begin = 0; begin < n;) {
    Eigen::Index end = begin + 1;
    for (Eigen::Index i = begin; i < end; ++i) {
      for (Eigen::Index j = n; j-- > end;) {
        if (r(i, j) != 0 || r(j, i) != 0 || x(i, j) != 0 || x(j, i) != 0) {
          end = j + 1;
          break;
        }
      }
    }
    const Eigen::Index m = end - begin;
    const Eigen::MatrixXd block = r.block(begin, begin, m, m);
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(m * m, m * m);
    Eigen::MatrixXd right(m * m, 1);
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = 0; j < m; ++j) {
        right(i * m + j, 0) = x(begin + i, begin + j);
        for (Eigen::Index k = 0; k < m; ++k) {
          system(i * m + j, k * m + j) += block(i, k);
          system(i * m + j, i * m + k) += block(k, j);
        }
      }
    }
    const Eigen::MatrixXd numbers = product(pivoted_inverse_of(system), right);
    for (Eigen::Index i = 0; i < m * m; ++i) {
      y(begin + i / m, begin + i % m) = numbers(i, 0);
    }
    begin = end;
  }
  return y;
}

}  // namespace bunraku::test
