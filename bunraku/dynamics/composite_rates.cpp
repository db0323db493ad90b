#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/room.hpp"

namespace bunraku {

template <class T>
void detail::StateData<T>::sweep_composite_rates() {
  for (int k = 0; k < blocks.size(); ++k) {
    composite_rate[static_cast<std::size_t>(k)] = kernels::InertiaRate<T>::of(blocks.M(k), blocks.V(k));
  }
  for (int k = blocks.size() - 1; k >= 0; --k) {  // as the composites, since both frames are taken to stand still
    if (blocks.parent(k) != world) {
      composite_rate[static_cast<std::size_t>(blocks.parent(k))] +=
          blocks.X_PB(k) * composite_rate[static_cast<std::size_t>(k)];
    }
  }
}

template <class T>
void detail::StateData<T>::rate_columns(int k) {
  const Body& body = model.bodies()[static_cast<std::size_t>(k)];
  const kernels::HingeSlot& slot = coordinates.slots[static_cast<std::size_t>(k)];
  kernels::with_room(slot.nv, [&]<int most>() {
    std::array<double, most + 1> position{};
    std::array<double, most> velocity{};
    std::array<Motion<double>, most> rates{};
    std::copy_n(q.begin() + slot.q, slot.nq, position.begin());
    std::copy_n(spread_v.begin() + slot.rate, slot.nv, velocity.begin());
    hinge_joint_map_rate(body.hinge, position.data(), velocity.data(), rates.data());
    for (int j = 0; j < slot.nv; ++j) {
      const Motion<T> in_body = kernels::cast<T>(inverse_times(body.X_MB, rates[static_cast<std::size_t>(j)]));
      column_rate[static_cast<std::size_t>(slot.v + j)] = cross(blocks.V(k), blocks.H(slot.v + j)) + in_body;
    }
  });
}

template void detail::StateData<double>::sweep_composite_rates();
template void detail::StateData<double>::rate_columns(int);
template void detail::StateData<float>::sweep_composite_rates();
template void detail::StateData<float>::rate_columns(int);

}  // namespace bunraku
