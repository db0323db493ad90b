/// What comes with the program: documents, a man page that tells the truth, completion in the shell.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path sources = BUNRAKU_SOURCE_DIR;
const std::vector<std::string> commands = {"info",   "check",    "convert",   "eval", "op",    "verify",
                                           "papers", "assemble", "linearize", "trim", "modes", "demo"};

/// Every `--option` in a text.
std::set<std::string> options_in(const std::string& text) {
  static const std::regex option("--([a-z][a-z-]*)");
  std::set<std::string> out;
  for (std::sregex_iterator each(text.begin(), text.end(), option), end; each != end; ++each) {
    out.insert(each->str());
  }
  return out;
}

/// The options that a command's help lists: the words at the start of its lines.
std::set<std::string> listed_options(const std::string& help) {
  static const std::regex line("\n +(-[a-z], ?)?(--[a-z][a-z-]*)");
  std::set<std::string> out;
  for (std::sregex_iterator each(help.begin(), help.end(), line), end; each != end; ++each) {
    out.insert((*each)[2].str());
  }
  out.erase("--help");
  return out;
}

class ManPage : public Cli {
 protected:
  /// The options at the head of an entry, in the text of a section.
  static std::set<std::string> entries_of(const std::string& section) {
    std::set<std::string> out;
    std::istringstream lines(section);
    bool head = false;
    for (std::string line; std::getline(lines, line);) {
      if (head) {
        out.merge(options_in(std::regex_replace(line, std::regex(R"(\\-)"), "-")));
      }
      head = line == ".TP";
    }
    return out;
  }
  /// The section that starts with a line.
  std::string section(const std::string& heading) const {
    const std::size_t start = text.find("\n" + heading);
    EXPECT_NE(start, std::string::npos) << heading;
    if (start == std::string::npos) {
      return {};
    }
    return text.substr(start + 1, std::min(text.find("\n.SS", start + 1), text.find("\n.SH", start + 1)) - start - 1);
  }

  std::string text = read_text(sources / "docs/bunraku.1");
};

TEST_F(ManPage, HasEveryCommand) {
  const std::string help = run("--help").out;
  static const std::regex command("\n  ([a-z]+)  +");
  std::vector<std::string> found;
  for (std::sregex_iterator each(help.begin(), help.end(), command), end; each != end; ++each) {
    found.push_back((*each)[1].str());
  }
  EXPECT_EQ(found, commands) << help;
  const std::regex heading("\n\\.SS \"bunraku ([a-z]+)");
  std::vector<std::string> described;
  for (std::sregex_iterator each(text.begin(), text.end(), heading), end; each != end; ++each) {
    described.push_back((*each)[1].str());
  }
  EXPECT_EQ(described, commands);
}

TEST_F(ManPage, HasTheOptionsOfEveryCommand) {
  const std::set<std::string> of_models = entries_of(section(".SH \"MODEL OPTIONS\""));
  EXPECT_THAT(of_models, Contains("--free-base"));
  for (const std::string& command : commands) {
    const std::string help = run(command + " --help").out;
    const std::set<std::string> listed = listed_options(help);
    std::set<std::string> described = entries_of(section(".SS \"bunraku " + command));
    if (help.find("--free-base") != std::string::npos) {
      described.insert(of_models.begin(), of_models.end());
    }
    EXPECT_EQ(described, listed) << command;
  }
}

TEST_F(ManPage, HasEveryQuantity) {
  const std::string eval = section(".SS \"bunraku eval");
  const std::string help = run("eval --help").out;
  const std::string known = run("eval '" + puppet + "' --want nothing").err;
  const std::size_t start = known.find("known are: ") + 11;
  std::istringstream list(known.substr(start, known.find_first_of(";\n", start) - start));
  int count = 0;
  for (std::string item; std::getline(list, item, ',');) {
    const std::string name = item.substr(item.find_first_not_of(' '), item.find(':') - item.find_first_not_of(' '));
    if (name.starts_with("NODE")) {
      continue;  // the rest of NODE,NODE…
    }
    EXPECT_TRUE(std::regex_search(eval, std::regex("[ \n]" + name + "[ :,\n]"))) << name;
    ++count;
  }
  EXPECT_GE(count, 18);
}

TEST_F(Cli, ItInstallsDocumentsManPageAndCompletion) {
  const std::string build = std::filesystem::path(BUNRAKU_PROGRAM).parent_path();
  const std::string prefix = folder / "usr";
  for (const char* component : {"documentation", "program"}) {
    const std::string command = fmt::format("cmake --install '{}' --component {} --prefix '{}' >'{}' 2>&1", build,
                                            component, prefix, folder / "log");
    ASSERT_EQ(std::system(command.c_str()), 0) << read_text(folder / "log");  // NOLINT(cert-env33-c)
  }
  for (const char* file :
       {"share/man/man1/bunraku.1", "share/bash-completion/completions/bunraku", "share/zsh/site-functions/_bunraku",
        "share/fish/vendor_completions.d/bunraku.fish", "share/doc/bunraku/README.md", "share/doc/bunraku/LICENSE",
        "share/doc/bunraku/CHANGELOG.md", "bin/bunraku"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(prefix) / file)) << file;
  }
  // every document that README names is where README says
  const std::filesystem::path documents = std::filesystem::path(prefix) / "share/doc/bunraku";
  const std::string readme = read_text(documents / "README.md");
  const std::regex link("\\]\\(([A-Za-z/-]+\\.md)\\)");
  int links = 0;
  for (std::sregex_iterator each(readme.begin(), readme.end(), link), end; each != end; ++each, ++links) {
    EXPECT_TRUE(std::filesystem::exists(documents / (*each)[1].str())) << (*each)[1];
  }
  EXPECT_GE(links, 9);
}

class Completion : public Cli {
 protected:
  /// What bash offers after these words, of which the last is being typed.
  std::string offered(const std::vector<std::string>& words) const {
    std::string quoted;
    for (const std::string& word : words) {
      quoted += fmt::format(" '{}'", word);
    }
    const std::string script = folder.write(
        "complete.sh",
        fmt::format("set -eu\nsource '{}'\ncomplete -p bunraku >/dev/null\nCOMP_WORDS=('{}'{})\n"
                    "COMP_CWORD={}\n_bunraku\nfor each in ${{COMPREPLY[@]+\"${{COMPREPLY[@]}}\"}}; do "
                    "echo \"$each\"; done\n",
                    (sources / "cli/completion/bunraku.bash").string(), BUNRAKU_PROGRAM, quoted, words.size()));
    const std::string command =
        fmt::format("bash '{}' >'{}' 2>'{}'", script, folder / "completions", folder / "errors");
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(folder / "errors");  // NOLINT(cert-env33-c)
    EXPECT_THAT(read_text(folder / "errors"), IsEmpty());
    return read_text(folder / "completions");
  }
};

TEST_F(Completion, OffersCommands) {
  EXPECT_EQ(offered({""}), "info\ncheck\nconvert\neval\nop\nverify\npapers\nassemble\nlinearize\ntrim\nmodes\ndemo\n");
  EXPECT_EQ(offered({"ev"}), "eval\n");
  EXPECT_EQ(offered({"nothing"}), "");
  EXPECT_EQ(offered({"--ver"}), "--version\n");
}

TEST_F(Completion, OffersTheOptionsOfACommand) {
  EXPECT_EQ(offered({"op", "robot.urdf", "--de"}), "--dense\n");
  EXPECT_EQ(offered({"eval", "--free"}), "--free-base\n--free-mimics\n");
  for (const std::string& command : commands) {
    std::set<std::string> offers = options_in(offered({command, "--"}));
    offers.erase("--help");
    EXPECT_EQ(offers, listed_options(run(command + " --help").out)) << command;
  }
}

TEST_F(Completion, OffersValues) {
  EXPECT_EQ(offered({"op", "robot.urdf", "phi", "--order", ""}), "file\npaper\n");
  EXPECT_EQ(offered({"eval", "robot.urdf", "--precision", ""}), "double\nfloat\n");
  EXPECT_EQ(offered({"eval", "robot.urdf", "--want", "inv"}), "inverse_mass\n");
  EXPECT_EQ(offered({"eval", "robot.urdf", "--want", "com,lambda"}), "com,lambda_inverse:\ncom,lambda:\n");
  EXPECT_THAT(offered({"eval", "robot.urdf", "--want", ""}), AllOf(HasSubstr("poses\n"), HasSubstr("id_dq\n")));
  EXPECT_EQ(offered({"eval", "robot.urdf", "--states", ""}), "") << "files";
  EXPECT_EQ(offered({"info", "rob"}), "") << "files";
}

}  // namespace
}  // namespace bunraku::test
