/// The layers of the library: a folder uses those that it may, and no public header needs a private one.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"

namespace bunraku::test {
namespace {

using Folders = std::set<std::string>;
using Layers = std::map<std::string, Folders>;

/// What each folder may use besides itself and the headers beside the folders. CONTRIBUTING.md says the same.
Layers layers() {
  return {
      {"spatial", {}},
      {"model", {"spatial"}},
      {"io", {"model", "spatial"}},
      {"kernels", {"model", "spatial"}},
      {"operators", {"kernels", "model", "spatial"}},
      {"dynamics", {"operators", "kernels", "model", "spatial"}},
      {"batch", {"dynamics", "operators", "kernels", "model", "spatial"}},
  };
}
/// Within operators; what stands beside these three uses all of them.
Layers operator_layers() {
  return {
      {"language", {}},
      {"program", {"language"}},
      {"rewriting", {"program", "language"}},
  };
}
/// The headers beside the folders that every folder may use: not the one that includes all.
Folders for_all() {
  return {"arguments.hpp", "error.hpp", "export.hpp", "version.hpp"};
}

struct Include {
  std::string from;  ///< A file, below bunraku/.
  std::string what;  ///< What it includes, below bunraku/.
};

/// The includes of the project's own headers in a text.
std::vector<Include> includes_in(const std::string& text, const std::string& from) {
  static const std::regex line(R"re(^\s*#\s*include\s*["<]bunraku/([^">]+)[">])re");
  std::vector<Include> out;
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) {
    std::smatch found;
    if (std::regex_search(each, found, line)) {
      out.push_back({from, found[1]});
    }
  }
  return out;
}

std::vector<Include> all_includes() {
  const std::filesystem::path library = std::filesystem::path(BUNRAKU_SOURCE_DIR) / "bunraku";
  std::vector<Include> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(library)) {
    if (entry.is_regular_file()) {
      const std::string from = entry.path().lexically_relative(library).generic_string();
      for (const Include& each : includes_in(read_text(entry.path()), from)) {
        out.push_back(each);
      }
    }
  }
  return out;
}

/// The folder `depth` below bunraku/, or "" where the file stands higher.
std::string folder_of(const std::string& file, std::size_t depth) {
  std::string rest = file;
  for (std::size_t i = 0; i < depth; ++i) {
    rest = rest.find('/') == std::string::npos ? "" : rest.substr(rest.find('/') + 1);
  }
  return rest.find('/') == std::string::npos ? "" : rest.substr(0, rest.find('/'));
}

/// What is wrong between folders of one depth.
std::vector<std::string> breaches(const std::vector<Include>& includes, const Layers& may, std::size_t depth) {
  std::vector<std::string> out;
  for (const Include& each : includes) {
    const std::string from = folder_of(each.from, depth);
    const std::string to = folder_of(each.what, depth);
    const auto allowed = may.find(from);
    if (allowed == may.end() || from == to) {
      continue;
    }
    const bool shared = depth == 0 && to.empty() && for_all().contains(each.what);
    if (!shared && !allowed->second.contains(to)) {
      out.push_back(fmt::format("{} includes {}", each.from, each.what));
    }
  }
  return out;
}

bool is_private(const std::string& file) {
  return file.find("detail/") != std::string::npos || file.find("kernels/") != std::string::npos;
}

std::vector<Include> within_operators(std::vector<Include> includes) {
  std::erase_if(includes, [](const Include& each) {
    return folder_of(each.from, 0) != "operators" || folder_of(each.what, 0) != "operators";
  });
  return includes;
}

TEST(Layers, EveryFolderHasItsPlace) {
  const std::filesystem::path library = std::filesystem::path(BUNRAKU_SOURCE_DIR) / "bunraku";
  for (const auto& entry : std::filesystem::directory_iterator(library)) {
    EXPECT_TRUE(!entry.is_directory() || layers().contains(entry.path().filename().string()))
        << entry.path() << " is no layer: say what it may use";
  }
}

TEST(Layers, AFolderUsesThoseBeforeItAlone) {
  const std::vector<Include> includes = all_includes();
  EXPECT_GT(includes.size(), 300U);
  EXPECT_THAT(breaches(includes, layers(), 0), testing::IsEmpty());
}

TEST(Layers, OfTheOperatorsTheLanguageComesFirst) {
  const std::vector<Include> includes = within_operators(all_includes());
  EXPECT_GT(includes.size(), 50U);
  EXPECT_THAT(breaches(includes, operator_layers(), 1), testing::IsEmpty());
}

TEST(Layers, PublicHeadersNeedNoPrivateOnes) {
  for (const Include& each : all_includes()) {
    EXPECT_FALSE(each.from.ends_with(".hpp") && !is_private(each.from) && is_private(each.what))
        << each.from << " includes " << each.what << ", which is not installed";
  }
}

TEST(Layers, BreachesAreSeen) {
  const auto in = [](const std::string& from, const std::string& what) {
    return includes_in("  # include \"bunraku/" + what + "\"\n", from);
  };
  EXPECT_THAT(breaches(in("model/a.cpp", "io/load.hpp"), layers(), 0), testing::SizeIs(1));
  EXPECT_THAT(breaches(in("kernels/a.cpp", "dynamics/state.hpp"), layers(), 0), testing::SizeIs(1));
  EXPECT_THAT(breaches(in("operators/a.cpp", "dynamics/state.hpp"), layers(), 0), testing::SizeIs(1));
  EXPECT_THAT(breaches(in("operators/a.cpp", "io/load.hpp"), layers(), 0), testing::SizeIs(1));
  EXPECT_THAT(breaches(in("model/a.cpp", "bunraku.hpp"), layers(), 0), testing::SizeIs(1));
  EXPECT_THAT(breaches(in("dynamics/detail/a.hpp", "operators/system.hpp"), layers(), 0), testing::IsEmpty());
  EXPECT_THAT(breaches(in("model/a.cpp", "error.hpp"), layers(), 0), testing::IsEmpty());
  const auto operators = [&](const std::string& from, const std::string& what) {
    return breaches(in("operators/" + from, "operators/" + what), operator_layers(), 1);
  };
  EXPECT_THAT(operators("language/a.cpp", "program/detail/plan.hpp"), testing::SizeIs(1));
  EXPECT_THAT(operators("program/a.cpp", "system.hpp"), testing::SizeIs(1));
  EXPECT_THAT(operators("rewriting/a.cpp", "program/detail/plan.hpp"), testing::IsEmpty());
  EXPECT_THAT(operators("verify.cpp", "rewriting/simplify.hpp"), testing::IsEmpty());
}

}  // namespace
}  // namespace bunraku::test
