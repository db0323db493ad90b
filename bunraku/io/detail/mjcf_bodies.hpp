/// @file
/// Bodies, joints and sites of MJCF on their way into a model.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bunraku/io/detail/mjcf_geometry.hpp"
#include "bunraku/model/builder.hpp"

namespace bunraku::io {

/// A joint as MJCF has it: the body turns about a point of its own.
struct MjcfJoint {
  XmlElement element;
  Hinge hinge;
  Vec3<double> position = {};  ///< In the body's axes.
  double reference = 0;        ///< The coordinate at which the body is as written.
};

/// Reads a `<joint>` or `<freejoint>`, all but its name. `X_BF` is the pose of the frame that it stands in.
MjcfJoint read_joint(const XmlElement& element, const DefaultClass* inherited, const Transform<double>& X_BF,
                     const MjcfShared& shared);

/// Two bounds.
struct MjcfRange {
  double lower = 0;
  double upper = 0;
  /// The larger of the two in size: for what has one number for both directions, so that nothing which the file allows
  /// is lost.
  double size() const;
};
/// A range and whether it holds, which the attribute `switch_name` says, or else its presence.
std::optional<MjcfRange> read_range(const Attributes& attributes, const char* name, const char* switch_name,
                                    const MjcfSettings& settings);

/// Mass and inertia of a body on their way from `<inertial>` or from geoms.
class MjcfInertia {
 public:
  /// A body at `written` in its parent or the frame around it, so far without mass.
  explicit MjcfInertia(const Transform<double>& written) : center_(written.translation), axes_(written.rotation) {}

  /// Takes mass and inertia from an `<inertial>`, which stands in the frame `X_BF`.
  void read_inertial(const XmlElement& element, const Transform<double>& X_BF, const MjcfShared& shared);
  /// Takes mass and inertia from geoms instead, if any of them has mass.
  void set_geoms(const std::vector<MjcfGeom>& geoms);
  /// The inertia about the body's origin, corrected as the settings wish.
  RigidInertia<double> corrected(const MjcfSettings& settings) const;

 private:
  double mass_ = 0;
  Vec3<double> center_;
  Rotation<double> axes_;  // that central_ is in
  Sym3<double> central_ = {};
};

/// What other elements refer to: where things are in the configuration in which the file is written.
struct MjcfLandmarks {
  /// A site.
  struct Site {
    std::string node;
    std::string body;
  };
  /// A joint.
  struct Joint {
    bool scalar = false;
    double reference = 0;
  };
  std::map<std::string, Transform<double>, std::less<>> bodies;  ///< Poses in the world.
  std::map<std::string, Site, std::less<>> sites;
  std::map<std::string, Joint, std::less<>> joints;
};

/// Reads `<equality>` sections into closures, and the nodes that those need.
class MjcfEquality {
 public:
  MjcfEquality(const MjcfShared& shared, const MjcfLandmarks& landmarks, UniqueNames& frame_names,
               ModelBuilder& builder)
      : shared_(shared), landmarks_(landmarks), frame_names_(frame_names), builder_(builder) {}

  /// Reads all sections.
  void read(const std::vector<XmlElement>& sections);

 private:
  void read_one(const XmlElement& element);
  bool read_nodes(const XmlElement& element, ClosureSpec& closure);
  bool read_sites(const XmlElement& element, ClosureSpec& closure);
  bool read_joints(const XmlElement& element, ClosureSpec& closure);
  std::optional<Transform<double>> relative_pose(const XmlElement& element) const;
  std::string add_node(const ClosureSpec& closure, const char* suffix, const std::string& body,
                       const Transform<double>& pose);
  template <class Table>
  typename Table::const_iterator find(const XmlElement& element, const char* attribute, const Table& table,
                                      const char* kind) const;

  MjcfShared shared_;
  const MjcfLandmarks& landmarks_;
  UniqueNames& frame_names_;
  ModelBuilder& builder_;
  UniqueNames names_;
};

/// Reads `<actuator>` sections: what an actuator can do bounds the effort of the joint that it moves.
void read_actuators(const std::vector<XmlElement>& sections, const MjcfShared& shared, std::vector<BodySpec>& bodies);

/// Makes reference configurations: where the file puts the model, and its keyframes.
class MjcfReferences {
 public:
  MjcfReferences(const MjcfShared& shared, ModelBuilder& builder) : shared_(shared), builder_(builder) {}

  /// Adds the next joint, in the order of the file. `X_PB` is where the file puts the body.
  void add_joint(const MjcfJoint& joint, const Transform<double>& X_PB);
  /// Makes the initial configuration, where it is not the neutral one, and reads `<keyframe>` sections.
  void read(const std::vector<XmlElement>& sections);

 private:
  struct Joint {
    std::string hinge;
    HingeType type;
    std::vector<double> initial;
  };

  void read_key(const XmlElement& key);
  ReferenceSpec initial() const;

  MjcfShared shared_;
  ModelBuilder& builder_;
  std::vector<Joint> joints_;
  std::size_t positions_ = 0;  // numbers in MuJoCo's qpos
  bool neutral_ = true;        // so far
  int keys_ = 0;
};

}  // namespace bunraku::io
