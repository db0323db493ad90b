/// @file
/// What the steps that make blocks and matrices do.
#pragma once

#include "bunraku/operators/program/detail/dense.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// The inverse of an n × n matrix, row by row, in any scalar, without a question about values: no pivots are chosen.
/// Calls see(j, pivot) with each.
template <class S>
void invert_plainly(S* a, int n, const auto& see) {
  for (int j = 0; j < n; ++j) {
    see(j, a[j * n + j]);
    const S inverse = reciprocal(a[j * n + j]);
    a[j * n + j] = S(1);
    for (int c = 0; c < n; ++c) {
      a[j * n + c] *= inverse;
    }
    for (int r = 0; r < n; ++r) {
      if (r != j) {
        const S factor = a[r * n + j];
        a[r * n + j] = S(0);
        for (int c = 0; c < n; ++c) {
          a[r * n + c] -= factor * a[j * n + c];
        }
      }
    }
  }
}

/// P(k) = X(k) + Σ φ(k,c) P⁺(c) φ*(k,c), D = H P H* + A, G = P H* D⁻¹, P⁺ = P − G D G* (RK92 34–41), inward.
template <class S>
void Evaluator<S>::riccati(int i, Range range) {
  const Value& v = value(i);
  RiccatiBlocks<S>& r = riccati_[at(slots_[at(i)].extra)];
  const S* X = v.uses[1] == no_value ? nullptr : slots_[at(v.uses[1])].out;
  const S* gears = v.part == Part::armature ? armature_blocks_.data()
                   : v.part == Part::blocks ? slots_[at(v.uses[2])].out
                                            : nullptr;
  for_units(
      range, inward, [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA { eliminate(a, k, r, v, X, gears); },
      [&](const Unit& unit) { eliminate_cluster(unit, r, v.uses[1], gears); });
}

/// Adds to what the parent of a link has gathered: the first to arrive sets it.
template <class S>
BUNRAKU_INLINE void Evaluator<S>::hand_over(const kernels::Link<S>& l, const ArticulatedInertia<S>& moved,
                                            RiccatiBlocks<S>& r) const {
  ArticulatedInertia<S>& sum = r.P[at(l.parent)];
  if (l.opens_parent && !folded_->coupled) {
    kernels::put(moved, sum);
  } else {
    sum += moved;
  }
}

/// Notes a D that is not certainly positive.
template <class S>
BUNRAKU_INLINE void Evaluator<S>::note_doubt(RiccatiBlocks<S>& r, int velocity, const S& D) const {
  if constexpr (std::is_floating_point_v<S>) {
    r.doubtful |= !(D > doubt_[at(velocity)]);
  }
}

template <class S>
template <class A>
BUNRAKU_INLINE void Evaluator<S>::eliminate(const A& a, int k, RiccatiBlocks<S>& r, const Value& v, const S* X,
                                            const S* gears) {
  const kernels::Link<S>& l = links_[k];
  const int block = folded_->places[at(k)].block;
  ArticulatedInertia<S> P = X == nullptr
                                ? ArticulatedInertia<S>::from_rigid(l.inertia)
                                : inertia_at(X + slots_[at(v.uses[1])].begins[at(folded_->places[at(k)].unit)]);
  if (!l.leaf) {
    P += r.P[at(k)];
  }
  if constexpr (A::turns) {
    const Force<S> U = a.column(0, P);
    const S gear = gears == nullptr ? S(0) : gears[block];
    const S D = gears == nullptr ? a.along(0, U) : a.along(0, U) + gear;
    const S inverse = reciprocal(D);
    r.U[at(l.v)] = U;
    r.L[at(block)] = inverse;
    r.D[at(block)] = D;
    note_doubt(r, l.v, D);
    if (l.parent >= 0) {
      const bool plain = gears == nullptr || (!l.geared && v.part == Part::armature);
      hand_over(l, plain ? a.template pass<false>(P, U, inverse, gear) : a.template pass<true>(P, U, inverse, gear), r);
    }
  } else {
    r.P[at(k)] = P;
    const int n = a.nv;
    Force<S>* U = r.U.data() + l.v;
    S* L = r.L.data() + block;
    S* D = r.D.data() + block;
    const S* gear = gears == nullptr ? nullptr : gears + block;
    if (v.part != Part::blocks) {  // rotors do not couple coordinates: these go one after the other, the last first
      for (int j = n - 1; j >= 0; --j) {
        U[j] = a.column(j, P);
        const S d = gear == nullptr ? a.along(j, U[j]) : a.along(j, U[j]) + gear[j * n + j];
        const S inverse = reciprocal(d);
        D[j * n + j] = d;
        note_doubt(r, l.v + j, d);
        for (int m = 0; m < j; ++m) {
          L[m * n + j] = a.along(m, U[j]) * inverse;
          L[j * n + m] = S(0);
        }
        L[j * n + j] = inverse;
        if (j > 0 || l.parent >= 0) {
          P -= scaled_outer(U[j], inverse);
        }
      }
    } else {  // the same on U and D, of which A is a full block
      for (int j = 0; j < n; ++j) {
        U[j] = a.column(j, P);
        for (int m = 0; m < n; ++m) {
          D[m * n + j] = a.along(m, U[j]) + gear[m * n + j];
        }
      }
      for (int j = n - 1; j >= 0; --j) {
        const S inverse = reciprocal(D[j * n + j]);
        for (int m = 0; m < j; ++m) {
          L[m * n + j] = D[m * n + j] * inverse;
          L[j * n + m] = S(0);
          U[m] -= U[j] * L[m * n + j];
          for (int c = 0; c < j; ++c) {
            D[m * n + c] -= L[m * n + j] * D[j * n + c];
          }
        }
        L[j * n + j] = inverse;
        P -= scaled_outer(U[j], inverse);
      }
    }
    if (n > 1 && r.whole_D) {
      kernels::HingeFactors<S>{n, U, L}.multiply(D);
    }
    if (l.parent >= 0) {
      const bool geared = v.part == Part::blocks || (v.part == Part::armature && l.geared);
      kernels::forget_rounding(folded_->model.bodies()[at(l.body)].hinge.type, geared, P);
      hand_over(l, a.up(P), r);
    }
  }
}

/// The same with each cluster as one body: with E_φ split into what stays within clusters and what leaves them,
/// φ = φ_b (I − E_out φ_b)⁻¹ where φ_b = (I − E_in)⁻¹, so that Hφ = H̄φ̄ with H̄ = Hφ_b and Ē = E_out φ_b. Then
/// D = H̄Ū* + A, K = ĒPH̄*D⁻¹ and P(p) += ĒPĒ* − KDK*, and (I + HφK)D(I + HφK)* = HφXφ*H* + A as ever.
template <class S>
void Evaluator<S>::eliminate_cluster(const Unit& unit, RiccatiBlocks<S>& r, int X, const S* gears) {
  const std::size_t n = unit.coordinates.size();
  const std::size_t count = unit.members.size();
  const int u = folded_->places[at(unit.members[0])].unit;
  Motion<S>* bar_H = r.bar_H.data() + bar_[at(u)];
  Force<S>* bar_U = r.bar_U.data() + bar_[at(u)];
  S* D = r.D.data() + unit.block;
  S* inverse = r.L.data() + unit.block;
  const auto place_of = [&](int k) {  // of a member in the cluster, or count
    return static_cast<std::size_t>(std::find(unit.members.begin(), unit.members.end(), k) - unit.members.begin());
  };
  for (std::size_t m = 0; m < count; ++m) {
    const int k = unit.members[m];
    if (X == no_value) {
      r.P[at(k)] += ArticulatedInertia<S>::from_rigid(links_[k].inertia);
    } else {
      int stride = 0;
      const S* block = member_block(X, k, stride);
      S own[rigid * rigid];
      for (int row = 0; row < rigid; ++row) {
        std::copy_n(block + row * stride, rigid, own + rigid * row);
      }
      r.P[at(k)] += inertia_at(own);
    }
  }
  for (std::size_t c = 0; c < n; ++c) {
    Force<S> leaving = Force<S>::zero();
    for (std::size_t i = 0; i < n; ++i) {
      D[i * n + c] = gears == nullptr ? S(0) : gears[unit.block + static_cast<int>(i * n + c)];
    }
    for (std::size_t m = 0; m < count; ++m) {  // φ_b*H* of one velocity
      const int k = unit.members[m];
      const Posed<S, 0> a(links_, joints_, k);
      const std::size_t up = place_of(links_[k].parent);
      Motion<S> motion = up < count ? a.down(bar_H[up * n + c]) : Motion<S>::zero();
      for (int j = 0; j < a.nv; ++j) {
        if (folded_->places[at(k)].own + j == unit.coordinates[c]) {
          a.push(j, S(1), motion);
        }
      }
      bar_H[m * n + c] = motion;
      bar_U[m * n + c] = cluster_force_[m] = r.P[at(k)] * motion;
    }
    for (std::size_t m = count; m-- > 0;) {
      const int k = unit.members[m];
      const Posed<S, 0> a(links_, joints_, k);
      for (int j = 0; j < a.nv; ++j) {
        const auto own = std::find(unit.coordinates.begin(), unit.coordinates.end(), folded_->places[at(k)].own + j);
        D[static_cast<std::size_t>(own - unit.coordinates.begin()) * n + c] += a.along(j, cluster_force_[m]);
      }
      const Force<S> moved = a.up(cluster_force_[m]);
      if (const std::size_t up = place_of(links_[k].parent); up < count) {
        cluster_force_[up] += moved;
      } else {
        leaving += moved;
      }
    }
    cluster_leaving_[c] = leaving;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = 0; c < i; ++c) {
      D[i * n + c] = D[c * n + i] = (D[i * n + c] + D[c * n + i]) * constant<S>(0.5);
    }
  }
  std::copy_n(D, n * n, inverse);
  invert_plainly(inverse, static_cast<int>(n),
                 [&](int j, const S& d) { note_doubt(r, static_cast<int>(leader_of(unit, at(j))), d); });
  for (std::size_t c = 0; c < n; ++c) {
    Force<S>& K = r.K[at(unit.coordinates[c])];
    K = Force<S>::zero();
    for (std::size_t d = 0; d < n; ++d) {
      K += cluster_leaving_[d] * inverse[d * n + c];
    }
  }
  if (unit.parent < 0) {
    return;
  }
  for (std::size_t m = 0; m < count; ++m) {
    cluster_inertia_[m] = r.P[at(unit.members[m])];
  }
  ArticulatedInertia<S>& sum = r.P[at(unit.parent)];
  for (std::size_t m = count; m-- > 0;) {
    const int k = unit.members[m];
    const ArticulatedInertia<S> moved = Posed<S, 0>(links_, joints_, k).up(cluster_inertia_[m]);
    const std::size_t up = place_of(links_[k].parent);
    (up < count ? cluster_inertia_[up] : sum) += moved;
  }
  for (std::size_t c = 0; c < n; ++c) {
    const Force<S>& K = r.K[at(unit.coordinates[c])];
    const Force<S>& U = cluster_leaving_[c];
    sum -= ArticulatedInertia<S>{Sym3<S>::symmetric_part(outer(K.moment, U.moment)), outer(K.moment, U.force),
                                 Sym3<S>::symmetric_part(outer(K.force, U.force))};
  }
}

/// The block of one member in the unit's block of a value of body space.
template <class S>
S* Evaluator<S>::member_block(int i, int k, int& stride) {
  const int u = folded_->places[at(k)].unit;
  const Unit& unit = folded_->units[at(u)];
  stride = rigid * static_cast<int>(unit.members.size());
  const int m = static_cast<int>(std::find(unit.members.begin(), unit.members.end(), k) - unit.members.begin());
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
bool Evaluator<S>::is_symmetric(int i) const {
  using std::abs;
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  for (int u = 0; u < static_cast<int>(folded_->units.size()); ++u) {
    const S* block = slot.out + slot.begins[at(u)];
    const int n = unit_size(v.space.kind, u);
    S largest(0);
    for (int j = 0; j < n * n; ++j) {
      largest = largest < abs(block[j]) ? abs(block[j]) : largest;
    }
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < r; ++c) {
        if (abs(block[r * n + c] - block[c * n + r]) > constant<S>(rounding_of_blocks<S>) * largest) {
          return false;
        }
      }
    }
  }
  return true;
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

template <class S>
void Evaluator<S>::dense(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const Slot& probe = slots_[at(v.in[0])];
  const S* result = slots_[at(v.in[1])].out;
  const int n = dimension(v.space);
  std::fill_n(probe.out, probe.size, S(0));
  for (int j = 0; j < n; ++j) {
    probe.out[j] = S(1);
    run_owned(slot);
    probe.out[j] = S(0);
    for (int r = 0; r < n; ++r) {
      slot.out[r * n + j] = result[r];
    }
  }
  function_of(i, -1, slot.out, n);
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
}

}  // namespace bunraku::operators
