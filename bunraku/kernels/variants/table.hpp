/// @file
/// What each source of a variant makes.
#pragma once

#include <memory>

#include "bunraku/kernels/pack.hpp"
#include "bunraku/kernels/variant.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<Sweeps<double>> make_sweeps_double(const Tree& tree);
std::unique_ptr<Sweeps<float>> make_sweeps_float(const Tree& tree);
std::unique_ptr<BlockSweeps<double>> make_block_double(const Tree& tree);
std::unique_ptr<BlockSweeps<float>> make_block_float(const Tree& tree);
std::unique_ptr<BlockSweeps<double>> make_single_double(const Tree& tree);
std::unique_ptr<BlockSweeps<float>> make_single_float(const Tree& tree);

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
