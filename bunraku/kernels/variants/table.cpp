#include "bunraku/kernels/variants/table.hpp"

#define BUNRAKU_TEXT_OF(x) #x
#define BUNRAKU_TEXT(x) BUNRAKU_TEXT_OF(x)

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

/// The table of this variant; variant.cpp knows it by this name.
extern const Variant table;
const Variant table{.name = BUNRAKU_TEXT(BUNRAKU_VARIANT),
                    .in_double = {make_sweeps_double, make_block_double, make_single_double},
                    .in_float = {make_sweeps_float, make_block_float, make_single_float}};

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
