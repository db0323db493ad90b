#include "peer_model.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace bench {

namespace bk = bunraku;

PeerPose peer_pose(const bk::Transform<double>& x) {
  PeerPose out;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out.rotation[static_cast<std::size_t>(3 * i + j)] = x.rotation(i, j);
    }
  }
  out.translation = {x.translation.x, x.translation.y, x.translation.z};
  return out;
}

namespace {

PeerHinge peer_hinge(const bk::Body& body) {
  switch (body.hinge.type) {
    case bk::HingeType::fixed:
      return PeerHinge::fixed;
    case bk::HingeType::revolute:
      return PeerHinge::revolute;
    case bk::HingeType::continuous:
      return PeerHinge::continuous;
    case bk::HingeType::prismatic:
      return PeerHinge::prismatic;
    case bk::HingeType::spherical:
      return PeerHinge::spherical;
    case bk::HingeType::free:
      return PeerHinge::free;
    default:
      throw std::runtime_error(
          fmt::format("{}: the benchmark has no {} hinges", body.hinge.name, bk::to_string(body.hinge.type)));
  }
}

PeerBody peer_body(const bk::Body& body) {
  const bk::Vec3<double> center = body.inertia.center();
  const bk::Sym3<double> central = body.inertia.central();
  PeerBody out{.name = body.name,
               .parent = body.parent,
               .hinge = peer_hinge(body),
               .axis = {body.hinge.axis.x, body.hinge.axis.y, body.hinge.axis.z},
               .X_PF = peer_pose(body.X_PF),
               .X_MB = peer_pose(body.X_MB),
               .mass = body.inertia.mass,
               .center = {center.x, center.y, center.z},
               .central = {central.xx, central.yy, central.zz, central.xy, central.xz, central.yz},
               .q_index = static_cast<std::size_t>(body.q_index),
               .v_index = static_cast<std::size_t>(body.v_index)};
  for (std::size_t k = 0; k < body.hinge.dofs.size(); ++k) {
    out.armature[k] = body.hinge.dofs[k].armature;
  }
  return out;
}

}  // namespace

std::vector<PeerBody> peer_bodies(const bk::Model& model) {
  std::vector<PeerBody> bodies;
  for (const bk::Body& body : model.bodies()) {
    bodies.push_back(peer_body(body));
  }
  return bodies;
}

std::array<double, 3> peer_gravity(const bk::Model& model) {
  return {model.gravity().x, model.gravity().y, model.gravity().z};
}

}  // namespace bench
