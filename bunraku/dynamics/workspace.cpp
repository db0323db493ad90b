#include "bunraku/dynamics/detail/workspace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/small_matrix.hpp"
#include "bunraku/error.hpp"
#include "bunraku/model/hinge_laws.hpp"

namespace bunraku::kernels {

template <class T>
Workspace<T>::Workspace(const Model& model)
    : model_(model),
      tree_(model),
      q_(static_cast<std::size_t>(tree_.nq)),
      v_(static_cast<std::size_t>(tree_.nv)),
      local_(tree_.bodies.size()),
      world_(tree_.bodies.size() + 1),
      joint_map_(static_cast<std::size_t>(tree_.nv)),
      velocity_(tree_.bodies.size() + 1),
      bias_(tree_.bodies.size()),
      acceleration_(tree_.bodies.size() + 1),
      force_(tree_.bodies.size() + 1),
      composite_(tree_.bodies.size() + 1),
      articulated_(tree_.bodies.size() + 1),
      gain_(static_cast<std::size_t>(tree_.nv)),
      d_inverse_(static_cast<std::size_t>(tree_.nd)),
      innovation_(static_cast<std::size_t>(tree_.nv)) {}

template <class T>
void Workspace<T>::set_state(std::span<const T> q, std::span<const T> v) {
  positions_ = velocities_ = articulated_ok_ = false;
  std::copy(q.begin(), q.end(), q_.begin());
  std::copy(v.begin(), v.end(), v_.begin());
}

template <class T>
void Workspace<T>::place_general(std::size_t k) {
  const Hinge& hinge = model_.bodies()[k].hinge;
  const TreeBody<T>& body = tree_.bodies[k];
  std::array<double, max_hinge_positions> qd{};
  std::copy_n(q_.begin() + body.q_index, hinge.configuration_size(), qd.begin());
  const double* q = qd.data();
  std::array<Motion<double>, max_hinge_velocities> columns{};
  hinge_joint_map(hinge, q, columns.data());
  for (int j = 0; j < body.nv; ++j) {
    joint_map_[static_cast<std::size_t>(body.v_index + j)] = cast<T>(columns[static_cast<std::size_t>(j)]);
  }
  local_[k] = body.X_PF * cast<T>(hinge_pose(hinge, q));
}

template <class T>
void Workspace<T>::update_positions() {
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const TreeBody<T>& body = tree_.bodies[k];
    const Mat3<T>& f = body.X_PF.rotation.matrix();
    switch (body.stroke) {
      case Stroke::none:
        local_[k] = body.X_PF;
        break;
      case Stroke::revolute: {
        const T angle = static_cast<T>(q_[static_cast<std::size_t>(body.q_index)]);
        const T c = std::cos(angle);
        const T s = std::sin(angle);
        local_[k] = {Rotation<T>(Mat3<T>::from_columns(f.column(0) * c + f.column(1) * s,
                                                       f.column(1) * c - f.column(0) * s, f.column(2))),
                     body.X_PF.translation};
        joint_map_[static_cast<std::size_t>(body.v_index)] = {Vec3<T>::unit_z(), Vec3<T>::zero()};
        break;
      }
      case Stroke::prismatic:
        local_[k] = {body.X_PF.rotation,
                     body.X_PF.translation + f.column(2) * static_cast<T>(q_[static_cast<std::size_t>(body.q_index)])};
        joint_map_[static_cast<std::size_t>(body.v_index)] = {Vec3<T>::zero(), Vec3<T>::unit_z()};
        break;
      case Stroke::general:
        place_general(k);
        break;
    }
  }
}

template <class T>
void Workspace<T>::update_velocities() {
  velocity_[0] = Motion<T>::zero();
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const TreeBody<T>& body = tree_.bodies[k];
    Motion<T> relative = Motion<T>::zero();
    for (int j = 0; j < body.nv; ++j) {
      const auto at = static_cast<std::size_t>(body.v_index + j);
      relative += joint_map_[at] * static_cast<T>(v_[at]);
    }
    const Motion<T> V = inverse_times(local_[k], velocity_[static_cast<std::size_t>(body.parent + 1)]) + relative;
    bias_[k] = cross(V, relative);
    if (body.stroke == Stroke::general) {
      std::array<double, max_hinge_positions> qd{};
      std::array<double, max_hinge_positions> vd{};
      std::copy_n(q_.begin() + body.q_index, model_.bodies()[k].hinge.configuration_size(), qd.begin());
      std::copy_n(v_.begin() + body.v_index, body.nv, vd.begin());
      bias_[k] += cast<T>(hinge_bias(model_.bodies()[k].hinge, qd.data(), vd.data()));
    }
    velocity_[k + 1] = V;
  }
}

template <class T>
void Workspace<T>::update_world() {
  world_[0] = Transform<T>::identity();
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    world_[k + 1] = world_[static_cast<std::size_t>(tree_.bodies[k].parent + 1)] * local_[k];
  }
}

template <class T>
Transform<T> Workspace<T>::world_pose(int body) const {
  return world_[static_cast<std::size_t>(body + 1)] * tree_.bodies[static_cast<std::size_t>(body)].X_CB;
}

template <class T>
void Workspace<T>::inverse(std::span<const T> acceleration, const Vec3<T>& gravity, bool with_velocity,
                           std::span<T> torque) {
  acceleration_[0] = {Vec3<T>::zero(), -gravity};
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const TreeBody<T>& body = tree_.bodies[k];
    Motion<T> A = inverse_times(local_[k], acceleration_[static_cast<std::size_t>(body.parent + 1)]);
    for (int j = 0; j < body.nv; ++j) {
      const auto at = static_cast<std::size_t>(body.v_index + j);
      A += joint_map_[at] * acceleration[at];
    }
    Force<T> f;
    if (with_velocity) {
      A += bias_[k];
      f = body.inertia * A + cross(velocity_[k + 1], body.inertia * velocity_[k + 1]);
    } else {
      f = body.inertia * A;
    }
    acceleration_[k + 1] = A;
    force_[k + 1] = f;
  }
  for (std::size_t k = tree_.bodies.size(); k-- > 0;) {
    const TreeBody<T>& body = tree_.bodies[k];
    for (int j = 0; j < body.nv; ++j) {
      const auto at = static_cast<std::size_t>(body.v_index + j);
      torque[at] = dot(joint_map_[at], force_[k + 1]) + tree_.armature[at] * acceleration[at];
    }
    if (body.parent != world) {
      force_[static_cast<std::size_t>(body.parent + 1)] += local_[k] * force_[k + 1];
    }
  }
}

template <class T>
void Workspace<T>::update_articulated() {
  log_determinant_ = T(0);
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    articulated_[k + 1] = ArticulatedInertia<T>::from_rigid(tree_.bodies[k].inertia);
  }
  for (std::size_t k = tree_.bodies.size(); k-- > 0;) {
    const TreeBody<T>& body = tree_.bodies[k];
    ArticulatedInertia<T> P = articulated_[k + 1];
    T* D = d_inverse_.data() + body.d_index;
    const std::size_t first = static_cast<std::size_t>(body.v_index);
    const auto n = static_cast<std::size_t>(body.nv);
    for (std::size_t i = 0; i < n; ++i) {
      gain_[first + i] = P * joint_map_[first + i];
      for (std::size_t j = 0; j <= i; ++j) {
        D[i * n + j] = D[j * n + i] = dot(joint_map_[first + j], gain_[first + i]);
      }
      D[i * n + i] += tree_.armature[first + i];
    }
    if (n > 0 && !invert_positive(D, body.nv, log_determinant_)) {
      throw Error(fmt::format("hinge '{}' moves nothing that has mass: its articulated inertia D is singular",
                              model_.bodies()[k].hinge.name));
    }
    if (body.parent == world) {
      continue;
    }
    for (std::size_t i = 0; i < n; ++i) {  // P − G D G*, column by column of D⁻¹
      Force<T> column = Force<T>::zero();
      for (std::size_t j = 0; j < n; ++j) {
        column += gain_[first + j] * D[i * n + j];
      }
      const Force<T>& u = gain_[first + i];
      P.rotational -= Sym3<T>::symmetric_part(outer(u.moment, column.moment));
      P.coupling -= outer(u.moment, column.force);
      P.linear -= Sym3<T>::symmetric_part(outer(u.force, column.force));
    }
    articulated_[static_cast<std::size_t>(body.parent + 1)] += local_[k] * P;
  }
}

template <class T>
void Workspace<T>::forward(std::span<const T> torque, const Vec3<T>& gravity, std::span<T> acceleration) {
  // inward: the force that the bodies beyond would need, and ε = T − H z; P a enters once P is known
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const RigidInertia<T>& M = tree_.bodies[k].inertia;
    force_[k + 1] = cross(velocity_[k + 1], M * velocity_[k + 1]);
  }
  for (std::size_t k = tree_.bodies.size(); k-- > 0;) {
    const TreeBody<T>& body = tree_.bodies[k];
    const auto first = static_cast<std::size_t>(body.v_index);
    const auto n = static_cast<std::size_t>(body.nv);
    Force<T> z = force_[k + 1] + articulated_[k + 1] * bias_[k];
    for (std::size_t i = 0; i < n; ++i) {
      innovation_[first + i] = torque[first + i] - dot(joint_map_[first + i], z);
    }
    if (body.parent == world) {
      continue;
    }
    const T* D = d_inverse_.data() + body.d_index;
    for (std::size_t i = 0; i < n; ++i) {
      T nu{};
      for (std::size_t j = 0; j < n; ++j) {
        nu += D[i * n + j] * innovation_[first + j];
      }
      z += gain_[first + i] * nu;
    }
    force_[static_cast<std::size_t>(body.parent + 1)] += local_[k] * z;
  }
  acceleration_[0] = {Vec3<T>::zero(), -gravity};
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const TreeBody<T>& body = tree_.bodies[k];
    const auto first = static_cast<std::size_t>(body.v_index);
    const auto n = static_cast<std::size_t>(body.nv);
    const T* D = d_inverse_.data() + body.d_index;
    const Motion<T> carried = inverse_times(local_[k], acceleration_[static_cast<std::size_t>(body.parent + 1)]);
    Motion<T> A = carried + bias_[k];
    for (std::size_t i = 0; i < n; ++i) {
      T sum{};
      for (std::size_t j = 0; j < n; ++j) {  // P a is in ε already: G* acts on what the parent carries
        sum += D[i * n + j] * (innovation_[first + j] - dot(gain_[first + j], carried));
      }
      acceleration[first + i] = sum;
      A += joint_map_[first + i] * sum;
    }
    acceleration_[k + 1] = A;
  }
}

template <class T>
void Workspace<T>::solve(std::span<const T> x, std::span<T> out) {
  std::fill(force_.begin(), force_.end(), Force<T>::zero());
  for (std::size_t k = tree_.bodies.size(); k-- > 0;) {
    const TreeBody<T>& body = tree_.bodies[k];
    const auto first = static_cast<std::size_t>(body.v_index);
    const auto n = static_cast<std::size_t>(body.nv);
    const T* D = d_inverse_.data() + body.d_index;
    Force<T> z = force_[k + 1];
    std::array<T, max_hinge_velocities> epsilon{};
    for (std::size_t i = 0; i < n; ++i) {
      epsilon[i] = x[first + i] - dot(joint_map_[first + i], z);
    }
    for (std::size_t i = 0; i < n; ++i) {
      T nu{};
      for (std::size_t j = 0; j < n; ++j) {
        nu += D[i * n + j] * epsilon[j];
      }
      innovation_[first + i] = nu;
      z += gain_[first + i] * nu;
    }
    if (body.parent != world) {
      force_[static_cast<std::size_t>(body.parent + 1)] += local_[k] * z;
    }
  }
  acceleration_[0] = Motion<T>::zero();
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    const TreeBody<T>& body = tree_.bodies[k];
    const auto first = static_cast<std::size_t>(body.v_index);
    const auto n = static_cast<std::size_t>(body.nv);
    const T* D = d_inverse_.data() + body.d_index;
    Motion<T> A = inverse_times(local_[k], acceleration_[static_cast<std::size_t>(body.parent + 1)]);
    const Motion<T> carried = A;
    for (std::size_t i = 0; i < n; ++i) {
      T sum = innovation_[first + i];
      for (std::size_t j = 0; j < n; ++j) {
        sum -= D[i * n + j] * dot(gain_[first + j], carried);
      }
      out[first + i] = sum;
      A += joint_map_[first + i] * sum;
    }
    acceleration_[k + 1] = A;
  }
}

template <class T>
void Workspace<T>::mass_matrix(std::span<T> out) {
  const auto n = static_cast<std::size_t>(tree_.nv);
  std::fill(out.begin(), out.end(), T(0));
  for (std::size_t k = 0; k < tree_.bodies.size(); ++k) {
    composite_[k + 1] = tree_.bodies[k].inertia;
  }
  for (std::size_t k = tree_.bodies.size(); k-- > 0;) {
    const TreeBody<T>& body = tree_.bodies[k];
    for (int j = 0; j < body.nv; ++j) {
      const auto column = static_cast<std::size_t>(body.v_index + j);
      Force<T> f = composite_[k + 1] * joint_map_[column];
      for (int i = 0; i <= j; ++i) {
        const auto row = static_cast<std::size_t>(body.v_index + i);
        out[column * n + row] = out[row * n + column] = dot(joint_map_[row], f);
      }
      out[column * n + column] += tree_.armature[column];
      std::size_t at = k;
      while (tree_.bodies[at].parent != world) {
        f = local_[at] * f;
        at = static_cast<std::size_t>(tree_.bodies[at].parent);
        const TreeBody<T>& ancestor = tree_.bodies[at];
        for (int i = 0; i < ancestor.nv; ++i) {
          const auto row = static_cast<std::size_t>(ancestor.v_index + i);
          out[column * n + row] = out[row * n + column] = dot(joint_map_[row], f);
        }
      }
    }
    if (body.parent != world) {
      composite_[static_cast<std::size_t>(body.parent + 1)] += local_[k] * composite_[k + 1];
    }
  }
}

template class Workspace<double>;
template class Workspace<float>;

}  // namespace bunraku::kernels
