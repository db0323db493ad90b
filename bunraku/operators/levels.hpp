/// @file
/// The seven levels of RK92 Fig. 3: from an expression down to coordinate transforms.
#pragma once

#include <string>
#include <vector>

#include "bunraku/operators/system.hpp"

namespace bunraku {

/// One level of abstraction.
struct Level {
  int number = 0;                  ///< 1 … 7.
  std::string title;               ///< What is seen there.
  std::vector<std::string> lines;  ///< What it consists of.
};

/// Takes an expression apart for a system, level by level (RK92 §IX, Fig. 3): 1 the expression, and what the identities
/// make of it; 2 its operators, their spaces and kinds; 3 what each is recognised as; 4 the recursions; 5 the steps
/// from body to body; 6 within a body and across its hinge; 7 coordinate transforms. Throws as System::operator().
BUNRAKU_API std::vector<Level> levels(const System& system, const Operator& x);

/// The levels as text.
BUNRAKU_API std::string to_string(const std::vector<Level>& levels);

}  // namespace bunraku
