/// @file
/// The model of a multibody system: bodies, hinges, nodes, closures. Immutable, and shared between threads.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/model/geometry.hpp"
#include "bunraku/model/hinge.hpp"
#include "bunraku/spatial/inertia.hpp"

namespace bunraku {

/// The index of the world where a body's index is asked for.
inline constexpr int world = -1;
/// The name of the world where a body's name is asked for.
inline constexpr std::string_view world_name = "world";
/// Gravity where a file does not say: m/s², along −z.
inline constexpr Vec3<double> standard_gravity{0, 0, -9.81};

/// Masses, inertias, distances, gravity, armature, friction and springs of a model are at most this in SI units, so
/// that products of some of them stay within the range of `double`. Building refuses larger ones. Limits may be larger.
inline constexpr double largest_model_number = 1e50;

/// A rigid body and the hinge by which it hangs on its parent: X_PB(q) = X_PF · X_FM(q) · X_MB.
struct Body {
  std::string name;                                             ///< Unique among the bodies.
  int parent = world;                                           ///< Index of the parent; smaller than its own.
  Hinge hinge;                                                  ///< How it moves against the parent.
  Transform<double> X_PF = Transform<double>::identity();       ///< The hinge's frame on the parent.
  Transform<double> X_MB = Transform<double>::identity();       ///< The body's frame in the hinge's moving frame.
  RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< About the body's origin, in its axes.
  std::vector<Geometry> visuals = {};                           ///< What it looks like.
  std::vector<Geometry> collisions = {};                        ///< What it bumps into.
  SourceLocation where = {};                                    ///< Where the file describes it.
  SourceLocation hinge_where = {};                              ///< Where the file describes its hinge.

  int q_index = 0;  ///< Where the hinge's coordinates start in q.
  int v_index = 0;  ///< Where the hinge's coordinates start in v.
  int nq = 0;       ///< Coordinates of its own in q; none for a mimic hinge.
  int nv = 0;       ///< Coordinates of its own in v; none for a mimic hinge.

  /// For a mimic hinge: the body whose hinge leads in the end, through any chain of mimics.
  int leader = world;
  double leader_ratio = 1;   ///< For a mimic hinge: q = leader_ratio · q_leader + leader_offset.
  double leader_offset = 0;  ///< See leader_ratio.
};

/// A named frame on a body, or on the world.
struct Node {
  std::string name;                                        ///< Unique among nodes and bodies.
  int body = world;                                        ///< The body it is fixed to.
  Transform<double> X_BN = Transform<double>::identity();  ///< Its pose on the body.
};

/// What closes a loop.
enum class ClosureKind {
  nodes,     ///< Two nodes are joined by a hinge.
  hinges,    ///< Two hinge coordinates are tied by a polynomial.
  distance,  ///< The origins of two nodes stay a length apart, as by a rod with ball joints.
  plane,     ///< Node b's origin stays in a plane of node a.
  line,      ///< Node b's origin stays on a line of node a.
  rows,      ///< Any linear equations of the velocities of two nodes (RJK89 2.16).
  /// Two points stay together, and neither body turns against the other about a line of b (RK88 Part II, appendix A).
  soft_finger,
};
/// `nodes`, `coupling`, `distance`, `plane`, `line`, `rows` or `soft_finger`.
BUNRAKU_API std::string_view to_string(ClosureKind kind);

/// Coefficients of one equation of node velocities: of (ω, v) of node a in a's axes, then of node b in b's axes.
using ClosureRow = std::array<double, 12>;
/// The most equations of one closure.
inline constexpr std::size_t most_closure_rows = 6;

/// A loop closure, by its kind:
///
/// - `nodes`: the nodes are the frames F and M of `hinge`, which is what the closure lets move: `fixed` leaves no
///   freedom (6 equations), `spherical` leaves rotation (3), `revolute` rotation about its axis (5), and so on. Of the
///   hinge type, axes, pitch and the user's own law count.
/// - `distance`: |p_b − p_a| = length (1 equation).
/// - `plane`: (p_b − p_a)·axis = 0, with the hinge's axis in a's axes (1).
/// - `line`: (p_b − p_a) × axis = 0 (2).
/// - `hinges`: q_a − q_a0 = Σ polynomial[i] · (q_b − q_b0)^i (1).
/// - `rows`: Q_a V_a + Q_b V_b = Ũ(t), one equation a row. Of positions it says nothing: assembly leaves it alone.
/// - `soft_finger`: p_b = p_a and (ω_b − ω_a)·axis = 0, with the hinge's axis in b's axes (4). As every attitude can be
///   reached by rolling, the one of ω says nothing of positions.
struct Closure {
  std::string name = {};                               ///< Unique among the closures.
  ClosureKind kind = ClosureKind::nodes;               ///< What it joins.
  Hinge hinge = {};                                    ///< Freedom that it leaves; the axis of planes and lines.
  double length = 0;                                   ///< Of a distance, m.
  std::vector<ClosureRow> rows = {};                   ///< Of general equations.
  Node a = {};                                         ///< First node.
  Node b = {};                                         ///< Second node.
  int hinge_a = world;                                 ///< Body whose hinge is tied, for hinges.
  int hinge_b = world;                                 ///< Body whose hinge ties; `world`: hinge_a is held still.
  std::array<double, 5> polynomial = {0, 1, 0, 0, 0};  ///< Coefficients, constant first.
  double reference_a = 0;                              ///< q_a0.
  double reference_b = 0;                              ///< q_b0.
  SourceLocation where = {};                           ///< Where the file describes it.
};

/// How many equations a closure has.
BUNRAKU_API int closure_rows(const Closure& closure);

/// A configuration with a name: a file's initial one (see initial_name), its keyframes, or one given in code.
struct ReferenceConfiguration {
  std::string name;           ///< Unique among the references.
  std::vector<double> q;      ///< nq numbers; its quaternions have unit norm.
  SourceLocation where = {};  ///< Where the file describes it.
};
/// The name of the reference configuration in which a file puts the model: MJCF's `qpos0`, the poses of SDF's models.
/// Where a model has no such reference it starts from neutral: see initial_configuration.
inline constexpr std::string_view initial_name = "initial";

/// A flexible body of a model; see flexible.hpp. Its frame and its nodes are bodies.
struct FlexiblePart {
  int body = world;  ///< The body that is its frame, on which the nodes hang; `world` where it is clamped there.
  std::vector<int> nodes = {};  ///< The bodies that are its nodes; the hinge of the first has the modes' coordinates.
  int modes = 0;                ///< How many there are.
  int q_index = 0;              ///< Where η starts in q.
  int v_index = 0;              ///< Where η̇ starts in v.
};

/// The file format a model came from.
enum class Format {
  code,  ///< Built by a program.
  urdf,  ///< Unified Robot Description Format.
  mjcf,  ///< MuJoCo's XML.
  sdf,   ///< Simulation Description Format.
};
/// `code`, `urdf`, `mjcf` or `sdf`.
BUNRAKU_API std::string_view to_string(Format format);

class ModelBuilder;

/// An immutable multibody system. Copies share one body of data; every const member may be called from any thread.
class BUNRAKU_API Model {
 public:
  /// Whether both are copies of one.
  bool is_same_as(const Model& other) const { return data_ == other.data_; }
  /// The model's name.
  const std::string& name() const { return data_->name; }
  /// Where it came from.
  Format format() const { return data_->format; }
  /// The bodies, parent before child, otherwise in the order of the file. The world is not among them.
  std::span<const Body> bodies() const { return data_->bodies; }
  /// Body i. Throws ArgumentError when there is none; the world is not one.
  const Body& body(int i) const;
  /// The named frames. Every body's name is a node too, which is not listed here.
  std::span<const Node> nodes() const { return data_->nodes; }
  /// The loop closures.
  std::span<const Closure> closures() const { return data_->closures; }
  /// The reference configurations, in the order of the file.
  std::span<const ReferenceConfiguration> references() const { return data_->references; }
  /// The flexible bodies, in the order of their frames.
  std::span<const FlexiblePart> flexible() const { return data_->flexible; }
  /// Looks of the world itself.
  std::span<const Geometry> world_geometry() const { return data_->world_geometry; }
  /// Gravity in the world's axes, m/s².
  const Vec3<double>& gravity() const { return data_->gravity; }
  /// Number of configuration coordinates.
  int nq() const { return data_->nq; }
  /// Number of velocity coordinates, the degrees of freedom with all loops cut open.
  int nv() const { return data_->nv; }
  /// The mass of all bodies, kg.
  double mass() const { return data_->mass; }
  /// What was odd in the model, or not used of its file.
  std::span<const Problem> warnings() const { return data_->warnings; }

  /// The index of the body of that name, `world` for "world", or nothing. O(log N).
  std::optional<int> find_body(std::string_view name) const;
  /// The index of the body whose hinge has that name, or nothing. O(log N).
  std::optional<int> find_hinge(std::string_view name) const;
  /// The node of that name, or the origin of the body of that name, or nothing. O(log N).
  std::optional<Node> find_node(std::string_view name) const;
  /// The one of nodes() that has that name, or null. O(log N), allocates nothing.
  const Node* find_listed_node(std::string_view name) const;
  /// As find_body; throws ArgumentError, naming the nearest name.
  int body_index(std::string_view name) const;
  /// As find_hinge; throws ArgumentError, naming the nearest name.
  int hinge_index(std::string_view name) const;
  /// As find_node; throws ArgumentError, naming the nearest name.
  Node node(std::string_view name) const;
  /// The reference configuration of that name, or nothing. O(their number).
  const ReferenceConfiguration* find_reference(std::string_view name) const;
  /// As find_reference; throws ArgumentError, naming the nearest name. See reference_configuration for q alone.
  const ReferenceConfiguration& reference(std::string_view name) const;

  /// The same model with other gravity (world axes, m/s²). Throws ArgumentError when it is not finite,
  /// or beyond largest_model_number.
  Model with_gravity(const Vec3<double>& gravity) const;

 private:
  friend class ModelBuilder;
  using Index = std::vector<std::pair<std::string_view, int>>;
  struct Data {
    std::string name;
    Format format = Format::code;
    std::vector<Body> bodies;
    std::vector<Node> nodes;
    std::vector<Closure> closures;
    std::vector<ReferenceConfiguration> references;
    std::vector<FlexiblePart> flexible;
    std::vector<Geometry> world_geometry;
    Vec3<double> gravity = standard_gravity;
    std::vector<Problem> warnings;
    int nq = 0;
    int nv = 0;
    double mass = 0;
    Index body_names;  // sorted by name; the views point into the vectors above
    Index hinge_names;
    Index node_names;
  };
  explicit Model(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  static void make_indices(Data& data);

  std::shared_ptr<const Data> data_;
};

}  // namespace bunraku
