#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

template class Evaluator<double>;
template class Evaluator<float>;
template class Evaluator<Counting>;

}  // namespace bunraku::operators
