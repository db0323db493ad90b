#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "demo_model.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "papers/systems.hpp"
#include "papers/trial.hpp"
#include "progress.hpp"

namespace bunraku::cli {

namespace {

namespace fs = std::filesystem;

struct PapersArguments {
  std::string id;
  int samples = papers::random_systems;
  std::vector<std::string> models;
  bool json = false;
  bool markdown = false;
};

/// The model files in a folder and in those below it, sorted; or the file itself.
std::vector<std::string> model_files(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    return {path};
  }
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    const std::string kind = entry.path().extension().string();
    if (entry.is_regular_file() && (kind == ".urdf" || kind == ".xml" || kind == ".sdf")) {
      out.push_back(entry.path().string());
    }
  }
  std::sort(out.begin(), out.end());
  if (out.empty()) {
    throw ArgumentError(fmt::format("--models: there is no .urdf, .xml or .sdf file in {}", path));
  }
  return out;
}

/// A file's name, with its folder's where that tells more.
std::string file_name(const fs::path& file) {
  const fs::path folder = file.parent_path().filename();
  return (file.stem() == "robot" && !folder.empty() ? folder / file.filename() : file.filename()).string();
}

/// The statements form matrices of six rows a body.
constexpr std::size_t most_bodies = 500;

papers::Robot load_robot(const std::string& file) {
  const papers::Robot out{file_name(file), papers::plain(bunraku::load(file, {.loops = "none"}))};
  if (out.model.nv() == 0 || out.model.mass() <= 0) {
    throw ArgumentError(fmt::format("{}: there is nothing to try the statements on: {}", file,
                                    out.model.nv() == 0 ? "no hinge moves" : "nothing has mass"));
  }
  if (out.model.bodies().size() > most_bodies) {
    throw ArgumentError(fmt::format("{}: {} bodies are too many for dense matrices; at most {}", file,
                                    out.model.bodies().size(), most_bodies));
  }
  return out;
}

std::vector<papers::Robot> load_robots(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return {{"puppet.urdf", papers::plain(load_text(demo_model_text, "puppet.urdf"))}};
  }
  std::vector<papers::Robot> out;
  for (const std::string& path : paths) {
    for (const std::string& file : model_files(path)) {
      out.push_back(load_robot(file));
    }
  }
  return out;
}

/// What sort of statement it is.
std::string_view kind(const papers::Outcome& each) {
  if (each.is_false()) {
    return "misprint";
  }
  if (each.means != papers::Means::identity) {
    return each.means == papers::Means::reference ? "reference" : "procedure";
  }
  return each.claim == papers::Claim::algebra ? "algebra" : "identity";
}

std::string as_json(const std::vector<papers::Outcome>& outcomes) {
  JsonWriter json;
  json.begin_array();
  for (const papers::Outcome& each : outcomes) {
    json.begin_object().key("id").value(each.id).key("line").value(each.line);
    json.key("statement").value(each.statement).key("source").value(each.source).key("note").value(each.note);
    json.key("kind").value(kind(each));
    json.key("residual");
    if (each.samples > 0 && each.error.empty()) {
      json.value(each.residual());
    } else {
      json.null();
    }
    json.key("tolerance").value(each.is_false() ? papers::refutation : each.tolerance);
    json.key("random").value(each.random_residual).key("robots").value(each.robot_residual);
    json.key("samples").value(each.samples).key("worst").value(each.worst);
    json.key("holds").boolean(!each.is_false()).key("proved").boolean(each.proved).key("pass").boolean(each.pass());
    if (!each.error.empty()) {
      json.key("error").value(each.error);
    }
    json.end_object();
  }
  json.end_array().newline();
  return std::string(json.text());
}

const papers::Item& item_of(const papers::Outcome& outcome) {
  const auto all = papers::items();
  return *std::find_if(all.begin(), all.end(), [&](const papers::Item& each) { return outcome.id == each.id; });
}

std::string residual_text(const papers::Outcome& each) {
  if (each.samples == 0) {
    return each.claim == papers::Claim::ill_typed ? "no fit" : "none";
  }
  return each.residual() == 0 ? "0" : fmt::format("{:.1e}", each.residual());
}

/// Whether a statement is as it should be.
std::string_view verdict(const papers::Outcome& each) {
  return each.is_false() ? (each.pass() ? "false" : "NOT FALSE")
         : !each.pass()  ? "FAILS"
         : each.proved   ? "proved"
                         : "holds";
}

/// Text that a table of Markdown shows as it is.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '*' || c == '_' || c == '|' || c == '[' || c == ']') {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string as_markdown(const std::vector<papers::Outcome>& outcomes) {
  std::string out;
  const papers::Item* item = nullptr;
  for (const papers::Outcome& each : outcomes) {
    if (item == nullptr || each.id != item->id) {
      item = &item_of(each);
      out += fmt::format("{}### {}: {}\n\n| line | statement | where | residual |\n|---|---|---|---|\n",
                         out.empty() ? "" : "\n", item->id, item->title);
    }
    out += fmt::format("| {} | `{}`{}{} | {} | {}{} |\n", escaped(each.line), each.statement,
                       each.note.empty() ? "" : " — ", escaped(each.note), escaped(each.source),
                       each.is_false() ? "**false** "
                       : each.proved   ? "proved, "
                                       : "",
                       residual_text(each));
  }
  return out;
}

std::string as_text(const std::vector<papers::Outcome>& outcomes, int samples,
                    const std::vector<papers::Robot>& robots) {
  std::string out = fmt::format(
      "The largest residual max|left − right| / max(|left|, |right|) over {} random system{} and, for statements on\n"
      "any system, {} robot{}: without armature, each hinge with its own coordinate, loops open.\n"
      "\"proved\" stands before those that the identities derive, too; \"false\" before misprints that are refuted, as "
      "they\n"
      "should be.\n",
      samples, samples == 1 ? "" : "s", robots.size(), robots.size() == 1 ? "" : "s");
  int hold = 0;
  int refuted = 0;
  int wrong = 0;
  int proved = 0;
  int identities = 0;
  const papers::Item* item = nullptr;
  std::size_t width = 0;
  for (const papers::Outcome& each : outcomes) {
    if (item == nullptr || each.id != item->id) {
      item = &item_of(each);
      out += fmt::format("\n{}  {}\n", item->id, item->title);
      width = 0;
      for (const papers::Outcome& other : outcomes) {
        width = std::max(width, other.id == each.id ? other.line.size() : 0);
      }
    }
    out += fmt::format("  {:<9}{:>7}  {:<{}}  {}  [{}]\n", verdict(each), residual_text(each), each.line, width,
                       each.statement, each.source);
    if (each.means == papers::Means::identity && !each.is_false()) {
      ++identities;
      proved += each.proved ? 1 : 0;
    }
    if (!each.pass()) {
      ++wrong;
      out +=
          fmt::format("      {}\n", each.error.empty() ? "the largest residual is that of " + each.worst : each.error);
    } else {
      ++(each.is_false() ? refuted : hold);
    }
  }
  out += fmt::format("\n{} statements hold, {} false ones are refuted", hold, refuted);
  out += wrong == 0 ? "" : fmt::format(", {} are not as they should be", wrong);
  out += fmt::format("\nof {} identities {} are proved\n", identities, proved);
  return out;
}

int papers_command(const PapersArguments& arguments) {
  const std::vector<papers::Robot> robots = load_robots(arguments.models);
  const std::vector<papers::Outcome> outcomes = [&] {
    Progress progress;
    return papers::run(arguments.id, arguments.samples, robots,
                       [&](const std::string& text) { progress.show([&] { return text; }); });
  }();
  print(arguments.json       ? as_json(outcomes)
        : arguments.markdown ? as_markdown(outcomes)
                             : as_text(outcomes, arguments.samples, robots));
  return std::all_of(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.pass(); }) ? success
                                                                                                     : finding;
}

}  // namespace

void add_papers(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("papers", "Evaluate the papers' statements about open chains, one by one");
  const auto arguments = std::make_shared<PapersArguments>();
  CLI::Option* json = command->add_flag("--json", arguments->json, "print JSON");
  command->add_flag("--markdown", arguments->markdown, "print tables for a document")->excludes(json);
  command->add_option("--samples", arguments->samples, "random systems to try each on")
      ->option_text("N")
      ->check(CLI::Range(1, papers::random_systems))
      ->capture_default_str();
  command->add_option("--id", arguments->id, "only the statements of one item, such as F3")->option_text("ID");
  command
      ->add_option("--models", arguments->models,
                   "robots to try them on, too: model files, or folders of them; default: the demonstration's puppet")
      ->option_text("FILE|DIR ...");
  command->callback([arguments, &status] { status = papers_command(*arguments); });
}

}  // namespace bunraku::cli
