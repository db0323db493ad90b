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

MatrixPlaces MatrixPlaces::derivatives(const Tree& tree, const DerivativeLayout& layout, bool symmetric, int lanes) {
  const int n = tree.coordinates.nv;
  MatrixPlaces out;
  out.source.resize(at(n) * at(n));
  out.size = 1;
  std::vector<bool> zero(out.source.size(), true);
  const auto put = [&](int row, int column) {
    const std::size_t element = at(layout.place[at(row)] * n + layout.place[at(column)]);
    out.source[element] = out.size++;
    zero[element] = false;
  };
  const auto put_pair = [&](int e, int inner) {
    put(e, inner);
    if (!symmetric) {
      put(inner, e);
    }
  };
  for (int k = 0; k < static_cast<int>(tree.links.size()); ++k) {
    const int begin = layout.lane_of[at(k)];
    const int end = begin + tree.links[at(k)].nv;
    const int base = layout.floating[at(k)];
    for (int e = begin; e < end; ++e) {
      for (int c = begin; c < end; ++c) {
        put(e, c);
      }
      for (int i = layout.path_begin[at(k)]; i < layout.path_begin[at(k) + 1]; ++i) {
        put_pair(e, layout.path[at(i)].index);
      }
      for (int j = 0; j < 6 && base >= 0; ++j) {
        put(e, base + j);
      }
      for (int j = 0; j < 6 && base >= 0 && !symmetric; ++j) {
        put(base + j, e);
      }
    }
  }
  if (symmetric) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const std::size_t lower = at(i * n + j);
        const std::size_t upper = at(j * n + i);
        const int known = std::max(out.source[lower], out.source[upper]);
        out.source[lower] = out.source[upper] = known;
        zero[lower] = zero[upper] = known == 0;
      }
    }
  }
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
