/// @file
/// The parts of the benchmark `derivatives` beside the robots. Each prints a table and returns its figures as JSON.
#pragma once

#include <string>

namespace bench {

/// Products of Jacobians with vectors, as a part of what the function itself costs, against the number of bodies from 7
/// on. Returns an array.
std::string measure_products(int max, double seconds);

/// Expressions that the algebra has differentiated twice, applied to a vector, against the number of bodies. Returns an
/// object with "rows" and "exponents".
std::string measure_expressions(int max, double seconds);

}  // namespace bench
