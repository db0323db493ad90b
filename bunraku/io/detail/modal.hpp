/// @file
/// Modal data on the way from a file to a flexible body: what the file says, what must hold of it, and lumps that have
/// given inertia invariants.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/model/flexible.hpp"

namespace bunraku::io {

/// The largest modal file that is read: shapes of many nodes take more room than a model.
inline constexpr std::size_t max_modal_bytes = std::size_t{64} << 20;
/// The most nodes of a modal file, and the most shapes: as many as a file of that size could have.
inline constexpr std::size_t max_modal_nodes = std::size_t{1} << 17;
inline constexpr std::size_t max_modal_shapes = std::size_t{1} << 21;  ///< Nodes times modes.

/// Where the numbers of a file that are there twice must agree, how far they may be apart, and what else is judged.
struct ModalTolerances {
  /// Relative; grows to what the digits of the file's numbers allow, see `loosest`.
  double agreement = 1e-6;
  /// The largest that `agreement` becomes for files with few digits.
  static constexpr double loosest = 1e-3;
  /// Of the largest, as from rounding: directions of the Gram matrix that are no directions.
  static constexpr double rank = 1e-12;
  /// rad: beyond it a rotation vector that is linear in η is no good model of a bending body.
  static constexpr double small_turn = 0.2;
};

/// A statement with its line, 0 where it is missing.
template <class T>
struct Stated {
  T value{};     ///< What it says.
  int line = 0;  ///< Where.

  /// Whether it is there.
  explicit operator bool() const { return line > 0; }
};

/// A node as the file has it.
struct ModalNode {
  std::string_view name = {};                   ///< Unique.
  int line = 0;                                 ///< Where it is.
  Vec3<double> place = Vec3<double>::zero();    ///< In the file's frame.
  double mass = 0;                              ///< Of its lump.
  Vec3<double> center = Vec3<double>::zero();   ///< From the node to the lump's centre.
  Sym3<double> inertia = Sym3<double>::zero();  ///< Of the lump about its centre.
  bool outboard = false;                        ///< Whether something may hang on it.
  std::uint64_t shapes = 0;                     ///< The modes whose shape is there, by bits.
  bool shaped = false;                          ///< Whether one of its shapes is read.
  bool turns = false;                           ///< Whether its shapes have rotations.
  Stated<std::vector<double>> shortening = {};  ///< S, n×n.

  /// Whether it has mass, or inertia alone, as sections that turn do.
  bool has_lump() const { return mass > 0 || inertia != Sym3<double>::zero(); }
};

/// All that a modal file says.
struct ModalData {
  std::string name = {};                       ///< Of the body; may be empty.
  int modes = 0;                               ///< n.
  Stated<double> mass = {};                    ///< kg.
  Stated<Vec3<double>> com = {};               ///< Centre of mass in the file's frame.
  Stated<Sym3<double>> inertia = {};           ///< About the centre of mass.
  Stated<Sym3<double>> J0 = {};                ///< About the frame's origin.
  Stated<Vec3<double>> axis = {};              ///< Of shortening.
  Stated<std::vector<double>> expected = {};   ///< The largest η that is expected, of each mode.
  std::vector<Stated<double>> stiffness = {};  ///< By mode.
  std::vector<double> damping = {};            ///< By mode.
  std::vector<ModalNode> nodes = {};           ///< In the file's order.
  std::size_t inboard = 0;                     ///< The node that the body hangs on.
  std::vector<Vec3<double>> rotation = {};     ///< λ, modes × nodes: node by node.
  std::vector<Vec3<double>> translation = {};  ///< γ, the same.
  std::vector<Stated<Vec3<double>>> S1 = {};   ///< By mode.
  std::vector<Stated<Vec3<double>>> C0 = {};   ///< By mode.
  std::vector<Stated<Vec3<double>>> C1 = {};   ///< By pair of modes, row by row.
  std::vector<Stated<Mat3<double>>> J1 = {};   ///< By mode.
  std::vector<Stated<Mat3<double>>> J2 = {};   ///< By pair of modes, row by row.

  /// λ of a node and a mode.
  const Vec3<double>& turn(std::size_t node, int mode) const { return rotation[index(node, mode)]; }
  /// γ of a node and a mode.
  const Vec3<double>& move(std::size_t node, int mode) const { return translation[index(node, mode)]; }
  /// Where a node's shape of a mode stands.
  std::size_t index(std::size_t node, int mode) const {
    return node * static_cast<std::size_t>(modes) + static_cast<std::size_t>(mode);
  }
  /// Where a pair of modes stands.
  std::size_t pair(int i, int l) const { return static_cast<std::size_t>(i * modes + l); }
};

/// Problems of one file. After as many as are listed, no more are put into words.
class ModalProblems {
 public:
  /// Problems go to `problems`, which must live as long.
  ModalProblems(std::string file, std::vector<Problem>& problems) : file_(std::move(file)), problems_(problems) {}

  /// Adds an error.
  void error(int line, const std::string& text, const std::string& cure);
  /// Adds a warning.
  void warning(int line, const std::string& text, const std::string& cure);
  /// Whether more errors would be listed.
  bool takes_errors() const { return errors_ <= max_problems; }
  /// Whether more warnings would be listed.
  bool takes_warnings() const { return warnings_ <= max_problems; }
  /// How many errors there were.
  std::size_t errors() const { return errors_; }
  /// The file's name.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<Problem>& problems_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// A lump that has mass and no extent, and how the modes move it.
struct PointLump {
  double mass = 0;                            ///< kg.
  Vec3<double> place = Vec3<double>::zero();  ///< ρ.
  std::vector<Vec3<double>> shape = {};       ///< γ of each mode.
};

/// Reports what is wrong with lumps at nodes: that they do not add up to mass, centre and inertia, that the modes are
/// not orthonormal, that invariants that are given are not theirs.
void check_modal_lumps(const ModalData& data, const ModalTolerances& tolerances, ModalProblems& problems);

/// Lumps of equal mass that have the invariants of a file without lumps; none, with problems, where there are no such.
std::vector<PointLump> lumps_of_invariants(const ModalData& data, const ModalTolerances& tolerances,
                                           ModalProblems& problems);

/// Whether a distribution of mass can have this inertia about its centre.
bool is_possible_inertia(const Sym3<double>& central, double tolerance);
/// Whether no turn has negative energy.
bool is_positive_inertia(const Sym3<double>& central, double tolerance);

/// A flexible body, and what else a file says of it.
struct ModalFile {
  FlexibleBody body = {};    ///< In the frame of the inboard node.
  std::string name = {};     ///< As the file has it; may be empty.
  std::string inboard = {};  ///< The node that is the frame.
};

/// Reads modal data. Warnings are added to `warnings`; errors are thrown, all in one ModelError.
ModalFile read_modal(std::string_view text, const std::string& file, std::vector<Problem>& warnings);
/// The same from a file.
ModalFile read_modal_file(const std::string& path, const std::string& shown_as, std::vector<Problem>& warnings);

}  // namespace bunraku::io
