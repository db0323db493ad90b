/// @file
/// Checks of single parts of a model, apart from how they hang together.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bunraku/model/builder.hpp"

namespace bunraku {

/// Where the parts of a kind stand, by name.
using NameTable = std::unordered_map<std::string_view, int>;

/// Collects problems of a model: see detail::add_problem.
class ProblemList {
 public:
  /// Starts with what is known already.
  explicit ProblemList(std::vector<Problem> problems) : problems_(std::move(problems)) {}
  /// Adds an error.
  void error(const SourceLocation& where, std::string text, std::string cure = {});
  /// Adds a warning.
  void warning(const SourceLocation& where, std::string text, std::string cure = {});
  /// `; did you mean …?` for an unknown name, from the known ones but for `except`. Empty after the first few: each
  /// costs a search.
  std::string suggestion(std::string_view name, const NameTable& known, const NameTable& more = {},
                         std::string_view except = {});
  /// Whether there is an error among them.
  bool has_errors() const;
  /// All so far.
  std::vector<Problem>& problems() { return problems_; }

 private:
  void add(Problem problem);

  std::vector<Problem> problems_;
  int suggestions_ = 0;
};

/// Whether all three numbers are finite.
bool is_finite(const Vec3<double>& v);

/// Axes get unit length, dofs their full number, rest its full length. What is wrong is reported; false when the hinge
/// cannot even be counted (no custom object, wrong sizes).
bool check_hinge(Hinge& hinge, const SourceLocation& where, ProblemList& problems);
/// Finite, orthonormal.
void check_pose(const Transform<double>& pose, std::string_view what, const SourceLocation& where,
                ProblemList& problems);
/// Finite, mass not negative (errors); an inertia that a body can have (warning), but for a `lump`, which is part of
/// one.
void check_inertia(const RigidInertia<double>& inertia, const std::string& body, const SourceLocation& where,
                   ProblemList& problems, bool lump);
/// Shapes with finite numbers.
void check_geometry(const std::vector<Geometry>& shapes, const std::string& body, const SourceLocation& where,
                    ProblemList& problems);
/// Type, axes and coefficients of a closure.
void check_closure(Closure& closure, ProblemList& problems);

}  // namespace bunraku
