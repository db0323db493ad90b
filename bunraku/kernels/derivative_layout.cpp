#include "bunraku/kernels/derivative_layout.hpp"

#include <algorithm>

#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

DerivativeLayout::~DerivativeLayout() = default;

DerivativeLayout::DerivativeLayout(const Tree& tree, const ColumnLayout& composite, const ColumnLayout& innovation,
                                   int lanes)
    : used(at(composite.registers)), whole(at(composite.registers), 1), place(at(composite.registers * lanes)) {
  for (int k = 0; k < static_cast<int>(tree.links.size()); ++k) {
    const int nv = tree.links[at(k)].nv;
    const int e = composite.first[at(k)];
    lane_of.push_back(composite.slot[at(e)]);
    for (int j = 0; j < nv; ++j) {
      const int lane = composite.slot[at(e + j)];
      place[at(lane)] = composite.user[at(e + j)];
      used[at(lane / lanes)] = std::max(used[at(lane / lanes)], lane % lanes + 1);
    }
    path_begin.push_back(static_cast<int>(path.size()));
    inside.push_back(0);
    floating.push_back(-1);
    for (int p = tree.links[at(k)].parent; p >= 0; p = tree.links[at(p)].parent) {
      if (tree.links[at(p)].kind == Kind::floating) {
        floating.back() = tree.links[at(p)].v;
        break;
      }
      for (int lane = lane_of[at(p)] + tree.links[at(p)].nv - 1; lane >= lane_of[at(p)]; --lane) {
        const bool known = path_begin.back() < static_cast<int>(path.size()) && path.back().index == lane / lanes;
        if (lane / lanes == lane_of.back() / lanes) {
          inside.back() = lane_of.back() % lanes;
        } else if (!known) {
          path.push_back({lane / lanes, lane % lanes + 1});
        }
      }
    }
    map_begin.push_back(map_columns);
    if (has_changing_map(tree.hinge(k))) {
      changing.push_back(k);
      map_columns += nv * nv;
    }
  }
  path_begin.push_back(static_cast<int>(path.size()));
  for (int lane = 0; lane < composite.registers * lanes; ++lane) {
    const int r = lane / lanes;
    const bool next = used[at(r)] == lanes && place[at(lane)] == place[at(r * lanes)] + lane % lanes;
    whole[at(r)] = whole[at(r)] != 0 && next ? 1 : 0;
  }
  for (int e = 0; e < static_cast<int>(innovation.user.size()); ++e) {
    related_begin.push_back(static_cast<int>(related.size()));
    for (int a = innovation.parent[at(e)]; a >= 0; a = innovation.parent[at(a)]) {
      related.push_back(innovation.user[at(a)]);
    }
    for (int c = e; c < innovation.coordinate_end[at(e)]; ++c) {
      related.push_back(innovation.user[at(c)]);
    }
  }
  related_begin.push_back(static_cast<int>(related.size()));
}

}  // namespace bunraku::kernels
