#include "bunraku/kernels/singular.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/kernels/small_matrix.hpp"

namespace bunraku::kernels {

SingularError massless(const Hinge& hinge, std::string_view also) {
  return SingularError(
      fmt::format("hinge '{}' {}moves nothing that has mass: its articulated inertia D is singular", hinge.name, also));
}

SingularError too_heavy(const Hinge& hinge, std::string_view also) {
  return SingularError(
      fmt::format("hinge '{}' {}carries more mass than numbers of this precision can tell", hinge.name, also));
}

namespace {

/// How far a hinge's coordinate can shift its body, at most.
double travel(const HingeDof& dof, double unlimited) {
  const double most = std::max(std::abs(dof.lower), std::abs(dof.upper));
  return std::isfinite(most) ? most : unlimited;
}

/// How far M's origin can be from F's, which is at that distance from the parent's origin.
double travel(const Hinge& hinge, double arm, double unlimited) {
  const std::vector<HingeDof>& dofs = hinge.dofs;
  switch (hinge.type) {
    case HingeType::prismatic:
      return travel(dofs[0], unlimited);
    case HingeType::helical:
      return std::min(unlimited, std::abs(hinge.pitch) * travel(dofs[0], unlimited));
    case HingeType::cylindrical:
      return travel(dofs[1], unlimited);
    case HingeType::planar:
      return std::hypot(travel(dofs[0], unlimited), travel(dofs[1], unlimited));
    case HingeType::translational:
      return std::hypot(travel(dofs[0], unlimited), travel(dofs[1], unlimited), travel(dofs[2], unlimited));
    case HingeType::modal: {
      double most = 0;
      for (std::size_t i = 0; i < dofs.size(); ++i) {
        most += std::sqrt(squared_norm(hinge.modal->translation[i])) * travel(dofs[i], 1);  // modes bend a little
      }
      return std::min(arm, most);  // modes that bend a body by more than its size mean nothing
    }
    case HingeType::free:
    case HingeType::custom:
      return unlimited;
    default:
      return 0;
  }
}

}  // namespace

std::vector<BodyBound> bounds_of(const Model& model) {
  std::vector<BodyBound> out;
  for (const Body& body : model.bodies()) {
    const Sym3<double>& inertia = body.inertia.inertia;
    BodyBound bound{body.inertia.mass,
                    0.5 * (inertia.xx + inertia.yy + inertia.zz),
                    std::sqrt(squared_norm(body.X_PF.translation)),
                    {}};
    for (const HingeDof& dof : body.hinge.dofs) {
      bound.armature.push_back(dof.armature);
    }
    out.push_back(bound);
  }
  return out;
}

template <class T>
std::vector<T> doubtful_inertias(const Model& model, std::span<const BodyBound> bounds) {
  const std::span<const Body> bodies = model.bodies();
  double length = 0;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    length += bounds[k].arm + std::sqrt(squared_norm(bodies[k].X_MB.translation));
  }
  // of each body and all outside it: the mass, and √∫|x|²dm about its hinge, which grows by √m |l| in a shift by l
  std::vector<double> mass(bodies.size());
  std::vector<double> moment(bodies.size());  // ∫|x|²dm about the body's origin
  std::vector<std::vector<T>> floors(bodies.size());
  for (std::size_t k = bodies.size(); k-- > 0;) {
    const Body& body = bodies[k];
    mass[k] += bounds[k].mass;
    moment[k] += bounds[k].moment;
    const auto shifted = [&](double from, double by) { return from + std::sqrt(mass[k]) * by; };
    const double radius = shifted(std::sqrt(moment[k]), std::sqrt(squared_norm(body.X_MB.translation)));
    const int n = body.hinge.velocity_size();
    std::vector<double> q(static_cast<std::size_t>(body.hinge.configuration_size()));
    std::vector<Motion<double>> columns(static_cast<std::size_t>(n));
    hinge_neutral(body.hinge, q.data());
    hinge_joint_map(body.hinge, q.data(), columns.data());
    const T part = doubtful_part<T>(n);
    for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) {
      const double most = 2 * radius * radius * squared_norm(columns[j].angular) +
                          3 * mass[k] * squared_norm(columns[j].linear) + bounds[k].armature[j];
      floors[k].push_back(part * static_cast<T>(most));
    }
    if (body.parent != world) {
      const auto p = static_cast<std::size_t>(body.parent);
      const double far = shifted(radius, bounds[k].arm + travel(body.hinge, bounds[k].arm, 16 * length));
      mass[p] += mass[k];
      moment[p] += far * far;
    }
  }
  std::vector<T> out;
  for (const std::vector<T>& each : floors) {
    out.insert(out.end(), each.begin(), each.end());
  }
  return out;
}

template <class T>
void check_positive(const Hinge& hinge, const HingeDoubt<T>& doubt, const RigidInertia<T>& own,
                    const RigidInertia<T>& carried) {
  const int n = static_cast<int>(doubt.H.size());
  std::array<T, max_hinge_velocities> rounding{};
  std::array<T, max_hinge_velocities * max_hinge_velocities> D{};
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  for (int j = 0; j < n; ++j) {
    const auto c = static_cast<std::size_t>(j);
    const Motion<T>& H = doubt.H[c];
    const T armature = doubt.armature.empty() ? static_cast<T>(hinge.dofs[c].armature) : doubt.armature[c];
    rounding[c] = rounding_of(H, armature, own, carried);
    if (!std::isfinite(rounding[c])) {
      throw too_heavy(hinge);
    }
    if (!(doubt.D_inverse[c] > T(0))) {
      throw massless(hinge);
    }
    for (int i = 0; i <= j; ++i) {  // D = L diag(D) L* with L(i,j) = H(i)U(j)/D(j)
      const T l = i == j ? T(1) : dot(doubt.H[static_cast<std::size_t>(i)], doubt.U[c]) * doubt.D_inverse[c];
      for (int m = 0; m <= i; ++m) {
        const T u = m == j ? T(1) / doubt.D_inverse[c] : dot(doubt.H[static_cast<std::size_t>(m)], doubt.U[c]);
        D[at(i, m)] = D[at(m, i)] += l * u;
      }
    }
  }
  std::array<int, max_hinge_velocities> order{};
  if (vanishing_pivot(D.data(), n, rounding.data(), order.data()) >= 0) {
    throw massless(hinge);
  }
}

template std::vector<double> doubtful_inertias(const Model&, std::span<const BodyBound>);
template std::vector<float> doubtful_inertias(const Model&, std::span<const BodyBound>);
template void check_positive(const Hinge&, const HingeDoubt<double>&, const RigidInertia<double>&,
                             const RigidInertia<double>&);
template void check_positive(const Hinge&, const HingeDoubt<float>&, const RigidInertia<float>&,
                             const RigidInertia<float>&);

}  // namespace bunraku::kernels
