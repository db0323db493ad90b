/// @file
/// A set of hinges, by name: the ones to prescribe, to lock, to leave out.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// Some of a model's hinges: `HingeSet(model, {"elbow", "wrist"})`. A value; it shares the model with its maker. A
/// hinge is also known by the index of the body that it carries.
class BUNRAKU_API HingeSet {
 public:
  /// The empty set.
  explicit HingeSet(const Model& model);
  /// The hinges of these names. O(n log N). Throws ArgumentError for an unknown name, naming the nearest.
  HingeSet(const Model& model, std::initializer_list<std::string_view> hinges);
  /// @copydoc HingeSet(const Model&, std::initializer_list<std::string_view>)
  HingeSet(const Model& model, std::span<const std::string> hinges);
  /// @copydoc HingeSet(const Model&, std::initializer_list<std::string_view>)
  HingeSet(const Model& model, std::span<const std::string_view> hinges);
  /// Every hinge that has coordinates of its own: neither fixed nor a follower.
  static HingeSet all(const Model& model);

  /// The model whose hinges they are.
  const Model& model() const { return model_; }
  /// How many there are.
  int size() const { return size_; }
  /// Whether there are none.
  bool empty() const { return size_ == 0; }
  /// Whether the hinge that carries the body is among them; no for the world. O(1).
  bool contains(int body) const {
    return body >= 0 && body < static_cast<int>(member_.size()) && member_[static_cast<std::size_t>(body)];
  }
  /// Whether the hinge of that name is among them. O(log N). Throws ArgumentError for an unknown name.
  bool contains(std::string_view hinge) const { return contains(model_.hinge_index(hinge)); }
  /// The bodies that the hinges carry, in the model's order. O(N).
  std::vector<int> bodies() const;

  /// Adds the hinge that carries the body. Throws ArgumentError where there is no such body.
  HingeSet& insert(int body);
  /// Adds the hinge of that name. Throws ArgumentError for an unknown name, naming the nearest.
  HingeSet& insert(std::string_view hinge) { return insert(model_.hinge_index(hinge)); }
  /// Takes out the hinge that carries the body, if it is there. Throws ArgumentError where there is no such body.
  HingeSet& erase(int body);
  /// Takes out the hinge of that name, if it is there. Throws ArgumentError for an unknown name, naming the nearest.
  HingeSet& erase(std::string_view hinge) { return erase(model_.hinge_index(hinge)); }
  /// The hinges with coordinates of their own that are not in this set. O(N).
  HingeSet complement() const;

  /// Whether both have the same hinges, by index.
  friend bool operator==(const HingeSet& a, const HingeSet& b) { return a.member_ == b.member_; }

 private:
  Model model_;
  std::vector<bool> member_;  // by body
  int size_ = 0;
};

}  // namespace bunraku
