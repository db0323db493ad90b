#include "bunraku/dynamics/detail/prepared.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"

namespace bunraku {

template <class T>
void reactions(BasicState<T>& state, In<T> acceleration, std::type_identity_t<std::span<Force<T>>> out,
               std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  check_size(out.size(), s.blocks.size(), "the reactions");
  s.check_forces(forces);
  operators::Evaluator<T>& program = detail::prepared(s, detail::Prepared::reactions);
  program.set_given(Symbol::thetadd, rate.data());
  detail::lend_loads(s, forces, program);
  s.numbers.resize(static_cast<std::size_t>(program.rows()));
  program.apply(nullptr, s.numbers.data());
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = operators::force_at(s.numbers.data() + operators::rigid * static_cast<std::ptrdiff_t>(k));
  }
}

template void reactions(BasicState<double>&, In<double>, std::span<Force<double>>, Forces<double>);
template void reactions(BasicState<float>&, In<float>, std::span<Force<float>>, Forces<float>);

}  // namespace bunraku
