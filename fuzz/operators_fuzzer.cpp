/// Feeds text to the reader of operator expressions: it may refuse it with OperatorError, and with nothing else; what
/// it accepts must survive being printed, in each style, and read again.
#include <optional>

#include "drive.hpp"

namespace {

using bunraku::Operator;

std::optional<Operator> read(std::string_view text) {
  try {
    return bunraku::parse(text, {Operator::variable("A", bunraku::SpaceKind::body, bunraku::SpaceKind::body),
                                 Operator::variable("x", bunraku::SpaceKind::hinge, bunraku::SpaceKind::number)});
  } catch (const bunraku::OperatorError& error) {
    bunraku::fuzz::require(!error.problem().empty() && error.what()[0] != '\0');
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Operator> x = read({reinterpret_cast<const char*>(data), size});
  if (!x) {
    return 0;
  }
  for (const auto print : {bunraku::to_ascii, bunraku::to_unicode, bunraku::to_latex}) {
    const std::optional<Operator> again = read(print(*x));
    bunraku::fuzz::require(again.has_value() && *again == *x);
  }
  bunraku::fuzz::require(~~*x == *x);
  return 0;
}
