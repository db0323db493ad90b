#include "bunraku/kernels/lanes.hpp"

#include <algorithm>

namespace bunraku::kernels {

template <class T>
ColumnLayout::ColumnLayout(const Tree<T>& tree) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const std::size_t n = tree.links.size();
  constexpr int lanes = lane_count<T>;
  first.resize(n);
  std::vector<int> slot_end(n);
  std::vector<int> end(n);
  int next = 0;
  int previous = -1;
  for (const int k : tree.depth_first) {
    const Link<T>& link = tree.links[at(k)];
    if (link.parent != previous || link.parent < 0) {  // not its parent's first child
      branches = branches || previous >= 0;
      next = (next + lanes - 1) / lanes * lanes;
    }
    first[at(k)] = static_cast<int>(slot.size());
    for (int j = 0; j < link.nv; ++j) {
      const int before = link.parent < 0 ? -1 : first[at(link.parent)] + tree.links[at(link.parent)].nv - 1;
      parent.push_back(j > 0 ? static_cast<int>(slot.size()) - 1 : before);
      user.push_back(link.v + j);
      slot.push_back(next++);
    }
    slot_end[at(k)] = next;
    end[at(k)] = static_cast<int>(slot.size());
    previous = k;
  }
  for (std::size_t k = n; k-- > 0;) {
    if (const int up = tree.links[k].parent; up >= 0) {
      slot_end[at(up)] = std::max(slot_end[at(up)], slot_end[k]);
      end[at(up)] = std::max(end[at(up)], end[k]);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    register_begin.push_back(slot[at(first[k])] / lanes);
    register_end.push_back((slot_end[k] + lanes - 1) / lanes);
  }
  for (const int k : tree.depth_first) {
    coordinate_end.insert(coordinate_end.end(), at(tree.links[at(k)].nv), end[at(k)]);
  }
  for (const int each : user) {
    row.push_back(each * static_cast<std::ptrdiff_t>(user.size()));
  }
  for (const int each : slot) {
    cell.push_back(each / lanes * lanes * 6 + each % lanes);
  }
  std::vector<int> depths(slot.size());
  for (std::size_t c = 0; c < slot.size(); ++c) {
    depths[c] = parent[c] < 0 ? 0 : depths[at(parent[c])] + 1;
    depth = std::max(depth, depths[c]);
  }
  registers = (next + lanes - 1) / lanes;
}

template ColumnLayout::ColumnLayout(const Tree<double>& tree);
template ColumnLayout::ColumnLayout(const Tree<float>& tree);

}  // namespace bunraku::kernels
