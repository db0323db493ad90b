/// @file
/// Where the links of one state are, and their H*, seen from a frame that stands still where the first link of the tree
/// is: then nothing has to be moved from link to link, and of matrices whole registers of elements are computed at
/// once. Coordinates have their lanes in the order of the matrix.
///
/// A large distance from that link costs digits of what is small there, so that this is for `double` alone, for systems
/// that are not too large, and whose links stay near together.
#pragma once

#include <cstdint>
#include <vector>

#include "bunraku/kernels/coordinate_lanes.hpp"
#include "bunraku/kernels/positions.hpp"

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
  if constexpr (lanes == 1) {
    return bits != 0 ? x : y;
  } else {
    using Register = typename RegisterOf<CoordinateBits<S>, lanes>::type;
    const Register of_lane = *reinterpret_cast<const Register*>(bit_of_lane<S>.bit);
    return select(Mask<NumberOf<S>, lanes>{(of_lane & (bits - Register{})) != 0}, x, y);
  }
}

/// Frames and H*, and room for what is made of them. What belongs to a link is at its last coordinate: those before it
/// are hinges of massless links.
template <class S, int components>
struct FrameLanes : CoordinateLanes<S, components> {
  using Base = CoordinateLanes<S, components>;
  /// @name Where components start
  /// @{
  static constexpr int frames = 0;     ///< Of links.
  static constexpr int column = 12;    ///< H*.
  static constexpr int revolute = 18;  ///< Whether the coordinate's hinge is: 1 or 0.
  static constexpr int further = 19;   ///< What else there is room for.
  /// @}

  explicit FrameLanes(const Workspace<S>& ws) : Base((ws.tree->coordinates.nv + Base::lanes - 1) / Base::lanes) {
    for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
      const Link<S>& l = ws.link(k);
      for (int e = l.v; e < l.v + l.nv; ++e) {
        *this->cell(revolute, e) = S(l.kind <= Kind::revolute_full ? 1 : 0);
        if (l.kind == Kind::floating) {  // which stay, since its frame is that of its tree
          this->put(column, e, ws.H[at(e)]);
        }
      }
    }
  }

  /// The lane of link k.
  BUNRAKU_INLINE static int lane(int, const Link<S>& l) { return l.v + l.nv - 1; }
};

/// Frame and H* of any other link; the frame at all of its coordinates.
template <class S, int components>
void place_frame(const Workspace<S>& ws, FrameLanes<S, components>& d, int k) {
  const Link<S>& l = ws.link(k);
  LinkFrame<S> here;
  if (l.parent >= 0) {
    here = LinkFrame<S>::of(d.frame(d.lane(l.parent, ws.link(l.parent))).pose() * pose(ws, l));
  }
  const Transform<S> X = here.pose();
  for (int e = l.v; e < l.v + l.nv; ++e) {
    d.put_frame(e, here);
    if (l.kind == Kind::prismatic) {
      d.put(d.column, e, Motion<S>{Vec3<S>::zero(), here.z});
    } else if (l.kind != Kind::floating) {
      d.put(d.column, e, X * column(ws, e));
    }
  }
}

/// Frames and H* of all links, but for H* of revolute ones.
template <class S, int components>
void place_all(Workspace<S>& ws, FrameLanes<S, components>& d) {
  need_positions(ws);
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) { place_frames<kind>(ws, d, begin, end); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        place_frame(ws, d, k);
      }
    }
  }
}

/// The frames of a register's coordinates; writes H* of revolute ones.
template <class S, int components>
BUNRAKU_INLINE Transform<Column<S>> place_columns(FrameLanes<S, components>& d, int r) {
  using C = Column<S>;
  using D = FrameLanes<S, components>;
  const LinkFrame<C> frame = d.load_frame(r);
  const auto revolute = C{} < d.load_one(D::revolute, r);
  const auto either = [&](const Vec3<C>& here, const Vec3<C>& there) BUNRAKU_INLINE_LAMBDA {
    return Vec3<C>{select(revolute, here.x, there.x), select(revolute, here.y, there.y),
                   select(revolute, here.z, there.z)};
  };
  d.store(D::column, r, either(frame.z, d.load(D::column, r)));
  d.store(D::column + 3, r, either(cross(frame.p, frame.z), d.load(D::column + 3, r)));
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

}  // namespace bunraku::kernels
