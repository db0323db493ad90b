/// @file
/// The parts of the SDF reader: it first collects all models with their frames, then makes bodies and hinges of them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/io/detail/mesh.hpp"
#include "bunraku/io/detail/readers.hpp"
#include "bunraku/io/detail/sdf_frames.hpp"

namespace bunraku::io::sdf {

/// A parsed file.
struct Source {
  XmlDocument* document = nullptr;
  std::filesystem::path folder = {};        ///< Where its relative names start; empty: where the model file is.
  int version = 0;                          ///< 1000 · major + minor.
  std::size_t bytes = 0;                    ///< Length of its text.
  std::unique_ptr<XmlDocument> owned = {};  ///< Set for included files.
  std::string key = {};                     ///< Tells it from others, however its name is written.
};

/// Versions are compared as numbers.
constexpr int version_number(int major, int minor) {
  return 1000 * major + minor;
}

/// Reads the files that a model includes, each once, and bounds how much that may be.
class Sources {
 public:
  explicit Sources(const ReaderContext& context) : context_(context) {}

  /// The version that the root element claims; reported when it is missing or old.
  static int read_version(const XmlElement& root);
  /// One name for one file, however it is written.
  static std::string key(const std::filesystem::path& path);
  /// The file that an `<include>` means. Throws ModelError when there is none, or when there are too many. `open` are
  /// the files that are being read around it.
  const Source& include(const XmlElement& element, const Source& from, const std::vector<const Source*>& open);
  /// Reports what was not used of the included files.
  void report_unused();

 private:
  std::filesystem::path model_file(const XmlElement& uri, const Source& from) const;

  const ReaderContext& context_;
  std::map<std::string, std::unique_ptr<Source>> sources_;
  int includes_ = 0;
  std::size_t bytes_ = 0;
};

/// A link, to be made a body.
struct Link {
  int frame = no_frame;
  XmlElement element;
  const Source* source = nullptr;
  bool fixed_to_world = false;  ///< Part of a static model.
};

/// A joint, to be made a hinge or a loop closure.
struct Joint {
  int frame = no_frame;
  XmlElement element;
  const Source* source = nullptr;
};

/// All that a file and its included files hold.
struct Collection {
  FrameGraph frames;
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<int> named_frames;  ///< The `<frame>`s.
  std::optional<Vec3<double>> gravity = {};
  std::string name = {};
};

/// Collects the models of a file and of those that it includes.
Collection collect(const Source& main, Sources& sources);

/// A pose as written.
struct Pose {
  Transform<double> X = Transform<double>::identity();
  std::string_view relative_to = {};  ///< Empty where the file does not say.
};
/// The numbers of a `<pose>`, or of nothing.
Pose read_pose(const XmlElement& pose);
/// The `<parent>` or `<child>` of a joint; nothing when it is missing or empty, which is reported. `meaning` says what
/// it should hold.
XmlElement read_end(const XmlElement& joint, const char* tag, const char* meaning);
/// The text of a child as yes or no.
bool read_flag(const XmlElement& element, const char* tag, bool otherwise);
/// The text of a child as one number.
double read_number(const XmlElement& element, const char* tag, double otherwise, Finite finite = Finite::required);
/// The text of a child as three numbers.
Vec3<double> read_vector(const XmlElement& element, const char* tag, const Vec3<double>& otherwise);

/// Mass, centre of mass and inertia of a link, about its origin.
RigidInertia<double> read_inertial(const XmlElement& link);
/// Whether a link wants its inertia computed from its `<collision>`s.
bool weighs_shapes(const XmlElement& link);
/// Weighs shapes and meshes.
class Scales {
 public:
  Scales(const FrameGraph& frames, const PathResolver& paths) : frames_(frames), paths_(paths) {}
  /// The inertia of a link's `<collision>`s together, about the link's origin; what cannot be weighed is reported.
  RigidInertia<double> weigh(const Link& link);

 private:
  RigidInertia<double> weigh(const XmlElement& collision, const Link& link, double density);

  const FrameGraph& frames_;
  const PathResolver& paths_;
  std::size_t bytes_left_ = 8 * max_mesh_bytes;
};
/// A `<visual>` or `<collision>` of a link; nothing where it has no shape that is known, which is reported.
std::optional<Geometry> read_shape(const XmlElement& element, const Link& link, const FrameGraph& frames,
                                   const PathResolver& paths);
/// The `<visual>`s or `<collision>`s of a link.
std::vector<Geometry> read_shapes(const Link& link, const char* tag, const FrameGraph& frames,
                                  const PathResolver& paths);

/// A joint's hinge, with its axes in the joint's frame; nothing when its type cannot be read, which is reported.
std::optional<Hinge> read_hinge(const Joint& joint, const FrameGraph& frames, const LoadOptions& options);

/// Where a joint starts, one number for each of its axes; empty where the file does not say, or says zero.
std::vector<double> read_initial_position(const Joint& joint, const Hinge& hinge);

/// A gearbox: θ₂ = −ratio · θ₁, θ₁ the angle of the joint's parent against the reference body about `axis`, θ₂ that of
/// its child about `axis2`.
struct Gearbox {
  int reference = no_frame;  ///< The frame of the body that holds both.
  double ratio = 1;
  Vec3<double> axis;   ///< In the joint's frame, at the zero configuration.
  Vec3<double> axis2;  ///< In the joint's frame, at the zero configuration.
};
/// Whether a joint is a gearbox, which is no hinge.
bool is_gearbox(const Joint& joint);
/// A joint of type gearbox; nothing when it cannot be read, which is reported.
std::optional<Gearbox> read_gearbox(const Joint& joint, const FrameGraph& frames);

}  // namespace bunraku::io::sdf
