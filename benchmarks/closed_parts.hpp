/// @file
/// The parts of the benchmark `closed`. Each prints a table and returns its figures as JSON.
#pragma once

#include <string>
#include <vector>

namespace bench {

/// closed_forward_dynamics against Pinocchio on all systems, or those named. Returns the members "rows" and "summary".
std::string measure_closed_peers(const std::vector<std::string>& names, const std::string& folder, std::size_t states,
                                 double seconds);

/// The same systems, and chains of four-bars, cut open and embedded. Returns an object with "rows".
std::string measure_closed_embedding(const std::vector<std::string>& names, const std::string& folder,
                                     std::size_t states, double seconds);

/// Time against the number of links of a loop, and of arms on an object. Returns an object with "rows" and "exponents".
std::string measure_closed_growth(double seconds);

}  // namespace bench
