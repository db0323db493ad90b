/// @file
/// Builds a Model in code, and checks it.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// What to do with warnings.
enum class Strictness {
  tolerant,  ///< Keep them: Model::warnings().
  strict,    ///< Treat them as errors.
};

/// A body on its way into a model. See Body for the meaning of the fields of the same name.
struct BodySpec {
  std::string name;                                             ///< Unique; not "world".
  std::string parent = std::string(world_name);                 ///< A body's name, or "world"; may be added later.
  Hinge hinge = {};                                             ///< Its name defaults to the body's name + "_hinge".
  Transform<double> X_PF = Transform<double>::identity();       ///< The hinge's frame on the parent.
  Transform<double> X_MB = Transform<double>::identity();       ///< The body's frame in the hinge's moving frame.
  RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< About the body's origin, in its axes.
  std::vector<Geometry> visuals = {};                           ///< What it looks like.
  std::vector<Geometry> collisions = {};                        ///< What it bumps into.
  SourceLocation where = {};                                    ///< For messages.
  SourceLocation hinge_where = {};                              ///< For messages on the hinge; as `where` if not given.
};

/// A node on its way into a model.
struct NodeSpec {
  std::string name;                                        ///< Unique among nodes and bodies.
  std::string body = std::string(world_name);              ///< A body's name, or "world".
  Transform<double> X_BN = Transform<double>::identity();  ///< Its pose on the body.
  SourceLocation where = {};                               ///< For messages.
};

/// A closure on its way into a model. See Closure for the meaning of the fields of the same name.
struct ClosureSpec {
  std::string name = {};                               ///< Unique among the closures.
  ClosureKind kind = ClosureKind::nodes;               ///< What it joins.
  Hinge hinge = {};                                    ///< Freedom that it leaves; axes need not have unit length.
  double length = 0;                                   ///< Of a distance, m.
  std::vector<ClosureRow> rows = {};                   ///< Of general equations.
  std::string a = {};                                  ///< A node's or body's name, or the hinge tied.
  std::string b = {};                                  ///< The same for the other side; a hinge may be left empty.
  std::array<double, 5> polynomial = {0, 1, 0, 0, 0};  ///< Coefficients, constant first.
  double reference_a = 0;                              ///< q_a0.
  double reference_b = 0;                              ///< q_b0.
  SourceLocation where = {};                           ///< For messages.
};

/// A reference configuration on its way into a model, hinge by hinge, since where coordinates stand in q is not known
/// before the model is built. `{.name = "home", .positions = {{"shoulder", {0.5}}, {"base", {1, 0, 0, 0, 0, 0,
/// 0.4}}}}`.
struct ReferenceSpec {
  std::string name;  ///< Unique among the references; initial_name for where the model starts.
  /// By the hinge's name its coordinates, as many as the type has; hinges left out are neutral. A mimic hinge follows
  /// its leader, whether it is left out or not: another position than that is a warning.
  std::map<std::string, std::vector<double>> positions = {};
  SourceLocation where = {};  ///< For messages.
};

/// Collects bodies, nodes, closures and references in any order; `build` sorts them parent before child, otherwise in
/// the order in which they were added, and checks everything at once.
class BUNRAKU_API ModelBuilder {
 public:
  /// An empty model.
  explicit ModelBuilder(std::string name = "model");
  ~ModelBuilder();
  ModelBuilder(const ModelBuilder&);                 ///< Copies all that was added.
  ModelBuilder& operator=(const ModelBuilder&);      ///< Copies all that was added.
  ModelBuilder(ModelBuilder&&) noexcept;             ///< Moves all that was added.
  ModelBuilder& operator=(ModelBuilder&&) noexcept;  ///< Moves all that was added.

  /// Renames the model.
  ModelBuilder& set_name(std::string name);
  /// Says where the model comes from.
  ModelBuilder& set_format(Format format);
  /// Gravity in the world's axes, m/s². Standard gravity by default.
  ModelBuilder& set_gravity(const Vec3<double>& gravity);
  /// Adds a body. Axes need not have unit length.
  ModelBuilder& add_body(BodySpec body);
  /// Adds a named frame.
  ModelBuilder& add_node(NodeSpec node);
  /// Adds a loop closure.
  ModelBuilder& add_closure(ClosureSpec closure);
  /// Adds a configuration with a name.
  ModelBuilder& add_reference(ReferenceSpec reference);
  /// As the one of the above whose argument it is. What has no type yet, as in `add({.name = "arm"})`, is a body.
  ModelBuilder& add(BodySpec body) { return add_body(std::move(body)); }
  /// @copydoc add(BodySpec)
  template <std::same_as<NodeSpec> Spec>
  ModelBuilder& add(Spec node) {
    return add_node(std::move(node));
  }
  /// @copydoc add(BodySpec)
  template <std::same_as<ClosureSpec> Spec>
  ModelBuilder& add(Spec closure) {
    return add_closure(std::move(closure));
  }
  /// @copydoc add(BodySpec)
  template <std::same_as<ReferenceSpec> Spec>
  ModelBuilder& add(Spec reference) {
    return add_reference(std::move(reference));
  }
  /// Adds a shape to the world.
  ModelBuilder& add_to_world(Geometry geometry);
  /// Adds a problem found elsewhere, such as by a file reader: a warning is kept, an error makes build throw.
  ModelBuilder& report(Problem problem);

  /// The bodies so far, in the order in which they were added.
  const std::vector<BodySpec>& bodies() const;
  /// The nodes so far.
  const std::vector<NodeSpec>& nodes() const;
  /// The closures so far.
  const std::vector<ClosureSpec>& closures() const;
  /// The reference configurations so far.
  const std::vector<ReferenceSpec>& references() const;

  /// The problems reported so far.
  const std::vector<Problem>& reports() const;
  /// The bodies so far, to change them: a new inertia, another hinge. Their number and order may change, too.
  std::vector<BodySpec>& bodies();
  /// The nodes so far, to change them.
  std::vector<NodeSpec>& nodes();
  /// The closures so far, to change them.
  std::vector<ClosureSpec>& closures();
  /// The reference configurations so far, to change them.
  std::vector<ReferenceSpec>& references();
  /// The body of that name, to change it: `edit(arm)` and then `body("hand").inertia = …`. O(N). Throws ArgumentError,
  /// naming the nearest name.
  BodySpec& body(std::string_view name);

  /// All that is wrong, errors and warnings; empty for a sound model. O(N log N).
  std::vector<Problem> check() const;
  /// The model. Throws ModelError with every problem when there is an error (strict: or a warning). O(N log N). The
  /// builder is left as it was.
  Model build(Strictness strictness = Strictness::tolerant) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A builder with all that a model has, its warnings included, to add to it and build it again.
BUNRAKU_API ModelBuilder edit(const Model& model);

/// The model with every body that hangs on another by a fixed hinge made part of that other: inertia and shapes are
/// added to it, and the body's name becomes a node there. Bodies fixed to the world stay, so that their mass counts.
BUNRAKU_API Model merge_fixed(const Model& model);

}  // namespace bunraku
