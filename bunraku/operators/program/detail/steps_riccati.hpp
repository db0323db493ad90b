/// @file
/// The step that makes P, D and G of a family, body by body or cluster by cluster.
#pragma once

#include "bunraku/kernels/eliminate_lanes.hpp"
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
  const auto one = [&](const auto& a, int k) BUNRAKU_INLINE_LAMBDA { eliminate(a, k, r, v, X, gears); };
  if constexpr (kernels::is_wide<S>) {
    if (X == nullptr && !folded_->coupled && v.part != Part::blocks) {
      const std::span<const Stretch> all(folded_->by_unit.data(), folded_->by_unit.size());
      const std::span<const Stretch> some = stretches(all, range.begin, range.end);
      for (std::size_t n = some.size(); n-- > 0;) {
        const int begin = std::max(some[n].begin, range.begin);
        const int end = std::min(some[n].end, range.end);
        if (!eliminate_lanes(some[n], begin, end, r, gears)) {
          with_arithmetic(some[n].kind, [&]<class A>() {
            for (int k = end - 1; k >= begin; --k) {
              one(A(links_, joints_, k), k);
            }
          });
        }
      }
      return;
    }
  }
  for_units(range, inward, one, [&](const Unit& unit) { eliminate_cluster(unit, r, v.uses[1], gears); });
}

/// Of several states, links that turn and have no rotors as the tuned sweeps do them. Returns whether they are such.
template <class S>
bool Evaluator<S>::eliminate_lanes(const Stretch& stretch, int begin, int end, RiccatiBlocks<S>& r, const S* gears)
  requires(kernels::is_wide<S>)
{
  bool plain = stretch.kind <= kernels::Kind::revolute_full;
  for (int k = begin; k < end && gears != nullptr; ++k) {
    plain = plain && !links_[k].geared;
  }
  if (!plain) {
    return false;
  }
  LaneRoom<S> room{links_, r.P.data(), joints_.spin.data(), doubt_.data()};
  LaneFactors<S> factors{r.U.data(), lane_inverses_.data(), r.doubtful};
  const S* none = nullptr;
  switch (stretch.kind) {
    case kernels::Kind::revolute_none:
      kernels::eliminate_lanes<false, kernels::Kind::revolute_none>(room, begin, end, factors, none);
      break;
    case kernels::Kind::revolute_quarter:
      kernels::eliminate_lanes<false, kernels::Kind::revolute_quarter>(room, begin, end, factors, none);
      break;
    case kernels::Kind::revolute_x:
      kernels::eliminate_lanes<false, kernels::Kind::revolute_x>(room, begin, end, factors, none);
      break;
    default:
      kernels::eliminate_lanes<false, kernels::Kind::revolute_full>(room, begin, end, factors, none);
      break;
  }
  r.doubtful = factors.doubtful;
  for (int k = begin; k < end; ++k) {
    const int v = links_[k].v;
    r.L[at(folded_->places[at(k)].block)] = lane_inverses_[at(v)];
    r.D[at(folded_->places[at(k)].block)] = r.U[at(v)].moment.z;
  }
  return true;
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
  } else if constexpr (kernels::is_wide<S>) {
    r.doubtful = r.doubtful | !(D > doubt_[at(velocity)]);
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
  Motion<S>* bar_H = r.bar_H.data() + layout_->bar[at(u)];
  Force<S>* bar_U = r.bar_U.data() + layout_->bar[at(u)];
  S* D = r.D.data() + unit.block;
  S* inverse = r.L.data() + unit.block;
  const auto place_of = [&](int k) {  // of a member in the cluster, or count
    return index_in({unit.members.data(), count}, k);
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
        const std::size_t own = index_in({unit.coordinates.data(), n}, folded_->places[at(k)].own + j);
        D[own * n + c] += a.along(j, cluster_force_[m]);
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

/// What check_riccati asks, without the closer look.
template <class S>
auto Evaluator<S>::doubts() const -> Doubt
  requires(kernels::is_wide<S>)
{
  Doubt out = {};
  for (const FamilyLayout& family : layout_->families) {
    const Value& v = value(family.value);
    const RiccatiBlocks<S>& r = this->family(family.value);
    if (family.of_bodies) {
      out = out | r.doubtful;
      continue;
    }
    for (std::size_t n = 1; n < v.uses.size(); ++n) {
      if (v.uses[n] != no_value) {
        out = out | asymmetric(v.uses[n]);
      }
    }
    for (const Unit& unit : folded_->units) {
      const std::size_t n = unit.coordinates.size();
      for (std::size_t j = 0; j < n; ++j) {
        const S& inverse = r.L[at(unit.block) + j * n + j];
        out = out | !(abs(inverse) > S(0)) | !(inverse * S(0) == S(0));
      }
    }
  }
  return out;
}

}  // namespace bunraku::operators
