/// `bunraku papers`: every item is there, every statement is as it should be, and the document has them all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace bunraku::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// One object of the list.
struct Statement {
  /// What stands after a key, up to the next comma or quote.
  std::string text(const std::string& key) const {
    const std::size_t found = json.find("\"" + key + "\":");
    EXPECT_NE(found, std::string::npos) << key << " in " << json;
    std::size_t start = found + key.size() + 3;
    const bool quoted = json[start] == '"';
    start += quoted ? 1 : 0;
    return json.substr(start, json.find_first_of(quoted ? "\"" : ",}", start) - start);
  }
  double number(const std::string& key) const { return std::strtod(text(key).c_str(), nullptr); }
  bool yes(const std::string& key) const { return text(key) == "true"; }

  std::string json;
};

class Papers : public Cli {
 protected:
  std::vector<Statement> statements(const std::string& arguments) {
    const Result r = run("papers --json " + arguments);
    EXPECT_EQ(r.status, 0);
    EXPECT_THAT(r.err, IsEmpty());
    EXPECT_THAT(r.out, StartsWith("[{\"id\":"));
    EXPECT_THAT(r.out, EndsWith("}]\n"));
    std::vector<Statement> out;
    for (std::size_t at = r.out.find("{\"id\""); at != std::string::npos;) {
      const std::size_t next = r.out.find("{\"id\"", at + 1);
      out.push_back({r.out.substr(at, next - at)});
      at = next;
    }
    return out;
  }

  static void check(const std::vector<Statement>& all, int samples) {
    for (const Statement& each : all) {
      EXPECT_TRUE(each.yes("pass")) << each.json;
      EXPECT_THAT(each.text("source"), Not(IsEmpty())) << each.json;
      if (!each.yes("holds")) {
        EXPECT_TRUE(each.text("residual") == "null" || each.number("random") > 1e-3) << each.json;
      } else {
        EXPECT_GE(each.number("samples"), each.text("kind") == "procedure" ? 1 : samples) << each.json;
        // all but the sampled covariances, the orders of integration and the frequencies of beams
        const std::set<std::string> loose{"F4", "D2"};
        const bool beam = each.text("line").starts_with("beam ") && each.number("residual") <= 1e-8;
        EXPECT_TRUE(each.number("residual") <= 1e-11 || beam ||
                    (loose.contains(each.text("id")) && each.text("kind") == "procedure"))
            << each.json;
      }
    }
  }
};

TEST_F(Papers, EveryStatementIsAsItShouldBe) {
  const std::vector<Statement> all = statements("");
  check(all, 50);
  for (const Statement& each : all) {
    // what comes out equal to the last bit on 50 systems is so by construction, and marked; but zero is zero
    if (each.text("kind") == "identity" && each.text("statement").find(" = 0*") == std::string::npos) {
      EXPECT_GT(each.number("residual"), 0) << each.json;
    }
  }
  std::set<std::string> ids;
  std::set<std::string> references;
  std::string appendix;
  for (const Statement& each : all) {
    ids.insert(each.text("id"));
    if (each.text("kind") == "reference") {
      references.insert(each.text("id").substr(0, 1));
    }
    if (each.text("id") == "F3") {
      appendix += each.text("line") + "\n";
    }
  }
  EXPECT_EQ(ids, (std::set<std::string>{"K1", "K2", "K3", "K4", "K5", "K6", "I1", "I2", "I3", "F1", "F2",
                                        "F3", "F4", "F5", "D1", "D2", "D3", "D4", "D5", "S1", "S2", "S3",
                                        "S4", "S5", "L1", "C1", "C2", "C3", "C4", "C5", "C6", "X1"}));
  EXPECT_EQ(references, (std::set<std::string>{"K", "I", "F", "D", "S", "X"}));
  // RK88's appendix A; (a.5) only defines a symbol, (a.20) and (a.30) are within the sums (a.19) and (a.29)
  for (int i = 1; i <= 51; ++i) {
    if (i != 5 && i != 20 && i != 30) {
      EXPECT_THAT(appendix, HasSubstr("(a." + std::to_string(i) + ")"));
    }
  }
}

TEST_F(Papers, OnSharedRobots) {
  if (!std::filesystem::exists(shared_models())) {
    GTEST_SKIP() << "there is no " << shared_models();
  }
#ifdef __SANITIZE_ADDRESS__
  const std::string which = "--id F2 ";  // all would take minutes
#else
  const std::string which;
#endif
  check(statements(which + "--samples 5 --models '" + shared_models().string() + "'"), 5);
}

TEST_F(Papers, OneItemAsText) {
  const Result r = run("papers --id D5 --models models/puppet.urdf");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("\nD5  the operational-space inertia\n"));
  EXPECT_THAT(r.out, HasSubstr("Omega[2, 4] = ~psi[1, 2]*Upsilon[1, 1]*psi[1, 4]  [RJK89 (A.5) corrected]\n"));
  EXPECT_THAT(r.out, Not(HasSubstr("\nD4  ")));
  EXPECT_THAT(r.out, HasSubstr(" statements hold, "));
  EXPECT_THAT(r.out, HasSubstr(" false ones are refuted\n"));
  EXPECT_THAT(r.out, EndsWith("of 18 identities 7 are proved\n"));
}

TEST_F(Papers, MostIdentitiesAreProved) {
  std::map<std::string, int> proved;
  int identities = 0;
  int all = 0;
  for (const Statement& each : statements("--samples 1")) {
    const bool is_identity = each.text("kind") == "identity" || each.text("kind") == "algebra";
    EXPECT_TRUE(is_identity || !each.yes("proved")) << "no misprint may be: " << each.json;
    identities += is_identity ? 1 : 0;
    all += each.yes("proved") ? 1 : 0;
    proved[each.text("id")] += each.yes("proved") ? 1 : 0;
  }
  EXPECT_GE(2 * all, identities);
  EXPECT_GE(proved["F2"], 42);  // what the table of identities is made for
  EXPECT_GE(proved["F3"], 70);
  EXPECT_GE(proved["D1"], 27);
}

TEST_F(Papers, StatementsAreOperatorText) {
  int tried = 0;
  for (const Statement& each : statements("--id F3")) {
    if (each.text("line") == "A.3 (a.22)" || each.text("line") == "A.5 (a.47)") {
      const Result r = run("verify '" + each.text("statement") + "' --samples 4");
      EXPECT_EQ(r.status, 0) << each.json << r.err;
      ++tried;
    }
  }
  EXPECT_EQ(tried, 2);
}

TEST_F(Papers, Errors) {
  const Result item = run("papers --id Z1");
  EXPECT_EQ(item.status, 2);
  EXPECT_THAT(item.out, IsEmpty());
  EXPECT_THAT(item.err, StartsWith("error: there is no item 'Z1'; there are K1, K2"));
  const Result model = run("papers --models '" + (folder / "nothing.urdf") + "'");
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.out, IsEmpty());
  const std::string still = folder.write("still.urdf", "<robot name=\"r\"><link name=\"a\"/></robot>");
  EXPECT_THAT(run("papers --models '" + still + "'").err, HasSubstr("no hinge moves"));
  const std::filesystem::path empty = std::filesystem::path(folder / "empty");
  std::filesystem::create_directory(empty);
  EXPECT_THAT(run("papers --models '" + empty.string() + "'").err,
              StartsWith("error: --models: there is no .urdf, .xml or .sdf file in "));
}

/// docs/papers.md has every row, but for the residuals, which depend on the machine.
TEST_F(Papers, DocumentHasThemAll) {
  const std::string document = read_text(std::filesystem::path(BUNRAKU_SOURCE_DIR) / "docs/papers.md");
  std::istringstream lines(run("papers --markdown --samples 1").out);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(" |")) {
      const std::size_t residual = line.rfind(" | ");
      EXPECT_THAT(document, HasSubstr(line.substr(0, residual))) << "bunraku papers --markdown writes the tables";
      ++rows;
    }
  }
  EXPECT_GT(rows, 400);
}

}  // namespace
}  // namespace bunraku::test
