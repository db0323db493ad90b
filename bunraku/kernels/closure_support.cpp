#include "bunraku/kernels/closure_support.hpp"

#include <algorithm>
#include <cmath>

#include "bunraku/kernels/cast.hpp"

namespace bunraku::kernels {

template <class T>
void ClosureColumns<T>::place(const Tree& tree, int equations, const std::array<int, 2>& on_links,
                              std::span<const int> on_hinges) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  rows = equations;
  acts = {};
  general = false;
  hinges.assign(on_hinges.begin(), on_hinges.end());
  links.clear();
  int meeting = on_links[0];
  for (int b = on_links[1]; meeting != b;) {  // parents have smaller numbers, the world the smallest
    int& outer = meeting > b ? meeting : b;
    if (&outer == &meeting) {
      links.push_back(outer);
    }
    outer = tree.links[at(outer)].parent;
  }
  ways[0] = static_cast<int>(links.size());
  for (int b = on_links[1]; b != meeting; b = tree.links[at(b)].parent) {
    links.push_back(b);
  }
  ways[1] = static_cast<int>(links.size());
  for (int k = meeting; k >= 0; k = tree.links[at(k)].parent) {
    links.push_back(k);
  }
  double reach = 0;
  for (const int k : links) {
    const Vec3<double>& p = tree.links[at(k)].p;
    reach += tree.links[at(k)].parent >= 0 ? std::sqrt(dot(p, p)) : 0;
  }
  reach2 = static_cast<T>(reach * reach);
  first.clear();
  last.assign(links.size(), 0);
  coordinates.clear();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const int own = tree.cluster_of[at(links[i])];
    const auto in_same = [&](int link) { return tree.cluster_of[at(link)] == own; };
    const auto before = std::find_if(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(i), in_same);
    last[i] = own >= 0 && std::none_of(links.begin() + static_cast<std::ptrdiff_t>(i) + 1, links.end(), in_same);
    if (own >= 0 && before != links.begin() + static_cast<std::ptrdiff_t>(i)) {  // as the first link of the cluster
      first.push_back(first[static_cast<std::size_t>(before - links.begin())]);
      continue;
    }
    first.push_back(static_cast<int>(coordinates.size()));
    if (own >= 0) {
      const std::vector<int>& moved = tree.clusters[at(own)].coordinates;
      coordinates.insert(coordinates.end(), moved.begin(), moved.end());
    } else {
      for (int j = 0; j < tree.links[at(links[i])].nv; ++j) {
        coordinates.push_back(tree.links[at(links[i])].v + j);
      }
    }
  }
  of_hinges.assign(hinges.size(), {});
  e.assign(coordinates.size(), {});
}

namespace {

/// Axes are parallel, or at right angles, to this: far below what counts in the rank, far above rounding.
constexpr double parallel = 1e-12;

/// Whether all hinges on a way turn about one direction or slide across it; it is given in the frame of the link where
/// the way ends, and returned in that where it begins.
bool keeps_plane(const Tree& tree, std::span<const int> way, Vec3<double>& normal) {
  for (std::size_t i = way.size(); i-- > 0;) {
    const Link<double>& l = tree.links[static_cast<std::size_t>(way[i])];
    normal = transpose_times(l.turn, normal);
    const bool turns = l.kind <= Kind::revolute_full;
    const double off = turns ? std::hypot(normal.x, normal.y) : std::abs(normal.z);
    if ((!turns && l.kind != Kind::prismatic) || off > parallel) {
      return false;
    }
  }
  return true;
}

/// The direction of the first hinge that turns on a way, from its end on, in the frame of the link where it ends; zero
/// where none does before one that is of another kind.
Vec3<double> first_axis(const Tree& tree, std::span<const int> way) {
  Mat3<double> turn = Mat3<double>::identity();
  for (std::size_t i = way.size(); i-- > 0;) {
    const Link<double>& l = tree.links[static_cast<std::size_t>(way[i])];
    turn = turn * l.turn;
    if (l.kind != Kind::prismatic) {
      return l.kind <= Kind::revolute_full ? turn.column(2) : Vec3<double>::zero();
    }
  }
  return Vec3<double>::zero();
}

}  // namespace

template <class T>
std::array<bool, max_closure_rows> idle_rows(const Tree& tree, const ClosureColumns<T>& columns,
                                             const Transform<T>& X_LA, bool a_on_world, std::span<const Force<T>> N) {
  const std::span<const int> links(columns.links);
  const auto begin = static_cast<std::size_t>(columns.ways[0]);
  const std::span<const int> way_a = links.first(begin);
  const std::span<const int> way_b = links.subspan(begin, static_cast<std::size_t>(columns.ways[1]) - begin);
  Vec3<double> normal = first_axis(tree, way_a);
  normal = normal == Vec3<double>::zero() ? first_axis(tree, way_b) : normal;
  Vec3<double> at_b = normal;
  std::array<bool, max_closure_rows> out{};
  if (normal == Vec3<double>::zero() || !keeps_plane(tree, way_b, at_b) || !keeps_plane(tree, way_a, normal)) {
    return out;
  }
  if (a_on_world) {
    normal = tree.world_turn * normal;
  }
  normal = cast<double>(X_LA).rotation.inverse_times(normal);
  for (std::size_t r = 0; r < N.size(); ++r) {
    out[r] = std::abs(dot(cast<double>(N[r].moment), normal)) <= parallel &&
             norm(cross(cast<double>(N[r].force), normal)) <= parallel;
  }
  return out;
}

template std::array<bool, max_closure_rows> idle_rows(const Tree&, const ClosureColumns<double>&,
                                                      const Transform<double>&, bool, std::span<const Force<double>>);
template std::array<bool, max_closure_rows> idle_rows(const Tree&, const ClosureColumns<float>&,
                                                      const Transform<float>&, bool, std::span<const Force<float>>);
template struct ClosureColumns<double>;
template struct ClosureColumns<float>;

}  // namespace bunraku::kernels
