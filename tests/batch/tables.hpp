/// @file
/// States of a model, a row each.
#pragma once

#include <Eigen/Core>

#include "bunraku/model/configuration.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// States × numbers, as numpy has them.
template <class T>
using Table = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Random numbers.
template <class T>
Table<T> random_rows(int states, int cols, unsigned seed) {
  Random random(seed);
  Table<T> out(states, cols);
  for (int i = 0; i < states; ++i) {
    out.row(i) = random.vector(cols).template cast<T>().transpose();
  }
  return out;
}

/// Random configurations.
template <class T>
Table<T> random_positions(const Model& model, int states, unsigned seed) {
  Table<T> out(states, model.nq());
  for (int i = 0; i < states; ++i) {
    out.row(i) = random_configuration(model, seed + static_cast<unsigned>(i)).template cast<T>().transpose();
    // rounded to float they are not of unit norm to float's last digit
    out.row(i) = normalize(model, Eigen::VectorXd(out.row(i).template cast<double>().transpose()))
                     .template cast<T>()
                     .transpose();
  }
  return out;
}

}  // namespace bunraku::test
