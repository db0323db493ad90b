#include <memory>
#include <string>

#include <fmt/format.h>

#include "commands.hpp"
#include "output.hpp"

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
    std::string out;
    for (const Problem& warning : model.warnings()) {
      out += "warning: " + to_string(warning) + "\n" + (warning.cure.empty() ? "" : "  " + warning.cure + "\n");
    }
    const std::size_t count = model.warnings().size();
    out += fmt::format(
        "{}: {} bodies, {} degrees of freedom, {} closures; {}\n", model.name(), model.bodies().size(), model.nv(),
        model.closures().size(),
        count == 0 ? "nothing ignored, nothing odd" : fmt::format("{} warning{}", count, count == 1 ? "" : "s"));
    print(out);
    status = count == 0 ? success : finding;
  });
}

}  // namespace bunraku::cli
