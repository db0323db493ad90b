/// @file
/// Forces from outside.
#pragma once

#include <span>

#include "bunraku/model/nodes.hpp"
#include "bunraku/spatial/vec6.hpp"

namespace bunraku {

/// A force from outside on a body, at a node.
template <class T>
struct AppliedForce {
  int body = world;                                        ///< The body it acts on.
  Transform<double> X_BN = Transform<double>::identity();  ///< The node's pose on the body.
  Force<T> force = Force<T>::zero();                       ///< Moment over force.
  Frame frame = Frame::node;                               ///< The point of the moment, and the axes of both.

  /// Nothing.
  AppliedForce() = default;
  /// `f` at a node, as `in` says. Throws ArgumentError where the model has no such node.
  AppliedForce(const Model& model, const NodeRef& node, const Force<T>& f, Frame in)
      : AppliedForce(node.place(model), f, in) {}
  /// `f` at a node of a model, as `in` says.
  AppliedForce(const Node& node, const Force<T>& f, Frame in) : AppliedForce(Place{node.body, node.X_BN}, f, in) {}
  /// `f` at a place on a body, as `in` says.
  AppliedForce(const Place& place, const Force<T>& f, Frame in)
      : body(place.body), X_BN(place.X_BN), force(f), frame(in) {}
};

/// Forces from outside, as an argument.
template <class T>
using Forces = std::span<const AppliedForce<T>>;

}  // namespace bunraku
