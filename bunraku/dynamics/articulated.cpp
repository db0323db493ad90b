#include "bunraku/dynamics/articulated.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/prepared.hpp"

namespace bunraku {

namespace {

/// The Riccati recursion of the whole model at the state, body by body. Throws Error naming a mimic hinge where there
/// is one: D is not block diagonal then.
template <class T>
struct Factors {
  explicit Factors(detail::StateData<T>& s) : program(run(s)), blocks(program.family(program.families()[0])) {}

  static operators::Evaluator<T>& run(detail::StateData<T>& s) {
    if (s.has_mimics()) {
      const auto follower = std::find_if(s.model.bodies().begin(), s.model.bodies().end(),
                                         [](const Body& body) { return body.leader != world; });
      throw Error(fmt::format(
          "hinge '{}' mimics another, so that the innovations of the two are one: D is not block diagonal, and P, D, "
          "G and ψ are not defined body by body",
          follower->hinge.name));
    }
    operators::Evaluator<T>& program = detail::prepared(s, detail::Prepared::factors);
    program.refresh();
    return program;
  }
  /// φ(p,k) as a transform.
  const Transform<T>& X_PB(int k) const { return program.joints().pose[static_cast<std::size_t>(k)]; }
  /// G(k), as many columns as the hinge has velocities.
  std::array<Force<T>, max_hinge_velocities> gain(int k) const {
    std::array<Force<T>, max_hinge_velocities> out{};
    program.factors(blocks, k).gain(out.data());
    return out;
  }
  /// ψ(p,k) f = φ(p,k)[I − G(k)H(k)] f.
  Force<T> psi_times(int k, const Force<T>& f) const {
    const kernels::HingeFactors<T> factors = program.factors(blocks, k);
    const Motion<T>* H = program.joints().columns.data() + program.links()[k].v;
    kernels::HingeVector<T> e{};
    for (int j = 0; j < factors.n; ++j) {
      e[j] = dot(H[j], f);
    }
    return X_PB(k) * (f - factors.gain_times(e));
  }

  operators::Evaluator<T>& program;
  const operators::RiccatiBlocks<T>& blocks;
};

/// Writes forces as columns.
template <class T>
void write_columns(std::span<const Force<T>> columns, const detail::MatrixSpan<T>& out) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (int i = 0; i < 6; ++i) {
      out(i, static_cast<std::ptrdiff_t>(j)) = columns[j][i];
    }
  }
}

}  // namespace

template <class T>
ArticulatedInertia<T> articulated_inertia(BasicState<T>& state, int body) {
  detail::StateData<T>& s = state.data();
  static_cast<void>(s.model.body(body));
  return Factors<T>(s).blocks.P[static_cast<std::size_t>(body)];
}

template <class T>
void hinge_inertia(BasicState<T>& state, int body, MatrixOut<T> inertia) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(inertia, n, n, "the hinge's inertia");
  const Factors<T> factors(s);
  const T* D = factors.blocks.D.data() + factors.program.folded().places[static_cast<std::size_t>(body)].block;
  for (int i = 0; i < n * n; ++i) {
    out(i % n, i / n) = D[i];
  }
}

template <class T>
void kalman_gain(BasicState<T>& state, int body, MatrixOut<T> gain) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(gain, 6, n, "the gain");
  write_columns<T>(std::span<const Force<T>>(Factors<T>(s).gain(body)).first(static_cast<std::size_t>(n)), out);
}

template <class T>
void shifted_gain(BasicState<T>& state, int body, MatrixOut<T> gain) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(gain, 6, n, "the gain");
  const Factors<T> factors(s);
  std::array<Force<T>, max_hinge_velocities> columns = factors.gain(body);
  for (Force<T>& column : columns) {
    column = factors.X_PB(body) * column;
  }
  write_columns<T>(std::span<const Force<T>>(columns).first(static_cast<std::size_t>(n)), out);
}

template <class T>
Mat6<T> articulated_transition(BasicState<T>& state, int i, int j) {
  detail::StateData<T>& s = state.data();
  for (const int body : {i, j}) {
    if (body != world) {
      static_cast<void>(s.model.body(body));
    }
  }
  int ancestor = j;
  while (ancestor > i) {  // parents have smaller indices, the world's is the smallest
    ancestor = s.blocks.parent(ancestor);
  }
  const Factors<T> factors(s);
  if (ancestor != i) {
    return Mat6<T>::zero();
  }
  std::array<Force<T>, 6> columns{};
  for (int c = 0; c < 6; ++c) {  // RK92 38–40
    Force<T> f = Force<T>::zero();
    f[c] = T(1);
    for (int k = j; k != i; k = s.blocks.parent(k)) {
      f = factors.psi_times(k, f);
    }
    columns[static_cast<std::size_t>(c)] = f;
  }
  return {Mat3<T>::from_columns(columns[0].moment, columns[1].moment, columns[2].moment),
          Mat3<T>::from_columns(columns[3].moment, columns[4].moment, columns[5].moment),
          Mat3<T>::from_columns(columns[0].force, columns[1].force, columns[2].force),
          Mat3<T>::from_columns(columns[3].force, columns[4].force, columns[5].force)};
}

template ArticulatedInertia<double> articulated_inertia(BasicState<double>&, int);
template void hinge_inertia(BasicState<double>&, int, MatrixOut<double>);
template void kalman_gain(BasicState<double>&, int, MatrixOut<double>);
template void shifted_gain(BasicState<double>&, int, MatrixOut<double>);
template Mat6<double> articulated_transition(BasicState<double>&, int, int);
template ArticulatedInertia<float> articulated_inertia(BasicState<float>&, int);
template void hinge_inertia(BasicState<float>&, int, MatrixOut<float>);
template void kalman_gain(BasicState<float>&, int, MatrixOut<float>);
template void shifted_gain(BasicState<float>&, int, MatrixOut<float>);
template Mat6<float> articulated_transition(BasicState<float>&, int, int);

}  // namespace bunraku
