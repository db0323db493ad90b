/// Broken model files: every one is refused in short time, by an error that names file, line and cause.
///
/// tests/corpus/FORMAT/KIND/expected.txt lists the cases of a folder, one a line:
///   case.urdf:LINE: part of the message
///   case.urdf > other.yaml:LINE: part of the message      where the problem is in another file of the folder
/// Files that cases include lie in folders called parts. Those of the kind `tolerated` are wrong in what does not bear
/// on the result: each is read, with the warning that is listed.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "bunraku/io/detail/files.hpp"
#include "bunraku/io/load.hpp"
#include "support/files.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;

// Processor time that a broken file may cost, and the memory. Each takes well below a second on a quiet machine; the
// limit here only tells that from the minutes of an algorithm whose time grows with the square of the file.
constexpr double most_seconds = 20;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool count_memory = false;
#else
constexpr bool count_memory = true;
#endif
constexpr long most_megabytes = 1024;

/// The most that one message may say.
constexpr std::size_t most_text = 1000;

/// The largest amount of memory that this process has had, in megabytes.
long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss >> 20;
#else
  return usage.ru_maxrss >> 10;
#endif
}

/// Whether a text is UTF-8 in one line.
bool is_one_line_of_utf8(std::string_view text) {
  int following = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (((byte >> 6) == 2) != (following > 0) || byte < 0x20 || byte == 0x7f) {
      return false;
    }
    following = following > 0 ? following - 1 : byte < 0x80 ? 0 : (byte >> 5) == 6 ? 1 : (byte >> 4) == 14 ? 2 : 3;
  }
  return following == 0;
}

/// The errors that a file is refused with; nothing where it is not, which is a failure. Checks what holds for every
/// refusal: its type, its cost, the form of its messages.
std::vector<Problem> errors_of(const std::string& path) {
  std::vector<Problem> errors;
  const long memory = peak_megabytes();
  const std::clock_t start = std::clock();
  try {
    const Model model = load(path);
    ADD_FAILURE() << "was accepted, with " << model.warnings().size() << " warnings";
  } catch (const ModelError& error) {
    std::copy_if(error.problems().begin(), error.problems().end(), std::back_inserter(errors),
                 [](const Problem& p) { return p.severity == Severity::error; });
    EXPECT_FALSE(errors.empty());
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw something else: " << error.what();
  }
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, most_seconds);
  if (count_memory) {
    EXPECT_LT(peak_megabytes() - memory, most_megabytes);
  }
  for (const Problem& p : errors) {
    EXPECT_FALSE(p.where.file.empty()) << p.text.substr(0, most_text);
    EXPECT_LE(p.text.size(), most_text) << p.text.substr(0, most_text);
    EXPECT_TRUE(is_one_line_of_utf8(p.text)) << p.text.substr(0, most_text);
  }
  return errors;
}

// The corpus.

fs::path corpus() {
  return fs::path(BUNRAKU_SOURCE_DIR) / "tests" / "corpus";
}

struct Expectation {
  std::string file;  ///< To be loaded.
  std::string at;    ///< Where the problem is.
  int line = 0;
  std::string text;  ///< Part of the message.
};

/// One line of an expected.txt, or nothing where it cannot be read.
std::optional<Expectation> parse_expectation(std::string_view line) {
  Expectation out;
  const std::size_t number = line.find(':');
  const std::size_t text = number == std::string_view::npos ? number : line.find(": ", number + 1);
  if (text == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view files = line.substr(0, number);
  constexpr std::string_view arrow = " > ";
  const std::size_t other = files.find(arrow);
  out.file = files.substr(0, other);
  out.at = other == std::string_view::npos ? files : files.substr(other + arrow.size());
  out.text = line.substr(text + 2);
  const auto [end, error] = std::from_chars(line.data() + number + 1, line.data() + text, out.line);
  if (error != std::errc() || end != line.data() + text || out.text.empty() || out.file.empty()) {
    return std::nullopt;
  }
  return out;
}

std::vector<Expectation> expectations(const fs::path& folder) {
  std::vector<Expectation> out;
  std::ifstream in(folder / "expected.txt");
  for (std::string line; std::getline(in, line);) {
    if (const auto expectation = parse_expectation(line)) {
      out.push_back(*expectation);
    } else {
      ADD_FAILURE() << (folder / "expected.txt") << " has a line that cannot be read: " << line;
    }
  }
  return out;
}

/// The folders FORMAT/KIND, sorted.
std::vector<std::string> kinds() {
  std::set<std::string> out;
  std::error_code error;
  for (const auto& format : fs::directory_iterator(corpus(), error)) {
    if (!format.is_directory()) {
      continue;
    }
    for (const auto& kind : fs::directory_iterator(format.path(), error)) {
      out.insert((format.path().filename() / kind.path().filename()).string());
    }
  }
  return {out.begin(), out.end()};
}

bool is_tolerated(const std::string& kind) {
  return kind.ends_with("/tolerated");
}

std::vector<std::string> kinds_of(bool tolerated) {
  std::vector<std::string> out = kinds();
  std::erase_if(out, [&](const std::string& kind) { return is_tolerated(kind) != tolerated; });
  return out;
}

class Tolerated : public testing::TestWithParam<std::string> {};

TEST_P(Tolerated, IsReadWithAWarning) {
  const fs::path folder = corpus() / GetParam();
  const std::vector<Expectation> cases = expectations(folder);
  EXPECT_FALSE(cases.empty());
  for (const Expectation& wanted : cases) {
    const std::string file = (folder / wanted.file).string();
    SCOPED_TRACE(file);
    try {
      const Model model = load(file);
      const bool found = std::any_of(model.warnings().begin(), model.warnings().end(), [&](const Problem& p) {
        return p.where.line == wanted.line && p.text.find(wanted.text) != std::string::npos;
      });
      EXPECT_TRUE(found) << "wanted: " << wanted.line << ": … " << wanted.text
                         << " …\nfound: " << testing::PrintToString(test::warnings(model));
    } catch (const ModelError& error) {
      ADD_FAILURE() << "was refused: " << error.what();
    }
    EXPECT_THROW(static_cast<void>(load(file, {.strictness = Strictness::strict})), ModelError);
  }
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, IsRefused) {
  const fs::path folder = corpus() / GetParam();
  const std::vector<Expectation> cases = expectations(folder);
  EXPECT_FALSE(cases.empty());
  for (const Expectation& wanted : cases) {
    SCOPED_TRACE((folder / wanted.file).string());
    const std::vector<Problem> errors = errors_of((folder / wanted.file).string());
    if (errors.empty()) {
      continue;  // a failure already
    }
    const std::string file = (folder / wanted.at).string();
    const bool found = std::any_of(errors.begin(), errors.end(), [&](const Problem& p) {
      return p.where.file == file && p.where.line == wanted.line && p.text.find(wanted.text) != std::string::npos;
    });
    EXPECT_TRUE(found) << "wanted: " << file << ':' << wanted.line << ": … " << wanted.text
                       << " …\nfound: " << testing::PrintToString(errors);
    for (const Problem& p : errors) {
      EXPECT_GT(p.where.line, 0) << to_string(p);
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& kind) {
  std::string name = kind.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Corpus, testing::ValuesIn(kinds_of(false)), test_name);
INSTANTIATE_TEST_SUITE_P(Kinds, Tolerated, testing::ValuesIn(kinds_of(true)), test_name);

TEST(CorpusFiles, AreAllListed) {
  std::set<std::string> listed;
  std::size_t count = 0;
  for (const std::string& kind : kinds()) {
    listed.insert((corpus() / kind / "expected.txt").string());
    for (const Expectation& wanted : expectations(corpus() / kind)) {
      EXPECT_TRUE(listed.insert((corpus() / kind / wanted.file).string()).second || wanted.file != wanted.at)
          << kind << '/' << wanted.file << " is listed twice";
      listed.insert((corpus() / kind / wanted.at).string());
      const fs::path beside = (corpus() / kind / wanted.file).replace_extension(".yaml");
      if (wanted.at.starts_with("parts/") && fs::exists(beside)) {  // it leads from the one to the other
        listed.insert(beside.string());
      }
      ++count;
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(corpus())) {
    const bool is_part = entry.path().string().find("/parts/") != std::string::npos;
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (entry.is_regular_file() && !is_part && !is_hidden) {
      EXPECT_EQ(listed.erase(entry.path().string()), 1U) << entry.path() << " is in no expected.txt";
    }
  }
  std::erase_if(listed, [](const std::string& path) { return fs::exists(path); });
  EXPECT_THAT(listed, testing::IsEmpty());
  EXPECT_GE(count, 200U);
}

// Inputs too large to be kept as files.

constexpr int many = 50'000;                              // of elements: more would not fit into a file
constexpr std::size_t large = io::max_file_bytes - 1000;  // of bytes: such a file is still read

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

/// The errors of a file with that text.
std::vector<Problem> errors_of_file_with(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  return errors_of(folder.write(name, text));
}

/// A URDF with n links l0, l1 …, and joints between them: text(i) for each.
template <class Text>
std::string chain_of_links(int n, const Text& text) {
  std::string out = "<robot name='r'>\n";
  for (int i = 0; i < n; ++i) {
    out += fmt::format("<link name='l{}'/>\n", i) + text(i);
  }
  return out + "</robot>\n";
}

std::string urdf_joint(const std::string& name, const std::string& parent, const std::string& child,
                       const std::string& rest = "") {
  return fmt::format("<joint name='{}' type='continuous'><parent link='{}'/><child link='{}'/>{}</joint>\n", name,
                     parent, child, rest);
}

TEST(Hostile, AFileOfTenGigabytes) {
  const TemporaryFolder folder;
  std::error_code error;
  const auto grow = [&](const std::string& name) {
    folder.write(name, "");
    fs::resize_file(folder / name, 10'000'000'000, error);  // takes no space
  };
  const auto too_large = test::error(fmt::format("{} bytes", io::max_file_bytes));
  grow("big.urdf");
  grow("loops.yaml");
  if (error) {
    GTEST_SKIP() << "no such file can be made here: " << error.message();
  }
  EXPECT_THAT(errors_of(folder / "big.urdf"), Contains(too_large));
  EXPECT_THAT(errors_of(folder.write("loops.urdf", "<robot name='r'><link name='a'/></robot>")), Contains(too_large));
  EXPECT_THAT(errors_of(folder.write("m.xml", "<mujoco><include file='big.urdf'/></mujoco>")), Contains(too_large));
  EXPECT_THAT(errors_of(folder.write("m.sdf",
                                     "<sdf version='1.9'><world name='w'><include><uri>big.urdf</uri></include>"
                                     "</world></sdf>")),
              Contains(too_large));
}

TEST(Hostile, AFolder) {
  const TemporaryFolder folder;
  EXPECT_THAT(errors_of(folder.path().string()), Contains(error("is a folder")));
}

TEST(Hostile, ACircleOfSymbolicLinks) {
  const TemporaryFolder folder;
  std::error_code error;
  fs::create_symlink(folder / "b.urdf", folder / "a.urdf", error);
  fs::create_symlink(folder / "a.urdf", folder / "b.urdf", error);
  if (error) {
    GTEST_SKIP() << "no symbolic links here";
  }
  EXPECT_THAT(errors_of(folder / "a.urdf"), Contains(test::error("cannot be read: Too many levels of symbolic links")));
}

TEST(Hostile, ADevice) {
  EXPECT_FALSE(errors_of("/dev/zero").empty());
  EXPECT_FALSE(errors_of("/dev/null").empty());
}

TEST(Hostile, ANumberOfMegabytes) {
  const std::string digits = repeated("7", large);
  EXPECT_THAT(errors_of_file_with("m.urdf", "<robot name='r'><link name='a'><inertial><mass value='" + digits +
                                                "'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>"),
              Contains(error("'value' of <mass>")));
  EXPECT_THAT(errors_of_file_with("m.xml", "<mujoco><worldbody><body pos='0 0 " + digits + "'/></worldbody></mujoco>"),
              Contains(error("'pos' of <body>")));
  EXPECT_THAT(errors_of_file_with("m.sdf", "<sdf version='1.9'><model name='m'><link name='a'><pose>0 0 0 0 0 " +
                                               digits + "</pose></link></model></sdf>"),
              Contains(error("the text of <pose>")));
}

TEST(Hostile, MillionsOfNumbers) {
  EXPECT_THAT(errors_of_file_with(
                  "m.xml", "<mujoco><worldbody><body pos='" + repeated("1 ", large / 2) + "'/></worldbody></mujoco>"),
              Contains(error("more than the 3 numbers")));
}

TEST(Hostile, ANameOfMegabytes) {
  const std::string name = repeated("x", large);
  EXPECT_FALSE(errors_of_file_with("m.urdf", "<robot name='r'><link name='a'/><link name='b'/>" +
                                                 urdf_joint("j", name, "b") + "</robot>")
                   .empty());
  EXPECT_FALSE(errors_of_file_with("m.xml", "<mujoco><worldbody><body childclass='" + name + "'/></worldbody></mujoco>")
                   .empty());
  EXPECT_FALSE(errors_of_file_with("m.sdf", "<sdf version='1.9'><model name='m'><link name='a'><pose relative_to='" +
                                                name + "'/></link></model></sdf>")
                   .empty());
}

TEST(Hostile, NestingWithoutEnd) {
  EXPECT_THAT(errors_of_file_with("m.urdf", "<robot name='r'>" + repeated("<link>", many)),
              Contains(error("nested deeper")));
  EXPECT_THAT(errors_of_file_with("m.xml", "<mujoco><worldbody>" + repeated("<body>", many) +
                                               repeated("</body>", many) + "</worldbody></mujoco>"),
              Contains(error("nested deeper")));
  EXPECT_THAT(errors_of_file_with("m.sdf", "<sdf version='1.9'>" + repeated("<model name='m'>", many) +
                                               repeated("</model>", many) + "</sdf>"),
              Contains(error("nested deeper")));
  const TemporaryFolder folder;
  folder.write("m.yaml", "closed_loop: " + repeated("[", many));
  EXPECT_THAT(errors_of(folder.write("m.urdf", "<robot name='r'><link name='a'/></robot>")),
              Contains(error("nested too deeply")));
}

TEST(Hostile, ManyModelsInOneAnother) {
  EXPECT_THAT(errors_of_file_with("m.sdf", "<sdf version='1.9'>" + repeated("<model name='m'><link name='a'/>", 400) +
                                               repeated("</model>", 400) + "</sdf>"),
              Contains(error("nested deeper")));
}

TEST(Hostile, ManyUnknownNamesInUrdf) {
  const std::string text =
      chain_of_links(many, [](int i) { return urdf_joint(fmt::format("j{}", i), "nobody", fmt::format("l{}", i)); });
  EXPECT_THAT(errors_of_file_with("m.urdf", text), Contains(error("'nobody', which does not exist")));
}

TEST(Hostile, ManyUnknownMimicsInUrdf) {
  const std::string text = chain_of_links(many / 4, [](int i) {
    return urdf_joint(fmt::format("j{}", i), "world", fmt::format("l{}", i), "<mimic joint='nobody'/>");
  });
  EXPECT_THAT(errors_of_file_with("m.urdf", text), Contains(error("'nobody', which does not exist")));
}

TEST(Hostile, ManyUnknownNamesInMjcf) {
  std::string text = "<mujoco><worldbody>\n";
  for (int i = 0; i < many; ++i) {
    text += fmt::format("<body name='b{}' childclass='nobody'/>\n", i);
  }
  text +=
      "</worldbody><equality>\n" + repeated("<weld body1='nobody' body2='nobody'/>\n", many) + "</equality></mujoco>";
  EXPECT_THAT(errors_of_file_with("m.xml", text), Contains(error("'nobody', which there is not")));
}

TEST(Hostile, ManyUnknownNamesInSdf) {
  std::string text = "<sdf version='1.9'><model name='m'>\n";
  for (int i = 0; i < many; ++i) {
    text += fmt::format("<link name='l{}'><pose relative_to='nobody'/></link>\n", i);
  }
  EXPECT_THAT(errors_of_file_with("m.sdf", text + "</model></sdf>"), Contains(error("'nobody'")));
}

TEST(Hostile, ManyLoops) {
  const TemporaryFolder folder;
  std::string loops = "closed_loop:\n";
  for (int i = 0; i < many / 2; ++i) {
    loops += fmt::format("- [nobody, j{}]\n", i);
  }
  folder.write("m.yaml", loops);
  const std::string text =
      chain_of_links(many / 2, [](int i) { return urdf_joint(fmt::format("j{}", i), "world", fmt::format("l{}", i)); });
  EXPECT_THAT(errors_of(folder.write("m.urdf", text)), Contains(error("'nobody', which does not exist")));
}

TEST(Hostile, AnErrorAfterManyWarnings) {
  // links without mass, each of them worth a warning, do not hide what makes the file unusable
  const std::string urdf = chain_of_links(300, [](int i) {
    return urdf_joint(fmt::format("j{}", i), "world", fmt::format("l{}", i), i == 299 ? "<mimic joint='nobody'/>" : "");
  });
  EXPECT_THAT(errors_of_file_with("m.urdf", urdf), Contains(error("'nobody', which does not exist")));
  std::string sdf = "<sdf version='1.9'><model name='m'>\n";
  for (int i = 0; i < 300; ++i) {
    sdf += fmt::format("<link name='l{}'/>\n", i);
  }
  sdf += "<link name='last'><inertial><mass>heavy</mass></inertial></link></model></sdf>";
  EXPECT_THAT(errors_of_file_with("m.sdf", sdf), Contains(error("'heavy' is not a number")));
}

TEST(Hostile, ALoopFileOfManyKeys) {
  const TemporaryFolder folder;
  folder.write("m.yaml", "closed_loop: none\n" + repeated("a: b\n", large / 5));
  EXPECT_FALSE(errors_of(folder.write("m.urdf", "<robot name='r'><link name='a'/></robot>")).empty());
}

TEST(Hostile, ManyEqualNames) {
  const std::string same = chain_of_links(many, [](int i) { return urdf_joint("j", "world", fmt::format("l{}", i)); });
  EXPECT_THAT(errors_of_file_with("m.urdf", same), Contains(error("'j'")));
  EXPECT_THAT(errors_of_file_with("l.urdf", "<robot name='r'>" + repeated("<link name='a'/>\n", many) + "</robot>"),
              Contains(error("'a' twice")));
  EXPECT_THAT(errors_of_file_with("m.xml", "<mujoco><worldbody>\n" +
                                               repeated("<body><joint name='j'/><geom size='1'/></body>\n", many) +
                                               "</worldbody></mujoco>"),
              Contains(error("'j'")));
  EXPECT_THAT(errors_of_file_with("m.sdf", "<sdf version='1.9'><model name='m'>\n" +
                                               repeated("<link name='a'/>\n", many) + "</model></sdf>"),
              Contains(error("already used")));
}

TEST(Hostile, ManyFilesInOneAnotherInMjcf) {
  const TemporaryFolder folder;
  constexpr int files = 3000;
  for (int i = 0; i < files; ++i) {
    folder.write(fmt::format("m{}.xml", i), fmt::format("<mujoco><include file='m{}.xml'/></mujoco>", i + 1));
  }
  folder.write(fmt::format("m{}.xml", files), "<mujoco><worldbody/></mujoco>");
  EXPECT_THAT(errors_of(folder / "m0.xml"), Contains(error("one included file too many")));
}

TEST(Hostile, ManyFilesBesideOneAnotherInMjcf) {
  const TemporaryFolder folder;
  std::string main = "<mujoco>\n";
  for (int i = 0; i < 1500; ++i) {
    folder.write(fmt::format("m{}.xml", i), "<mujoco><worldbody/></mujoco>");
    main += fmt::format("<include file='m{}.xml'/>\n", i);
  }
  EXPECT_THAT(errors_of(folder.write("main.xml", main + "</mujoco>")), Contains(error("one included file too many")));
}

TEST(Hostile, FilesThatIncludeTheNextTwiceInSdf) {
  const TemporaryFolder folder;
  for (const int levels : {20, 40}) {  // below and above the limit of the depth
    for (int i = 0; i < levels; ++i) {
      const std::string next = fmt::format("<uri>m{}.sdf</uri>", i + 1);
      folder.write(fmt::format("m{}.sdf", i),
                   fmt::format("<sdf version='1.9'><model name='m'>\n<include><name>a</name>{}</include>\n"
                               "<include><name>b</name>{}</include>\n</model></sdf>",
                               next, next));
    }
    folder.write(fmt::format("m{}.sdf", levels), "<sdf version='1.9'><model name='m'><link name='a'/></model></sdf>");
    EXPECT_FALSE(errors_of(folder / "m0.sdf").empty());
  }
}

TEST(Hostile, MuchOfTheSame) {
  for (const char* text : {"<", ">", "&", " ", "\n", "<!", "<?", "<a>", "<a ", "]]>", "\xef\xbb\xbf"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(errors_of_file_with("m.urdf", repeated(text, large / std::string_view(text).size())).empty());
  }
}

TEST(Hostile, ManyAttributes) {
  std::string text = "<robot name='r'><link name='a'/><link";
  for (int i = 0; text.size() < large; ++i) {
    text += fmt::format(" a{}=''", i);
  }
  EXPECT_FALSE(errors_of_file_with("m.urdf", text + "/></robot>").empty());
}

TEST(Hostile, ManyEqualAttributes) {
  EXPECT_FALSE(errors_of_file_with("m.urdf", "<robot" + repeated(" a=''", large / 5)).empty());
}

TEST(Hostile, ManyCharactersByNumber) {
  // none of them is closed by a semicolon
  EXPECT_FALSE(errors_of_file_with("m.urdf", "<robot name='" + repeated("&#", large / 2) + "'/>").empty());
}

TEST(Hostile, ManyUnknownElements) {
  std::string text = "<robot name='r'>\n<link/>\n";
  for (int i = 0; i < 10 * many; ++i) {
    text += fmt::format("<lin{}/>\n", i);
  }
  EXPECT_FALSE(errors_of_file_with("m.urdf", text + "</robot>").empty());
  EXPECT_FALSE(
      errors_of_file_with("n.urdf", "<robot name='r'>\n<link/>\n" + repeated("<lnk/>\n", 10 * many) + "</robot>")
          .empty());
}

TEST(Hostile, ALongCircleOfParents) {
  const std::string text = chain_of_links(many, [](int i) {
    return urdf_joint(fmt::format("j{}", i), fmt::format("l{}", (i + 1) % many), fmt::format("l{}", i));
  });
  EXPECT_THAT(errors_of_file_with("m.urdf", text), Contains(error("in a circle")));
}

TEST(Hostile, ALongCircleOfMimics) {
  const std::string text = chain_of_links(many, [](int i) {
    return urdf_joint(fmt::format("j{}", i), "world", fmt::format("l{}", i),
                      fmt::format("<mimic joint='j{}'/>", (i + 1) % many));
  });
  EXPECT_THAT(errors_of_file_with("m.urdf", text), Contains(error("mimics itself")));
}

TEST(Hostile, ALongCircleOfFrames) {
  std::string text = "<sdf version='1.9'><model name='m'><link name='a'/>\n";
  for (int i = 0; i < many; ++i) {
    text += fmt::format("<frame name='f{}' attached_to='f{}'/>\n", i, (i + 1) % many);
  }
  EXPECT_THAT(errors_of_file_with("m.sdf", text + "</model></sdf>"), Contains(error("in a circle")));
}

TEST(Hostile, ManyDefaultsInManyClasses) {
  constexpr int classes = 5000;
  std::string text = "<mujoco><default>\n" + repeated("<geom size='1'/>\n", many);
  std::string bodies;
  for (int i = 0; i < classes; ++i) {
    text += fmt::format("<default class='c{}'/>\n", i);
    bodies += fmt::format("<geom class='c{}'/>\n", i);
  }
  text += "</default><worldbody>\n" + bodies + "<joint/></worldbody></mujoco>";
  EXPECT_THAT(errors_of_file_with("m.xml", text), Contains(error("the world cannot have")));
}

TEST(Hostile, ManyClassesInOneAnother) {
  constexpr int depth = 80;
  std::string text = "<mujoco><default>\n";
  std::string bodies;
  for (int i = 0; i < depth; ++i) {
    text += fmt::format("<default class='c{}'>", i) + repeated("<geom size='1'/>", 500) + "\n";
    bodies += fmt::format("<geom class='c{}'/>\n", i);
  }
  text += repeated("</default>", depth) + "</default><worldbody>\n" + bodies + "<joint/></worldbody></mujoco>";
  EXPECT_THAT(errors_of_file_with("m.xml", text), Contains(error("the world cannot have")));
}

TEST(Hostile, ManyModelsWithLongNames) {
  // names of nested models are put before one another
  const std::string name(900, 'x');
  std::string text = "<sdf version='1.9'>\n";
  for (int i = 0; i < 60; ++i) {
    text += "<model name='" + name + "'>\n";
  }
  for (int i = 0; i < 10'000; ++i) {
    text += fmt::format("<link name='l{}'/>\n", i);
  }
  EXPECT_FALSE(errors_of_file_with("m.sdf", text + repeated("</model>", 60) + "</sdf>").empty());
}

}  // namespace
}  // namespace bunraku::test
