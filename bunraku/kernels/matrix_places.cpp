#include "bunraku/kernels/matrix_places.hpp"

#include <algorithm>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

MatrixPlaces::MatrixPlaces() = default;
MatrixPlaces::~MatrixPlaces() = default;
MatrixPlaces::MatrixPlaces(MatrixPlaces&&) noexcept = default;
MatrixPlaces& MatrixPlaces::operator=(MatrixPlaces&&) noexcept = default;

void MatrixPlaces::find_empty(int lanes, const std::vector<bool>& zero) {
  const auto numbers = static_cast<int>(zero.size());
  for (int first = 0; first < numbers; first += lanes) {
    const auto begin = zero.begin() + std::max(std::min(first, numbers - lanes), 0);
    empty.push_back(std::all_of(begin, std::min(begin + lanes, zero.end()), [](bool each) { return each; }) ? 1 : 0);
  }
}

MatrixPlaces MatrixPlaces::dense(int n, int lanes) {
  MatrixPlaces out;
  out.size = n * n;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      out.source.push_back(j * n + i);
    }
  }
  out.find_empty(lanes, std::vector<bool>(out.source.size()));
  return out;
}

MatrixPlaces MatrixPlaces::related(const Tree& tree, const ColumnLayout& composite, int lanes) {
  const int n = tree.coordinates.nv;
  MatrixPlaces out = dense(n, lanes);
  std::vector<bool> zero(out.source.size(), true);
  for (int e = 0; e < n; ++e) {
    for (int c = e; c < composite.coordinate_end[at(e)]; ++c) {
      zero[at(composite.user[at(e)] * n + composite.user[at(c)])] = false;
      zero[at(composite.user[at(c)] * n + composite.user[at(e)])] = false;
    }
  }
  out.empty.clear();
  out.find_empty(lanes, zero);
  return out;
}

MatrixPlaces MatrixPlaces::in_order(const DerivativeLayout& layout, bool symmetric, int lanes) {
  const int n = static_cast<int>(layout.lane.size());
  MatrixPlaces out;
  out.source = layout.in_order;
  out.size = layout.elements;
  for (int i = 0; i < n && symmetric; ++i) {
    for (int j = 0; j < n; ++j) {
      out.source[at(i * n + j)] = std::min(layout.in_order[at(i * n + j)], layout.in_order[at(j * n + i)]);
    }
  }
  std::vector<bool> zero(out.source.size());
  std::transform(out.source.begin(), out.source.end(), zero.begin(), [](int place) { return place == 0; });
  out.find_empty(lanes, zero);
  return out;
}

MatrixPlaces MatrixPlaces::paths(const Tree& tree, int lanes) {
  const int n = tree.coordinates.nv;
  MatrixPlaces out;
  out.source.resize(at(n) * at(n));
  out.start.resize(at(n));
  out.size = 1;
  std::vector<bool> zero(out.source.size(), true);
  for (int k = 0; k < static_cast<int>(tree.links.size()); ++k) {
    const Link<double>& link = tree.links[at(k)];
    for (int j = link.v; j < link.v + link.nv; ++j) {
      out.start[at(j)] = out.size;
      for (int here = k; here >= 0; here = tree.links[at(here)].parent) {
        const Link<double>& l = tree.links[at(here)];
        for (int i = l.v; i < l.v + l.nv; ++i) {
          out.source[at(i) * at(n) + at(j)] = out.source[at(j) * at(n) + at(i)] = out.size++;
          zero[at(i) * at(n) + at(j)] = zero[at(j) * at(n) + at(i)] = false;
        }
      }
    }
  }
  out.find_empty(lanes, zero);
  return out;
}

}  // namespace bunraku::kernels
