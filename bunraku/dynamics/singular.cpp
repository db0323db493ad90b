#include "bunraku/dynamics/detail/singular.hpp"

#include <fmt/format.h>

namespace bunraku::kernels {

Error massless(const Hinge& hinge, std::string_view also) {
  return Error(
      fmt::format("hinge '{}' {}moves nothing that has mass: its articulated inertia D is singular", hinge.name, also));
}

}  // namespace bunraku::kernels
