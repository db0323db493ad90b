/// @file
/// Where derivatives of inverse dynamics keep what they are made of; see inverse_derivatives.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "bunraku/kernels/coordinate_lanes.hpp"
#include "bunraku/kernels/derivative_layout.hpp"

namespace bunraku::kernels {

/// What is wanted.
enum class Wanted : std::uint8_t {
  matrices,  ///< ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ = 𝓜 over all hinges, n×n each.
  in_order,  ///< The same in order, see DerivativeLayout: of several states.
  slopes,    ///< The first two, of one state coordinates in their lanes, of several in order.
  unbound,   ///< The same without columns that products with 𝓜⁻¹ need not: see derivative_products.hpp.
};

/// Where matrices go, column by column or in order.
template <class S>
struct Derivatives {
  S* dq = nullptr;              ///< ∂T/∂q.
  S* dv = nullptr;              ///< ∂T/∂θ̇.
  S* da = nullptr;              ///< ∂T/∂θ̈ = 𝓜, or null: not wanted.
  const int* places = nullptr;  ///< Of elements in order, row by row: where they are.
};

/// Scratch of the derivatives: coordinates in their lanes of ColumnLayout's registers, where a branch begins with a new
/// register. Where registers hold several, that leaves lanes empty; what belongs to links, and to the only coordinate
/// of a link, is first made in lanes one after the other. Composites have a place of their own, so that the numbers of
/// a coordinate fill less than a page: loads wait for stores at the same place of another page.
template <class S>
struct DerivativeScratch : CoordinateLanes<S, 48> {
  using Lanes = CoordinateLanes<S, 48>;
  using Bodies = CoordinateLanes<S, 38>;                 ///< Composites, and links' inertias.
  static constexpr int lanes = columns_per_register<S>;  ///< Coordinates in a register.
  /// @name Where components start
  /// @{
  static constexpr int frame_z = 6;           ///< Of the link's frame, which starts at 0, the third axis.
  static constexpr int velocity = 12;         ///< V.
  static constexpr int acceleration = 18;     ///< A, the rate of V, gravity included.
  static constexpr int momentum = 0;          ///< RS; these four take the place of those above.
  static constexpr int turning = 6;           ///< 2B*S, a moment alone.
  static constexpr int by_q = 9;              ///< S × f + Rψ̈ + 2Bψ̇.
  static constexpr int by_v = 15;             ///< R(ψ̇ + Ṡ) + 2BS.
  static constexpr int column = 24;           ///< S.
  static constexpr int slope = 30;            ///< ψ̇.
  static constexpr int rate = 36;             ///< ψ̇ + Ṡ.
  static constexpr int curvature = 42;        ///< ψ̈.
  static constexpr int base_gravity = slope;  ///< Of a free body, whose S are unit vectors, at its first coordinate …
  static constexpr int base_velocity = rate;  ///< … that is where several states go at once.
  /// @}
  /// @name Of Bodies
  /// @{
  static constexpr int composite = 0;  ///< R: mass, first moment, inertia (xx, yy, zz, xy, xz, yz).
  static constexpr int twice_B = 10;   ///< 2B: three rows, and the momentum.
  static constexpr int force = 22;     ///< f.
  static constexpr int composite_size = 28;
  static constexpr int own = 28;  ///< The link's inertia, as in R, see copy_inertias.
  /// @}

  /// O(N) memory. The layout must outlive it.
  DerivativeScratch(const Workspace<S>& ws, const DerivativeLayout& l);

  /// Lanes of links …
  BUNRAKU_INLINE Lanes& links() {
    if constexpr (lanes == 1) {
      return *this;
    } else {
      return of_links;
    }
  }
  /// Likewise.
  BUNRAKU_INLINE const Lanes& links() const { return const_cast<DerivativeScratch*>(this)->links(); }
  /// … and which is whose.
  BUNRAKU_INLINE int link_lane(int k) const { return lanes == 1 ? layout.lane_of[at(k)] : k; }

  /// Where slopes go: made at the first call.
  Slopes<S> slopes() {
    const int stride = this->registers * lanes;
    const std::size_t size = lanes == 1 ? at(layout.elements) : layout.lane.size() * at(stride);
    for (RegisterArray<S>* each : {&dq, &dv}) {
      if (each->registers.empty()) {
        *each = RegisterArray<S>(size);
      }
    }
    return {dq.data(), dv.data(), stride, layout.lane.data(), lanes == 1 ? layout.in_order.data() : nullptr};
  }

  const DerivativeLayout& layout;    ///< Which coordinate is where.
  std::vector<Motion<S>> map_rates;  ///< ∂H*, as map_rates_at has them.
  RegisterArray<S> dq{0};            ///< Slopes: zero where they always are, but for lanes without coordinates.
  RegisterArray<S> dv{0};            ///< Likewise.
  Lanes of_links;                    ///< Where registers hold several numbers.
  Bodies bodies;                     ///< Of links, one after the other.
  Bodies of_several;                 ///< Of links with several coordinates at these: where registers hold several.
};

/// Writes the inertia of every link, which are constants, where the sweep reads them: where registers hold several.
template <class S>
void copy_inertias(const Workspace<S>& ws, DerivativeScratch<S>& d) {
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    d.bodies.put(DerivativeScratch<S>::own, k, ws.link(k).inertia);
  }
}

template <class S>
DerivativeScratch<S>::DerivativeScratch(const Workspace<S>& ws, const DerivativeLayout& l)
    : Lanes(ws.composite_layout.registers),
      layout(l),
      map_rates(at(l.map_columns)),
      of_links(lanes == 1 ? 0 : (static_cast<int>(ws.tree->links.size()) + lanes - 1) / lanes),
      bodies((static_cast<int>(ws.tree->links.size()) + lanes - 1) / lanes),
      of_several(lanes == 1 || l.several.empty() ? 0 : this->registers) {
  if constexpr (lanes > 1) {
    copy_inertias(ws, *this);
  }
}

}  // namespace bunraku::kernels
