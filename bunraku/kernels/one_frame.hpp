/// @file
/// Where the links of one state are, and their H*, seen from a frame that stands still where the first link of the tree
/// is: then nothing has to be moved from link to link, and of matrices whole registers of elements are computed at
/// once. Coordinates have their lanes in the order of the matrix.
///
/// A large distance from that link costs digits of what is small there, so that this is for `double` alone, for systems
/// that are not too large, and whose links stay near together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bunraku/kernels/coordinate_lanes.hpp"
#include "bunraku/kernels/positions.hpp"
#include "bunraku/kernels/transpose.hpp"

namespace bunraku::kernels {

/// Up to so many coordinates it pays: with few in a register it is more work than it saves, and the scratch grows with
/// the square of their number.
template <class S>
inline constexpr int most_in_one_frame = sizeof(NumberOf<S>) != sizeof(double) ? 0
                                         : columns_per_register<S> >= 8        ? 64
                                         : columns_per_register<S> == 4        ? 12
                                                                               : 0;

/// A bit for each lane of a register.
template <class S>
using CoordinateBits = BitsOf<NumberOf<S>>;

/// The bit of each lane.
template <class S>
struct alignas(64) BitOfLane {
  CoordinateBits<S> bit[columns_per_register<S>] = {};  ///< They.

  /// The table.
  constexpr BitOfLane() {
    for (int i = 0; i < columns_per_register<S>; ++i) {
      bit[i] = CoordinateBits<S>{1} << i;
    }
  }
};
template <class S>
inline constexpr BitOfLane<S> bit_of_lane{};

/// x in the lanes whose bits are set, y in the others.
template <class S>
BUNRAKU_INLINE Column<S> chosen(const CoordinateBits<S>& bits, const Column<S>& x, const Column<S>& y) {
  constexpr int lanes = columns_per_register<S>;
#if defined(__AVX512F__)
  if constexpr (lanes == 8) {
    return Column<S>(__builtin_bit_cast(
        typename Column<S>::Register, _mm512_mask_mov_pd(__builtin_bit_cast(__m512d, y.r), static_cast<__mmask8>(bits),
                                                         __builtin_bit_cast(__m512d, x.r))));
  }
#endif
  if constexpr (lanes == 1) {
    return bits != 0 ? x : y;
  } else {
    using Register = typename RegisterOf<CoordinateBits<S>, lanes>::type;
    const Register of_lane = *reinterpret_cast<const Register*>(bit_of_lane<S>.bit);
    return select(Mask<NumberOf<S>, lanes>{(of_lane & (bits - Register{})) != 0}, x, y);
  }
}

/// Adds x in the lanes whose bits are set.
template <class S>
BUNRAKU_INLINE void add_some(const CoordinateBits<S>& bits, const S& x, Column<S>& sum) {
#if defined(__AVX512F__)
  if constexpr (columns_per_register<S> == 8) {
    const auto to = __builtin_bit_cast(__m512d, sum.r);
    sum.r = __builtin_bit_cast(typename Column<S>::Register,
                               _mm512_mask_add_pd(to, static_cast<__mmask8>(bits), to, _mm512_set1_pd(x.r)));
    return;
  }
#endif
  sum = chosen<S>(bits, sum + x, sum);
}

/// Three numbers and one that means nothing.
template <class S>
using Quad = Pack<NumberOf<S>, 4>;

/// A link's frame vector by vector: what goes from link to link. Written in whole vectors, it can be read in such at
/// once; numbers that are written one by one and read together must reach memory first.
template <class S>
struct FrameVectors {
  Quad<S> x;  ///< First axis.
  Quad<S> y;  ///< Second.
  Quad<S> z;  ///< Third, that of a hinge.
  Quad<S> p;  ///< Origin.

  /// From numbers.
  static FrameVectors of(const LinkFrame<S>& f) {
    const auto quad = [](const Vec3<S>& v) {
      Quad<S> out;
      for (int i = 0; i < 3; ++i) {
        out.set(i, v[i][0]);
      }
      return out;
    };
    return {quad(f.x), quad(f.y), quad(f.z), quad(f.p)};
  }
  /// Writes it vector by vector: the compiler would copy the whole in halves of vectors.
  BUNRAKU_INLINE void put(FrameVectors& to) const {
    to.x = x;
    to.y = y;
    to.z = z;
    to.p = p;
  }
  /// To numbers.
  LinkFrame<S> numbers() const {
    const auto vector = [](const Quad<S>& v) { return Vec3<S>{S(v[0]), S(v[1]), S(v[2])}; };
    return {vector(x), vector(y), vector(z), vector(p)};
  }
};

/// From four numbers of each coordinate of a register, `stride` numbers apart: component by component. Those of
/// coordinates after `last` come as that one's.
template <class S>
BUNRAKU_INLINE void transpose_quads(const NumberOf<S>* from, int stride, int last, Column<S> (&out)[4]) {
  constexpr int lanes = columns_per_register<S>;
  if constexpr (lanes >= 4) {  // see most_in_one_frame
    const auto quad = [&](int i) BUNRAKU_INLINE_LAMBDA {
      return Quad<S>::load(from + std::ptrdiff_t{i < last ? i : last} * stride);
    };
    Column<S> rows[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if constexpr (lanes == 8) {
        rows[i] = joined_packs(quad(i), quad(i + 4), std::make_index_sequence<8>{});
      } else {
        rows[i] = quad(i);
      }
    }
    constexpr auto all = std::make_index_sequence<lanes>{};
    exchange<1>(rows[0], rows[1], all);
    exchange<1>(rows[2], rows[3], all);
    exchange<2>(rows[0], rows[2], all);
    exchange<2>(rows[1], rows[3], all);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      out[i] = rows[i];
    }
  }
}

/// Frames and H*, and room for what is made of them. What belongs to a link is at its last coordinate: those before it
/// are hinges of massless links.
template <class S, int components>
struct FrameLanes : CoordinateLanes<S, components> {
  using Base = CoordinateLanes<S, components>;
  /// @name Where components start
  /// @{
  static constexpr int column = 0;   ///< H*.
  static constexpr int kind = 6;     ///< Of the coordinate's hinge: 1 revolute, −1 prismatic, 0 another.
  static constexpr int further = 7;  ///< What else there is room for.
  /// @}

  explicit FrameLanes(const Workspace<S>& ws)
      : Base((ws.tree->coordinates.nv + Base::lanes - 1) / Base::lanes),
        frames(at(this->registers * Base::lanes), FrameVectors<S>::of({})) {
    for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
      const Link<S>& l = ws.link(k);
      for (int e = l.v; e < l.v + l.nv; ++e) {
        *this->cell(kind, e) = S(l.kind <= Kind::revolute_full ? 1 : l.kind == Kind::prismatic ? -1 : 0);
        if (l.kind == Kind::floating) {  // which stay, since its frame is that of its tree
          this->put(column, e, ws.H[at(e)]);
        }
      }
    }
  }

  /// The frame of link k.
  BUNRAKU_INLINE FrameVectors<S>& frame_of(const Link<S>& l) { return frames[at(l.v + l.nv - 1)]; }

  std::vector<FrameVectors<S>> frames;  ///< Of links, by coordinates.
};

/// Frames of revolute links.
template <Kind kind, class S, int components>
void place_frames(const Workspace<S>& ws, FrameLanes<S, components>& d, int begin, int end) {
  FrameVectors<S> here;
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    if (l.parent < 0) {
      here = FrameVectors<S>::of({});
    } else {
      if (k == begin || l.parent != k - 1) {
        here = d.frame_of(ws.link(l.parent));
      }
      here = frame_on<kind>(here, l, ws.spin[at(k)]);
    }
    here.put(d.frame_of(l));
  }
}

/// Frame of a prismatic link.
template <class S, int components>
void place_prismatic(const Workspace<S>& ws, FrameLanes<S, components>& d, int k) {
  const Link<S>& l = ws.link(k);
  if (l.parent < 0) {
    return;  // it does not change
  }
  const FrameVectors<S>& up = d.frame_of(ws.link(l.parent));
  FrameVectors<S>& here = d.frame_of(l);
  const auto turned = [&](int j) BUNRAKU_INLINE_LAMBDA {
    return up.x * l.turn(0, j) + up.y * l.turn(1, j) + up.z * l.turn(2, j);
  };
  const Quad<S> axis = turned(2);
  here.x = turned(0);
  here.y = turned(1);
  here.z = axis;
  here.p = up.p + up.x * l.p.x + up.y * l.p.y + up.z * l.p.z + axis * ws.q[l.q];
}

/// Frame and H* of any other link; the frame at all of its coordinates.
template <class S, int components>
void place_frame(const Workspace<S>& ws, FrameLanes<S, components>& d, int k) {
  const Link<S>& l = ws.link(k);
  if (l.kind == Kind::floating) {
    return;  // neither changes
  }
  LinkFrame<S> here;
  if (l.parent >= 0) {
    here = LinkFrame<S>::of(d.frame_of(ws.link(l.parent)).numbers().pose() * pose(ws, l));
  }
  const Transform<S> X = here.pose();
  const FrameVectors<S> vectors = FrameVectors<S>::of(here);
  for (int e = l.v; e < l.v + l.nv; ++e) {
    vectors.put(d.frames[at(e)]);
    d.put(d.column, e, X * column(ws, e));
  }
}

/// Frames and H* of all links, but for H* of revolute and prismatic ones.
template <class S, int components>
void place_all(Workspace<S>& ws, FrameLanes<S, components>& d) {
  need_positions(ws);
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { place_frames<kind>(ws, d, begin, end); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        run.kind == Kind::prismatic ? place_prismatic(ws, d, k) : place_frame(ws, d, k);
      }
    }
  }
}

/// The frames of a register's coordinates; writes H* of revolute and prismatic ones.
template <class S, int components>
BUNRAKU_INLINE Transform<Column<S>> place_columns(FrameLanes<S, components>& d, int r) {
  using C = Column<S>;
  using D = FrameLanes<S, components>;
  const FrameVectors<S>& first = d.frames[at(r * D::lanes)];
  const auto vectors = [](const Quad<S>& of) BUNRAKU_INLINE_LAMBDA {
    C four[4];
    transpose_quads<S>(reinterpret_cast<const NumberOf<S>*>(&of), 16, D::lanes - 1, four);
    return Vec3<C>{four[0], four[1], four[2]};
  };
  const LinkFrame<C> frame{vectors(first.x), vectors(first.y), vectors(first.z), vectors(first.p)};
  const C kind = d.load_one(D::kind, r);
  const auto revolute = C{} < kind;
  const auto prismatic = kind < C{};
  d.store(D::column, r, select(revolute, frame.z, d.load(D::column, r)));
  d.store(D::column + 3, r,
          select(revolute, cross(frame.p, frame.z), select(prismatic, frame.z, d.load(D::column + 3, r))));
  return frame.pose();
}

/// Six components of all coordinates of a register.
template <class S>
struct SixColumns {
  Column<S> x[6];  ///< They.

  BUNRAKU_INLINE explicit SixColumns(const S* from) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      x[i] = load_column(from + i * columns_per_register<S>);
    }
  }
  /// Times those of one coordinate.
  BUNRAKU_INLINE Column<S> times(const S* y) const {
    constexpr int lanes = columns_per_register<S>;
    Column<S> sum = x[0] * y[0];
#pragma GCC unroll 6
    for (int i = 1; i < 6; ++i) {
      sum += x[i] * y[i * lanes];
    }
    return sum;
  }
};

/// Writes a square of elements of an n×n matrix from row `first` and column `second` on, as far as it goes: row by row.
template <class S>
BUNRAKU_INLINE void write_square(const Column<S> (&rows)[columns_per_register<S>], int first, int second,
                                 std::ptrdiff_t n, S* out) {
  constexpr int lanes = columns_per_register<S>;
  const int count = std::min(static_cast<int>(n) - second, lanes);
  const int many = std::min(static_cast<int>(n) - first, lanes);
  S* to = out + first * n + second;
  if (count == lanes && many == lanes) [[likely]] {
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) {
      store_column(rows[i], to);
      to += n;
    }
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < lanes; ++i) {
    if (i < many) {
      store_some(rows[i], count, to);
      to += n;
    }
  }
}

}  // namespace bunraku::kernels
