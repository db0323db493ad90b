/// Feeds bytes to the reader of NumPy's files: it may refuse them with ModelError, and with nothing else; the header of
/// what it accepts must be the same when it is written and read again, and no number lies outside of the file.
#include <optional>
#include <string>
#include <string_view>

#include "cli/npy.hpp"
#include "drive.hpp"

namespace {

using bunraku::cli::NpyHeader;

std::optional<NpyHeader> read(std::string_view bytes, std::uint64_t file_size) {
  try {
    return bunraku::cli::parse_npy_header(bytes, file_size, "fuzz");
  } catch (const bunraku::ModelError& error) {
    bunraku::fuzz::require(!error.problems().empty() && !error.problems().front().text.empty());
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<NpyHeader> header = read(bytes, size);
  if (!header) {
    return 0;
  }
  const auto numbers = static_cast<std::uint64_t>(header->count()) * header->bytes();
  bunraku::fuzz::require(header->numbers_at + numbers == size);
  const std::string text = bunraku::cli::npy_header_text(*header);
  bunraku::fuzz::require(text.size() % 64 == 0);
  const std::optional<NpyHeader> again = read(text, text.size() + numbers);
  bunraku::fuzz::require(again && again->type == header->type && again->fortran_order == header->fortran_order &&
                         again->shape == header->shape && again->numbers_at == text.size());
  return 0;
}
