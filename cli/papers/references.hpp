/// @file
/// Statements whose right side is a dense matrix or a procedure, computed without the operators.
#pragma once

#include <span>
#include <vector>

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

/// An operator expression, and a matrix that it should equal.
struct Reference {
  const char* id;                     ///< The item.
  const char* line;                   ///< Which line of it.
  const char* source;                 ///< Where the papers have it.
  const char* left;                   ///< Operator text.
  const char* words;                  ///< What the matrix is.
  Eigen::MatrixXd (*right)(Sample&);  ///< The matrix.
  Systems systems = Systems::any;     ///< On what.
  double largest = tolerance;         ///< The largest residual with which it holds.
};
/// All of them.
std::vector<Reference> references();
/// Those of sensitivities: S2 to S5.
std::span<const Reference> sensitivity_references();
/// Those of flexible bodies: X1.
std::span<const Reference> flexible_references();

/// What is more than one identity: it computes its own residual.
struct Procedure {
  const char* id;                  ///< The item.
  const char* line;                ///< Which line of it.
  const char* source;              ///< Where the papers have it.
  const char* words;               ///< What is compared with what.
  double (*residual)(Sample&);     ///< The residual.
  double largest = tolerance;      ///< The largest with which it holds.
  Systems systems = Systems::any;  ///< On what.
  int count = random_systems;      ///< On how many random systems.
  bool robots = false;             ///< On robots, too.
  Claim claim = Claim::holds;      ///< What is claimed.
};
/// All of them.
std::span<const Procedure> procedures();

}  // namespace bunraku::cli::papers
