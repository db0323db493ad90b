/// @file
/// The sweeps of one state in scalar S of this variant.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "bunraku/kernels/closure_loop.hpp"
#include "bunraku/kernels/derivative_products.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/innovation_rows.hpp"
#include "bunraku/kernels/inverse_derivatives.hpp"
#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/kernels/inverse_mass_matrix.hpp"
#include "bunraku/kernels/inverse_products.hpp"
#include "bunraku/kernels/kinematics.hpp"
#include "bunraku/kernels/loop_freedom.hpp"
#include "bunraku/kernels/mass_matrix.hpp"
#include "bunraku/kernels/mass_matrix_elements.hpp"
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
      : constants_(tree), layouts_(tree, columns_per_register<S>), ws_(tree, constants_, layouts_) {
    if (tree.near_together && tree.loop_clusters == 0 && tree.coordinates.nv <= most_in_one_frame<S>) {
      elements_.emplace(ws_);
      if (tree.clusters.empty()) {
        innovations_.emplace(ws_);
      }
    }
    if (std::is_same_v<T, double> && tree.loop_clusters > 0) {
      loops_ = std::make_unique<LoopScratch<S>>();
    }
  }

  void set_state(const T* q, const T* v) override { ws_.set_state(as<S>(q), as<S>(v)); }
  bool free_loops(std::span<const LoopPlan> plans, double tolerance, int* independent) override {
    if constexpr (std::is_same_v<T, double>) {
      if (!plans.empty()) {
        return kernels::free_loops(ws_, plans, *loops_, tolerance, independent);
      }
    }
    return false;
  }
  void set_embedding(std::span<const double> basis, std::span<const double> bias, const int* independent) override {
    ws_.embedded.independent = independent;
    for (const CoupledLinks& c : ws_.tree->clusters) {
      if (c.embedded >= 0) {
        put_free_rows(ws_, c, basis.data(), bias.data());
      }
    }
    ws_.has_articulated = false;
  }
  void inverse(const T* velocity, const T* acceleration, T* torque) override {
    inverse_dynamics(ws_, velocity != nullptr ? as<S>(velocity) : ws_.zeros.data(),
                     acceleration != nullptr ? as<S>(acceleration) : ws_.zeros.data(), as<S>(torque));
  }
  void forward(const T* torque, T* acceleration) override { forward_dynamics(ws_, as<S>(torque), as<S>(acceleration)); }
  void solve(const T* x, T* out) override { kernels::solve(ws_, as<S>(x), as<S>(out)); }
  void mass_matrix(T* out) override {
    if constexpr (most_in_one_frame<S> > 0) {
      if (elements_) {
        return kernels::mass_matrix(ws_, *elements_, as<S>(out));
      }
    }
    kernels::mass_matrix(ws_, as<S>(out));
  }
  void inverse_mass_matrix(T* out) override {
    if constexpr (most_in_one_frame<S> > 0) {
      if (innovations_) {
        return kernels::inverse_mass_matrix(ws_, *innovations_, as<S>(out));
      }
    }
    kernels::inverse_mass_matrix(ws_, as<S>(out));
  }
  T log_determinant() override { return kernels::log_determinant(ws_).r; }

  void inverse_derivatives(const T* acceleration, T* dq, T* dv, T* da) override {
    const std::size_t n = ws_.H.size();
    for (T* each : {dq, dv, da}) {
      std::fill_n(each, ws_.composite_layout.branches ? n * n : 0, T(0));
    }
    kernels::inverse_derivatives<Wanted::matrices>(ws_, scratch(), ws_.v, as<S>(acceleration),
                                                   {as<S>(dq), as<S>(dv), as<S>(da)});
  }
  Slopes<T> slopes(const T* acceleration, bool unbound) override {
    const Slopes<S> out = scratch().slopes();
    const Derivatives<S> to{out.dq, out.dv, nullptr};
    unbound ? kernels::inverse_derivatives<Wanted::unbound>(ws_, scratch(), ws_.v, as<S>(acceleration), to)
            : kernels::inverse_derivatives<Wanted::slopes>(ws_, scratch(), ws_.v, as<S>(acceleration), to);
    return {reinterpret_cast<T*>(out.dq), reinterpret_cast<T*>(out.dv), out.stride, out.row};
  }
  bool free_bare() override { return lists().free_bare; }
  void inverse_mass_of_forward(T* out) override {
    by_factors_of_forward(ws_, [&] { inverse_mass_matrix(out); });
  }
  void solve_of_forward(const T* x, T* out) override {
    by_factors_of_forward(ws_, [&] { solve(x, out); });
  }
  void inverse_along(const T* acceleration, const T* u, const T* y, const T* z, T* torque) override {
    inverse_dynamics_along(ws_, directions(), as<S>(acceleration), {as<S>(u), as<S>(y), as<S>(z)}, as<S>(torque));
  }
  void inverse_back(const T* acceleration, const T* weight, T* dq, T* dv, T* da) override {
    inverse_dynamics_back(ws_, directions(), as<S>(acceleration), as<S>(weight), {as<S>(dq), as<S>(dv), as<S>(da)});
  }
  void multiply_derivatives(const T* inverse, const Slopes<T>& slopes, bool unbound, T* out_x, T* out_y) override {
    if (!products_) {
      products_.emplace(ws_, lists());
    }
    kernels::multiply_derivatives(ws_, *products_, as<S>(inverse),
                                  {as<S>(slopes.dq), as<S>(slopes.dv), slopes.stride, slopes.row}, unbound,
                                  as<S>(out_x), as<S>(out_y));
  }

  void closed_inward(const T* torque, bool biased) override {
    biased_ = biased;
    biased ? forward_dynamics_inward(ws_, as<S>(torque)) : solve_inward(ws_, as<S>(torque));
    need_positions(ws_);  // closures may hold any node
    if (biased) {
      turn_lumps(ws_);
    }
    epsilon_.assign(ws_.epsilon.begin(), ws_.epsilon.end());
  }
  void closed_again() override { ws_.epsilon.assign(epsilon_.begin(), epsilon_.end()); }
  void closed_node(bool moving, ClosureNode<T>& node) override { node_motion(ws_, moving, node); }
  void closed_relation(const ClosureNode<T>& a, const ClosureNode<T>& b, ClosureRelation<T>& out, PlainPose<T>& on_a,
                       PlainPose<T>& on_b) const override {
    relate_nodes<S>(a, b, out, on_a, on_b);
  }
  void closed_terms(const RowForces<T>& N, const ClosureRelation<T>& relation, int rows, RowNumbers<T>& rate,
                    RowNumbers<T>& bias) const override {
    closure_terms<RowPack<T>>(N, relation, rows, rate, bias);
  }
  void closed_columns(ClosureColumns<T>& columns) override { closure_columns(ws_, factors(), biased_, columns); }
  void closed_right(ClosureColumns<T>& one, ClosureColumns<T>* two, const RowNumbers<T>& asked,
                    const RowNumbers<T>& bias, ClosureTerms<T>& out) const override {
    closure_right<RowPack<T>>(one, two, asked, bias, out);
  }
  void closed_loop(const ClosureNode<T>& a, const ClosureNode<T>& b, ClosureColumns<T>& columns,
                   ClosureTerms<T>& terms) override {
    close_loop(ws_, a, b, columns, terms);
  }
  void closed_products(std::span<const ClosurePair<T>> pairs, const SharedCoordinate* shared, T* lambda,
                       std::size_t stride) const override {
    closure_products(factors(), pairs, shared, lambda, stride);
  }
  void closed_gather(const ClosureColumns<T>& columns, T* out, std::size_t stride) const override {
    gather_columns<RowPack<T>>(columns, out, stride);
  }
  bool closed_factor(T* rows, std::size_t stride, std::size_t n, std::size_t columns, T floor,
                     T& least) const override {
    if (!factor_closures<RowPack<T>>(rows, stride, n, columns, floor, least)) {
      return false;
    }
    columns == n + 1 ? substitute_column(rows, stride, n) : substitute_closures<RowPack<T>>(rows, stride, n, columns);
    return true;
  }
  bool closed_independent(const T* lambda, std::size_t stride, std::size_t n, const T* r, T floor, T* rows, T* f,
                          T& least) const override {
    return solve_independent<RowPack<T>>(lambda, stride, n, r, floor, rows, f, least);
  }
  void closed_solve(const T* rows, std::size_t stride, std::size_t n, T* x) const override {
    solve_closures<RowPack<T>>(rows, stride, n, x);
  }
  void closed_squares(const T* E, std::size_t E_stride, const T* W, std::size_t W_stride, std::size_t m,
                      std::size_t columns, T* out) const override {
    add_squares<RowPack<T>>(E, E_stride, inverse_D(), factors().D_inverse.size(), W, W_stride, m, columns, out);
  }
  void closed_residual(const T* E, std::size_t stride, std::size_t m, const T* f, T* r) const override {
    subtract_product<RowPack<T>>(E, stride, inverse_D(), factors().D_inverse.size(), m, f, r);
  }
  void closed_shorten(const T* C, std::size_t stride, std::size_t kept, std::size_t n, T* scratch, T* f,
                      T* y) const override {
    shorten_forces<RowPack<T>>(C, stride, kept, n, scratch, f, y);
  }
  void closed_correct(const ClosureColumns<T>& columns, const RowNumbers<T>& force) override {
    correct_innovations(ws_, columns, force);
  }
  void closed_outward(T* acceleration) override {
    biased_ ? forward_dynamics_outward(ws_, as<S>(acceleration)) : solve_outward(ws_, as<S>(acceleration));
  }
  const T* inverse_D() const override { return reinterpret_cast<const T*>(factors().D_inverse.data()); }
  const T* innovations() const override { return reinterpret_cast<const T*>(ws_.epsilon.data()); }

 private:
  const DerivativeLayout& lists() {
    return this->derivative_layout(layouts_.composite, layouts_.innovation, columns_per_register<S>);
  }
  DirectionScratch<S>& directions() { return directions_ ? *directions_ : directions_.emplace(ws_); }
  DerivativeScratch<S>& scratch() { return derivatives_ ? *derivatives_ : derivatives_.emplace(ws_, lists()); }
  const Factors<S>& factors() const { return biased_ ? ws_.of_forward : ws_.of_state; }

  bool biased_ = false;
  Constants<S> constants_;
  Layouts layouts_;
  Workspace<S> ws_;
  std::vector<S> epsilon_;                         // of closed_inward
  std::optional<ElementLanes<S>> elements_;        // where all is seen from one frame
  std::optional<InnovationLanes<S>> innovations_;  // likewise, without coupled hinges
  std::optional<DerivativeScratch<S>> derivatives_;
  std::optional<ProductScratch<S>> products_;
  std::optional<DirectionScratch<S>> directions_;
  std::unique_ptr<LoopScratch<S>> loops_;  // where there are loops, in double precision
};

}  // namespace bunraku::kernels
