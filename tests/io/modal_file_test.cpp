// Modal data of flexible bodies: what is read, and what is refused, by name and line.
#include "bunraku/io/modal_file.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/modal_text.hpp"
#include "support/files.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// `line: text` of every error.
std::vector<std::string> errors_of(const std::string& text) {
  try {
    static_cast<void>(load_modal_text(text, "sample.modal"));
  } catch (const ModelError& error) {
    for (const Problem& problem : error.problems()) {
      EXPECT_EQ(problem.where.file, "sample.modal");
      EXPECT_FALSE(problem.text.empty());
    }
    return listed(error.problems(), Severity::error);
  }
  return {};
}

std::vector<std::string> warnings_of(const std::string& text) {
  std::vector<Problem> warnings;
  static_cast<void>(load_modal_text(text, "sample.modal", warnings));
  return listed(warnings, Severity::warning);
}

/// The place of the line that starts so; fails where there is none.
std::size_t line_of(const std::vector<std::string>& lines, const std::string& start) {
  const auto at = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(start); });
  EXPECT_NE(at, lines.end()) << start;
  return static_cast<std::size_t>(at - lines.begin());
}

/// With the line that starts so replaced; an empty one stays as an empty line.
std::string with(std::vector<std::string> lines, const std::string& start, const std::string& line) {
  lines[line_of(lines, start)] = line;
  return joined(lines);
}

/// `LINE: text`, the line being that which starts so.
auto at_line(const std::vector<std::string>& lines, const std::string& start, const std::string& text) {
  return AllOf(StartsWith(std::to_string(line_of(lines, start) + 1) + ": "), HasSubstr(text));
}

double difference(const Mat3<double>& a, const Mat3<double>& b) {
  double out = 0;
  for (int i = 0; i < 9; ++i) {
    out = std::max(out, std::abs(a(i / 3, i % 3) - b(i / 3, i % 3)));
  }
  return out;
}

TEST(ModalFile, ReadsLumpsAndShapes) {
  const ModalSample sample = modal_sample(3, 5, true, 1);
  const FlexibleBody body = load_modal_text(joined(modal_lines(sample)), "sample.modal");
  ASSERT_EQ(body.modes(), 3);
  ASSERT_EQ(body.nodes.size(), 5U) << "the frame is no node of its own";
  EXPECT_EQ(body.nodes.back().name, "n5");
  EXPECT_EQ(body.nodes.front().name, "") << "a lump";
  for (std::size_t i = 0; i < 3; ++i) {
    const double omega = 2 * std::numbers::pi * sample.frequencies[i];
    EXPECT_NEAR(body.stiffness[i], omega * omega, 1e-9);
    EXPECT_NEAR(body.damping[i], 2 * 0.01 * omega, 1e-12);
  }
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_LT(norm(body.nodes[j].place - sample.places[j + 1]), 1e-15);
    EXPECT_NEAR(body.nodes[j].inertia.mass, sample.lumps[j + 1].mass, 1e-15);
    EXPECT_LT(norm(body.nodes[j].inertia.first_moment - sample.lumps[j + 1].first_moment), 1e-15);
    EXPECT_LT(difference(body.nodes[j].inertia.inertia.full(), sample.lumps[j + 1].inertia.full()), 1e-15);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(body.nodes[j].shape.rotation[i], sample.shapes[j + 1][i].angular);
      EXPECT_EQ(body.nodes[j].shape.translation[i], sample.shapes[j + 1][i].linear);
    }
  }
  EXPECT_THAT(warnings_of(joined(modal_lines(sample))), IsEmpty());
}

TEST(ModalFile, ReadsAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("boom.modal", joined(modal_lines(modal_sample(2, 4, false, 2))));
  EXPECT_EQ(load_modal(file).modes(), 2);
  EXPECT_THROW(static_cast<void>(load_modal(folder / "none.modal")), ModelError);
  EXPECT_THROW(static_cast<void>(load_modal(folder.path().string())), ModelError);
}

TEST(ModalFile, CommentsBlanksAndOrderDoNotMatter) {
  std::vector<std::string> lines = modal_lines(modal_sample(2, 4, false, 3));
  std::reverse(lines.begin() + 1, lines.end());
  lines.insert(lines.begin(), "# made by hand");
  lines.push_back("   ");
  lines[4] += "  # a remark\r";
  EXPECT_THAT(errors_of("\xEF\xBB\xBF" + joined(lines)), IsEmpty());
}

TEST(ModalFile, TheMassOfTheInboardNodeIsRigid) {
  std::vector<std::string> lines = modal_lines(modal_sample(1, 3, false, 4));
  const ModalSample sample = modal_sample(1, 3, false, 4);
  RigidInertia<double> sum = sample.rigid();
  sum.mass += 2;
  lines[line_of(lines, "node n0")] = "node n0: 0 0 0 2";
  lines[line_of(lines, "mass")] = fmt::format("mass: {:.17g}", sum.mass);
  lines[line_of(lines, "com")] = "com: " + digits_of(sum.center());
  lines[line_of(lines, "inertia")] = "inertia: " + digits_of(sum.central());
  const FlexibleBody body = load_modal_text(joined(lines), "sample.modal");
  EXPECT_EQ(body.inertia.mass, 2);
  EXPECT_EQ(body.nodes.size(), 3U);
}

TEST(ModalFile, StiffnessAndDampingInPlaceOfFrequencies) {
  const std::vector<std::string> lines = modal_lines(modal_sample(1, 3, false, 4));
  const FlexibleBody body = load_modal_text(with(lines, "mode 1", "mode 1: stiffness 50 damping 0.5"), "s");
  EXPECT_EQ(body.stiffness, std::vector<double>{50});
  EXPECT_EQ(body.damping, std::vector<double>{0.5});
  EXPECT_THAT(load_modal_text(with(lines, "mode 1", "mode 1: stiffness 50"), "s").damping, IsEmpty());
}

// The invariants have all that motion and weight depend on: lumps made of them have the same ones.
TEST(ModalFile, LumpsHaveTheInvariantsTheyAreMadeOf) {
  for (const int modes : {1, 3, 6}) {
    const ModalSample sample = modal_sample(modes, 20, false, static_cast<unsigned>(modes));
    const FlexibleBody body = load_modal_text(joined(modal_lines(sample, {.lumps = false})), "sample.modal");
    ModalSample found;
    found.modes = modes;
    int named = 0;
    for (const FlexibleNode& node : body.nodes) {
      named += node.name.empty() ? 0 : 1;
      found.lumps.push_back(node.inertia);
      found.places.push_back(node.place);
      found.shapes.emplace_back();
      for (const Vec3<double>& each : node.shape.translation) {
        found.shapes.back().push_back({Vec3<double>::zero(), each});
      }
      if (node.name.empty()) {
        EXPECT_NEAR(node.inertia.mass, body.nodes.back().inertia.mass, 1e-14) << "all are equal";
      }
    }
    EXPECT_EQ(named, 1);
    EXPECT_EQ(body.nodes.size(), static_cast<std::size_t>(std::min(4 + 3 * modes, 20) + 1));
    const RigidInertia<double> rigid = sample.rigid();
    EXPECT_NEAR(found.rigid().mass, rigid.mass, 1e-12);
    EXPECT_LT(norm(found.rigid().first_moment - rigid.first_moment), 1e-12);
    EXPECT_LT(difference(found.rigid().inertia.full(), rigid.inertia.full()), 1e-12);
    for (int i = 0; i < modes; ++i) {
      EXPECT_LT(norm(found.s1(i) - sample.s1(i)), 1e-12);
      EXPECT_LT(norm(found.c0(i) - sample.c0(i)), 1e-12);
      EXPECT_LT(difference(found.j1(i), sample.j1(i)), 1e-12);
      for (int l = 0; l < modes; ++l) {
        EXPECT_LT(norm(found.c1(i, l) - sample.c1(i, l)), 1e-12);
        EXPECT_LT(difference(found.j2(i, l), sample.j2(i, l)), 1e-12);
        EXPECT_NEAR(found.mass_between(i, l), i == l ? 1 : 0, 1e-12);
      }
    }
  }
}

// A bar that bends in a plane: of its places and shapes most are zero, and fewer lumps are needed.
TEST(ModalFile, AFlatBodyTakesFewLumps) {
  ModalSample sample;
  sample.modes = 1;
  sample.frequencies = {3};
  for (int j = 0; j <= 10; ++j) {
    const double x = 0.1 * j;
    sample.places.push_back({x, 0, 0});
    sample.lumps.push_back(RigidInertia<double>::zero());
    sample.lumps.back().mass = j > 0 ? 0.1 : 0;
    sample.shapes.push_back({{Vec3<double>::zero(), {0, 0, x * x}}});
  }
  const double size = std::sqrt(sample.mass_between(0, 0));
  for (auto& shapes : sample.shapes) {
    shapes[0] = shapes[0] * (1 / size);
  }
  EXPECT_EQ(load_modal_text(joined(modal_lines(sample, {.lumps = false})), "s").nodes.size(), 3U + 1U);
}

TEST(ModalFile, TheOriginIsMovedToTheInboardNode) {
  const ModalSample sample = modal_sample(2, 8, false, 5);
  for (const bool lumps : {true, false}) {
    const FlexibleBody body = load_modal_text(joined(modal_lines(sample, {.lumps = lumps})), "s");
    const Vec3<double> origin{0.5, -0.25, 2};
    ModalSample moved = sample;  // C0, J1 are about the file's origin
    for (Vec3<double>& place : moved.places) {
      place += origin;
    }
    const std::string text = joined(modal_lines(moved, {.lumps = lumps}));
    const FlexibleBody found = load_modal_text(text, "s");
    EXPECT_THAT(warnings_of(text), Contains(AllOf(HasSubstr("the origin is moved to the inboard node 'n0'"),
                                                  HasSubstr("(0.5, -0.25, 2) m"))));
    RigidInertia<double> wanted = body.inertia;
    RigidInertia<double> sum = found.inertia;
    for (const FlexibleNode& node : body.nodes) {
      wanted += shifted(node.inertia, node.place);
    }
    for (const FlexibleNode& node : found.nodes) {
      sum += shifted(node.inertia, node.place);
    }
    EXPECT_NEAR(sum.mass, wanted.mass, 1e-12);
    EXPECT_LT(norm(sum.first_moment - wanted.first_moment), 1e-11);
    EXPECT_LT(difference(sum.inertia.full(), wanted.inertia.full()), 1e-10);
    const auto tip = [](const FlexibleNode& node) { return !node.name.empty(); };
    EXPECT_LT(norm(std::find_if(found.nodes.begin(), found.nodes.end(), tip)->place - sample.places.back()), 1e-14);
  }
}

TEST(ModalFile, ShorteningIsKept) {
  std::vector<std::string> lines = modal_lines(modal_sample(2, 4, false, 6));
  lines.push_back("axis: 0 0 1");
  lines.push_back("S n4: 1 0.5 0.5 2");
  const FlexibleBody body = load_modal_text(joined(lines), "s");
  EXPECT_EQ(body.nodes.back().shape.shortening, (std::vector<double>{1, 0.5, 0.5, 2}));
  EXPECT_EQ(body.nodes.back().shape.shortening_axis, (Vec3<double>{0, 0, 1}));
  EXPECT_THAT(errors_of(with(lines, "axis", "")), Contains(at_line(lines, "S n4", "needs an axis")));
  EXPECT_THAT(errors_of(with(lines, "axis", "axis: 1 1 0")), Contains(at_line(lines, "axis", "not of length 1")));
  EXPECT_THAT(errors_of(with(lines, "S n4", "S n4: 1 0.5 0.4 2")), Contains(at_line(lines, "S n4", "not symmetric")));
  EXPECT_THAT(errors_of(with(lines, "S n4", "S n4: 1 2 3")), Contains(at_line(lines, "S n4", "has 3 numbers, not 4")));
}

// Numbers that a file states twice, and what must hold of them.

struct Refusal {
  const char* start;  ///< Of the line that is replaced, and that the error is at, unless `at` names another.
  std::string line;
  const char* text;
  const char* at = nullptr;
};

void expect_refusals(const std::vector<std::string>& lines, const std::vector<Refusal>& refusals) {
  ASSERT_THAT(errors_of(joined(lines)), IsEmpty());
  for (const Refusal& each : refusals) {
    SCOPED_TRACE(each.line);
    EXPECT_THAT(errors_of(with(lines, each.start, each.line)),
                Contains(at_line(lines, each.at == nullptr ? each.start : each.at, each.text)));
  }
}

TEST(ModalFile, LumpsThatDoNotAddUpAreRefused) {
  const ModalSample sample = modal_sample(2, 5, false, 7);
  const std::vector<std::string> lines = modal_lines(sample, {.both = true});
  const RigidInertia<double> rigid = sample.rigid();
  expect_refusals(lines,
                  {{"mass", fmt::format("mass: {:.17g}", rigid.mass * 1.001), "but the lumps add up to"},
                   {"com", "com: " + digits_of(rigid.center() * 1.001), "but the lumps have it at"},
                   {"inertia", "inertia: " + digits_of(rigid.central() * 1.001), "but the lumps have"},
                   {"S1 2", "S1 2: " + digits_of(-sample.s1(1)), "`S1 2` is"},
                   {"C0 1", "C0 1: " + digits_of(sample.c0(0) * 1000.0), "`C0 1` is"},
                   {"C1 1 2", "C1 1 2: " + digits_of(-sample.c1(0, 1)), "`C1 1 2` is"},
                   {"J1 1", "J1 1: " + digits_of(sample.j1(0).transpose()), "`J1 1` is not what the lumps make it"},
                   {"J2 1 2", "J2 1 2: " + digits_of(sample.j2(1, 0)), "`J2 1 2` is not what the lumps make it"}});
}

TEST(ModalFile, ModesThatAreNotOrthonormalAreRefused) {
  const ModalSample sample = modal_sample(2, 5, true, 8);
  ModalSample scaled = sample;
  ModalSample slanted = sample;
  for (std::size_t j = 0; j < sample.shapes.size(); ++j) {
    scaled.shapes[j][1] = sample.shapes[j][1] * 1.001;
    slanted.shapes[j][1] = sample.shapes[j][1] * 0.8 + sample.shapes[j][0] * 0.6;
  }
  const std::vector<std::string> lines = modal_lines(sample);
  EXPECT_THAT(errors_of(joined(modal_lines(scaled))),
              ElementsAre(at_line(lines, "mode 2", "mode 2 has the modal mass 1.002001, not 1")));
  EXPECT_THAT(errors_of(joined(modal_lines(slanted))),
              ElementsAre(at_line(lines, "mode 2", "not orthogonal to mode 1: the two have 0.6")));
  for (Refusal each : {Refusal{"mode 1", "mode 1: frequency 0", "a frequency of zero or less"},
                       Refusal{"mode 1", "mode 1: stiffness -1", "a stiffness of zero or less"},
                       Refusal{"mode 2", "mode 2: frequency 1 ratio -0.1", "the damping of mode 2 is negative"},
                       Refusal{"mode 2", "mode 2: ratio 0.1", "does not say one of `frequency` and `stiffness`"},
                       Refusal{"mode 2", "mode 2: frequency 1 stiffness 2", "does not say one of"},
                       Refusal{"mode 2", "mode 2: frequency 1 ratio 0.1 damping 2", "at most one of"},
                       Refusal{"mode 2", "mode 2: frequency nan", "'nan' of `mode 2` is not a finite number"},
                       Refusal{"mode 2", "mode 2: frequency", "'' of `mode 2` is not a finite number"},
                       Refusal{"mode 2", "mode 2: speed 3", "'speed' of `mode 2` is not known"}}) {
    expect_refusals(lines, {each});
  }
}

TEST(ModalFile, ShapesThatDoNotVanishInboardAreRefused) {
  std::vector<std::string> lines = modal_lines(modal_sample(2, 5, true, 9));
  lines.push_back("shape 1 n0: 0 0 0 0 0 0");
  lines.push_back("shape 2 n0: 0 0 0 0 0 0");
  expect_refusals(
      lines, {{"shape 1 n0", "shape 1 n0: 0 0 0 0.1 0 0", "mode 1 does not vanish at the inboard node 'n0'", "node n0"},
              {"shape 2 n0", "shape 2 n0: 0 0.1 0 0 0 0", "mode 2 does not vanish", "node n0"}});
}

TEST(ModalFile, InvariantsThatNoMassHasAreRefused) {
  const ModalSample sample = modal_sample(2, 20, false, 10);
  const std::vector<std::string> lines = modal_lines(sample, {.lumps = false});
  const Vec3<double> large{std::sqrt(sample.rigid().mass) * 1.2, 0, 0};
  expect_refusals(
      lines, {{"S1 1", "S1 1: " + digits_of(large), "times the body's mass in one direction (S1)"},
              {"C0 2", "C0 2: " + digits_of(-sample.c0(1)), "`C0 2` is"},
              {"C1 1 1", "C1 1 1: 1 0 0", "`C1 1 1` is (1, 0, 0)"},
              {"C1 2 1", "C1 2 1: " + digits_of(sample.c1(0, 1)), "`C1 2 1` is not the opposite of `C1 1 2`"},
              {"J2 1 2", "J2 1 2: " + digits_of(sample.j2(1, 0)), "`C1 1 2` is", "C1 1 2"},
              {"J2 2 2", "J2 2 2: " + digits_of(sample.j2(1, 1) * 1e-3), "mode 2 has the modal mass 0.001", "mode 2"},
              {"J2 2 2", "", "there is no `J2 2 2:`", "mode 2"},
              {"S1 2", "", "there is no `S1 2:`", "mode 2"},
              {"J1 1", "", "there is no `J1 1:`", "mode 1"},
              {"inertia", "inertia: 1 0 0 1 0 5", "no distribution of mass has this inertia"}});
  // a second moment that is negative although the modal mass is 1
  std::vector<std::string> wrong = lines;
  std::erase_if(wrong, [](const std::string& line) { return line.starts_with("C1"); });
  wrong[line_of(wrong, "J2 1 1")] = "J2 1 1: 3 0 0 0 -2 0 0 0 1";
  EXPECT_THAT(errors_of(joined(wrong)), Contains(at_line(wrong, "J2 1 1", "no distribution of mass has these")));
  // both orders of a pair
  std::vector<std::string> both = lines;
  both.push_back("J2 2 1: " + digits_of(sample.j2(1, 0)));
  EXPECT_THAT(errors_of(joined(both)), IsEmpty());
  both.back() = "J2 2 1: " + digits_of(sample.j2(0, 1));
  EXPECT_THAT(errors_of(joined(both)), Contains(at_line(both, "J2 2 1", "not the transpose of `J2 1 2`")));
  both = lines;
  both.push_back("J0: " + digits_of(sample.rigid().inertia));
  EXPECT_THAT(errors_of(joined(both)), IsEmpty());
  EXPECT_THAT(errors_of(with(both, "inertia", "")), IsEmpty()) << "J0 has it, too";
  both.back() = "J0: " + digits_of(sample.rigid().central());
  EXPECT_THAT(errors_of(joined(both)), Contains(at_line(both, "J0", "J0 is not the inertia about the origin")));
}

TEST(ModalFile, LargeTurnsAreAWarning) {
  std::vector<std::string> lines = modal_lines(modal_sample(1, 4, true, 11));
  lines.push_back("expected: 0.001");
  EXPECT_THAT(warnings_of(joined(lines)), IsEmpty());
  lines.back() = "expected: 3";
  EXPECT_THAT(warnings_of(joined(lines)), ElementsAre(at_line(lines, "expected", "rad where it is expected to")));
  lines.pop_back();
  EXPECT_THAT(warnings_of(with(lines, "mode 1", "mode 1: stiffness 0.1")),
              ElementsAre(HasSubstr("under the body's weight: modes are made for small deformation")));
  lines.push_back("expected: 1 2");
  EXPECT_THAT(errors_of(joined(lines)), ElementsAre(at_line(lines, "expected", "`expected` has more numbers than 1")));
}

TEST(ModalFile, FewDigitsAreEnough) {
  for (const int digits : {5, 7, 10}) {
    EXPECT_THAT(errors_of(joined(modal_lines(modal_sample(3, 6, true, 12), {.digits = digits}))), IsEmpty());
    EXPECT_THAT(errors_of(joined(modal_lines(modal_sample(3, 20, false, 12), {.lumps = false, .digits = digits}))),
                IsEmpty());
  }
}

// The form of the file.

TEST(ModalFile, WhatIsNoModalDataIsRefusedAtOnce) {
  EXPECT_THAT(errors_of(""), ElementsAre(HasSubstr("empty")));
  EXPECT_THAT(errors_of("# nothing\n\n"), ElementsAre(HasSubstr("empty")));
  EXPECT_THAT(errors_of("<robot name='r'/>\n"), ElementsAre(StartsWith("1: this is no modal data")));
  EXPECT_THAT(errors_of("name: a\nformat: bunraku-modal 1\n"), ElementsAre(StartsWith("1: this is no modal data")));
  EXPECT_THAT(errors_of("\nformat: bunraku-modal 2\n"), ElementsAre(StartsWith("2: version '2' of the format")));
}

TEST(ModalFile, EveryProblemIsListed) {
  EXPECT_THAT(
      errors_of("format: bunraku-modal 1\n"),
      testing::UnorderedElementsAre(HasSubstr("no `units:`"), HasSubstr("no `mass:`"), HasSubstr("no `com:`"),
                                    HasSubstr("no `inertia:`"), HasSubstr("no `modes:`"), HasSubstr("no `nodes:`"),
                                    HasSubstr("no `inboard:`"), HasSubstr("no nodes")));
  std::vector<std::string> lines = modal_lines(modal_sample(2, 4, true, 13));
  lines[line_of(lines, "units")] = "units: mm";
  lines[line_of(lines, "node n2")] += " nan";
  lines[line_of(lines, "shape 1 n3")] = "shape 1 n3: 0 0 0 1e400 0 0";
  lines[line_of(lines, "shape 2 n4")] = "shape 2 m4: 0 0 0 0 0 0";
  EXPECT_THAT(errors_of(joined(lines)),
              testing::UnorderedElementsAre(at_line(lines, "units", "the units 'mm' are not SI"),
                                            at_line(lines, "node n2", "has more numbers than 3, 4, 10 or 13"),
                                            at_line(lines, "shape 1 n3", "'1e400' of `shape 1 n3` is not a number"),
                                            at_line(lines, "shape 2 m4", "there is no node 'm4'; did you mean 'n4'?"),
                                            at_line(lines, "node n4", "there is no `shape 2 n4:`")));
}

TEST(ModalFile, MistakesOfFormAreRefusedByLine) {
  const std::vector<std::string> lines = modal_lines(modal_sample(2, 4, false, 14));
  expect_refusals(lines, {{"mass", "mass: heavy", "'heavy' of `mass` is not a number"},
                          {"mass", "mass: inf", "'inf' of `mass` is not a finite number"},
                          {"mass", "mass: 0", "the mass is not positive"},
                          {"mass", "mass: -1", "the mass is not positive"},
                          {"mass", "mass: 1e60", "too large"},
                          {"mass", "mass 3", "'mass 3' is not of the form `mass: m`"},
                          {"mass", "mass", "'mass' is not of the form `mass: m`"},
                          {"mass", "", "there is no `mass:`", "format"},
                          {"mass", "com: 0 0 0", "`com` is there twice", "com"},
                          {"name", "what is this", "'what is this' is no `key: value`"},
                          {"com", "com: 1 2", "`com` has 2 numbers, not 3"},
                          {"modes", "modes: 0", "is no number of 1 or more"},
                          {"modes", "modes: -1", "is no number of 1 or more"},
                          {"modes", "modes: 2.5", "is no number of 1 or more"},
                          {"modes", "modes: 65", "more than the 64"},
                          {"modes", "modes: 99999999999999999999999", "more than the 64"},
                          {"modes", "modes: 3", "there is no `mode 3:`"},
                          {"modes", "modes: 1", "'2' of `mode 2` is no mode of 1 … 1", "mode 2"},
                          {"nodes", "nodes: 1000000000", "more than the 131072"},
                          {"nodes", "nodes: 6", "`nodes` says 6, but there are 5 lines"},
                          {"inboard", "inboard: m0", "there is no node 'm0'"},
                          {"inboard", "inboard: n0 n1", "is not one word"},
                          {"inboard", "inboard: n4", "both inboard and outboard", "outboard"},
                          {"outboard", "outboard: n4 n4", "node 'n4' is outboard twice"},
                          {"outboard", "outboard: nobody", "there is no node 'nobody'"},
                          {"name", "frame: n3", "the frame is at node 'n3', but the body hangs on node 'n0'"},
                          {"node n3", "node n2: 0 0 0 1", "there is a node 'n2' twice"},
                          {"node n3", "node n3: 0 0 0 -1", "the mass of node 'n3' is negative"},
                          {"node n3", "node n3: 0 0 0 1 1 2 0 1 0 1", "an inertia that no mass has"},
                          {"node n3", "node n3: 0 0 0 0 0 0 0 0 0 0 1 0 0", "an inertia that no mass has"},
                          {"node n3", "node n3: 0 0", "`node n3` has 2 numbers, not 3, 4, 10 or 13"},
                          {"node n3", "node: 0 0 0", "is not of the form `node NAME:"},
                          {"shape 1 n3", "shape 1 n3: 0 0 0 1", "`shape 1 n3` has 4 numbers, not 3 or 6"},
                          {"shape 1 n3", "shape 1 n3: 0 0 1", "node 'n3' turns in some modes alone", "shape 2 n3"},
                          {"shape 1 n3", "shape 2 n3: 0 0 0 0 0 1", "`shape 2 n3` is there twice", "shape 2 n3"},
                          {"shape 1 n3", "shape 0 n3: 0 0 0 0 0 1", "'0' of `shape 0 n3` is no mode"},
                          {"shape 1 n3", "shape one n3: 0 0 0 0 0 1", "'one' of `shape one n3` is no mode"}});
}

TEST(ModalFile, WhatIsNotUsedIsAWarning) {
  std::vector<std::string> lines = modal_lines(modal_sample(2, 4, false, 15));
  lines[line_of(lines, "name")] = "nmae: x";
  lines[line_of(lines, "nodes")] = "nodes: 6";
  lines.push_back("node spare: 1 2 3");
  lines.push_back("shape 1 spare: 0 0 0 0 0 0");
  lines.push_back("shape 2 spare: 0 0 0 0 0 0");
  EXPECT_THAT(warnings_of(joined(lines)),
              ElementsAre(at_line(lines, "nmae", "'nmae' is not used; did you mean 'name'?"),
                          at_line(lines, "node spare", "node 'spare' is not used: it has no mass")));
  for (std::string& line : lines) {  // translations alone
    if (line.starts_with("shape")) {
      line.replace(line.find(": ") + 2, 6, "");
    }
  }
  EXPECT_THAT(warnings_of(joined(lines)), Contains(at_line(lines, "node n4", "moved, but not turned")));
}

// Hostile files.

TEST(ModalFile, NoPartOfAFileIsAWholeOne) {
  const std::string whole = joined(modal_lines(modal_sample(2, 4, true, 16)));
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    const std::size_t line = whole.rfind('\n', size);
    try {
      static_cast<void>(load_modal_text(std::string_view(whole).substr(0, size), "cut"));
      // the last number may have lost digits that nobody misses
      EXPECT_GE(size, whole.rfind(' ')) << "accepted after line "
                                        << std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(line),
                                                      '\n');
    } catch (const ModelError& error) {
      EXPECT_FALSE(error.problems().empty());
    }
  }
}

TEST(ModalFile, HugeCountsTakeNoMemory) {
  for (const char* count : {"1000000000", "18446744073709551615", "131072"}) {
    const std::string text = std::string(
                                 "format: bunraku-modal 1\nunits: SI\nmass: 1\ncom: 0 0 0\ninertia: 1 0 0 1 0 1\n"
                                 "modes: 64\ninboard: a\nnodes: ") +
                             count + "\nnode a: 0 0 0\n";
    EXPECT_FALSE(errors_of(text).empty());
  }
}

TEST(ModalFile, MillionsOfLinesAreRefusedInTime) {
  const auto many = [](const std::string& line) {
    std::string out = "format: bunraku-modal 1\nmodes: 64\ninboard: a\nnodes: 2\nnode a: 0 0 0\nnode b: 1 0 0\n";
    out.reserve(out.size() + 400'000 * line.size());
    for (int i = 0; i < 400'000; ++i) {
      out += line;
    }
    return out;
  };
  for (const char* line : {"a: b\n", "a\n", "node a: 0 0 0\n", "shape 1 b: 0 0 0\n", "shape 1 nobody: 0 0 0\n",
                           "J2 1 1: 0\n", "outboard: a a a a\n", "mode 1: x\n", ":\n", "S b: 0 0\n"}) {
    SCOPED_TRACE(line);
    EXPECT_THAT(errors_of(many(line)), testing::Not(IsEmpty()));
  }
  std::string nodes =
      "format: bunraku-modal 1\nunits: SI\nmass: 1\ncom: 0 0 0\ninertia: 1 0 0 1 0 1\nmodes: 64\ninboard: n0\nnodes: "
      "200000\n";
  for (int i = 0; i < 200'000; ++i) {
    nodes += fmt::format("node n{}: 0 0 0\n", i);
  }
  EXPECT_THAT(errors_of(nodes), Contains(HasSubstr("more than the 131072")));
  EXPECT_THROW(static_cast<void>(load_modal_text(std::string(std::size_t{65} << 20, 'x'), "large")), ModelError);
}

}  // namespace
}  // namespace bunraku::test
