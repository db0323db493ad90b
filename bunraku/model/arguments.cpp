#include "bunraku/model/detail/arguments.hpp"

#include <cmath>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku {

void refuse_size(std::size_t size, std::ptrdiff_t wanted, std::string_view name) {
  throw ArgumentError(fmt::format("{} has {} numbers, the model wants {}", name, size, wanted));
}

template <class T>
void refuse_values(std::span<const T> values, std::string_view name) {
  std::size_t i = 0;
  while (std::isfinite(values[i])) {
    ++i;
  }
  throw ArgumentError(fmt::format("{}[{}] is {}, not a finite number", name, i, values[i]));
}

template void refuse_values(std::span<const double> values, std::string_view name);
template void refuse_values(std::span<const float> values, std::string_view name);

void refuse_quaternion(const Body& body, double norm, std::string_view name) {
  throw ArgumentError(fmt::format("the quaternion of hinge '{}', {}[{}] to {}[{}], has norm {:.9g} instead of 1",
                                  body.hinge.name, name, body.q_index, name, body.q_index + 3, norm));
}

template <class T>
void check_quaternions(const Model& model, std::span<const T> q, std::string_view name) {
  for (const Body& body : model.bodies()) {
    if (body.nq == 0 || (body.hinge.type != HingeType::spherical && body.hinge.type != HingeType::free)) {
      continue;
    }
    const auto at = static_cast<std::size_t>(body.q_index);
    const double norm = static_cast<double>(Quaternion<T>{q[at], q[at + 1], q[at + 2], q[at + 3]}.norm());
    if (!(std::abs(norm - 1) <= quaternion_tolerance<T>)) {
      refuse_quaternion(body, norm, name);
    }
  }
}

template void check_quaternions(const Model& model, std::span<const double> q, std::string_view name);
template void check_quaternions(const Model& model, std::span<const float> q, std::string_view name);

}  // namespace bunraku
