/// Feeds text to the reader of modal data: it may refuse it with ModelError, and with nothing else; of what it accepts
/// a flexible body can be made, whose modes have unit mass.
#include "bunraku/io/modal_file.hpp"
#include "drive.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bunraku;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = [&]() -> std::optional<FlexibleBody> {
    try {
      return load_modal_text(text, "fuzz.modal");
    } catch (const ModelError& error) {
      fuzz::require(!error.problems().empty());
      for (const Problem& problem : error.problems()) {
        fuzz::require(!problem.text.empty());
      }
      return std::nullopt;
    }
  };
  const std::optional<FlexibleBody> body = read();
  if (!body) {
    return 0;
  }
  const std::vector<double> mass = modal_mass(*body);
  const auto n = static_cast<std::size_t>(body->modes());
  fuzz::require(n > 0 && mass.size() == n * n);
  constexpr double loosest = 0.01;  // as the digits of a short file allow
  for (std::size_t i = 0; i < mass.size(); ++i) {
    fuzz::require(std::abs(mass[i] - (i % (n + 1) == 0 ? 1 : 0)) < loosest);
  }
  const RigidInertia<double> rigid = rigid_inertia(*body);
  fuzz::require(std::isfinite(rigid.mass) && rigid.mass > 0);
  ModelBuilder builder;
  add_flexible_body(builder, {.name = "body"}, *body);
  try {
    fuzz::use(builder.build());
  } catch (const ModelError& error) {  // a name that no body may have, such as one of two nodes with a dot between
    fuzz::require(!error.problems().empty());
  }
  return 0;
}
