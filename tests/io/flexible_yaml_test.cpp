// `flexible:` in the YAML file beside a URDF: links that are beams, links with modal data, and what is refused.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "bunraku/io/modal_file.hpp"
#include "bunraku/model/beam.hpp"
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

/// base – shoulder – arm – elbow – hand, with a camera halfway, and a frame at the elbow. The arm lies along `along`.
std::string arm_urdf(const std::string& end = "0 0 2", const std::string& half = "0 0 1") {
  const std::string mass = "<inertial><mass value='{}'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";
  const auto heavy = [&](double value) { return fmt::format(fmt::runtime(mass), value); };
  return "<robot name='r'><link name='base'/><link name='arm'>" + heavy(5.4) + "</link><link name='hand'>" + heavy(2) +
         "</link><link name='camera'>" + heavy(0.1) +
         "</link>"
         "<joint name='shoulder' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/>"
         "<origin xyz='0 0 0.3'/></joint>"
         "<joint name='elbow' type='continuous'><parent link='arm'/><child link='hand'/><axis xyz='0 1 0'/>"
         "<origin xyz='" +
         end +
         "' rpy='0.1 0 0'/></joint>"
         "<joint name='mount' type='fixed'><parent link='arm'/><child link='camera'/><origin xyz='" +
         half +
         "'/></joint>"
         "<frame name='marker' link='arm' xyz='" +
         end + "' rpy='0 0 0'/></robot>";
}

class Flexible : public testing::Test {
 protected:
  /// The arm with such a file beside it.
  Model arm(const std::string& yaml) const { return arm(yaml, arm_urdf()); }
  Model arm(const std::string& yaml, const std::string& urdf) const {
    folder.write("arm.yaml", yaml);
    return load(folder.write("arm.urdf", urdf));
  }
  /// `line: text` of the errors of a file beside the arm.
  std::vector<std::string> errors(const std::string& yaml) const {
    try {
      static_cast<void>(arm(yaml));
    } catch (const ModelError& error) {
      return listed(error.problems(), Severity::error);
    }
    return {};
  }
  TemporaryFolder folder;
};

const std::string plain_beam = "beam: {section: rectangle, size: [0.02, 0.05], E: 7e10, G: 2.6e10, density: 2700}";

std::string flexible_arm(const std::string& more, const std::string& to = "[elbow, mount, marker]") {
  return "flexible:\n- link: arm\n  to: " + to + "\n  " + plain_beam + "\n" + more;
}

/// Where a node is at rest, in the frame of its flexible body.
Vec3<double> place_of(const Model& model, const std::string& body) {
  return model.body(model.body_index(body)).X_PF.translation;
}

TEST_F(Flexible, ALinkIsABeam) {
  const Model model = arm(flexible_arm("  modes: {count: 12}\n  damping: {ratio: 0.01}\n"));
  EXPECT_THAT(warnings(model), IsEmpty());
  ASSERT_EQ(model.flexible().size(), 1U);
  const FlexiblePart& part = model.flexible()[0];
  EXPECT_EQ(model.body(part.body).name, "arm");
  EXPECT_EQ(part.modes, 12);
  EXPECT_EQ(model.nv(), 2 + 12);
  // what hangs on it hangs on its nodes, where it was
  const Body& hand = model.body(model.body_index("hand"));
  const Body& camera = model.body(model.body_index("camera"));
  EXPECT_EQ(model.body(hand.parent).name, "arm.tip");
  EXPECT_EQ(model.body(camera.parent).name, "arm.mount");
  EXPECT_EQ(model.body(model.node("marker").body).name, "arm.tip");
  EXPECT_LT(norm(place_of(model, "arm.tip") + hand.X_PF.translation - Vec3<double>{0, 0, 2}), 1e-12);
  EXPECT_LT(norm(place_of(model, "arm.mount") + camera.X_PF.translation - Vec3<double>{0, 0, 1}), 1e-12);
  // the beam's inertia in place of the link's
  const RigidInertia<double> inertia = rigid_inertia(flexible_body(model, part));
  EXPECT_NEAR(inertia.mass, 0.02 * 0.05 * 2 * 2700, 1e-9);
  EXPECT_LT(norm(inertia.center() - Vec3<double>{0, 0, 1}), 1e-9);
}

// The beam's own axes: x along it; y and z by the smallest turn from the link's, or by `up`.
TEST_F(Flexible, ABeamIsTurnedIntoTheLinksAxes) {
  struct Case {
    const char* end;
    const char* half;
    const char* up;
    Vec3<double> thin;  ///< Along which the first mode moves the tip: the section is thinner along its y.
  };
  for (const Case& each : {Case{"2 0 0", "1 0 0", "", {0, 1, 0}}, Case{"-2 0 0", "-1 0 0", "", {0, 1, 0}},
                           Case{"0 2 0", "0 1 0", "", {1, 0, 0}}, Case{"0 0 2", "0 0 1", "", {0, 1, 0}},
                           Case{"0 0 -2", "0 0 -1", "", {0, 1, 0}}, Case{"0 0 2", "0 0 1", "up: [0, 3, 0]", {1, 0, 0}},
                           Case{"1.2 0 1.6", "0.6 0 0.8", "up: [0, 0, 1]", {0, 1, 0}}}) {
    SCOPED_TRACE(each.end);
    const Model model = arm(flexible_arm(std::string("  ") + each.up + "\n"), arm_urdf(each.end, each.half));
    const Body& tip = model.body(model.body_index("arm.tip"));
    const Vec3<double> move = tip.hinge.modal->translation[0];
    EXPECT_NEAR(std::abs(dot(move, each.thin)), norm(move), 1e-9 * norm(move));
    EXPECT_GT(norm(move), 0.1);
    EXPECT_NEAR(norm(tip.X_PF.translation), 2, 1e-12);
    EXPECT_LT(norm(rigid_inertia(flexible_body(model, model.flexible()[0])).center() - tip.X_PF.translation * 0.5),
              1e-9);
  }
}

TEST_F(Flexible, FrequenciesAreThoseOfTheBeam) {
  Beam beam{.length = 2, .section = BeamSection::rectangle(0.02, 0.05), .young = 7e10, .density = 2700};
  const std::vector<double> wanted =
      held_frequencies(flexible_beam(beam, {.modes = {.set = ModeSet::clamped_free, .count = 3}}));
  const Model model =
      arm("flexible: [{link: arm, from: shoulder, to: hand, beam: {section: rectangle, size: [0.02, 0.05], E: 7e10, "
          "density: 2700}, modes: {set: clamped-free, count: 3}}, ]");
  EXPECT_THAT(held_frequencies(flexible_body(model, model.flexible()[0])),
              testing::Pointwise(testing::DoubleNear(1e-6), wanted));
}

TEST_F(Flexible, EverySectionAndSetIsRead) {
  for (const char* section : {"section: circle, size: [0.04]", "section: circle, size: 0.04",
                              "section: tube, size: [0.04, 0.03]", "section: custom, size: [1e-3, 2e-7, 3e-8, 1e-7]"}) {
    SCOPED_TRACE(section);
    EXPECT_EQ(arm(fmt::format("flexible:\n- {{link: arm, to: [elbow, mount], beam: {{{}, E: 7e10, G: 2.6e10, density: "
                              "2700, elements: 4,"
                              " torsion: true, stretch: true, bend: [z]}}, damping: {{alpha: 0.1, beta: 1e-4}}}}\n",
                              section))
                  .flexible()
                  .size(),
              1U);
  }
  for (const char* modes : {"{set: loaded, count: 2}", "{set: loaded, count: 2, load: {mass: 2, moments: [1, 1, 1]}}",
                            "{set: craig-bampton, below: 500}", "{set: clamped-free}"}) {
    SCOPED_TRACE(modes);
    EXPECT_GE(arm(flexible_arm(fmt::format("  modes: {}\n", modes))).flexible()[0].modes, 2);
  }
  // stiffening
  const auto shortened = [&](const char* word) {
    const Model model = arm(flexible_arm(fmt::format("  stiffening: {}\n", word)));
    const ModalShape& shape = *model.body(model.body_index("arm.tip")).hinge.modal;
    EXPECT_TRUE(shape.shortening.empty() || norm(shape.shortening_axis - Vec3<double>{0, 0, 1}) < 1e-12);
    return !shape.shortening.empty();
  };
  EXPECT_TRUE(shortened("foreshortening"));
  EXPECT_FALSE(shortened("none"));
}

// With `loaded` and no load, it is all that hangs on the link.
TEST_F(Flexible, TheLoadIsWhatHangsOnTheLink) {
  const std::string yaml =
      "flexible: [{link: arm, to: [elbow], beam: {section: circle, size: 0.04, E: 7e10, density: 2700}, "
      "modes: {set: loaded, count: 2%}}]";
  const auto frequencies = [&](const std::string& load) {
    std::string text = yaml;
    text.replace(text.find('%'), 1, load);
    const Model model = arm(text);
    return held_frequencies(flexible_body(model, model.flexible()[0]));
  };
  // hand at the tip; the camera is a metre inboard of it
  EXPECT_THAT(frequencies(""), testing::Pointwise(testing::DoubleNear(1e-6),
                                                  frequencies(", load: {mass: 2.1, moments: [2, 2.1, 2.1]}")));
}

TEST_F(Flexible, ABeamMayEndAtAPoint) {
  const Model model = arm("flexible: [{link: hand, to: [0.5, 0, 0], " + plain_beam + "}]\n");
  EXPECT_LT(norm(place_of(model, "hand.tip") - Vec3<double>{0.5, 0, 0}), 1e-12);
  EXPECT_THAT(warnings(model), ElementsAre(HasSubstr("replaces the 2 kg of the URDF")));
  const Model both = arm(flexible_arm("", "[mount, [0, 0, 2]]"));
  EXPECT_EQ(both.body(both.body(both.body_index("hand")).parent).name, "arm") << "nobody has named the elbow";
  EXPECT_THAT(warnings(both), ElementsAre(HasSubstr("joint 'elbow' stays on the frame of the flexible link 'arm'")));
}

TEST_F(Flexible, LoopsAndFlexibleLinksStandInOneFile) {
  const Model model =
      arm("closed_loop: [['camera', 'base'], ['arm.tip', 'hand']]\ntype: ['6d', '3d']\n" + flexible_arm(""));
  EXPECT_EQ(model.closures().size(), 2U);
  EXPECT_EQ(model.flexible().size(), 1U);
  EXPECT_EQ(model.closures()[1].a.name, "arm.tip");
  EXPECT_THAT(errors(flexible_arm("type: ['6d']\n")), ElementsAre(HasSubstr("one type for each of the 0 loops")));
  EXPECT_THAT(errors("flexible: []\nflexible: []\n"), ElementsAre("2: there is a second 'flexible'"));
}

TEST_F(Flexible, OtherFilesAreLeftAlone) {
  const auto unused = HasSubstr("is not used: it closes no loops");
  EXPECT_THAT(warnings(arm("controller:\n  gains: {p: 1}\n")), ElementsAre(unused));
  EXPECT_THAT(warnings(arm("# this gripper is flexible\na: b\n")), ElementsAre(unused));
  EXPECT_THAT(warnings(arm("gripper:\n  flexible: true\n")), ElementsAre(HasSubstr("'gripper' is not used"), unused));
  EXPECT_THAT(warnings(arm("flexibles: []\n")),
              ElementsAre(HasSubstr("'flexibles' is not used; did you mean 'flexible'?"), unused));
  EXPECT_THAT(warnings(arm("flexible: []\n")), IsEmpty());
}

TEST_F(Flexible, UnknownKeysAreWarnings) {
  const Model model = arm(
      "flexible:\n- link: arm\n  to: [elbow, mount]\n  colour: red\n"
      "  beam: {section: circle, size: 0.0293, E: 7e10, densty: 1, density: 2700, G: 2.6e10, elements: 4, nu: 0.3}\n"
      "  modes: {cuont: 2}\n  damping: {ration: 0.1}\n");
  EXPECT_THAT(
      warnings(model),
      testing::UnorderedElementsAre(
          "4: 'colour' of an entry of 'flexible' is not used",
          "5: 'densty' of 'beam' is not used; did you mean 'density'?", HasSubstr("5: 'nu' of 'beam' is not used"),
          "6: 'cuont' of 'modes' is not used; did you mean 'count'?",
          "7: 'ration' of 'damping' is not used; did you mean 'ratio'?",
          "2: the mass 3.64098 kg of the flexible link 'arm' replaces the 5.4 kg of the URDF"));
}

TEST_F(Flexible, MistakesAreRefusedByLine) {
  const auto item = [](const std::string& rest) { return "flexible:\n- link: arm\n  " + rest + "\n"; };
  const auto beam = [](const std::string& rest) {
    return "flexible:\n- link: arm\n  to: elbow\n  beam: {" + rest + "}\n";
  };
  const std::string good = "section: circle, size: 0.04, E: 7e10, density: 2700";
  struct Case {
    std::string yaml;
    const char* text;
  };
  const std::vector<Case> cases = {
      {"flexible: yes\n", "1: 'flexible' is not a list of links"},
      {"flexible: {link: arm}\n", "1: 'flexible' is not a list of links"},
      {"flexible: [arm]\n", "1: an entry of 'flexible' is not of the form {key: value, …}"},
      {"flexible:\n- to: elbow\n", "2: an entry of 'flexible' has no 'link'"},
      {"flexible:\n- link: [arm]\n", "2: 'link' of an entry of 'flexible' is not a word"},
      {"flexible:\n- link: amr\n", "2: there is no link 'amr'; did you mean 'arm'?"},
      {"flexible:\n- link: world\n", "2: link 'world' is the world"},
      {item("link: hand"), "3: an entry of 'flexible' has 'link' twice"},
      {item("to: elbow"), "2: link 'arm' does not have one of 'beam' and 'modal'"},
      {item("modal: x\n  " + plain_beam), "2: link 'arm' does not have one of"},
      {item(plain_beam), "2: link 'arm' has no 'to'"},
      {item("to: []\n  " + plain_beam), "3: 'to' of link 'arm' is empty"},
      {item("to: {a: b}\n  " + plain_beam), "3: an end of link 'arm' is neither a name nor a point"},
      {item("to: [elbwo]\n  " + plain_beam),
       "3: link 'arm' has no joint, child link or frame 'elbwo' on it; did you mean 'elbow'?"},
      {item("to: base\n  " + plain_beam), "3: link 'arm' has no joint, child link or frame 'base' on it"},
      {item("to: shoulder\n  " + plain_beam), "3: the beam of link 'arm' has no length"},
      {item("to: [elbow, [0, 0.1, 1]]\n  " + plain_beam), "3: 'a point' does not lie on the beam of link 'arm'"},
      {item("to: [elbow, [0, 0, -1]]\n  " + plain_beam), "3: 'a point' does not lie on the beam"},
      {item("to: elbow\n  from: mount\n  " + plain_beam),
       "4: the beam starts 1 m away from the joint that link 'arm' hangs on"},
      {item("to: elbow\n  up: [0, 0, 1]\n  " + plain_beam), "4: 'up' does not say how the section is turned"},
      {item("to: elbow\n  up: [0, 0]\n  " + plain_beam),
       "4: 'up' of an entry of 'flexible' is not a list of 3 numbers"},
      {item("to: elbow\n  stiffening: some\n  " + plain_beam), "4: 'stiffening' of an entry of 'flexible' is 'some'"},
      {item("to: elbow\n  beam: round"), "4: 'beam' is not of the form"},
      {beam("size: 1"), "4: the beam has no 'section'"},
      {beam("section: circle"), "4: the beam has no 'size'"},
      {beam("section: circel, size: 1"), "4: 'section' of 'beam' is 'circel'; did you mean 'circle'?"},
      {beam("section: circle, size: [1, 2]"), "4: 'size' of 'beam' is not a list of 1 numbers"},
      {beam("section: circle, size: big"), "4: 'size' of 'beam' is not a finite number"},
      {beam("section: circle, size: -1"), "4: "},
      {beam("section: circle, size: 0.04, density: 1"), "4: 'beam' has no 'E'"},
      {beam("section: circle, size: 0.04, density: 0, E: 1"), "4: 'density' of 'beam' is not positive"},
      {beam("section: circle, size: 0.04, density: nan, E: 1"), "4: 'density' of 'beam' is not a finite number"},
      {beam(good + ", elements: 0"), "4: 'elements' of 'beam' is no whole number of 1 … "},
      {beam(good + ", elements: 1e9"), "4: 'elements' of 'beam' is no whole number"},
      {beam(good + ", bend: [x]"), "4: 'bend' of the beam has something else than y and z in it"},
      {beam(good + ", torsion: true"), "4: the beam twists, but has no shear modulus 'G' above zero"},
      {beam(good + ", stretch: perhaps"), "4: 'stretch' of 'beam' is 'perhaps'"},
      {beam(good) + "  modes: 3\n", "5: 'modes' is not of the form"},
      {beam(good) + "  modes: {set: free}\n", "5: 'set' of 'modes' is 'free'"},
      {beam(good) + "  modes: {count: 65}\n", "5: 'count' of 'modes' is no whole number of 1 … 64"},
      {beam(good) + "  modes: {count: 2.5}\n", "5: 'count' of 'modes' is no whole number of 1 … 64"},
      {beam(good) + "  modes: {below: 0}\n", "5: 'below' of 'modes' is not positive"},
      {beam(good) + "  modes: {below: 1e-9, set: clamped-free}\n", "4: the beam of link 'arm': "},
      {beam(good) + "  damping: {ratio: -1}\n", "5: 'ratio' of 'damping' is negative"},
      {item("modal: none.modal"), "3: 'none.modal' is not found"},
      {beam(good) + "- link: arm\n", "5: link 'arm' is flexible twice: line 2 has it too"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.yaml);
    EXPECT_THAT(errors(each.yaml), Contains(StartsWith(each.text)));
  }
}

TEST_F(Flexible, EveryProblemIsListed) {
  EXPECT_THAT(errors("flexible:\n- link: amr\n- link: arm\n  to: elbow\n  beam: {section: box, E: -1}\n- link: hand\n"),
              ElementsAre(StartsWith("2: there is no link"), HasSubstr("'section' of 'beam' is 'box'"),
                          HasSubstr("has no 'size'"), HasSubstr("'E' of 'beam' is not positive"),
                          HasSubstr("has no 'density'"), StartsWith("6: link 'hand' does not have one of")));
}

// Modal data.

TEST_F(Flexible, ALinkHasModalData) {
  ModalSample sample = modal_sample(2, 6, true, 21);
  sample.places.back() = {2, 0, 0};  // along x, where the link's arm is along z
  folder.write("boom.modal", joined(modal_lines(sample)));
  const std::string yaml =
      "flexible:\n- link: arm\n  modal: boom.modal\n  at: {elbow: n6, mount: n0}\n  rpy: [0, -1.5707963267948966, 0]\n";
  const Model model = arm(yaml);
  EXPECT_THAT(warnings(model), Contains(AllOf(HasSubstr("2: the mass"), HasSubstr("replaces the 5.4 kg of the URDF"))));
  EXPECT_EQ(model.body(model.body(model.body_index("hand")).parent).name, "arm.n6");
  EXPECT_EQ(model.body(model.body(model.body_index("camera")).parent).name, "arm");
  EXPECT_LT(norm(place_of(model, "arm.n6") - Vec3<double>{0, 0, 2}), 1e-12);
  const FlexibleBody body = load_modal(folder / "boom.modal");
  const Body& tip = model.body(model.body_index("arm.n6"));
  const Vec3<double>& before = body.nodes.back().shape.rotation[0];
  EXPECT_LT(norm(tip.hinge.modal->rotation[0] - Vec3<double>{-before.z, before.y, before.x}), 1e-12);
  const FlexibleBody found = flexible_body(model, model.flexible()[0]);
  EXPECT_THAT(held_frequencies(found), testing::Pointwise(testing::DoubleNear(1e-9), sample.frequencies));
  EXPECT_NEAR(found.damping[1], 2 * 0.01 * 2 * std::numbers::pi * sample.frequencies[1], 1e-9);

  EXPECT_NEAR(flexible_body(arm(yaml + "  damping: {alpha: 3}\n"), model.flexible()[0]).damping[1], 3, 1e-12);
  EXPECT_THAT(warnings(arm("flexible:\n- link: arm\n  modal: boom.modal\n  at: {elbow: n6}\n")),
              AllOf(Contains(StartsWith("4: 'elbow' is 2.83 m away from node 'n6'")),
                    Contains(StartsWith("3: joint 'mount' stays on the frame"))));
  EXPECT_THAT(errors("flexible:\n- link: arm\n  modal: boom.modal\n  at: {elbow: n5, elbwo: n6}\n"),
              ElementsAre(StartsWith("4: 'n5' is no outboard node of 'boom.modal'; did you mean 'n"),
                          StartsWith("4: link 'arm' has no joint, child link or frame 'elbwo' on it")));
  EXPECT_THAT(errors("flexible:\n- link: arm\n  modal: boom.modal\n  at: {elbow: n6, hand: n6}\n"),
              ElementsAre(StartsWith("4: 'hand' is held twice")));
  EXPECT_THAT(errors("flexible:\n- link: arm\n  modal: boom.modal\n  at: [elbow]\n"),
              ElementsAre(StartsWith("4: 'at' of link 'arm'")));
}

TEST_F(Flexible, ProblemsOfModalDataNameItsFile) {
  folder.write("boom.modal", "format: bunraku-modal 1\nunits: mm\n");
  try {
    static_cast<void>(arm("flexible: [{link: arm, modal: boom.modal}]\n"));
    FAIL();
  } catch (const ModelError& error) {
    ASSERT_FALSE(error.problems().empty());
    EXPECT_THAT(error.problems()[0].where.file, HasSubstr("boom.modal"));
    EXPECT_THAT(listed(error.problems(), Severity::error), Contains("2: the units 'mm' are not SI"));
  }
  // not from anywhere
  EXPECT_THAT(errors("flexible: [{link: arm, modal: /etc/passwd}]\n"), ElementsAre(HasSubstr("lies outside of")));
}

TEST_F(Flexible, HostileFilesAreRefusedInTime) {
  std::string many = "flexible: [";
  for (int i = 0; i < 50'000; ++i) {
    many += "{link: x},";
  }
  EXPECT_THAT(errors(many + "]\n"), ElementsAre(HasSubstr("more than the 1000")));
  std::string names = "flexible: [{link: arm, " + plain_beam + ", to: [";
  for (int i = 0; i < 50'000; ++i) {
    names += fmt::format("n{},", i);
  }
  EXPECT_FALSE(errors(names + "]}]\n").empty());
  std::string deep = "flexible: ";
  for (int i = 0; i < 50'000; ++i) {
    deep += "{a: ";
  }
  EXPECT_THAT(errors(deep), ElementsAre(HasSubstr("nested too deeply")));
  EXPECT_THAT(errors("flexible: &a [*a]\n"), ElementsAre(HasSubstr("neither a word nor a list")));
}

TEST(FlexibleArm, IsSound) {
  const Model model = load(std::string(BUNRAKU_SOURCE_DIR) + "/models/flexible_arm.urdf");
  EXPECT_THAT(warnings(model), IsEmpty());
  ASSERT_EQ(model.flexible().size(), 2U);
  EXPECT_EQ(model.nv(), 2 + 4 + 3);
  const Model rigid = load(std::string(BUNRAKU_SOURCE_DIR) + "/models/flexible_arm.urdf", {.loops = "none"});
  EXPECT_EQ(rigid.nv(), 2);
  for (const FlexiblePart& part : model.flexible()) {
    const RigidInertia<double> stated = rigid.body(rigid.body_index(model.body(part.body).name)).inertia;
    const RigidInertia<double> found = rigid_inertia(flexible_body(model, part));
    EXPECT_NEAR(found.mass, stated.mass, 1e-9);
    EXPECT_LT(norm(found.first_moment - stated.first_moment), 1e-9);
    EXPECT_NEAR(found.inertia.zz, stated.inertia.zz, 1e-3 * stated.inertia.zz);
  }
}

}  // namespace
}  // namespace bunraku::test
