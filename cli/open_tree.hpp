/// @file
/// For commands that take loops as cut open nowhere: they refuse models that have some.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bunraku/model/model.hpp"

namespace bunraku::cli {

/// The model. Throws Error where it closes loops.
inline Model open_tree(Model model, std::string_view command) {
  if (!model.closures().empty()) {
    throw Error(
        fmt::format("{} takes trees, and '{}' closes loops ('{}'): read a URDF with --loops none, or leave the "
                    "closures out of the file",
                    command, model.name(), model.closures().front().name));
  }
  return model;
}

}  // namespace bunraku::cli
