/// @file
/// The sweeps of one state in scalar S of this variant.
#pragma once

#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/kernels/inverse_mass_matrix.hpp"
#include "bunraku/kernels/mass_matrix.hpp"
#include "bunraku/kernels/solve.hpp"
#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

/// A number as the pack that it is in this variant: the same bytes.
template <class S>
BUNRAKU_INLINE const S* as(const NumberOf<S>* x) {
  return reinterpret_cast<const S*>(x);
}
/// The same to write to.
template <class S>
BUNRAKU_INLINE S* as(NumberOf<S>* x) {
  return reinterpret_cast<S*>(x);
}

/// S is Pack<T, 1> of this variant.
template <class S>
class SweepsOf final : public Sweeps<NumberOf<S>> {
 public:
  using T = NumberOf<S>;  ///< The number.

  explicit SweepsOf(const Tree& tree)
      : constants_(tree), layouts_(tree, columns_per_register<S>), ws_(tree, constants_, layouts_) {}

  void set_state(const T* q, const T* v) override { ws_.set_state(as<S>(q), as<S>(v)); }
  void set_embedding(std::span<const double> basis, std::span<const double> bias, const int* independent) override {
    for (std::size_t i = 0; i < ws_.embedded.basis.size(); ++i) {
      ws_.embedded.basis[i] = S(basis[i]);
    }
    for (std::size_t i = 0; i < ws_.embedded.bias.size(); ++i) {
      ws_.embedded.bias[i] = S(bias[i]);
    }
    ws_.embedded.independent = independent;
    ws_.has_articulated = false;
  }
  void inverse(const T* velocity, const T* acceleration, T* torque) override {
    inverse_dynamics(ws_, velocity != nullptr ? as<S>(velocity) : ws_.zeros.data(),
                     acceleration != nullptr ? as<S>(acceleration) : ws_.zeros.data(), as<S>(torque));
  }
  void forward(const T* torque, T* acceleration) override { forward_dynamics(ws_, as<S>(torque), as<S>(acceleration)); }
  void solve(const T* x, T* out) override { kernels::solve(ws_, as<S>(x), as<S>(out)); }
  void mass_matrix(T* out) override { kernels::mass_matrix(ws_, as<S>(out)); }
  void inverse_mass_matrix(T* out) override { kernels::inverse_mass_matrix(ws_, as<S>(out)); }
  T log_determinant() override { return kernels::log_determinant(ws_).r; }

 private:
  Constants<S> constants_;
  Layouts layouts_;
  Workspace<S> ws_;
};

}  // namespace bunraku::kernels
