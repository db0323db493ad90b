#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "bunraku/io/urdf_writer.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

struct ConvertArguments {
  ModelArguments model;
  std::string output;
  bool lossy = false;
};

/// Writes beside the target and renames, so that a failure never leaves half a file.
void write_file(const std::filesystem::path& target, const std::string& text) {
  std::error_code unresolved;  // through a link, to the file that it names
  const std::filesystem::path real = std::filesystem::weakly_canonical(target, unresolved);
  const std::filesystem::path path = unresolved ? target : real;
  std::filesystem::path part = path;
  part += fmt::format(".{}.part", getpid());
  std::ofstream out(part, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) {
    std::filesystem::rename(part, path, error);
  }
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw Error(fmt::format("'{}' cannot be written", path.string()));
  }
}

void convert_model(const ConvertArguments& arguments) {
  const std::filesystem::path output(arguments.output);
  if (output != "-" && output.extension() != ".urdf") {
    throw Error(
        fmt::format("'{}': models are written as URDF only; give a name that ends in .urdf, or - for standard "
                    "output",
                    arguments.output));
  }
  const Model model = arguments.model.load();
  UrdfOptions options;
  options.loss = arguments.lossy ? UrdfLoss::accept : UrdfLoss::refuse;
  if (output != "-") {
    options.folder = std::filesystem::absolute(output).parent_path().string();
  }
  const std::string text = to_urdf(model, options);
  if (arguments.lossy) {
    for (const std::string& loss : urdf_losses(model)) {
      print_to_stderr(fmt::format("warning: left out: {}\n", loss));
    }
  }
  if (output == "-") {
    print(text);
  } else {
    write_file(output, text);
  }
}

}  // namespace

void add_convert(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand("convert", "Write a model as URDF; what URDF cannot say is refused by name");
  const auto arguments = std::make_shared<ConvertArguments>();
  arguments->model.add_to(*command);
  command->add_option("output", arguments->output, "file to write, ending in .urdf, or - for standard output")
      ->required()
      ->option_text("OUT");
  command->add_flag("--lossy", arguments->lossy, "leave out what URDF cannot say, and list it");
  command->callback([arguments] { convert_model(*arguments); });
}

}  // namespace bunraku::cli
