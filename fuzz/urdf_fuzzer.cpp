/// Feeds text to the URDF reader.
#include "drive.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (bunraku::fuzz::mentions(text, "<robot")) {
    bunraku::fuzz::drive(text);
  }
  return 0;
}
