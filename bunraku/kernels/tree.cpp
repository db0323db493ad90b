#include "bunraku/kernels/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "bunraku/error.hpp"
#include "bunraku/kernels/loops.hpp"
#include "bunraku/kernels/pack.hpp"
#include "bunraku/kernels/singular.hpp"
#include "bunraku/model/detail/clusters.hpp"

namespace bunraku::kernels {

namespace {

/// A sine or cosine this small is rounding of zero.
constexpr double negligible = 4e-16;

bool is_revolute(HingeType type) {
  return type == HingeType::revolute || type == HingeType::continuous;
}

/// Whether a hinge can shift what it carries as far as it likes.
bool slides(const Hinge& hinge) {
  switch (hinge.type) {
    case HingeType::prismatic:
    case HingeType::helical:
    case HingeType::cylindrical:
    case HingeType::planar:
    case HingeType::translational:
    case HingeType::free:
    case HingeType::custom:
      return true;
    default:
      return false;
  }
}

/// A link while frames are being chosen, in double precision.
struct Draft {
  int parent = -1;
  int body = 0;
  Rotation<double> turn;                                        // of the hinge's frame in the parent's
  Vec3<double> p = Vec3<double>::zero();                        // likewise
  RigidInertia<double> inertia = RigidInertia<double>::zero();  // in C
  double offset = 0;
  double turned = 0;  // about its own z, since its bodies were placed
  Rotation<double> R_MC = {};
  std::vector<int> children = {};
};

/// R = Rz(first) Rx(middle) Rz(last), with middle in 0 … π; where that is not unique, first = 0.
struct EulerAngles {
  double first = 0;
  double middle = 0;
  double last = 0;
};
EulerAngles euler_zxz(const Rotation<double>& rotation) {
  const Mat3<double>& r = rotation.matrix();
  const double sine = std::hypot(r(0, 2), r(1, 2));
  EulerAngles out;
  if (sine > negligible) {
    out.first = std::atan2(r(0, 2), -r(1, 2));
  }
  out.middle = std::atan2(sine > negligible ? sine : 0.0, r(2, 2));
  // the last from what is left, not from the third row: near-parallel axes leave both that row and the first angle to
  // rounding, but their sum is well determined
  const Rotation<double> rest =
      (Rotation<double>::about_z(out.first) * Rotation<double>::about_x(out.middle)).inverse() * rotation;
  out.last = std::atan2(rest.matrix()(1, 0), rest.matrix()(0, 0));
  return out;
}

/// Merges what fixed hinges join, and turns one-axis hinges to z.
std::vector<Draft> merge(const Model& model, std::vector<BodyPlace>& places) {
  std::vector<Draft> drafts;
  places.resize(model.bodies().size());
  for (std::size_t k = 0; k < model.bodies().size(); ++k) {
    const Body& body = model.bodies()[k];
    const auto parent = static_cast<std::size_t>(body.parent);
    const int parent_link = body.parent == world ? -1 : places[parent].link;
    const Transform<double> X_LF =
        (body.parent == world ? Transform<double>::identity() : places[parent].X_LB) * body.X_PF;
    if (body.hinge.type == HingeType::fixed) {
      places[k] = {parent_link, X_LF * body.X_MB};
    } else {
      const bool one_axis = is_revolute(body.hinge.type) || body.hinge.type == HingeType::prismatic;
      const Rotation<double> R_MC =
          one_axis ? Rotation<double>::between(Vec3<double>::unit_z(), body.hinge.axis) : Rotation<double>();
      places[k] = {static_cast<int>(drafts.size()), Transform<double>::rotate(R_MC).inverse() * body.X_MB};
      drafts.push_back({.parent = parent_link,
                        .body = static_cast<int>(k),
                        .turn = X_LF.rotation * R_MC,
                        .p = X_LF.translation,
                        .R_MC = R_MC});
      if (parent_link >= 0) {
        drafts[static_cast<std::size_t>(parent_link)].children.push_back(places[k].link);
      }
    }
    if (places[k].link >= 0) {
      drafts[static_cast<std::size_t>(places[k].link)].inertia += places[k].X_LB * body.inertia;
    }
  }
  return drafts;
}

/// Turns a revolute link about its own z by `angle`: its hinge's offset takes the turn.
void turn_about_z(std::vector<Draft>& drafts, Draft& link, double angle) {
  const Rotation<double> back = Rotation<double>::about_z(-angle);
  link.offset += angle;
  link.turned += angle;
  link.inertia = back * link.inertia;
  for (const int child : link.children) {
    Draft& c = drafts[static_cast<std::size_t>(child)];
    c.turn = back * c.turn;
    c.p = back * c.p;
  }
}

/// Turns the links so that as many constant rotations as possible are about x alone. Returns how the world is turned.
Rotation<double> choose_frames(const Model& model, std::vector<Draft>& drafts) {
  const auto revolute = [&](const Draft& d) {
    return is_revolute(model.bodies()[static_cast<std::size_t>(d.body)].hinge.type);
  };
  Rotation<double> world_turn;
  bool first_root = true;
  for (Draft& link : drafts) {
    if (link.parent < 0) {  // of the dynamics, gravity's direction alone depends on the world's frame
      if (first_root) {
        world_turn = link.turn;
        first_root = false;
      }
      link.turn = world_turn.inverse() * link.turn;
      link.p = world_turn.inverse() * link.p;
    }
    if (!revolute(link)) {
      continue;
    }
    const EulerAngles own = euler_zxz(link.turn);  // Rz(last) goes into this hinge's angle
    link.turn = Rotation<double>::about_z(own.first) * Rotation<double>::about_x(own.middle);
    link.offset += own.last;
    for (const int child : link.children) {
      if (revolute(drafts[static_cast<std::size_t>(child)])) {
        turn_about_z(drafts, link, euler_zxz(drafts[static_cast<std::size_t>(child)].turn).first);
        break;
      }
    }
  }
  return world_turn;
}

/// The links on the world.
std::vector<int> first_links(const std::vector<Draft>& drafts) {
  std::vector<int> out;
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    if (drafts[k].parent < 0) {
      out.push_back(static_cast<int>(k));
    }
  }
  return out;
}

/// Depth first, children in order; without recursion, since chains may be long.
std::vector<int> depth_first_order(const std::vector<Draft>& drafts, const std::vector<int>& first) {
  std::vector<int> order;
  std::vector<int> stack(first.rbegin(), first.rend());
  order.reserve(drafts.size());
  while (!stack.empty()) {
    const int k = stack.back();
    stack.pop_back();
    order.push_back(k);
    const std::vector<int>& children = drafts[static_cast<std::size_t>(k)].children;
    stack.insert(stack.end(), children.rbegin(), children.rend());
  }
  return order;
}

/// Which links are eliminated together.
struct Roots {
  std::vector<int> root = {};                   // of each link the least of its cluster
  std::vector<std::vector<int>> closures = {};  // of each link that is one: the loops in its cluster
};
Roots cluster_roots(const Model& model, const std::vector<Draft>& drafts, std::span<const BodyPlace> places,
                    std::span<const int> embedded) {
  std::vector<int> link_of(model.bodies().size(), -1);
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    link_of[static_cast<std::size_t>(drafts[k].body)] = static_cast<int>(k);
  }
  std::vector<int> parents;
  std::vector<int> leaders;
  for (const Draft& draft : drafts) {
    const int leader = model.bodies()[static_cast<std::size_t>(draft.body)].leader;
    parents.push_back(draft.parent);
    leaders.push_back(leader == world ? world : link_of[static_cast<std::size_t>(leader)]);
  }
  std::vector<std::array<int, 2>> ties;
  std::vector<int> tied(embedded.size());
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    tied[i] = tie_loop(model.closures()[static_cast<std::size_t>(embedded[i])], parents, places, ties);
  }
  Roots out{detail::cluster_roots(parents, leaders, ties), std::vector<std::vector<int>>(drafts.size())};
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    if (tied[i] >= 0) {
      out.closures[static_cast<std::size_t>(out.root[static_cast<std::size_t>(tied[i])])].push_back(embedded[i]);
    }
  }
  return out;
}

/// The order with each cluster's links where its first is.
std::vector<int> together(const std::vector<int>& order, const std::vector<int>& root) {
  std::vector<std::vector<int>> members(root.size());
  for (const int k : order) {
    members[static_cast<std::size_t>(root[static_cast<std::size_t>(k)])].push_back(k);
  }
  std::vector<int> out;
  out.reserve(order.size());
  for (const int k : order) {
    std::vector<int>& each = members[static_cast<std::size_t>(root[static_cast<std::size_t>(k)])];
    out.insert(out.end(), each.begin(), each.end());
    each.clear();
  }
  return out;
}

/// Trees of at most so many links are swept level by level: links of one kind then come together, and their arithmetic
/// overlaps, since none waits for another. In larger ones parent and child should stay close together in memory.
constexpr std::size_t most_by_levels = 256;

void sort_by_levels(const std::vector<Draft>& drafts, const std::vector<int>& root,
                    const std::vector<Link<double>>& links, std::vector<int>& order) {
  std::vector<int> level(drafts.size());  // of the cluster
  std::vector<int> size(drafts.size());
  for (std::size_t k = 0; k < drafts.size(); ++k) {  // parents come first
    const auto first = static_cast<std::size_t>(root[k]);
    ++size[first];
    level[k] = first != k             ? level[first]
               : drafts[k].parent < 0 ? 0
                                      : level[static_cast<std::size_t>(drafts[k].parent)] + 1;
  }
  const auto key = [&](int link) {
    const auto k = static_cast<std::size_t>(link);
    const bool alone = size[static_cast<std::size_t>(root[k])] == 1;
    return std::tuple(level[k], alone ? -1 : root[k], alone ? links[k].kind : Kind::coupled, alone && links[k].geared);
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
}

/// Of the links of each cluster those that are lumps last: nothing hangs on them, and most sweeps pass them by.
void put_lumps_last(const std::vector<int>& root, const std::vector<Link<double>>& links, std::vector<int>& order) {
  for (auto begin = order.begin(); begin != order.end();) {
    const auto root_of = [&](int k) { return root[static_cast<std::size_t>(k)]; };
    const auto end = std::find_if(begin, order.end(), [&](int k) { return root_of(k) != root_of(*begin); });
    std::stable_partition(begin, end, [&](int k) { return links[static_cast<std::size_t>(k)].kind != Kind::lump; });
    begin = end;
  }
}

/// Sets the constant rotation of a revolute link and what is least to do for it. What is rounding of a right angle
/// counts as one. With `any` none counts.
Kind set_turn(const Rotation<double>& turn, bool any, Link<double>& link) {
  const Mat3<double>& r = turn.matrix();
  link.turn = r;
  if (any || std::abs(r(0, 1)) + std::abs(r(0, 2)) >= negligible || r(0, 0) < 0) {
    return Kind::revolute_full;
  }
  link.turn_c = r(1, 1);
  link.turn_s = r(2, 1);
  if (std::abs(r(2, 1)) < negligible && r(1, 1) > 0) {
    return Kind::revolute_none;
  }
  if (std::abs(r(1, 1)) < negligible && r(2, 1) > 0) {
    return Kind::revolute_quarter;
  }
  return Kind::revolute_x;
}

Link<double> folded(const Draft& draft, HingeType type, const Coordinates<double>& coordinates,
                    const TreeOptions& options) {
  const HingeSlot& slot = coordinates.slots[static_cast<std::size_t>(draft.body)];
  Link<double> link;
  link.leaf = draft.children.empty();
  link.body = draft.body;
  link.q = slot.q;
  link.v = slot.v;
  link.rate = slot.rate;
  link.nv = slot.nv;
  link.p = draft.p;
  link.inertia = draft.inertia;
  const Sym3<double>& i = link.inertia.inertia;
  link.difference = {i.zz - i.yy, i.xx - i.zz, i.yy - i.xx};
  link.kind = set_turn(draft.turn, options.any_placement, link);
  link.geared = options.any_armature;
  for (int j = 0; j < link.nv; ++j) {
    link.armature = coordinates.armature[static_cast<std::size_t>(link.v + j)];
    link.geared = link.geared || link.armature != 0.0;
  }
  if (!is_revolute(type)) {
    link.kind = type == HingeType::prismatic                                  ? Kind::prismatic
                : type == HingeType::free && draft.parent < 0 && !link.geared ? Kind::floating
                                                                              : Kind::general;
  }
  return link;
}

/// Marks the lumps: nodes of flexible bodies that do not turn and carry nothing, where their body has other nodes, too,
/// and is a cluster by itself, without loops that are embedded.
void find_lumps(const Model& model, const std::vector<Draft>& drafts, const std::vector<int>& root,
                const std::vector<std::vector<int>>& closures, std::vector<Link<double>>& links) {
  const auto hinge_of = [&](std::size_t k) -> const Hinge& {
    return model.bodies()[static_cast<std::size_t>(drafts[k].body)].hinge;
  };
  std::vector<int> size(drafts.size());
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const auto first = static_cast<std::size_t>(root[k]);
    const Body& body = model.bodies()[static_cast<std::size_t>(drafts[k].body)];
    const bool shares = body.hinge.type == HingeType::modal && drafts[k].parent == drafts[first].parent &&
                        body.leader_ratio == 1 && body.leader_offset == 0;
    size[first] = shares && size[first] >= 0 ? size[first] + 1 : -1;
  }
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const Hinge& hinge = hinge_of(k);
    const auto first = static_cast<std::size_t>(root[k]);
    if (hinge.type == HingeType::modal && hinge.modal->rotation.empty() && hinge.modal->shortening.empty() &&
        drafts[k].children.empty() && !links[k].geared && size[first] > 1 && closures[first].empty()) {
      links[k].kind = Kind::lump;
    }
  }
}

}  // namespace

/// Of a cluster ‖H̄‖² ≤ (Σ |ratio| ‖H‖)² in the composite bodies' inertias. With loops each of its velocities may move
/// all of its hinges, but none by more than itself, since X has columns of unit length.
template <class T>
std::vector<double> doubts_of(const Tree& tree, std::span<const BodyBound> bounds) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const std::vector<T> single = doubtful_inertias<T>(tree.model, bounds);
  std::vector<double> out(single.begin(), single.end());
  for (const CoupledLinks& c : tree.clusters) {
    const std::size_t m = c.coordinates.size();
    std::vector<double> size(m);
    for (int k = c.begin; k < c.end; ++k) {
      const Link<double>& l = tree.links[at(k)];
      for (int i = l.v; i < l.v + l.nv; ++i) {
        const Follower<double>& follower = tree.within[at(i)];
        size[at(follower.own)] +=
            std::abs(follower.ratio) * std::sqrt(out[at(i)] / static_cast<double>(doubtful_part<T>(l.nv)));
      }
    }
    if (!c.closures.empty()) {
      std::fill(size.begin(), size.end(), std::accumulate(size.begin(), size.end(), 0.0));
    }
    // the lumps' own mass matrix is a bound from below that no pivot of D passes, where rounding does not
    const double squares = std::inner_product(size.begin(), size.end(), size.begin(), 0.0);
    const double rounds = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const bool certain = c.lumps >= 0 && tree.lumps[at(c.lumps)].least > rounds * squares;
    for (std::size_t j = 0; j < m; ++j) {
      out[at(c.coordinates[j])] =
          certain ? 0 : size[j] * size[j] * static_cast<double>(doubtful_part<T>(static_cast<int>(m)));
    }
  }
  return out;
}

template std::vector<double> doubts_of<double>(const Tree&, std::span<const BodyBound>);
template std::vector<double> doubts_of<float>(const Tree&, std::span<const BodyBound>);

Tree::Tree(const Model& m, const TreeOptions& options) : model(m), coordinates(m) {
  std::vector<Draft> drafts = merge(model, bodies);
  world_turn = choose_frames(model, drafts);
  std::vector<Link<double>> folded_links;
  folded_links.reserve(drafts.size());
  for (const Draft& draft : drafts) {
    folded_links.push_back(
        folded(draft, model.bodies()[static_cast<std::size_t>(draft.body)].hinge.type, coordinates, options));
  }
  const auto [root, closures] = cluster_roots(model, drafts, bodies, options.embedded);
  if (!options.any_inertia && !options.any_placement) {
    find_lumps(model, drafts, root, closures, folded_links);
  }
  std::vector<int> first = first_links(drafts);
  depth_first = depth_first_order(drafts, first);
  const auto group = [&root = root](std::vector<int>& children) {
    std::stable_sort(children.begin(), children.end(), [&](int a, int b) {
      return root[static_cast<std::size_t>(a)] < root[static_cast<std::size_t>(b)];
    });
  };
  group(first);
  for (Draft& draft : drafts) {
    group(draft.children);
  }
  nested = depth_first_order(drafts, first);
  std::vector<int> order = together(nested, root);
  if (order.size() <= most_by_levels) {
    sort_by_levels(drafts, root, folded_links, order);
  }
  put_lumps_last(root, folded_links, order);
  std::vector<int> place(drafts.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  for (std::vector<int>* each : {&depth_first, &nested}) {
    for (int& k : *each) {
      k = place[static_cast<std::size_t>(k)];
    }
  }
  for (BodyPlace& body : bodies) {
    if (body.link >= 0) {
      const Draft& draft = drafts[static_cast<std::size_t>(body.link)];
      body.X_LB = Transform<double>::rotate(Rotation<double>::about_z(-draft.turned)) * body.X_LB;
      body.link = place[static_cast<std::size_t>(body.link)];
    }
  }
  links.reserve(order.size());
  for (const int k : order) {
    const Draft& draft = drafts[static_cast<std::size_t>(k)];
    Link<double> link = folded_links[static_cast<std::size_t>(k)];
    link.parent = draft.parent < 0 ? -1 : place[static_cast<std::size_t>(draft.parent)];
    if (link.kind <= Kind::revolute_full) {
      revolute.push_back({static_cast<int>(links.size()), link.q, std::cos(draft.offset), std::sin(draft.offset)});
    }
    add(link);
    R_FT.push_back(draft.R_MC * Rotation<double>::about_z(draft.turned - draft.offset));
    cluster_of.push_back(root[static_cast<std::size_t>(k)]);  // the clusters are numbered below
  }
  add_clusters(closures);
  neutral.resize(static_cast<std::size_t>(model.nq()));
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    const bool sprung = std::any_of(body.hinge.dofs.begin(), body.hinge.dofs.end(),
                                    [](const HingeDof& dof) { return dof.stiffness != 0; });
    if (sprung || (options.any_stiffness && body.hinge.velocity_size() > 0)) {
      springs.push_back(static_cast<int>(b));
    }
    if (body.leader == world && body.nq > 0) {
      hinge_neutral(body.hinge, neutral.data() + body.q_index);
    }
  }
  const std::vector<BodyBound> bounds = bounds_of(model);
  doubt = doubts_of<double>(*this, bounds);
  doubt_float = doubts_of<float>(*this, bounds);
  // what hangs on a slider, other than the first of its tree, or turns where it has slid to, can be anywhere
  near_together = true;
  for (int k = 0; k < static_cast<int>(links.size()); ++k) {
    const Link<double>& each = links[static_cast<std::size_t>(k)];
    const int up = each.parent;
    near_together =
        near_together && (up < 0 || ((each.kind == Kind::prismatic || !slides(hinge(k))) &&
                                     (links[static_cast<std::size_t>(up)].parent < 0 || !slides(hinge(up)))));
  }
  std::vector<bool> opened(links.size());
  for (std::size_t k = links.size(); k-- > 0;) {
    if (const int parent = links[k].parent; parent >= 0) {
      links[k].opens_parent = !opened[static_cast<std::size_t>(parent)];
      opened[static_cast<std::size_t>(parent)] = true;
    }
  }
  for (LumpSums& each : lumps) {
    each.opens_parent = std::any_of(each.links.begin(), each.links.end(),
                                    [&](int k) { return links[static_cast<std::size_t>(k)].opens_parent; });
  }
}

void Tree::add(const Link<double>& link) {
  const int k = static_cast<int>(links.size());
  links.push_back(link);
  if (link.kind == Kind::floating || link.kind == Kind::general || link.kind == Kind::lump) {
    links.back().special = static_cast<int>(special.size());
    special.push_back(k);
    (link.kind == Kind::lump ? lump_links : carriers).push_back(k);
  }
  if (runs.empty() || runs.back().kind != link.kind || runs.back().geared != link.geared) {
    runs.push_back({link.kind, link.geared, k, k});
  }
  runs.back().end = k + 1;
}

/// Finds the clusters of several links among consecutive ones of one root, and the stages.
void Tree::add_clusters(std::span<const std::vector<int>> closures) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  within.resize(coordinates.velocities.size());
  std::vector<int> place(coordinates.leaders.size());  // of the user's velocities in their clusters
  std::size_t factor = 0;
  for (int begin = 0, end = 0; begin < static_cast<int>(links.size()); begin = end) {
    const Link<double>& first = links[at(begin)];
    const int root = cluster_of[at(begin)];
    while (end < static_cast<int>(links.size()) && cluster_of[at(end)] == root) {
      ++end;
    }
    const std::vector<int>& loops = closures[at(root)];
    if (end == begin + 1 && loops.empty()) {
      cluster_of[at(begin)] = -1;
      if (stages.empty() || stages.back().kind != first.kind || stages.back().geared != first.geared) {
        stages.push_back({first.kind, first.geared, begin, begin});
      }
      stages.back().end = end;
      continue;
    }
    CoupledLinks cluster{begin, end, first.parent, {}, factor, {}, -1, 0};
    bool siblings = true;
    for (int k = begin; k < end; ++k) {
      const Link<double>& l = links[at(k)];
      siblings = siblings && l.parent == first.parent && l.kind <= Kind::prismatic;
      cluster_of[at(k)] = static_cast<int>(clusters.size());
      for (int j = l.v; j < l.v + l.nv; ++j) {
        const int own = coordinates.velocities[at(j)].own;
        if (coordinates.leaders[at(own)] == j) {
          place[at(own)] = static_cast<int>(cluster.coordinates.size());
          cluster.coordinates.push_back(j);
        }
      }
    }
    for (int k = begin; k < end; ++k) {
      for (int j = links[at(k)].v; j < links[at(k)].v + links[at(k)].nv; ++j) {
        const Follower<double>& follower = coordinates.velocities[at(j)];
        within[at(j)] = {place[at(follower.own)], follower.ratio};
      }
    }
    siblings = siblings && cluster.coordinates.size() == 1 && loops.empty();
    const Kind kind = siblings            ? Kind::siblings
                      : !loops.empty()    ? Kind::embedded
                      : is_modal(cluster) ? Kind::modal
                                          : Kind::coupled;
    stages.push_back({kind, false, begin, end, static_cast<int>(clusters.size())});
    if (kind == Kind::embedded) {
      cluster.closures = loops;
      cluster.embedded = loop_clusters++;
      cluster.basis = basis_numbers;
      basis_numbers += cluster.coordinates.size() * cluster.coordinates.size();
    }
    add_lumps(cluster);
    if (kind == Kind::modal) {
      most_modes = std::max(most_modes, static_cast<int>(cluster.coordinates.size()));
    }
    largest_cluster = std::max(largest_cluster, cluster.coordinates.size());
    factor += siblings ? 0 : cluster.coordinates.size() * cluster.coordinates.size();
    clusters.push_back(std::move(cluster));
  }
  factor_numbers = factor;
}

void custom_hinge_at(const Hinge& hinge, const double* q, double* numbers) {
  const Transform<double> X = hinge_pose(hinge, q);
  for (int i = 0; i < 9; ++i) {
    *numbers++ = X.rotation(i / 3, i % 3);
  }
  for (int i = 0; i < 3; ++i) {
    *numbers++ = X.translation[i];
  }
  std::array<Motion<double>, max_hinge_velocities> columns{};
  hinge_joint_map(hinge, q, columns.data());
  for (int j = 0; j < hinge.velocity_size(); ++j) {
    for (int i = 0; i < 6; ++i) {
      *numbers++ = columns[static_cast<std::size_t>(j)][i];
    }
  }
}

void custom_hinge_rate(const Hinge& hinge, const double* q, const double* v, double* numbers) {
  const Motion<double> rate = hinge_bias(hinge, q, v);
  for (int i = 0; i < 6; ++i) {
    numbers[i] = rate[i];
  }
}

void custom_hinge_stretch(const Hinge& hinge, const double* q, double* numbers) {
  hinge_difference(hinge, hinge.rest.data(), q, numbers);
}

void custom_hinge_difference(const Hinge& hinge, const double* q0, const double* q1, double* numbers) {
  hinge_difference(hinge, q0, q1, numbers);
}

void custom_hinge_integrate(const Hinge& hinge, const double* q, const double* v, double dt, double* numbers) {
  hinge_integrate(hinge, q, v, dt, numbers);
}

void custom_hinge_normalize(const Hinge& hinge, double* q) {
  hinge.custom->normalize(q);
}

void refuse_custom() {
  throw Error("hinges that a user defines compute with double numbers, and this scalar is more than one");
}

}  // namespace bunraku::kernels
