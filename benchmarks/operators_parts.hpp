/// @file
/// The parts of the benchmark `operators`. Each prints a table and returns its figures as JSON.
#pragma once

#include <string>
#include <vector>

#include <bunraku/bunraku.hpp>

#include "shapes.hpp"

namespace bench {

/// The name of the random chain that stands beside the robots.
inline constexpr const char* long_chain = "chain_1000";

/// 𝓜⁻¹x on robots and on the long chain: the program of the expression against inverse_mass_times. All of them where
/// none are named. Returns the members "rows" and "summary". Throws std::runtime_error where the two disagree.
std::string measure_robots(const std::vector<std::string>& names, const std::string& folder, double seconds);

/// 𝓜⁻¹x and its memory against the number of bodies. Returns an object with "rows" and "exponents".
std::string measure_growth(const GrowthOptions& options, double seconds);

/// How long simplify takes. Returns an array.
std::string measure_search(double seconds);

}  // namespace bench
