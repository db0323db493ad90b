#include "bunraku/operators/program/detail/block_program_of.hpp"

namespace bunraku::operators::inline BUNRAKU_VARIANT {

/// block_program.cpp knows it by this name.
std::unique_ptr<BlockProgram<float>> make_block_program_float(const EvaluatorLayout& layout, const float* doubts);
std::unique_ptr<BlockProgram<float>> make_block_program_float(const EvaluatorLayout& layout, const float* doubts) {
  return std::make_unique<BlockProgramOf<kernels::Full<float>>>(layout, doubts);
}

}  // namespace bunraku::operators::inline BUNRAKU_VARIANT
