/// @file
/// How calls name the nodes they are about, and the frames of their results.
#pragma once

#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "bunraku/model/model.hpp"

namespace bunraku {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // it takes Frame::world for a second `world`
#endif
/// The point and the axes in which something at a node is given.
enum class Frame {
  node,     ///< At the node, in the node's axes.
  aligned,  ///< At the node, in the world's axes.
  world,    ///< Of the body's point at the world's origin, in the world's axes.
};
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#pragma GCC diagnostic pop
#endif

/// Which rows of a Jacobian.
enum class Rows {
  all,      ///< Six, angular over linear.
  angular,  ///< The rotation's three.
  linear,   ///< The translation's three.
};

/// A node on a body: what a name comes to.
struct Place {
  int body = world;                                        ///< The body, or the world.
  Transform<double> X_BN = Transform<double>::identity();  ///< The node's pose on it.
};

/// A node as an argument: a Node, the name of a node or body, or a body's index for its origin. It refers to what it
/// was made of; nobody needs to name this type.
class NodeRef {
 public:
  /// A node.
  NodeRef(const Node& node) : node_(&node) {}  // NOLINT(google-explicit-constructor)
  /// A node or body by name.
  NodeRef(std::string_view name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  /// A node or body by name.
  NodeRef(const std::string& name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  /// A node or body by name.
  NodeRef(const char* name) : name_(name) {}  // NOLINT(google-explicit-constructor)
  /// The origin of a body, or of the world.
  NodeRef(int body) : body_(body) {}  // NOLINT(google-explicit-constructor)

  /// Where it is on the model. Throws ArgumentError for a name or body that does not exist, with the nearest name, and
  /// for a pose with a number that is not finite. O(1), by name O(log N); allocates nothing.
  BUNRAKU_API Place place(const Model& model) const;

 private:
  const Node* node_ = nullptr;
  std::string_view name_;
  int body_ = world;
};

/// Several nodes as an argument: `{"left_foot", "right_foot"}`, or an array or vector of nodes or names.
class NodeList {
 public:
  /// Any, one by one.
  NodeList(std::initializer_list<NodeRef> nodes) : refs_(nodes.begin(), nodes.size()) {}
  /// An array, vector or span of Node, or of names.
  template <class X>
    requires(std::ranges::contiguous_range<X> && std::ranges::sized_range<X>)
  NodeList(const X& nodes) {  // NOLINT(google-explicit-constructor)
    using Item = std::ranges::range_value_t<X>;
    if constexpr (std::is_same_v<Item, Node>) {
      nodes_ = std::span<const Node>(nodes);
    } else if constexpr (std::is_same_v<Item, std::string>) {
      names_ = std::span<const std::string>(nodes);
    } else {
      static_assert(std::is_same_v<Item, NodeRef>, "a list of nodes has nodes, names or both");
      refs_ = std::span<const NodeRef>(nodes);
    }
  }

  /// How many.
  std::size_t size() const { return refs_.size() + nodes_.size() + names_.size(); }
  /// Node i.
  NodeRef operator[](std::size_t i) const {
    return !refs_.empty() ? refs_[i] : !nodes_.empty() ? NodeRef(nodes_[i]) : NodeRef(names_[i]);
  }

 private:
  std::span<const NodeRef> refs_;
  std::span<const Node> nodes_;
  std::span<const std::string> names_;
};

}  // namespace bunraku
