/// @file
/// Pinocchio's model of the bodies of a robot, for the sources that include Pinocchio.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <pinocchio/config.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

inline pinocchio::SE3 se3(const PeerPose& pose) {
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> rotation(pose.rotation.data());
  return {rotation, Eigen::Vector3d(pose.translation.data())};
}

inline pinocchio::Inertia inertia(const PeerBody& body) {
  const std::array<double, 6>& c = body.central;
  Eigen::Matrix3d central;
  central << c[0], c[3], c[4], c[3], c[1], c[5], c[4], c[5], c[2];
  return {body.mass, Eigen::Vector3d(body.center.data()), central};
}

/// Pinocchio's reader has its own kind of hinge for the axes x, y, z, but not for −x, −y, −z.
template <class X, class Y, class Z, class General>
pinocchio::JointModel aligned(const std::array<double, 3>& axis) {
  if (axis == std::array<double, 3>{1, 0, 0}) {
    return X();
  }
  if (axis == std::array<double, 3>{0, 1, 0}) {
    return Y();
  }
  if (axis == std::array<double, 3>{0, 0, 1}) {
    return Z();
  }
  return General(Eigen::Vector3d(axis.data()).normalized());
}

inline pinocchio::JointModel joint_model(const PeerBody& body) {
  using namespace pinocchio;
  switch (body.hinge) {
    case PeerHinge::revolute:
      return aligned<JointModelRX, JointModelRY, JointModelRZ, JointModelRevoluteUnaligned>(body.axis);
    case PeerHinge::continuous:
      return aligned<JointModelRUBX, JointModelRUBY, JointModelRUBZ, JointModelRevoluteUnboundedUnaligned>(body.axis);
    case PeerHinge::prismatic:
      return aligned<JointModelPX, JointModelPY, JointModelPZ, JointModelPrismaticUnaligned>(body.axis);
    case PeerHinge::spherical:
      return JointModelSpherical();
    default:
      return JointModelFreeFlyer();
  }
}

/// Depth first, as Pinocchio wants its joints: the bodies of a subtree follow each other.
inline std::vector<std::size_t> depth_first(std::span<const PeerBody> bodies) {
  std::vector<std::vector<std::size_t>> children(bodies.size() + 1);
  for (std::size_t i = bodies.size(); i-- > 0;) {  // the last first: the stack turns them round
    children[static_cast<std::size_t>(bodies[i].parent + 1)].push_back(i);
  }
  std::vector<std::size_t> order;
  std::vector<std::size_t> stack = children[0];
  while (!stack.empty()) {
    const std::size_t i = stack.back();
    stack.pop_back();
    order.push_back(i);
    stack.insert(stack.end(), children[i + 1].begin(), children[i + 1].end());
  }
  return order;
}

/// Pinocchio's model of a robot, and where Bunraku's coordinates are in it.
struct PinocchioModel {
  struct Joint {
    PeerHinge hinge;
    std::size_t q_index, v_index;  // Bunraku's
    Eigen::Index q_peer, v_peer;   // Pinocchio's
  };

  pinocchio::Model model;
  std::vector<Joint> joints;
  std::vector<Eigen::Index> peer_index;         // of Bunraku's velocity coordinates
  std::vector<pinocchio::JointIndex> joint_of;  // of each body: the joint that carries it
  std::vector<pinocchio::SE3> pose_of;          // of each body: its pose there

  PinocchioModel(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity);
  void add(const PeerBody& body, std::size_t index);
  Eigen::VectorXd velocity(std::span<const double> v) const;
  Eigen::VectorXd configuration(std::span<const double> q) const;
  template <class Vector>
  void get(const Vector& velocity, std::span<double> out) const;
  template <class Matrix>
  void get_symmetric(const Matrix& upper, std::span<double> out) const;
};

inline PinocchioModel::PinocchioModel(std::span<const PeerBody> bodies, const std::array<double, 3>& gravity)
    : joint_of(bodies.size(), 0), pose_of(bodies.size(), pinocchio::SE3::Identity()) {
  for (const std::size_t i : depth_first(bodies)) {
    add(bodies[i], i);
  }
  model.gravity.linear() = Eigen::Vector3d(gravity.data());
}

/// Adds a body; one on a fixed hinge becomes part of the body that carries it.
inline void PinocchioModel::add(const PeerBody& body, std::size_t index) {
  const bool on_world = body.parent < 0;
  const auto parent = static_cast<std::size_t>(on_world ? 0 : body.parent);
  const pinocchio::JointIndex parent_joint = on_world ? 0 : joint_of[parent];
  const pinocchio::SE3 frame = (on_world ? pinocchio::SE3::Identity() : pose_of[parent]) * se3(body.X_PF);
  if (body.hinge == PeerHinge::fixed) {
    joint_of[index] = parent_joint;
    pose_of[index] = frame * se3(body.X_MB);
  } else {
    joint_of[index] = model.addJoint(parent_joint, joint_model(body), frame, body.name);
    pose_of[index] = se3(body.X_MB);
    const pinocchio::JointModel& joint = model.joints[joint_of[index]];
    joints.push_back({body.hinge, body.q_index, body.v_index, joint.idx_q(), joint.idx_v()});
    for (Eigen::Index k = 0; k < joint.nv(); ++k) {
      const Eigen::Index own = body.hinge == PeerHinge::free ? (k + 3) % 6 : k;  // linear first there
      const std::size_t ours = body.v_index + static_cast<std::size_t>(k);
      peer_index.resize(std::max(peer_index.size(), ours + 1));
      peer_index[ours] = joint.idx_v() + own;
      model.armature[joint.idx_v() + own] = body.armature[static_cast<std::size_t>(k)];
    }
  }
  model.appendBodyToJoint(joint_of[index], inertia(body), pose_of[index]);
}

inline Eigen::VectorXd PinocchioModel::velocity(std::span<const double> v) const {
  Eigen::VectorXd out(model.nv);
  for (std::size_t i = 0; i < peer_index.size(); ++i) {
    out[peer_index[i]] = v[i];
  }
  return out;
}

inline Eigen::VectorXd PinocchioModel::configuration(std::span<const double> q) const {
  Eigen::VectorXd out(model.nq);
  for (const Joint& joint : joints) {
    const double* own = &q[joint.q_index];
    if (joint.hinge == PeerHinge::free) {  // (w, x, y, z, p) here, (p, x, y, z, w) there
      out.segment<7>(joint.q_peer) << own[4], own[5], own[6], own[1], own[2], own[3], own[0];
    } else if (joint.hinge == PeerHinge::spherical) {
      out.segment<4>(joint.q_peer) << own[1], own[2], own[3], own[0];
    } else if (joint.hinge == PeerHinge::continuous) {
      out.segment<2>(joint.q_peer) << std::cos(own[0]), std::sin(own[0]);
    } else {
      out[joint.q_peer] = own[0];
    }
  }
  return out;
}

template <class Vector>
void PinocchioModel::get(const Vector& velocity, std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = velocity[peer_index[i]];
  }
}

template <class Matrix>
void PinocchioModel::get_symmetric(const Matrix& upper, std::span<double> out) const {
  const std::size_t n = peer_index.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto [row, column] = std::minmax(peer_index[i], peer_index[j]);
      out[i + n * j] = upper(row, column);
    }
  }
}

}  // namespace bench
