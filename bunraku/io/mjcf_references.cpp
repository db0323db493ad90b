#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

namespace {

/// All keyframes together: a hostile file must not fill the memory.
constexpr std::size_t most_numbers = 1'000'000;

/// MuJoCo's free joint has its position before its quaternion; a zero quaternion is no rotation.
std::vector<double> our_coordinates(HingeType type, const double* q) {
  if (type != HingeType::free && type != HingeType::spherical) {
    return {*q};
  }
  const double* w = type == HingeType::free ? q + 3 : q;
  Quaternion<double> turn{w[0], w[1], w[2], w[3]};
  turn = turn.norm() > 0 && std::isfinite(turn.norm()) ? turn.normalized() : Quaternion<double>{1, 0, 0, 0};
  std::vector<double> out = {turn.w, turn.x, turn.y, turn.z};
  if (type == HingeType::free) {
    out.insert(out.end(), q, q + 3);
  }
  return out;
}

std::size_t position_count(HingeType type) {
  return static_cast<std::size_t>(configuration_size(type));
}

}  // namespace

void MjcfReferences::add_joint(const MjcfJoint& joint, const Transform<double>& X_PB) {
  const HingeType type = joint.hinge.type;
  std::vector<double> initial = {joint.reference};
  if (type == HingeType::spherical) {
    initial = {1, 0, 0, 0};
  } else if (type == HingeType::free) {
    const Quaternion<double> q = X_PB.rotation.quaternion();
    const Vec3<double>& p = X_PB.translation;
    initial = {q.w, q.x, q.y, q.z, p.x, p.y, p.z};
    neutral_ = neutral_ && X_PB == Transform<double>::identity();
  } else {
    neutral_ = neutral_ && joint.reference == 0;
  }
  positions_ += position_count(type);
  joints_.push_back({joint.hinge.name, type, std::move(initial)});
}

ReferenceSpec MjcfReferences::initial() const {
  ReferenceSpec out;
  out.name = initial_name;
  for (const Joint& joint : joints_) {
    out.positions.emplace(joint.hinge, joint.initial);
  }
  return out;
}

void MjcfReferences::read(const std::vector<XmlElement>& sections) {
  if (!neutral_) {
    builder_.add_reference(initial());
  }
  for (const XmlElement& section : sections) {
    if (section.name() != "keyframe") {
      continue;
    }
    section.mark_used();
    for (const XmlElement& key : shared_.files.children(section)) {
      if (key.name() == "key") {
        read_key(key);
      }
    }
  }
}

void MjcfReferences::read_key(const XmlElement& key) {
  key.mark_used();
  const int number = keys_++;
  const Lenient lenient(key.document(), "the keyframe is not used");  // no dynamics depends on it
  if (static_cast<std::size_t>(keys_) * std::max<std::size_t>(positions_, 1) > most_numbers) {
    key.mark_all_used();
    key.error(fmt::format("all keyframes together have more than {} numbers", most_numbers));
    return;
  }
  ReferenceSpec reference = initial();
  reference.where = key.where();
  reference.name = key.attribute("name").value_or("");
  if (reference.name.empty()) {
    reference.name = fmt::format("key_{}", number);
  } else if (reference.name == initial_name) {
    reference.name += "_key";
    key.warning(fmt::format("the keyframe '{}' has the name of the model's own start: it is called '{}' here",
                            initial_name, reference.name));
  }
  if (key.has("qpos") && !key.has_blank("qpos")) {
    const auto q = key.numbers("qpos", positions_, positions_);
    if (!q) {
      return;
    }
    std::size_t at = 0;
    for (const Joint& joint : joints_) {
      reference.positions[joint.hinge] = our_coordinates(joint.type, q->data() + at);
      at += position_count(joint.type);
    }
  }
  builder_.add_reference(std::move(reference));
}

}  // namespace bunraku::io
