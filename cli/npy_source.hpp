/// @file
/// States from arrays in .npy files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "state_source.hpp"

namespace bunraku::cli {

/// One array that was given.
struct NpyInput {
  std::string name;  ///< q, v, a or tau.
  std::string file;  ///< Where it is.
};

/// The arrays that the lists of `--npy` name: `q=FILE,v=FILE`, in one list or several. A comma in the name of a file is
/// part of it, unless one of the names and = follow. Throws ArgumentError.
std::vector<NpyInput> parse_npy_inputs(const std::vector<std::string>& lists);

/// The states of arrays, a row a state. Throws ArgumentError where one that is needed was not given, ModelError for a
/// file that is wrong, or has another number of states than the first one.
template <class T>
std::unique_ptr<StateSource<T>> source_of_arrays(const std::vector<NpyInput>& inputs, const Model& model,
                                                 const Users& users);

}  // namespace bunraku::cli
