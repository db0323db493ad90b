/// @file
/// The frames of an SDF file: names in scopes, what each frame is fixed to, and where it is.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/io/detail/xml.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku::io::sdf {

/// What a frame belongs to.
enum class FrameKind { world, model, link, joint, frame };

/// Index of the world's frame.
inline constexpr int world_frame = 0;
/// Index of the world's scope.
inline constexpr int world_scope = 0;
/// No frame: the name was wrong, which has been reported.
inline constexpr int no_frame = -1;

/// The longest name of a frame with all its scopes: deep nesting must not multiply long names.
inline constexpr std::size_t max_name_bytes = 1000;

/// A named frame. Poses are those of the zero configuration, as the file writes them.
struct Frame {
  FrameKind kind = FrameKind::frame;
  std::string name;    ///< With its scopes, unique among all frames: `arm::hand`.
  int scope = 0;       ///< Where its name is known.
  int home = 0;        ///< The frame that `__model__` means there, from which poses are measured unless they say.
  int inner = -1;      ///< The scope inside, for a model.
  XmlElement element;  ///< Where it is written.
  Transform<double> raw = Transform<double>::identity();  ///< As written, in the last frame of `base`.
  std::vector<int> base = {};       ///< From the scope's frame down to the one that the pose is measured from.
  std::vector<int> placement = {};  ///< Model: from its frame down to the one that the pose places; empty: itself.
  int attached = no_frame;          ///< The frame that it moves with.
  int body = no_frame;              ///< The link, or the world, that it is fixed to in the end.
  Transform<double> X_SF = Transform<double>::identity();  ///< In its scope's frame.
};

/// Where names are known: the world, or a model.
struct Scope {
  std::string prefix;        ///< Put before the names inside: `arm::`, or nothing.
  int frame = world_frame;   ///< The world's or the model's frame.
  int parent = world_scope;  ///< The scope around it.
  int depth = 0;             ///< Number of scopes around it.
  std::map<std::string, int, std::less<>> names = {};
};

/// A name resolved: the frame, and the frames through which the way leads from the scope's own frame.
struct Reference {
  int frame = no_frame;
  std::vector<int> path = {};
};

/// Collects frames first, in any order, and names later, so that frames may refer forward.
class FrameGraph {
 public:
  FrameGraph();

  /// Adds a frame; a name that is reserved, too long or already used in the scope is reported.
  int add(FrameKind kind, int scope, int home, std::string_view name, const XmlElement& element);
  /// Adds the scope inside of a model's frame. `prefix` goes before all names inside.
  int add_scope(int model_frame, std::string prefix);

  /// Says from which frame the pose of `frame` is measured: `text`, known in the scope of the frame itself.
  void measure_from(int frame, std::string_view text, const XmlElement& where);
  /// Says what `frame` moves with, by a name known in `scope`. With `also_base` its pose is measured from there too.
  void attach(int frame, std::string_view text, int scope, int home, const XmlElement& where, bool also_base);
  /// Says which frame inside of a model its pose places.
  void place(int model_frame, std::string_view text, const XmlElement& where);

  /// Resolves all names, attachments and poses; reports what is unknown, and cycles.
  void resolve();

  /// The frame that a name means in a scope, or nothing; reported by `where`, with `cure`, when it is not known.
  std::optional<Reference> find(std::string_view text, int scope, int home, const XmlElement& where,
                                const char* cure =
                                    "use the name of a link, joint, frame or nested model (as "
                                    "model::name inside of it)") const;
  /// The pose of frame b in frame a.
  Transform<double> relative(int a, int b) const;

  /// Frame i.
  const Frame& operator[](int i) const { return frames_[static_cast<std::size_t>(i)]; }
  /// Frame i.
  Frame& operator[](int i) { return frames_[static_cast<std::size_t>(i)]; }
  /// Scope i.
  const Scope& scope(int i) const { return scopes_[static_cast<std::size_t>(i)]; }
  /// Number of frames.
  int size() const { return static_cast<int>(frames_.size()); }

 private:
  enum class Use { base, attachment, attachment_and_base, placement };
  struct Pending {
    int frame;
    Use use;
    std::string text;
    int scope;
    int home;
    XmlElement where;
  };

  int descend(std::string_view text, int scope, std::vector<int>& path) const;
  std::string not_found(std::string_view text, int scope) const;
  void resolve_names();
  void resolve_bodies();
  void resolve_poses();
  Transform<double> along(const std::vector<int>& path) const;
  void report_cycle(const std::vector<int>& cycle, const char* what) const;

  std::vector<Frame> frames_;
  std::vector<Scope> scopes_;
  std::vector<Pending> pending_;
  int renamed_ = 0;
  mutable int suggestions_ = 0;
};

}  // namespace bunraku::io::sdf
