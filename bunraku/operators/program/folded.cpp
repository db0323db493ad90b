#include "bunraku/operators/program/detail/folded.hpp"

#include <algorithm>
#include <numeric>

#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/rigid.hpp"

namespace bunraku::operators {

Folded::Folded(const Model& of, Fold how)
    : model(of), fold(how), coordinates(model), armature(at(model.nv())), stiffness(at(model.nv())) {
  for (std::size_t j = 0; j < coordinates.armature.size(); ++j) {
    const kernels::Follower<double>& f = coordinates.velocities[j];
    armature[at(f.own)] += f.ratio * f.ratio * coordinates.armature[j];
  }
  std::size_t velocity = 0;
  for (const Body& each : model.bodies()) {
    for (int j = 0; j < each.hinge.velocity_size(); ++j) {
      const kernels::Follower<double>& f = coordinates.velocities[velocity++];
      stiffness[at(f.own)] += f.ratio * f.ratio * each.hinge.dofs[at(j)].stiffness;
    }
  }
  if (fold == Fold::links) {
    take_links();
  } else {
    take_bodies();
  }
  for (std::size_t k = 0; k < links.size(); ++k) {
    const kernels::Link<double>& l = links[k];
    if (l.nv > 0) {
      const kernels::Follower<double>& f = coordinates.velocities[at(l.v)];
      places[k].own = f.own;
      places[k].ratio = f.ratio;
    }
    body.first.push_back(rigid * static_cast<int>(k));
    links[k].leaf = true;
  }
  body.first.push_back(rigid * static_cast<int>(links.size()));
  closure.first.push_back(0);
  for (const Closure& each : model.closures()) {
    closure.first.push_back(closure.dimension() + closure_rows(each));
  }
  make_units();
  list_stretches();
  for (int k = static_cast<int>(links.size()) - 1; k >= 0; --k) {  // which child is met first, going inward
    links[at(k)].opens_parent = false;
    if (const int parent = links[at(k)].parent; parent >= 0) {
      links[at(k)].opens_parent = links[at(parent)].leaf;
      links[at(parent)].leaf = false;
    }
    if (places[at(k)].placing != Placing::turn || places[at(k)].coupled) {
      posed.push_back(k);
    }
  }
}

void Folded::take_links() {
  kernels::Tree tree(model);
  links = std::move(tree.links);
  turns = std::move(tree.revolute);
  bodies = std::move(tree.bodies);
  gravity = tree.world_turn.inverse_times(model.gravity());
  places.resize(links.size());
  for (std::size_t k = 0; k < links.size(); ++k) {
    places[k].placing = links[k].kind <= kernels::Kind::revolute_full ? Placing::turn
                        : links[k].kind == kernels::Kind::prismatic   ? Placing::slide
                        : links[k].kind == kernels::Kind::floating    ? Placing::float_free
                                                                      : Placing::law;
    if (links[k].parent < 0) {  // nothing of an expression depends on where the world's origin is
      links[k].p = Vec3<double>::zero();
    }
  }
}

void Folded::take_bodies() {
  gravity = model.gravity();
  for (std::size_t k = 0; k < model.bodies().size(); ++k) {
    const Body& b = model.bodies()[k];
    const kernels::HingeSlot& slot = coordinates.slots[k];
    kernels::Link<double> link;
    link.parent = b.parent;
    link.kind = kernels::Kind::general;
    link.body = static_cast<int>(k);
    link.q = slot.q;
    link.v = slot.v;
    link.nv = slot.nv;
    link.inertia = b.inertia;
    for (int j = 0; j < link.nv; ++j) {
      link.geared = link.geared || coordinates.armature[at(link.v + j)] != 0;
    }
    links.push_back(link);
    const bool one = kernels::OneAxis::has(b.hinge.type);
    one_axis.push_back(one ? kernels::OneAxis::of(b) : kernels::OneAxis{});
    places.push_back({.placing = one ? Placing::one_axis : Placing::body});
    bodies.push_back({static_cast<int>(k), Transform<double>::identity()});
  }
}

void Folded::make_units() {
  for (const detail::Cluster& cluster : detail::clusters_of(model)) {
    if (cluster.members.size() < 2) {
      continue;
    }
    Unit unit;
    for (const int b : cluster.members) {
      // a fixed body within a cluster is part of a link of it, or of the link on which the cluster hangs
      const int link = bodies[at(b)].link;
      if (link >= 0 && links[at(link)].body == b) {
        unit.members.push_back(link);
      }
    }
    std::sort(unit.members.begin(), unit.members.end());
    unit.coordinates = cluster.coordinates;
    for (const int k : unit.members) {
      places[at(k)].coupled = true;
      links[at(k)].kind = kernels::Kind::general;
    }
    coupled = true;
    units.push_back(std::move(unit));
  }
  for (int k = 0; k < static_cast<int>(links.size()); ++k) {
    if (!places[at(k)].coupled) {
      Unit unit{.members = {k}};
      unit.coordinates.resize(at(links[at(k)].nv));
      std::iota(unit.coordinates.begin(), unit.coordinates.end(), places[at(k)].own);
      units.push_back(std::move(unit));
    }
  }
  std::sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.members[0] < b.members[0]; });
  int block = 0;
  for (int u = 0; u < static_cast<int>(units.size()); ++u) {
    Unit& unit = units[at(u)];
    unit.parent = links[at(unit.members.front())].parent;
    unit.block = block;
    const int n = static_cast<int>(unit.coordinates.size());
    for (const int k : unit.members) {
      nested = nested || links[at(k)].parent != unit.parent;
      places[at(k)].unit = u;
      places[at(k)].block = block;
    }
    armature_blocks.resize(at(block + n * n));
    for (int i = 0; i < n; ++i) {
      armature_blocks[at(block + i * n + i)] = armature[at(unit.coordinates[at(i)])];
    }
    block += n * n;
  }
}

void Folded::list_stretches() {
  const auto add = [](std::vector<Stretch>& all, kernels::Kind kind, bool cluster, int k) {
    if (all.empty() || all.back().kind != kind || all.back().cluster || cluster || all.back().end != k) {
      all.push_back({kind, cluster, k, k});
    }
    all.back().end = k + 1;
  };
  for (int k = 0; k < static_cast<int>(links.size()); ++k) {
    add(by_link, links[at(k)].kind, false, k);
  }
  for (const Unit& unit : units) {
    const int k = unit.members.front();
    add(by_unit, links[at(k)].kind, places[at(k)].coupled, k);
  }
}

int Folded::dimension(SpaceKind kind, int nodes) const {
  switch (kind) {
    case SpaceKind::number:
      return 1;
    case SpaceKind::hinge:
      return model.nv();
    case SpaceKind::body:
      return body.dimension();
    case SpaceKind::node:
      return rigid * nodes;
    case SpaceKind::closure:
      return closure.dimension();
    case SpaceKind::any:
      break;
  }
  return 0;
}

NodePlace Folded::place(const Place& node) const {
  if (node.body == world) {
    return {};
  }
  const kernels::BodyPlace& place = bodies[at(node.body)];
  return {place.link, place.X_LB * node.X_BN};
}

}  // namespace bunraku::operators
