#include <algorithm>

#include <Eigen/Eigenvalues>

#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// Whether it is of kind `modal`: nodes on one link, whose coordinates are the cluster's, one by one.
bool Tree::is_modal(const CoupledLinks& cluster) const {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int n = static_cast<int>(cluster.coordinates.size());
  return std::all_of(links.begin() + cluster.begin, links.begin() + cluster.end, [&](const Link<double>& l) {
    bool same = model.bodies()[at(l.body)].hinge.type == HingeType::modal && l.parent == cluster.parent && l.nv == n;
    for (int i = 0; i < n && same; ++i) {
      const Follower<double>& follower = within[at(l.v + i)];
      same = follower.own == i && follower.ratio == 1 && cluster.coordinates[at(i)] == cluster.coordinates.front() + i;
    }
    return same;
  });
}

/// Sums over the lumps of a cluster, if it has some.
void Tree::add_lumps(CoupledLinks& cluster) {
  LumpSums out;
  for (int k = cluster.begin; k < cluster.end; ++k) {
    if (links[static_cast<std::size_t>(k)].kind == Kind::lump) {
      out.links.push_back(k);
    }
  }
  cluster.lumps_begin = cluster.end - static_cast<int>(out.links.size());
  if (out.links.empty()) {
    return;
  }
  const auto n = cluster.coordinates.size();
  out.modes = static_cast<int>(n);
  out.q = links[static_cast<std::size_t>(out.links.front())].q;
  out.moved.resize(n);
  out.at_rest.resize(n);
  out.change.resize(n * n);
  out.mass_matrix.resize(n * n);
  for (const int k : out.links) {
    const Link<double>& l = links[static_cast<std::size_t>(k)];
    const RigidInertia<double> there = Transform<double>{Rotation<double>(l.turn), l.p} * l.inertia;
    const Mat3<double> J = there.inertia.full();
    out.mass += there.mass;
    out.moment += there.first_moment;
    out.second += Mat3<double>::identity() * (0.5 * (J(0, 0) + J(1, 1) + J(2, 2))) - J;
    const std::vector<Vec3<double>>& shapes = hinge(k).modal->translation;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3<double> g = l.turn * shapes[i];
      out.moved[i] += g * there.mass;
      out.at_rest[i] += outer(there.first_moment, g);
      for (std::size_t j = 0; j < n; ++j) {
        const Vec3<double> other = l.turn * shapes[j] * there.mass;
        out.change[i * n + j] += outer(other, g);
        out.mass_matrix[i * n + j] += dot(other, g);
      }
    }
  }
  const Eigen::Map<const Eigen::MatrixXd> mass(out.mass_matrix.data(), out.modes, out.modes);
  out.least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(mass, Eigen::EigenvaluesOnly).eigenvalues()(0);
  cluster.lumps = static_cast<int>(lumps.size());
  lumps.push_back(std::move(out));
}

}  // namespace bunraku::kernels
