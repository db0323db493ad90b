#include "bunraku/kernels/derivative_layout.hpp"

#include <algorithm>

#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

DerivativeLayout::~DerivativeLayout() = default;

DerivativeLayout::DerivativeLayout(const Tree& tree, const ColumnLayout& composite, const ColumnLayout& innovation,
                                   int lanes)
    : used(at(composite.registers)),
      in_row(at(composite.registers), 1),
      place(at(composite.registers * lanes)),
      lane(at(tree.coordinates.nv)),
      of_free(innovation.user.size()) {
  for (int k = 0; k < static_cast<int>(tree.links.size()); ++k) {
    const int nv = tree.links[at(k)].nv;
    const int e = composite.first[at(k)];
    lane_of.push_back(composite.slot[at(e)]);
    for (int j = 0; j < nv; ++j) {
      const int slot = composite.slot[at(e + j)];
      place[at(slot)] = composite.user[at(e + j)];
      lane[at(place[at(slot)])] = slot;
      used[at(slot / lanes)] = std::max(used[at(slot / lanes)], slot % lanes + 1);
    }
    path_begin.push_back(static_cast<int>(path.size()));
    inside.push_back(0);
    floating.push_back(-1);
    for (int p = tree.links[at(k)].parent; p >= 0; p = tree.links[at(p)].parent) {
      if (tree.links[at(p)].kind == Kind::floating) {
        floating.back() = lane_of[at(p)];
        break;
      }
      for (int slot = lane_of[at(p)] + tree.links[at(p)].nv - 1; slot >= lane_of[at(p)]; --slot) {
        const bool known = path_begin.back() < static_cast<int>(path.size()) && path.back().index == slot / lanes;
        if (slot / lanes == lane_of.back() / lanes) {
          inside.back() = lane_of.back() % lanes;
        } else if (!known) {
          path.push_back({slot / lanes, slot % lanes + 1});
        }
      }
    }
    map_begin.push_back(map_columns);
    if (nv > 1 && tree.links[at(k)].kind != Kind::floating) {
      several.push_back(k);
    }
    if (has_changing_map(tree.hinge(k))) {
      changing.push_back(k);
      map_columns += nv * nv;
    }
  }
  path_begin.push_back(static_cast<int>(path.size()));
  for (int slot = 0; slot < composite.registers * lanes; ++slot) {
    const int r = slot / lanes;
    const int i = slot % lanes;
    in_row[at(r)] = in_row[at(r)] != 0 && (i >= used[at(r)] || place[at(slot)] == place[at(r * lanes)] + i) ? 1 : 0;
  }
  if (lanes == 1) {
    put_in_order(tree);
  }
  // with mimics slopes are the user's, column by column
  const auto place_of = [&](int row_coordinate, int column_coordinate) {
    const int row = innovation.user[at(row_coordinate)];
    const int column = innovation.user[at(column_coordinate)];
    if (tree.coordinates.has_mimics) {
      return column * static_cast<int>(innovation.user.size()) + row;
    }
    return lanes == 1 ? in_order[at(row * tree.coordinates.nv + column)]
                      : column * composite.registers * lanes + lane[at(row)];
  };
  for (int e = 0; e < static_cast<int>(innovation.user.size()); ++e) {
    related_begin.push_back(static_cast<int>(related.size()));
    const bool followed = e + 1 < static_cast<int>(innovation.user.size()) && innovation.parent[at(e + 1)] == e &&
                          innovation.coordinate_end[at(e + 1)] == innovation.coordinate_end[at(e)];
    with_next.push_back(followed ? 1 : 0);
    for (int a = innovation.parent[at(e)]; a >= 0; a = innovation.parent[at(a)]) {
      related.push_back({innovation.user[at(a)], place_of(a, e)});
    }
    std::reverse(related.begin() + related_begin.back(), related.end());
    for (int c = e; c < innovation.coordinate_end[at(e)]; ++c) {
      related.push_back({innovation.user[at(c)], place_of(c, e)});
    }
  }
  related_begin.push_back(static_cast<int>(related.size()));
  for (int k = 0; k < static_cast<int>(tree.links.size()) && !tree.coordinates.has_mimics; ++k) {
    if (tree.links[at(k)].kind == Kind::floating) {
      const int e = innovation.first[at(k)];
      free.push_back({k, e});
      std::fill_n(of_free.begin() + e, tree.links[at(k)].nv, 1);
      const std::vector<HingeDof>& dofs = tree.hinge(k).dofs;
      free_bare = free_bare && std::all_of(dofs.begin(), dofs.end(),
                                           [](const HingeDof& dof) { return dof.damping == 0 && dof.stiffness == 0; });
    }
  }
}

void DerivativeLayout::put_in_order(const Tree& tree) {
  const int n = tree.coordinates.nv;
  in_order.resize(at(n) * at(n));
  const auto put = [&](int row, int column) { in_order[at(place[at(row)] * n + place[at(column)])] = elements++; };
  for (int k = 0; k < static_cast<int>(tree.links.size()); ++k) {
    const int begin = lane_of[at(k)];
    const int end = begin + tree.links[at(k)].nv;
    const int base = floating[at(k)];
    for (int e = begin; e < end; ++e) {
      for (int c = begin; c < end; ++c) {
        put(e, c);
      }
      for (int i = path_begin[at(k)]; i < path_begin[at(k) + 1]; ++i) {
        put(e, path[at(i)].index);
        put(path[at(i)].index, e);
      }
      for (int j = 0; j < 6 && base >= 0; ++j) {
        put(e, base + j);
      }
      for (int j = 0; j < 6 && base >= 0; ++j) {
        put(base + j, e);
      }
    }
  }
}

}  // namespace bunraku::kernels
