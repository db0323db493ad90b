#include "bunraku/kernels/closure_support.hpp"

#include <algorithm>

namespace bunraku::kernels {

template <class T>
void ClosureColumns<T>::place(const Tree& tree, int equations, std::span<const int> on_links,
                              std::span<const int> on_hinges) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  rows = equations;
  acting = {};
  links.clear();
  for (int link : on_links) {
    for (; link >= 0; link = tree.links[at(link)].parent) {
      links.push_back(link);
    }
  }
  hinges.assign(on_hinges.begin(), on_hinges.end());
  std::sort(links.begin(), links.end(), std::greater<>());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  up.clear();
  first.clear();
  coordinates.clear();
  int cluster = -1;
  for (const int link : links) {
    up.push_back(find(tree.links[at(link)].parent));
    const int own = tree.cluster_of[at(link)];
    if (own >= 0 && own == cluster) {  // all of a cluster begins where its first link does
      first.push_back(first.back());
      continue;
    }
    cluster = own;
    first.push_back(static_cast<int>(coordinates.size()));
    if (own >= 0) {
      const std::vector<int>& moved = tree.clusters[at(own)].coordinates;
      coordinates.insert(coordinates.end(), moved.begin(), moved.end());
    } else {
      for (int j = 0; j < tree.links[at(link)].nv; ++j) {
        coordinates.push_back(tree.links[at(link)].v + j);
      }
    }
  }
  of_hinges.assign(hinges.size(), {});
  x.assign(links.size(), {});
  size.assign(links.size(), {});
  e.assign(coordinates.size(), {});
}

template <class T>
int ClosureColumns<T>::find(int link) const {
  const auto place = std::lower_bound(links.begin(), links.end(), link, std::greater<>());
  return place != links.end() && *place == link ? static_cast<int>(place - links.begin()) : -1;
}

template struct ClosureColumns<double>;
template struct ClosureColumns<float>;

}  // namespace bunraku::kernels
