/// @file
/// What the steps that make blocks and matrices do.
#pragma once

#include "bunraku/operators/program/detail/dense.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/program/detail/steps_riccati.hpp"

namespace bunraku::operators {

/// The block of one member in the unit's block of a value of body space.
template <class S>
S* Evaluator<S>::member_block(int i, int k, int& stride) {
  const int u = folded_->places[at(k)].unit;
  const Unit& unit = folded_->units[at(u)];
  stride = rigid * static_cast<int>(unit.members.size());
  const int m = static_cast<int>(index_in({unit.members.data(), unit.members.size()}, k));
  return out(i) + slots_[at(i)].begins[at(u)] + rigid * m * stride + rigid * m;
}

template <class S>
void Evaluator<S>::run_owned(const Slot& slot) {
  const int count = static_cast<int>(folded_->links.size());
  for (const int i : slot.run) {
    begin(i);
    step(i, {0, count});
  }
}

/// Column j of all blocks at once: they do not touch one another.
template <class S>
void Evaluator<S>::blocks(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const Slot& probe = slots_[at(v.in[0])];
  const S* result = slots_[at(v.in[1])].out;
  const auto& rows = places(v.space.kind).numbers;
  const auto& cols = places(v.domain.kind).numbers;
  std::size_t most = 0;
  for (const std::vector<int>& each : cols) {
    most = std::max(most, each.size());
  }
  for (std::size_t j = 0; j < most; ++j) {
    std::fill_n(probe.out, probe.size, S(0));
    for (const std::vector<int>& each : cols) {
      if (j < each.size()) {
        probe.out[each[j]] = S(1);
      }
    }
    run_owned(slot);
    for (std::size_t u = 0; u < cols.size(); ++u) {
      for (std::size_t r = 0; j < cols[u].size() && r < rows[u].size(); ++r) {
        slot.out[at(slot.begins[u]) + r * cols[u].size() + j] = result[rows[u][r]];
      }
    }
  }
}

template <class S>
auto Evaluator<S>::asymmetric(int i) const -> Doubt {
  using std::abs;
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  Doubt out = {};
  for (int u = 0; u < static_cast<int>(folded_->units.size()); ++u) {
    const S* block = slot.out + slot.begins[at(u)];
    const int n = unit_size(v.space.kind, u);
    S largest(0);
    for (int j = 0; j < n * n; ++j) {
      const S each = abs(block[j]);
      largest = select(largest < each, each, largest);
    }
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < r; ++c) {
        out = out | (abs(block[r * n + c] - block[c * n + r]) > constant<S>(rounding_of_blocks<S>) * largest);
      }
    }
  }
  return out;
}

/// An inverse or root of one matrix, row by row, in place. Nothing is allocated for those of a hinge's size.
template <class S>
void Evaluator<S>::function_of(int i, int unit, S* matrix, int n) {
  constexpr int most = max_hinge_velocities;
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
  const bool root = value(i).step == Step::block_root || value(i).step == Step::dense_root;
  if constexpr (std::is_floating_point_v<S> || std::is_same_v<S, Counting>) {
    const auto refuse = [&](std::string_view why) {
      if constexpr (std::is_floating_point_v<S>) {
        check_riccati(*this);  // a hinge without inertia is a better reason
      }
      refuse_matrix(*plan_, *folded_, i, unit, why);
    };
    const auto replace = [&]<class Matrix>(Matrix dense) {
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) {
          dense(r, c) = static_cast<double>(matrix[r * n + c]);
        }
      }
      dense = root ? root_of(dense, rounding_of_blocks<S>, refuse) : inverse_of(dense, refuse);
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) {
          matrix[r * n + c] = S(static_cast<std::conditional_t<std::is_same_v<S, Counting>, double, S>>(dense(r, c)));
        }
      }
    };
    if (const auto x = static_cast<double>(matrix[0]); n == 1 && std::isnormal(x) && x > 0) {
      matrix[0] =
          S(static_cast<std::conditional_t<std::is_same_v<S, Counting>, double, S>>(root ? std::sqrt(x) : 1 / x));
    } else if (n <= most) {
      replace(Small(n, n));
    } else {
      replace(Eigen::MatrixXd(n, n));
    }
    if constexpr (std::is_same_v<S, Counting>) {
      Counting::count() += 2L * n * n * n;
    }
  } else if (root) {
    throw OperatorError("a square root is formed in float and double only");
  } else {
    invert_plainly(matrix, n, [](int, const S&) {});
  }
}

template <class S>
void Evaluator<S>::block_function(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  std::copy_n(slots_[at(v.uses[0])].out, slot.size, slot.out);
  for (int u = 0; u < static_cast<int>(folded_->units.size()); ++u) {
    if (const int n = unit_size(v.space.kind, u); n > 0) {
      function_of(i, u, slot.out + slot.begins[at(u)], n);
    }
  }
}

/// y of r y + y r = x, block by block: in the axes in which r is diagonal. Nothing is allocated for those of a hinge's
/// size.
template <class S>
void Evaluator<S>::lyapunov(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  if constexpr (std::is_floating_point_v<S> || std::is_same_v<S, Counting>) {
    using Plain = std::conditional_t<std::is_same_v<S, Counting>, double, S>;
    constexpr int most = max_hinge_velocities;
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
    for (int u = 0; u < static_cast<int>(folded_->units.size()); ++u) {
      const int n = unit_size(v.space.kind, u);
      if (n == 0) {
        continue;
      }
      const auto solved = [&]<class Matrix>(Matrix r, Matrix x) {
        for (int j = 0; j < n * n; ++j) {
          r(j / n, j % n) = static_cast<double>(slots_[at(v.uses[0])].out[slot.begins[at(u)] + j]);
          x(j / n, j % n) = static_cast<double>(slots_[at(v.uses[1])].out[slot.begins[at(u)] + j]);
        }
        x = lyapunov_of(r, x, rounding_of_blocks<S>,
                        [&](std::string_view why) { refuse_matrix(*plan_, *folded_, i, u, why); });
        for (int j = 0; j < n * n; ++j) {
          slot.out[slot.begins[at(u)] + j] = S(static_cast<Plain>(x(j / n, j % n)));
        }
      };
      if (n <= most) {
        solved(Small(n, n), Small(n, n));
      } else {
        solved(Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n));
      }
      if constexpr (std::is_same_v<S, Counting>) {
        Counting::count() += 6L * n * n * n;
      }
    }
  } else {
    throw OperatorError("the derivative of a square root is formed in float and double only");
  }
}

/// The matrix of the expression that value i runs for unit vectors, row by row.
template <class S>
void Evaluator<S>::matrix_of(int i, S* matrix) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const Slot& probe = slots_[at(v.in[0])];
  const S* result = slots_[at(v.in[1])].out;
  const int rows = dimension(value(v.in[1]).space);
  const int cols = probe.size;
  std::fill_n(probe.out, probe.size, S(0));
  for (int j = 0; j < cols; ++j) {
    probe.out[j] = S(1);
    run_owned(slot);
    probe.out[j] = S(0);
    for (int r = 0; r < rows; ++r) {
      matrix[r * cols + j] = result[r];
    }
  }
}

template <class S>
void Evaluator<S>::dense(int i) {
  matrix_of(i, slots_[at(i)].out);
  function_of(i, -1, slots_[at(i)].out, dimension(value(i).space));
}

/// What a force at link k comes to at its parent by one step of gather or spread.
template <class S>
Force<S> Evaluator<S>::stepped(const Value& v, int k, Force<S> f) const {
  const Posed<S, 0> a(links_, joints_, k);
  switch (v.part) {
    case Part::S:
      return f;
    case Part::E_psi: {
      const RiccatiBlocks<S>& r = used(v, 2);
      if (!folded_->places[at(k)].coupled) {
        kernels::HingeVector<S> e{};
        for (int j = 0; j < a.nv; ++j) {
          e[j] = -a.along(j, f);
        }
        return a.up(a.nv == 0 ? f : f + factors(r, k).gain_times(e));
      }
      Force<S> out = a.up(f);
      for (int j = 0; j < a.nv; ++j) {
        out -= r.K[at(folded_->places[at(k)].own + j)] * a.along(j, f);
      }
      return out;
    }
    default:
      return a.up(f);
  }
}

/// y(p) += E(p,k) y(k) E*(p,k), inward, of symmetric and other blocks alike.
template <class S>
void Evaluator<S>::gather(int i, Range range) {
  const Value& v = value(i);
  for (int k = range.end - 1; k >= range.begin; --k) {
    const int p = links_[k].parent;
    if (p < 0) {
      continue;
    }
    int from_stride = 0;
    int to_stride = 0;
    const S* from = member_block(i, k, from_stride);
    S* to = member_block(i, p, to_stride);
    S half[rigid][rigid];  // E y, column by column
    for (int c = 0; c < rigid; ++c) {
      S column[rigid];
      for (int r = 0; r < rigid; ++r) {
        column[r] = from[r * from_stride + c];
      }
      put(half[c], stepped(v, k, force_at(column)));
    }
    for (int r = 0; r < rigid; ++r) {  // and its rows
      S row[rigid];
      for (int c = 0; c < rigid; ++c) {
        row[c] = half[c][r];
      }
      put(row, stepped(v, k, force_at(row)));
      for (int c = 0; c < rigid; ++c) {
        to[r * to_stride + c] += row[c];
      }
    }
  }
}

/// y(k) = x(k) + E*(k,p) y(p) E(p,k), outward.
template <class S>
void Evaluator<S>::spread(int i, Range range) {
  const Value& v = value(i);
  const Slot& from = slots_[at(v.uses[1])];
  for (int k = range.begin; k < range.end; ++k) {
    int stride = 0;
    S* to = member_block(i, k, stride);
    const S* own = from.out + (to - out(i));
    for (int r = 0; r < rigid; ++r) {
      std::copy_n(own + r * stride, rigid, to + r * stride);
    }
    const int p = links_[k].parent;
    if (p < 0) {
      continue;
    }
    int up_stride = 0;
    const S* up = member_block(i, p, up_stride);
    add_carried(v, k, up, up_stride, to, stride);
  }
}

/// to += E*(k,p) up E(p,k).
template <class S>
void Evaluator<S>::add_carried(const Value& v, int k, const S* up, int up_stride, S* to, int stride) const {
  S moved[rigid][rigid];  // E(p,k), column by column
  for (int c = 0; c < rigid; ++c) {
    S unit[rigid] = {};
    unit[c] = S(1);
    put(moved[c], stepped(v, k, force_at(unit)));
  }
  S half[rigid][rigid];  // y(p) E, column by column
  for (int c = 0; c < rigid; ++c) {
    for (int r = 0; r < rigid; ++r) {
      half[c][r] = S(0);
      for (int m = 0; m < rigid; ++m) {
        half[c][r] += up[r * up_stride + m] * moved[c][m];
      }
    }
  }
  for (int r = 0; r < rigid; ++r) {
    for (int c = 0; c < rigid; ++c) {
      for (int m = 0; m < rigid; ++m) {
        to[r * stride + c] += moved[r][m] * half[c][m];
      }
    }
  }
}

}  // namespace bunraku::operators
