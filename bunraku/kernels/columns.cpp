#include "bunraku/kernels/columns.hpp"

#include <algorithm>

namespace bunraku::kernels {

ColumnLayout::~ColumnLayout() = default;

ColumnLayout::ColumnLayout(const Tree& tree, bool users, int lanes) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const std::size_t n = tree.links.size();
  first.resize(n);
  std::vector<int> last(n);
  std::vector<int> slot_begin(n);
  std::vector<int> slot_end(n);
  std::vector<int> end(n);
  std::vector<int> opened(tree.clusters.size(), -1);  // the first link of each cluster
  std::vector<int> owner;                             // of each coordinate, the first link of a cluster
  int next = 0;
  int previous = -1;
  for (const int k : users ? tree.nested : tree.depth_first) {
    const Link<double>& link = tree.links[at(k)];
    if (link.parent != previous || link.parent < 0) {  // not its parent's first child
      branches = branches || previous >= 0;
      next = (next + lanes - 1) / lanes * lanes;
    }
    previous = k;
    const int cluster = users ? tree.cluster_of[at(k)] : -1;
    slot_begin[at(k)] = next;
    if (cluster >= 0 && opened[at(cluster)] >= 0) {
      first[at(k)] = first[at(opened[at(cluster)])];
      last[at(k)] = last[at(opened[at(cluster)])];
    } else {
      first[at(k)] = static_cast<int>(slot.size());
      const int count = cluster < 0 ? link.nv : static_cast<int>(tree.clusters[at(cluster)].coordinates.size());
      for (int j = 0; j < count; ++j) {
        const int before = link.parent < 0 ? -1 : last[at(link.parent)];
        parent.push_back(j > 0 ? static_cast<int>(slot.size()) - 1 : before);
        full.push_back(cluster < 0 ? link.v + j : tree.clusters[at(cluster)].coordinates[at(j)]);
        user.push_back(users ? tree.coordinates.velocities[at(full.back())].own : full.back());
        slot.push_back(next++);
        owner.push_back(k);
      }
      last[at(k)] = static_cast<int>(slot.size()) - 1;
      if (cluster >= 0) {
        opened[at(cluster)] = k;
        slot_begin[at(k)] = next;
      }
    }
    slot_end[at(k)] = next;
    end[at(k)] = static_cast<int>(slot.size());
  }
  for (std::size_t k = n; k-- > 0;) {
    if (const int up = tree.links[k].parent; up >= 0) {
      slot_end[at(up)] = std::max(slot_end[at(up)], slot_end[k]);
      end[at(up)] = std::max(end[at(up)], end[k]);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    register_begin.push_back(slot_begin[k] / lanes);
    register_end.push_back(slot_end[k] == slot_begin[k] ? register_begin[k] : (slot_end[k] + lanes - 1) / lanes);
  }
  for (const int k : owner) {
    const int cluster = users ? tree.cluster_of[at(k)] : -1;
    coordinate_end.push_back(end[at(k)]);
    for (int i = cluster < 0 ? 0 : tree.clusters[at(cluster)].begin; cluster >= 0 && i < tree.clusters[at(cluster)].end;
         ++i) {
      coordinate_end.back() = std::max(coordinate_end.back(), end[at(i)]);
    }
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

}  // namespace bunraku::kernels
