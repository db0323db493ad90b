#include "bunraku/operators/program/detail/block_program_of.hpp"

namespace bunraku::operators::inline BUNRAKU_VARIANT {

/// block_program.cpp knows it by this name.
std::unique_ptr<BlockProgram<double>> make_block_program_double(const EvaluatorLayout& layout, const double* doubts);
std::unique_ptr<BlockProgram<double>> make_block_program_double(const EvaluatorLayout& layout, const double* doubts) {
  return std::make_unique<BlockProgramOf<kernels::Full<double>>>(layout, doubts);
}

}  // namespace bunraku::operators::inline BUNRAKU_VARIANT
