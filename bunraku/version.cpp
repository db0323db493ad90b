#include "bunraku/version.hpp"

namespace bunraku {

std::string_view version() {
  return BUNRAKU_VERSION;
}

std::string_view build_type() {
  return BUNRAKU_BUILD_TYPE;
}

bool is_optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

}  // namespace bunraku
