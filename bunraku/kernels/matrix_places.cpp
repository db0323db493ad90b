#include "bunraku/kernels/matrix_places.hpp"

#include <algorithm>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

MatrixPlaces::MatrixPlaces() = default;
MatrixPlaces::~MatrixPlaces() = default;
MatrixPlaces::MatrixPlaces(MatrixPlaces&&) noexcept = default;
MatrixPlaces& MatrixPlaces::operator=(MatrixPlaces&&) noexcept = default;

void MatrixPlaces::complete(int lanes, const std::vector<bool>& zero) {
  const auto numbers = static_cast<std::ptrdiff_t>(zero.size());
  groups_ = (numbers + lanes - 1) / lanes;
  offset.resize(source.size());
  std::transform(source.begin(), source.end(), offset.begin(), [&](int place) { return place * lanes; });
  std::vector<std::ptrdiff_t> zeros_end(zero.size());  // from each number on
  for (std::ptrdiff_t j = numbers; j-- > 0;) {
    const auto i = static_cast<std::size_t>(j);
    zeros_end[i] = !zero[i] ? j : j + 1 < numbers ? std::max(zeros_end[i + 1], j + 1) : numbers;
  }
  empty_.resize(static_cast<std::size_t>(groups_ * lanes));
  for (std::ptrdiff_t first = 0; first < lanes; ++first) {
    for (std::ptrdiff_t g = 0; g < groups_ && first + g * lanes < numbers; ++g) {
      const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(std::min(first + g * lanes, numbers - lanes), 0);
      empty_[static_cast<std::size_t>(first * groups_ + g)] =
          zeros_end[static_cast<std::size_t>(begin)] >= std::min(begin + lanes, numbers) ? 1 : 0;
    }
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
  out.complete(lanes, std::vector<bool>(out.source.size()));
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
  out.complete(lanes, zero);
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
  out.complete(lanes, zero);
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
  out.complete(lanes, zero);
  return out;
}

}  // namespace bunraku::kernels
