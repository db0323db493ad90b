/// Rows written past the caches, wherever they start: every number in its place, and nothing around them touched.
#include "bunraku/kernels/far_rows.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace bunraku::kernels {
namespace {

/// Number j of row i.
template <class T>
T number(int i, int j) {
  return static_cast<T>(1000 * i + j);
}

/// W rows of n numbers, `stride` apart, from `offset` numbers behind the start of a line on.
template <class T, int W>
void write_rows(int n, int stride, int offset) {
  SCOPED_TRACE(testing::Message() << "n " << n << ", stride " << stride << ", offset " << offset << ", W " << W);
  constexpr int line = FarRows<T, W>::line;
  const T untouched = T(-7);
  std::vector<T> memory(static_cast<std::size_t>(W * stride + 4 * line), untouched);
  const auto in_line = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(T) % line;
  T* const to = memory.data() + 2 * line - in_line + offset;
  FarRows<T, W> rows;
  rows.start(to, stride, n);
  Pack<T, W> block[W];
  const auto fill = [&](int first) {
    for (int i = 0; i < W; ++i) {
      for (int k = 0; k < W; ++k) {
        block[i].set(k, number<T>(i, first + k));
      }
    }
  };
  int next = rows.lead();
  if (next > 0) {
    fill(0);
    rows.begin(block);
  }
  for (; next + W <= n; next += W) {
    fill(next);
    rows.put(block);
  }
  fill(n - W);
  rows.finish(block, n - next);
  std::vector<T> wanted(memory.size(), untouched);
  for (int i = 0; i < W; ++i) {
    for (int j = 0; j < n; ++j) {
      wanted[static_cast<std::size_t>(to - memory.data() + i * stride + j)] = number<T>(i, j);
    }
  }
  EXPECT_EQ(memory, wanted);
}

template <class T, int W>
void write_rows_anywhere() {
  for (const int n : {W, W + 1, 2 * W - 1, 31, 64, 81, 129, 300}) {
    for (const int gap : {0, 1, 5}) {
      for (int offset = 0; offset < FarRows<T, W>::line && n >= W; ++offset) {
        write_rows<T, W>(n, n + gap, offset);
      }
    }
  }
}

TEST(FarRows, AreWrittenWhereverTheyStart) {
  write_rows_anywhere<double, 2>();
  write_rows_anywhere<double, 4>();
  write_rows_anywhere<double, 8>();
  write_rows_anywhere<float, 4>();
  write_rows_anywhere<float, 8>();
  write_rows_anywhere<float, 16>();
}

}  // namespace
}  // namespace bunraku::kernels
