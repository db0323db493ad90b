#include "bunraku/model/hinge_set.hpp"

namespace bunraku {

HingeSet::HingeSet(const Model& model) : model_(model), member_(model.bodies().size()) {}

HingeSet::HingeSet(const Model& model, std::initializer_list<std::string_view> hinges)
    : HingeSet(model, std::span<const std::string_view>(hinges.begin(), hinges.size())) {}

HingeSet::HingeSet(const Model& model, std::span<const std::string> hinges) : HingeSet(model) {
  for (const std::string& hinge : hinges) {
    insert(hinge);
  }
}

HingeSet::HingeSet(const Model& model, std::span<const std::string_view> hinges) : HingeSet(model) {
  for (const std::string_view hinge : hinges) {
    insert(hinge);
  }
}

HingeSet HingeSet::all(const Model& model) {
  return HingeSet(model).complement();
}

std::vector<int> HingeSet::bodies() const {
  std::vector<int> out;
  for (int i = 0; i < static_cast<int>(member_.size()); ++i) {
    if (contains(i)) {
      out.push_back(i);
    }
  }
  return out;
}

HingeSet& HingeSet::insert(int body) {
  static_cast<void>(model_.body(body));  // throws where there is none
  if (!contains(body)) {
    member_[static_cast<std::size_t>(body)] = true;
    ++size_;
  }
  return *this;
}

HingeSet& HingeSet::erase(int body) {
  static_cast<void>(model_.body(body));
  if (contains(body)) {
    member_[static_cast<std::size_t>(body)] = false;
    --size_;
  }
  return *this;
}

HingeSet HingeSet::complement() const {
  HingeSet out(model_);
  for (int i = 0; i < static_cast<int>(member_.size()); ++i) {
    if (!contains(i) && model_.body(i).nv > 0) {
      out.insert(i);
    }
  }
  return out;
}

}  // namespace bunraku
