#include <memory>

#include <fmt/format.h>

#include "commands.hpp"

namespace bunraku::cli {

void add_check(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Check a model file: exit 0 when it is sound and wholly used, 1 when something was ignored or is odd, "
      "2 when it cannot be used");
  const auto arguments = std::make_shared<ModelArguments>();
  arguments->add_to(*command);
  command->callback([arguments, &status] {
    const Model model = arguments->load();
    for (const Problem& warning : model.warnings()) {
      fmt::print("warning: {}\n", to_string(warning));
      if (!warning.cure.empty()) {
        fmt::print("  {}\n", warning.cure);
      }
    }
    const std::size_t count = model.warnings().size();
    fmt::print("{}: {} bodies, {} degrees of freedom, {} closures; {}\n", model.name(), model.bodies().size(),
               model.nv(), model.closures().size(),
               count == 0 ? "nothing ignored, nothing odd" : fmt::format("{} warning{}", count, count == 1 ? "" : "s"));
    status = count == 0 ? success : finding;
  });
}

}  // namespace bunraku::cli
