#include "bunraku/model/nodes.hpp"

#include "bunraku/model/detail/nodes.hpp"

namespace bunraku {

Place NodeRef::place(const Model& model) const {
  if (node_ != nullptr) {
    kernels::check_place(model, node_->body, node_->X_BN, "node", node_->name);
    return {node_->body, node_->X_BN};
  }
  if (name_.data() == nullptr) {
    return {body_ == world ? world : (static_cast<void>(model.body(body_)), body_), Transform<double>::identity()};
  }
  if (const auto body = model.find_body(name_)) {
    return {*body, Transform<double>::identity()};
  }
  if (const Node* node = model.find_listed_node(name_)) {
    return {node->body, node->X_BN};
  }
  static_cast<void>(model.node(name_));  // throws, with the nearest name
  return {};
}

}  // namespace bunraku
