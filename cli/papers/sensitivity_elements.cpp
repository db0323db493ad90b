/// @file
/// JR03's element-wise statements: quantities of the inertial frame, (5.47) to (5.55).
#include "papers/sensitivity_elements.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <Eigen/LU>
#include <fmt/format.h>

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// JR03 (2.8), number by number.
MatrixXd Q_matrix(const VectorXd& z) {
  MatrixXd out = MatrixXd::Zero(6, 6);
  out.topLeftCorner<3, 3>() = tilde(z.head<3>());
  out.topRightCorner<3, 3>() = out.bottomLeftCorner<3, 3>() = tilde(z.tail<3>());
  return out;
}

/// What of a chain on hinges of one velocity JR03 refers to an inertial frame, and the sensitivities of its mass matrix
/// by the operators. Hinges are counted as in the paper, from the tip: 0, 1, …
class Chain {
 public:
  explicit Chain(const Sample& sample) : sample_(sample), n_(sample.dense().bodies()) {
    const Dense& dense = sample.dense();
    const MatrixXd R = dense.R();
    for (int k = 0; k < n_; ++k) {
      const int b = body(k);
      const MatrixXd to_world = force_matrix(dense.axes(b), dense.origin(b));
      shift_.push_back(to_world);
      map_.emplace_back(to_world.transpose().inverse() * dense.joint_map(b));
      turn_.emplace_back(-cross_matrix(map_.back().col(0)).transpose());
      local_turn_.emplace_back(-cross_matrix(dense.joint_map(b).col(0)).transpose());
      local_composite_.emplace_back(R.block(6 * b, 6 * b, 6, 6));
      composite_.emplace_back(to_world * local_composite_.back() * to_world.transpose());
    }
    for (int i = 0; i < n_; ++i) {
      const MatrixXd found = sample.matrix(fmt::format("diff(MASS,unit({}))", body(i)).c_str());
      MatrixXd turned(n_, n_);
      for (int j = 0; j < n_; ++j) {
        for (int k = 0; k < n_; ++k) {
          turned(j, k) = found(body(j), body(k));
        }
      }
      sensitivity_.push_back(turned);
    }
  }

  int size() const { return n_; }
  int body(int k) const { return n_ - 1 - k; }
  const MatrixXd& H(int k) const { return map_[at(k)]; }                          ///< H*_𝕀(k), a column.
  const MatrixXd& turn(int k) const { return turn_[at(k)]; }                      ///< ℍ_𝕀(k).
  const MatrixXd& R(int k) const { return composite_[at(k)]; }                    ///< R_𝕀(k).
  const MatrixXd& shift(int k) const { return shift_[at(k)]; }                    ///< φ(𝕀,k).
  const MatrixXd& own_turn(int k) const { return local_turn_[at(k)]; }            ///< ℍ(k).
  const MatrixXd& own_composite(int k) const { return local_composite_[at(k)]; }  ///< R(k).
  MatrixXd own_map(int k) const { return sample_.dense().joint_map(body(k)); }
  /// φ(i,j) in the bodies' axes, i inboard of j or j.
  MatrixXd phi(int i, int j) const { return shift(i).inverse() * shift(j); }
  /// ∂𝓜(j,k)/∂θ(i).
  double sensitivity(int i, int j, int k) const { return sensitivity_[at(i)](j, k); }
  /// (5.53).
  double christoffel(int i, int j, int k) const {
    return 0.5 * (sensitivity(k, i, j) + sensitivity(j, i, k) - sensitivity(i, j, k));
  }
  /// (5.54).
  double Y(int a, int b, int c) const {
    const MatrixXd inner = -Q_matrix(R(c) * H(c)) + turn(c) * R(c) + R(c) * turn(c).transpose();
    return 0.5 * (H(a).transpose() * inner * H(b))(0, 0);
  }
  /// The largest difference of two numbers of three indices, as a part of the largest number.
  double worst(const std::function<double(int, int, int)>& left,
               const std::function<double(int, int, int)>& right) const {
    double difference = 0;
    double largest = 0;
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        for (int k = 0; k < n_; ++k) {
          difference = std::max(difference, std::abs(left(i, j, k) - right(i, j, k)));
          largest = std::max({largest, std::abs(left(i, j, k)), std::abs(right(i, j, k))});
        }
      }
    }
    return difference / largest;
  }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }

  const Sample& sample_;
  int n_;
  std::vector<MatrixXd> shift_;
  std::vector<MatrixXd> map_;
  std::vector<MatrixXd> turn_;
  std::vector<MatrixXd> local_turn_;
  std::vector<MatrixXd> local_composite_;
  std::vector<MatrixXd> composite_;
  std::vector<MatrixXd> sensitivity_;
};

/// (5.52), third form, with R_𝕀 and the last ℍ_𝕀 as they are given.
double inertial_elements(const Chain& chain, const std::function<MatrixXd(int)>& R, bool printed) {
  const auto element = [&](int i, int j, int k) -> double {
    const auto one = [](const MatrixXd& x) { return x(0, 0); };
    if (j <= i && k <= i) {
      return 0;
    }
    if (j > i && k > i) {
      const MatrixXd inner = chain.turn(i) * R(i) + R(i) * chain.turn(printed ? k : i).transpose();
      return one(chain.H(j).transpose() * inner * chain.H(k));
    }
    const int inner = std::max(j, k);
    const int outer = std::min(j, k);
    return one(chain.H(inner).transpose() * chain.turn(i) * R(outer) * chain.H(outer));
  };
  return chain.worst([&](int i, int j, int k) { return chain.sensitivity(i, j, k); }, element);
}

}  // namespace

double inertial_turns(Sample& sample) {
  const Chain chain(sample);
  double out = 0;
  for (int k = 0; k < chain.size(); ++k) {
    out = std::max(out, residual(chain.turn(k), chain.shift(k) * chain.own_turn(k) * chain.shift(k).inverse()));
  }
  return out;
}

double inertial_forces(Sample& sample) {
  const Chain chain(sample);
  double out = 0;
  for (int k = 0; k < chain.size(); ++k) {
    const VectorXd x = sample.w().segment<6>(6 * k);
    out = std::max(out, residual(chain.turn(k) * x, -Q_matrix(x) * chain.H(k)));
  }
  return out;
}

double elements_first_form(Sample& sample) {
  const Chain chain(sample);
  return chain.worst([&](int i, int j, int k) { return chain.sensitivity(i, j, k); },
                     [&](int i, int j, int k) -> double {
                       MatrixXd inner = MatrixXd::Zero(6, 6);
                       const MatrixXd& turn = chain.own_turn(i);
                       if (k > i && j > i) {
                         inner += chain.phi(k, i) * (turn * chain.own_composite(i) - chain.own_composite(i) * turn) *
                                  chain.phi(j, i).transpose();
                       }
                       if (j <= i && i < k) {
                         inner += chain.phi(k, i) * turn * chain.phi(i, j) * chain.own_composite(j);
                       }
                       if (k <= i && i < j) {
                         inner -=
                             chain.own_composite(k) * chain.phi(i, k).transpose() * turn * chain.phi(j, i).transpose();
                       }
                       return (chain.own_map(k).transpose() * inner * chain.own_map(j))(0, 0);
                     });
}

double elements_third_form(Sample& sample) {
  const Chain chain(sample);
  return inertial_elements(chain, [&](int k) { return chain.R(k); }, false);
}

double elements_third_form_printed(Sample& sample) {
  const Chain chain(sample);
  return inertial_elements(chain, [&](int k) { return chain.R(k); }, true);
}

double elements_at_base_printed(Sample& sample) {
  const Chain chain(sample);
  return inertial_elements(
      chain,
      [&](int k) -> MatrixXd {
        const MatrixXd phi = chain.phi(chain.size() - 1, k);
        return phi * chain.own_composite(k) * phi.transpose();
      },
      false);
}

double christoffel_bias(Sample& sample) {
  const Dense& dense = sample.dense();
  const Chain chain(sample);
  VectorXd made = VectorXd::Zero(chain.size());
  for (int i = 0; i < chain.size(); ++i) {
    for (int j = 0; j < chain.size(); ++j) {
      for (int k = 0; k < chain.size(); ++k) {
        made(chain.body(i)) +=
            chain.christoffel(i, j, k) * dense.instant().v(chain.body(j)) * dense.instant().v(chain.body(k));
      }
    }
  }
  const VectorXd gravity = dense.H() * dense.phi() * dense.M() * dense.phi().transpose() * dense.a_gravity();
  return residual(made, dense.bias() - gravity);
}

double christoffel_properties(Sample& sample) {
  const Chain chain(sample);
  const auto C = [&](int i, int j, int k) { return chain.christoffel(i, j, k); };
  const double symmetric = chain.worst(C, [&](int i, int j, int k) { return C(i, k, j); });
  const double antisymmetric =
      chain.worst(C, [&](int i, int j, int k) { return j >= k && j >= i ? -C(k, j, i) : C(i, j, k); });
  const double zero = chain.worst(C, [&](int i, int j, int k) { return k == i && j >= i ? 0 : C(i, j, k); });
  const double sum = chain.worst([&](int i, int j, int k) { return chain.sensitivity(i, k, j); },
                                 [&](int i, int j, int k) { return C(j, i, k) + C(k, j, i); });
  return std::max({symmetric, antisymmetric, zero, sum});
}

double christoffel_reach(Sample& sample) {
  const Chain chain(sample);
  const int n = chain.size();
  double largest = 0;
  double beyond = 0;
  for (int m = 0; m < n; ++m) {
    std::vector<MatrixXd> second;  // of 𝓜 in θ(k), then in θ(m)
    second.reserve(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) {
      second.push_back(
          sample.matrix(fmt::format("diff(diff(MASS,unit({})),unit({}))", chain.body(k), chain.body(m)).c_str()));
    }
    const auto of = [&](int k, int i, int j) {
      return second[static_cast<std::size_t>(k)](chain.body(i), chain.body(j));
    };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) {
          const double rate = 0.5 * std::abs(of(k, i, j) + of(j, i, k) - of(i, j, k));
          (std::max({i, j, k}) <= m ? beyond : largest) = std::max(std::max({i, j, k}) <= m ? beyond : largest, rate);
        }
      }
    }
  }
  return beyond / largest;
}

double christoffel_composite(Sample& sample) {
  const Chain chain(sample);
  return chain.worst(
      [&](int i, int j, int k) { return chain.christoffel(i, j, k); },
      [&](int i, int j, int k) -> double {
        if (j <= k || j <= i) {
          return chain.christoffel(i, j, k);
        }
        const auto turned = [&](int c) -> MatrixXd {
          return chain.own_turn(c) * chain.own_composite(c) - chain.own_composite(c) * chain.own_turn(c);
        };
        MatrixXd first = MatrixXd::Zero(6, 6);
        MatrixXd second = MatrixXd::Zero(6, 6);
        if (i > k) {
          first += chain.phi(j, k) * turned(k) * chain.phi(i, k).transpose();
        } else {
          first += chain.phi(j, k) * chain.own_turn(k) * chain.phi(k, i) * chain.own_composite(i);
        }
        if (k > i) {
          second += chain.phi(j, i) * turned(i) * chain.phi(k, i).transpose();
        } else {
          second += chain.phi(j, i) * chain.own_turn(i) * chain.phi(i, k) * chain.own_composite(k);
        }
        return 0.5 * (chain.own_map(j).transpose() * (first * chain.own_map(i) - second * chain.own_map(k)))(0, 0);
      });
}

double christoffel_alternative(Sample& sample) {
  const Chain chain(sample);
  return chain.worst([&](int i, int j, int k) { return chain.christoffel(i, j, k); },
                     [&](int i, int j, int k) {
                       const int inner = std::max(j, k);
                       const int outer = std::min(j, k);
                       return i <= outer ? -chain.Y(outer, inner, i) : chain.Y(i, inner, outer);
                     });
}

namespace {

/// (5.53) summed with velocities for hinges of several velocities, by the operators; `bracket` adds what these need.
double general_bias(const Sample& sample, bool bracket) {
  const Dense& dense = sample.dense();
  const VectorXd& v = dense.instant().v;
  const auto n = static_cast<int>(v.size());
  VectorXd made = sample.matrix("dt(MASS)") * v;
  for (int i = 0; i < n; ++i) {
    made(i) -= 0.5 * v.dot(sample.matrix(fmt::format("diff(MASS,unit({}))", i).c_str()) * v);
  }
  if (bracket) {  // −c(θ̇,·)*𝓜θ̇
    made -= sample.matrix("inv(H*~H)*H*cross(~H*thetad)*~H").transpose() * dense.mass_matrix() * v;
  }
  const VectorXd gravity = dense.H() * dense.phi() * dense.M() * dense.phi().transpose() * dense.a_gravity();
  return residual(made, dense.bias() - gravity);
}

}  // namespace

double mobile_bias(Sample& sample) {
  return general_bias(sample, true);
}

double mobile_bias_printed(Sample& sample) {
  return general_bias(sample, false);
}

}  // namespace bunraku::cli::papers
