/// @file
/// Checks of nodes that are given as arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bunraku/model/detail/arguments.hpp"

namespace bunraku::kernels {

/// Throws ArgumentError unless `body` is one of the model's, or the world, and X_BN has finite numbers alone.
inline void check_place(const Model& model, int body, const Transform<double>& X_BN, std::string_view kind,
                        std::string_view name) {
  if (body != world) {
    static_cast<void>(model.body(body));
  }
  const Mat3<double>& r = X_BN.rotation.matrix();
  const double numbers[] = {r(0, 0),
                            r(0, 1),
                            r(0, 2),
                            r(1, 0),
                            r(1, 1),
                            r(1, 2),
                            r(2, 0),
                            r(2, 1),
                            r(2, 2),
                            X_BN.translation.x,
                            X_BN.translation.y,
                            X_BN.translation.z};
  if (!all_finite(std::span<const double>(numbers))) {
    throw ArgumentError(std::string(kind) + " '" + std::string(name) +
                        "' has a pose on its body with a number that is not finite");
  }
}

/// The same of a node.
inline void check_node(const Model& model, const Node& node) {
  check_place(model, node.body, node.X_BN, "node", node.name);
}

}  // namespace bunraku::kernels
