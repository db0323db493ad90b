#include "bunraku/operators/program/detail/block_program.hpp"

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bunraku/kernels/variant.hpp"

namespace bunraku::operators {

// BUNRAKU_VARIANTS(X) calls X(name) for each variant that the build compiles
#define BUNRAKU_DECLARE(each)                                                                                        \
  namespace each {                                                                                                   \
  std::unique_ptr<BlockProgram<double>> make_block_program_double(const EvaluatorLayout& layout,                     \
                                                                  const double* doubts);                             \
  std::unique_ptr<BlockProgram<float>> make_block_program_float(const EvaluatorLayout& layout, const float* doubts); \
  }
BUNRAKU_VARIANTS(BUNRAKU_DECLARE)
#undef BUNRAKU_DECLARE

template <class T>
BlockProgram<T>::BlockProgram() = default;
template <class T>
BlockProgram<T>::~BlockProgram() = default;

template <class T>
void BlockProgram<T>::keep(std::shared_ptr<const EvaluatorLayout> layout) {
  layout_ = std::move(layout);
}

template <class T>
std::unique_ptr<BlockProgram<T>> make_block_program(std::shared_ptr<const EvaluatorLayout> layout) {
  const std::vector<T> doubts = doubts_of<T>(*layout->folded);
  const std::string_view name = kernels::variant().name;
  std::unique_ptr<BlockProgram<T>> out;
#define BUNRAKU_MAKE(each)                                           \
  if (name == #each) {                                               \
    if constexpr (std::is_same_v<T, double>) {                       \
      out = each::make_block_program_double(*layout, doubts.data()); \
    } else {                                                         \
      out = each::make_block_program_float(*layout, doubts.data());  \
    }                                                                \
  }
  BUNRAKU_VARIANTS(BUNRAKU_MAKE)
#undef BUNRAKU_MAKE
  out->keep(std::move(layout));
  return out;
}

template class BlockProgram<double>;
template class BlockProgram<float>;
template std::unique_ptr<BlockProgram<double>> make_block_program(std::shared_ptr<const EvaluatorLayout>);
template std::unique_ptr<BlockProgram<float>> make_block_program(std::shared_ptr<const EvaluatorLayout>);

}  // namespace bunraku::operators
