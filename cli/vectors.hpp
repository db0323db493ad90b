/// @file
/// Vectors that `op --apply` takes from a file.
#pragma once

#include <string>
#include <vector>

namespace bunraku::cli {

/// Reads vectors of `size` numbers from a file, or from standard input for `-`: one JSON array a line. Throws
/// ModelError with file and line.
std::vector<std::vector<double>> read_vectors(const std::string& path, int size);

}  // namespace bunraku::cli
