/// @file
/// What a ModelBuilder holds, and how it becomes a model's data.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bunraku/model/builder.hpp"
#include "bunraku/model/detail/validation.hpp"

namespace bunraku {

/// All that was added so far.
struct ModelBuilder::Parts {
  std::string name;
  Format format = Format::code;
  Vec3<double> gravity = standard_gravity;
  std::vector<BodySpec> bodies;
  std::vector<NodeSpec> nodes;
  std::vector<ClosureSpec> closures;
  std::vector<ReferenceSpec> references;
  std::vector<Geometry> world_geometry;
  std::vector<Problem> reported;

  /// The model's data, with all that is wrong reported; of no use when there are errors.
  std::shared_ptr<Model::Data> assemble(ProblemList& problems) const;

 private:
  using Names = NameTable;

  void place_bodies(Model::Data& data, ProblemList& problems) const;
  static std::vector<int> parent_first(const std::vector<BodySpec>& specs, const std::vector<int>& parents,
                                       ProblemList& problems);
  static void number_coordinates(Model::Data& data, const Names& hinges, ProblemList& problems);
  static void resolve_mimics(std::vector<Body>& placed, const Names& hinges, ProblemList& problems);
  static void list_flexible(Model::Data& data, ProblemList& problems);
  static void check_masses(const Model::Data& data, ProblemList& problems);
  void place_nodes(Model::Data& data, const Names& body_names, ProblemList& problems) const;
  void place_closures(Model::Data& data, const Names& body_names, const Names& hinge_names,
                      ProblemList& problems) const;
  void place_references(Model::Data& data, const Names& hinge_names, ProblemList& problems) const;
};

/// Whether the hinge's sizes can be asked for: not of a custom or modal one without its object, which is an error.
inline bool is_countable(const Hinge& hinge) {
  return (hinge.type != HingeType::custom || hinge.custom != nullptr) &&
         (hinge.type != HingeType::modal || hinge.modal != nullptr);
}

/// Puts a name into a table, and tells whether it is the first. An empty, unprintable or second one is reported; the
/// place of the first is asked of place_of.
bool claim_name(NameTable& names, std::string_view kind, const std::string& name, int index,
                const SourceLocation& where, const std::function<SourceLocation(int)>& place_of, ProblemList& problems);

}  // namespace bunraku
