// tools/modal_data.py: from the matrices of a finite-element program to a flexible body.
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/modal_file.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// A matrix of n×n, row by row.
struct Square {
  explicit Square(int n) : size(n), values(static_cast<std::size_t>(n * n)) {}
  double& operator()(int i, int j) { return values[static_cast<std::size_t>(i * size + j)]; }
  double operator()(int i, int j) const { return values[static_cast<std::size_t>(i * size + j)]; }

  int size;
  std::vector<double> values;
};

std::string matrix_market(const Square& a) {
  std::string entries;
  int count = 0;
  for (int i = 0; i < a.size; ++i) {
    for (int j = 0; j <= i; ++j) {
      if (a(i, j) != 0) {
        entries += fmt::format("{} {} {:.17g}\n", i + 1, j + 1, a(i, j));
        ++count;
      }
    }
  }
  return fmt::format("%%MatrixMarket matrix coordinate real symmetric\n% a test's\n{} {} {}\n", a.size, a.size, count) +
         entries;
}

/// A beam along x of elements with 12 coordinates.
struct BeamMatrices {
  static constexpr double length = 2;
  static constexpr double line_mass = 1.5;   // kg/m
  static constexpr double bending_y = 4000;  // E I of deflection along y
  static constexpr double bending_z = 9000;  // and along z
  static constexpr double axial = 5e6;       // E A
  static constexpr double torsional = 3000;  // G I
  static constexpr double polar = 2e-3;      // kg m²/m

  BeamMatrices(int elements, bool consistent) : mass(6 * (elements + 1)), stiffness(6 * (elements + 1)) {
    const double l = length / elements;
    for (int e = 0; e < elements; ++e) {
      // linear: stretch and torsion
      for (const auto& [at, stiff, heavy] : {std::array<double, 3>{0, axial, line_mass}, {3, torsional, polar}}) {
        for (int i = 0; i < 2; ++i) {
          for (int j = 0; j < 2; ++j) {
            const int row = 6 * (e + i) + static_cast<int>(at);
            const int column = 6 * (e + j) + static_cast<int>(at);
            stiffness(row, column) += (i == j ? 1 : -1) * stiff / l;
            mass(row, column) += consistent ? heavy * l * (i == j ? 2 : 1) / 6 : i == j ? heavy * l / 2 : 0;
          }
        }
      }
      // cubic: deflection along y with turns about z, and along z with turns about −y
      const std::array<std::array<double, 4>, 4> k = {{{12, 6 * l, -12, 6 * l},
                                                       {6 * l, 4 * l * l, -6 * l, 2 * l * l},
                                                       {-12, -6 * l, 12, -6 * l},
                                                       {6 * l, 2 * l * l, -6 * l, 4 * l * l}}};
      const std::array<std::array<double, 4>, 4> m = {{{156, 22 * l, 54, -13 * l},
                                                       {22 * l, 4 * l * l, 13 * l, -3 * l * l},
                                                       {54, 13 * l, 156, -22 * l},
                                                       {-13 * l, -3 * l * l, -22 * l, 4 * l * l}}};
      for (const bool along_y : {true, false}) {
        const std::array<int, 4> at = {6 * e + (along_y ? 1 : 2), 6 * e + (along_y ? 5 : 4), 6 * e + (along_y ? 7 : 8),
                                       6 * e + (along_y ? 11 : 10)};
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::size_t j = 0; j < 4; ++j) {
            const double sign = (i % 2 == 1 && !along_y ? -1 : 1) * (j % 2 == 1 && !along_y ? -1 : 1);
            stiffness(at[i], at[j]) += sign * (along_y ? bending_y : bending_z) * k[i][j] / (l * l * l);
            mass(at[i], at[j]) += consistent             ? sign * line_mass * l * m[i][j] / 420
                                  : i == j && i % 2 == 0 ? line_mass * l / 2
                                                         : 0;
          }
        }
      }
    }
    nodes = "name,x,y,z\n";
    for (int j = 0; j <= elements; ++j) {
      nodes += fmt::format("n{},{:.17g},0,0\n", j, j * l);
    }
  }

  Square mass;
  Square stiffness;
  std::string nodes;
};

class ModalTool : public testing::Test {
 protected:
  void SetUp() override {
    // NOLINTNEXTLINE(cert-env33-c): a test's own command
    if (std::system("python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "there is no python3 with numpy here";
    }
  }
  void write(const BeamMatrices& beam) const {
    folder.write("m.mtx", matrix_market(beam.mass));
    folder.write("k.mtx", matrix_market(beam.stiffness));
    folder.write("nodes.csv", beam.nodes);
  }
  /// Runs the tool over the matrices in the folder; what it says is in `out`.
  bool run(const std::string& arguments) const {
    const std::string command = fmt::format(
        "cd '{}' && python3 '{}/tools/modal_data.py' --mass m.mtx --stiffness k.mtx --nodes nodes.csv "
        "--output body.modal {} >out 2>&1",
        folder.path().string(), BUNRAKU_SOURCE_DIR, arguments);
    return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c): a test's own command
  }
  std::string said() const { return read_text(folder / "out"); }

  TemporaryFolder folder;
};

/// ω of the first bending mode of a clamped–free beam, Hz.
double first_bending(double stiffness) {
  constexpr double root = 1.8751040687;
  return root * root / (BeamMatrices::length * BeamMatrices::length) * std::sqrt(stiffness / BeamMatrices::line_mass) /
         (2 * std::numbers::pi);
}

TEST_F(ModalTool, MakesABodyOfLumps) {
  write(BeamMatrices(16, false));
  ASSERT_TRUE(run("--inboard n0 --outboard n16 n8 --modes 6 --ratio 0.02 --name boom")) << said();
  std::vector<Problem> warnings;
  const FlexibleBody body = load_modal(folder / "body.modal", warnings);
  EXPECT_THAT(warnings, testing::IsEmpty());
  EXPECT_EQ(body.modes(), 18);
  EXPECT_NEAR(rigid_inertia(body).mass, BeamMatrices::line_mass * BeamMatrices::length, 1e-12);
  const std::vector<double> frequencies = held_frequencies(body);
  EXPECT_NEAR(frequencies[0], first_bending(BeamMatrices::bending_y), 2e-3 * frequencies[0]);
  EXPECT_NEAR(frequencies[1], first_bending(BeamMatrices::bending_z), 2e-3 * frequencies[1]);
  // its own numbers, to the digits of the file
  for (std::size_t i = 0; i < body.stiffness.size(); ++i) {
    const double omega = std::sqrt(body.stiffness[i]);
    EXPECT_NEAR(2 * std::numbers::pi * frequencies[i], omega, 1e-9 * omega);
    EXPECT_NEAR(body.damping[i], 0.04 * omega, 1e-12 * omega);
  }
}

TEST_F(ModalTool, LumpsAConsistentMatrixAndSaysSo) {
  write(BeamMatrices(16, true));
  ASSERT_TRUE(run("--inboard n0 --outboard n16 --modes 4")) << said();
  EXPECT_THAT(said(), HasSubstr("lumped by rows: the first frequency moves from"));
  const FlexibleBody body = load_modal(folder / "body.modal");
  EXPECT_NEAR(held_frequencies(body)[0], first_bending(BeamMatrices::bending_y), 5e-3 * held_frequencies(body)[0]);
}

// A bar of solids, reduced to what its nodes along x tell: three coordinates a node, the same mass for each.
TEST_F(ModalTool, KeepsAConsistentMatrixOfSolidsAsInvariants) {
  // a tetrahedral cell of springs between all of its nodes, and the consistent mass of a tetrahedron
  const std::vector<Vec3<double>> places = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const std::vector<std::array<int, 4>> cells = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  Square mass(15);
  Square stiffness(15);
  for (const auto& cell : cells) {
    for (const int i : cell) {
      for (const int j : cell) {
        for (int a = 0; a < 3; ++a) {
          mass(3 * i + a, 3 * j + a) += i == j ? 0.1 : 0.05;
        }
      }
    }
  }
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < i; ++j) {
      const Vec3<double> d = normalized(places[static_cast<std::size_t>(i)] - places[static_cast<std::size_t>(j)]);
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          for (const auto& [p, q, sign] : {std::array<int, 3>{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}}) {
            stiffness(3 * p + a, 3 * q + b) += sign * 1000 * d[a] * d[b];
          }
        }
      }
    }
  }
  folder.write("m.mtx", matrix_market(mass));
  folder.write("k.mtx", matrix_market(stiffness));
  folder.write("nodes.csv", "a,0,0,0\nb,1,0,0\nc,0,1,0\nd,0,0,1\ne,1,1,1\n");
  ASSERT_TRUE(run("--coordinates 3 --inboard a b c --outboard e --modes 2")) << said();
  EXPECT_THAT(read_text(folder / "body.modal"), HasSubstr("J2 1 1: "));
  const FlexibleBody body = load_modal(folder / "body.modal");
  EXPECT_EQ(body.modes(), 5);
  EXPECT_NEAR(rigid_inertia(body).mass, 2, 1e-12);
  const std::vector<double> frequencies = held_frequencies(body);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    EXPECT_NEAR(2 * std::numbers::pi * frequencies[i], std::sqrt(body.stiffness[i]), 1e-6);
  }
  EXPECT_FALSE(run("--coordinates 3 --inboard a --outboard e"));
  EXPECT_THAT(said(), HasSubstr("can move without deforming"));
}

TEST_F(ModalTool, RefusesMatricesThatAreWrong) {
  BeamMatrices beam(2, true);
  write(beam);
  EXPECT_FALSE(run("--inboard n0 --outboard nobody"));
  EXPECT_THAT(said(), HasSubstr("there is no node 'nobody'"));
  EXPECT_FALSE(run("--coordinates 3 --inboard n0"));
  EXPECT_THAT(said(), HasSubstr("has the shape"));
  beam.stiffness(1, 1) += 1;
  write(beam);
  EXPECT_FALSE(run("--inboard n0 --outboard n2"));
  EXPECT_THAT(said(), HasSubstr("resists moving along y as a whole"));
  beam.stiffness(1, 1) -= 1;
  beam.mass(1, 1) += 1;
  write(beam);
  EXPECT_FALSE(run("--inboard n0 --outboard n2"));
  EXPECT_THAT(said(), HasSubstr("one mass for all directions"));
  folder.write("m.mtx", "1 2 3\n");
  EXPECT_FALSE(run("--inboard n0"));
  EXPECT_THAT(said(), HasSubstr("is no Matrix Market file"));
}

}  // namespace
}  // namespace bunraku::test
