/// @file
/// Procedures of factorization: F1, F4, F5.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "papers/procedures.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int samples_in_all = 200'000;
constexpr int samples_in_a_batch = 2'000;

/// The largest difference of a sampled covariance from the true one, in standard deviations of the sampling.
double z_score(const MatrixXd& sampled, const MatrixXd& covariance) {
  double worst = 0;
  for (Eigen::Index i = 0; i < covariance.rows(); ++i) {
    for (Eigen::Index j = 0; j < covariance.cols(); ++j) {
      const double variance = covariance(i, i) * covariance(j, j) + covariance(i, j) * covariance(i, j);
      worst = std::max(worst, std::abs(sampled(i, j) - covariance(i, j)) / std::sqrt(variance / samples_in_all));
    }
  }
  return worst;
}

/// Covariances of A w for normal w of covariance I, batch by batch.
std::vector<MatrixXd> sampled_covariances(const MatrixXd& A, std::uint64_t seed) {
  Random random(seed);
  std::vector<MatrixXd> out;
  MatrixXd w(A.cols(), samples_in_a_batch);
  for (int batch = 0; batch < samples_in_all / samples_in_a_batch; ++batch) {
    for (double& each : w.reshaped()) {
      each = random.normal();
    }
    const MatrixXd y = A * w;
    out.emplace_back(y * y.transpose() / samples_in_a_batch);
  }
  return out;
}

MatrixXd mean(const std::vector<MatrixXd>& all) {
  MatrixXd out = MatrixXd::Zero(all[0].rows(), all[0].cols());
  for (const MatrixXd& each : all) {
    out += each / static_cast<double>(all.size());
  }
  return out;
}

/// Hφ M^½.
MatrixXd force_factor(const Sample& sample) {
  return sample.matrix("H*phi") * MatrixXd(sample.dense().M().llt().matrixL());
}

/// What an expression comes to at another instant.
MatrixXd at_instant(const Instant& instant, const char* text) {
  const auto span = [](const VectorXd& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
  System system(instant.model, span(instant.q), span(instant.v));
  system.set_accelerations(span(instant.a));
  return system.literal(parse(expand(text))).dense();
}

/// Without gravity and accelerations, whose torques are far larger than μ.
Instant coasting(const Sample& sample) {
  Instant out = sample.dense().instant();
  out.model = out.model.with_gravity({0, 0, 0});
  out.a.setZero();
  return out;
}

/// ν = D^½(I+HφK)*θ̇.
MatrixXd nu(const Instant& instant) {
  return at_instant(instant, "sqrt(D)*~(I+H*phi*K)*thetad");
}

/// μ = ε − ν̇, ε = D^(−½)(I−HψK)T.
MatrixXd mu(const Instant& instant) {
  return at_instant(instant, "inv(sqrt(D))*(I-H*psi*K)*T") - slope([&](double t) { return nu(later(instant, t)); });
}

}  // namespace

double riccati_is_positive(Sample& sample) {
  const MatrixXd P = sample.matrix("P");
  const MatrixXd R = sample.matrix("R");
  double worst = residual(P, P.transpose());
  for (Eigen::Index i = 0; i < P.rows(); i += 6) {
    const auto smallest = [](const MatrixXd& x) {
      return Eigen::SelfAdjointEigenSolver<MatrixXd>(x, Eigen::EigenvaluesOnly).eigenvalues()[0];
    };
    const double size = P.block<6, 6>(i, i).norm();
    const double least = smallest(P.block<6, 6>(i, i)) / size;
    const double least_beyond = smallest(R.block<6, 6>(i, i) - P.block<6, 6>(i, i)) / size;
    worst = std::max({worst, least > 0 ? 0 : 1 - least, -least_beyond});
  }
  return worst;
}

double covariance_of_factor(Sample& sample) {
  const MatrixXd factor = sample.matrix("(I+H*phi*K)*sqrt(D)");
  return z_score(mean(sampled_covariances(factor, 1)), sample.mass());
}

double covariance_of_hinge_forces(Sample& sample) {
  return z_score(mean(sampled_covariances(force_factor(sample), 2)), sample.mass());
}

double covariance_of_innovations(Sample& sample) {
  const MatrixXd whitened = sample.matrix("I-H*psi*K") * force_factor(sample);
  return z_score(mean(sampled_covariances(whitened, 3)), sample.factors().D);
}

double covariance_converges(Sample& sample) {
  const std::vector<MatrixXd> batches = sampled_covariances(force_factor(sample), 2);
  double few = 0;
  for (const MatrixXd& batch : batches) {
    few += (batch - sample.mass()).norm() / static_cast<double>(batches.size());
  }
  const double ratio = few / (mean(batches) - sample.mass()).norm() / 10;
  return std::max(ratio, 1 / ratio);
}

double mu_without_torques(Sample& sample) {
  Instant instant = coasting(sample);
  const MatrixXd before = mu(instant);
  instant.a = sample.x();
  return residual(before, mu(instant));
}

double mu_quadratic(Sample& sample) {
  Instant instant = coasting(sample);
  const MatrixXd before = mu(instant);
  instant.v *= 2;
  return residual(4 * before, mu(instant));
}

double mu_without_work(Sample& sample) {
  const Instant instant = coasting(sample);
  const MatrixXd left = nu(instant);
  const MatrixXd right = mu(instant);
  return std::abs((left.transpose() * right)(0, 0)) / (left.norm() * right.norm());
}

double mu_formula(Sample& sample) {
  const Instant& instant = sample.dense().instant();
  const MatrixXd rate = slope([&](double t) { return at_instant(later(instant, t), "~((I+H*phi*K)*sqrt(D))"); });
  return residual(mu(instant), at_instant(instant, "inv(sqrt(D))*(I-H*psi*K)*(BIAS)") - rate * instant.v);
}

}  // namespace bunraku::cli::papers
