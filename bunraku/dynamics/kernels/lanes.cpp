#include "bunraku/dynamics/kernels/lanes.hpp"

#include <algorithm>

namespace bunraku::kernels {

template <class T>
ColumnLayout::ColumnLayout(const Tree<T>& tree) {
  const std::size_t n = tree.links.size();
  constexpr int lanes = lane_count<T>;
  first.reserve(n + 1);
  std::vector<int> slot_end(n);
  int next = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Link<T>& link = tree.links[k];
    const bool first_child = link.parent + 1 == static_cast<int>(k);  // depth first: it follows its parent
    branches = branches || (!first_child && k > 0);
    if (!first_child || link.parent < 0) {
      next = (next + lanes - 1) / lanes * lanes;
    }
    first.push_back(static_cast<int>(slot.size()));
    for (int j = 0; j < link.nv; ++j) {
      const int before = link.parent < 0 ? -1 : first[static_cast<std::size_t>(link.parent) + 1] - 1;
      parent.push_back(j > 0 ? static_cast<int>(slot.size()) - 1 : before);
      user.push_back(link.v + j);
      slot.push_back(next++);
    }
    slot_end[k] = next;
  }
  first.push_back(static_cast<int>(slot.size()));
  for (std::size_t k = n; k-- > 0;) {
    if (tree.links[k].parent >= 0) {
      int& end = slot_end[static_cast<std::size_t>(tree.links[k].parent)];
      end = end > slot_end[k] ? end : slot_end[k];
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    const int end = first[static_cast<std::size_t>(tree.links[k].end)];
    coordinate_end.insert(coordinate_end.end(), static_cast<std::size_t>(tree.links[k].nv), end);
  }
  for (std::size_t k = 0; k < n; ++k) {
    register_begin.push_back(first[k] == first[k + 1] ? 0 : slot[static_cast<std::size_t>(first[k])] / lanes);
    register_end.push_back((slot_end[k] + lanes - 1) / lanes);
  }
  for (const int each : user) {
    row.push_back(each * static_cast<std::ptrdiff_t>(user.size()));
  }
  for (const int each : slot) {
    cell.push_back(each / lanes * lanes * 6 + each % lanes);
  }
  column_begin = user;
  column_end.resize(user.size());
  for (std::size_t c = user.size(); c-- > 0;) {
    column_end[c] = std::max(column_end[c], user[c] + 1);
    if (parent[c] >= 0) {
      const auto up = static_cast<std::size_t>(parent[c]);
      column_begin[up] = std::min(column_begin[up], column_begin[c]);
      column_end[up] = std::max(column_end[up], column_end[c]);
    }
  }
  std::vector<int> depths(slot.size());
  for (std::size_t c = 0; c < slot.size(); ++c) {
    depths[c] = parent[c] < 0 ? 0 : depths[static_cast<std::size_t>(parent[c])] + 1;
    depth = depth > depths[c] ? depth : depths[c];
  }
  registers = (next + lanes - 1) / lanes;
}

template ColumnLayout::ColumnLayout(const Tree<double>& tree);
template ColumnLayout::ColumnLayout(const Tree<float>& tree);

}  // namespace bunraku::kernels
