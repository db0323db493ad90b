/// @file
/// Reads modal data of flexible bodies: the nodes, mode shapes and masses that a finite-element program has found. The
/// format is described in docs/formats.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bunraku/model/flexible.hpp"

namespace bunraku {

/// Reads a file of the format `bunraku-modal 1`. Nodes that the file calls outboard keep their names; the others are
/// lumps of mass without a name, and what hangs at the inboard node counts as the body's rigid part. Where the file has
/// no lumps but the inertia invariants, lumps of equal mass are made that have the same ones.
/// Throws ModelError with file, line and cure for everything that is wrong: numbers that are missing, given twice or
/// not finite, masses that do not add up, modes that are not orthonormal, not at rest inboard, or that no distribution
/// of mass has. Cost: linear in the size of the file, times the number of modes for orthonormality.
BUNRAKU_API FlexibleBody load_modal(const std::string& path);
/// The same; what is odd but does no harm is added to `warnings`.
BUNRAKU_API FlexibleBody load_modal(const std::string& path, std::vector<Problem>& warnings);

/// Reads modal data from text, as load_modal does from a file; `name` stands for the file in messages.
BUNRAKU_API FlexibleBody load_modal_text(std::string_view text, const std::string& name);
/// The same; what is odd but does no harm is added to `warnings`.
BUNRAKU_API FlexibleBody load_modal_text(std::string_view text, const std::string& name,
                                         std::vector<Problem>& warnings);

}  // namespace bunraku
