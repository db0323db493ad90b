/// @file
/// X and θ̈_b of clusters with loops from a state, by the equations of loop_rows.hpp. Of single states in double
/// precision.
///
/// What it finds counts only where nothing is in doubt: a state that leaves loops open, say, is refused elsewhere.
#pragma once

#include <limits>
#include <span>

#include "bunraku/kernels/loop_rows.hpp"

namespace bunraku::kernels {

/// The largest of n numbers, a power of two.
template <int n>
BUNRAKU_INLINE double largest_number(const double* x) {
  if constexpr (n == 1) {
    return *x;
  } else {
    const double low = largest_number<n / 2>(x);
    const double high = largest_number<n / 2>(x + n / 2);
    return low > high ? low : high;
  }
}
/// The place of the largest number in C registers, and that number; `scratch` is of a register. Not of NaN.
template <class P, int C>
BUNRAKU_INLINE int largest_of(const PackedNumbers<P, C>& x, double* scratch, double& value) {
  constexpr int width = Lanes<P>::count;
  P most = x.x[0];
  for (int c = 1; c < C; ++c) {
    most = max(most, x.x[c]);
  }
  most.store(scratch);
  value = largest_number<width>(scratch);
  int place = 0;
  for (int c = C - 1; c >= 0; --c) {
    const unsigned same = bits_of(x.x[c] == P(value));
    place = same != 0 ? c * width + __builtin_ctz(same) : place;
  }
  return place;
}

/// X and θ̈_b of one cluster.
template <class S>
class LoopFreedom : LoopRows<S> {
  using Base = LoopRows<S>;
  using typename Base::P;
  template <int C>
  using Numbers = PackedNumbers<P, C>;
  using Base::c_;
  using Base::far_off_;
  using Base::m_;
  using Base::most;
  using Base::plan_;
  using Base::s_;
  using Base::square_of;
  using Base::written_;
  using Base::ws_;

 public:
  using Base::Base;

  /// To the rows of the workspace; how many columns X has, or −1 where something is in doubt.
  int run(double tolerance) {
    this->make();
    constexpr int width = Lanes<P>::count;
    const int registers = (plan_.rows + width - 1) / width;
    constexpr int all = most / width;
    if (registers == 1) {
      return settle<1>(tolerance);
    }
    if (all == 2 || registers == 2) {
      return settle<(all < 2 ? all : 2)>(tolerance);
    }
    if (all == 4 || registers <= 4) {
      return settle<(all < 4 ? all : 4)>(tolerance);
    }
    return settle<all>(tolerance);
  }

 private:
  /// Whether all of the equations in C registers are fulfilled as they should be; `least` is the square below which
  /// what is left of a row counts as nothing.
  template <int C>
  BUNRAKU_INLINE bool fits(double allowed, double& least) {
    constexpr int width = Lanes<P>::count;
    double speed = 0;
    for (const int j : c_.coordinates) {
      speed += ws_.v[j][0] * ws_.v[j][0];
    }
    speed_ = speed;
    // squares of sums are at least the sums of squares, and what does not fit so is looked at elsewhere
    const P most_slip(square_of(allowed) * (1 + speed));
    const P open(square_of(allowed));
    const P finite(std::numeric_limits<double>::max());
    bool well = !far_off_;
    P widest{};
    for (int c = 0; c < C; ++c) {
      const int i = c * width;
      const P scale = P::load(s_.scale + i);
      const P weight = select(scale > P(0.0), P(1.0) / scale, P(1.0));
      weight.store(s_.weight + i);
      weight.store(s_.left + i);
      P slip{};
      for (std::size_t j = 0; j < m_; ++j) {
        slip += P(ws_.v[c_.coordinates[j]]) * P::load(s_.Y[j] + i);
      }
      const P gap = P::load(s_.gap + i);
      const P part = select(gap == P(0.0), P{}, gap * gap / P::load(s_.size + i));  // nothing of nothing
      well = well && all((slip * slip * weight <= most_slip) & (part <= open) & (abs(P::load(s_.U + i)) <= finite));
      widest = max(widest, part);
    }
    widest.store(s_.sums);
    least = max_of(square_of(free_below), square_of(gap_tells) * largest_number<width>(s_.sums));
    return well;
  }

  template <int C>
  int settle(double allowed) {
    constexpr int width = Lanes<P>::count;
    for (int i = written_; i < C * width; ++i) {  // no equations
      s_.scale[i] = s_.U[i] = s_.gap[i] = 0;
      s_.size[i] = 1;
      for (std::size_t j = 0; j < m_; ++j) {
        s_.Y[j][i] = 0;
      }
    }
    double least = 0;
    if (!fits<C>(allowed, least)) {
      return -1;
    }
    if (m_ == 3 && settle_three<C>(allowed, least)) {
      return 1;
    }
    return settle_any<C>(allowed, least);
  }

  /// The most that may be left of U, squared, with θ̈_b at least so large.
  BUNRAKU_INLINE double lack_of(double allowed, double largest) const {
    return square_of(looser_in_rates * allowed * (1 + speed_ + largest));
  }

  /// Of three coordinates with two independent equations, as four-bars have: X is at right angles to the longest row a
  /// and to the row b of which most is left beside that. False if there are not two.
  template <int C>
  BUNRAKU_INLINE bool settle_three(double allowed, double least) {
    constexpr int width = Lanes<P>::count;
    Numbers<C> Y[3];
    Numbers<C> weight;
    Numbers<C> squares;
    for (int c = 0; c < C; ++c) {
      weight.x[c] = P::load(s_.weight + c * width);
      for (std::size_t j = 0; j < 3; ++j) {
        Y[j].x[c] = P::load(s_.Y[j] + c * width);
      }
      squares.x[c] = (Y[0].x[c] * Y[0].x[c] + Y[1].x[c] * Y[1].x[c] + Y[2].x[c] * Y[2].x[c]) * weight.x[c];
    }
    double longest = 0;
    const int a = largest_of(squares, s_.sums, longest);
    const Vec3<double> row_a{s_.Y[0][a], s_.Y[1][a], s_.Y[2][a]};
    const double least_area = least * squared_norm(row_a);
    Numbers<C> areas;
    for (int c = 0; c < C; ++c) {
      const P x = P(row_a.y) * Y[2].x[c] - P(row_a.z) * Y[1].x[c];
      const P y = P(row_a.z) * Y[0].x[c] - P(row_a.x) * Y[2].x[c];
      const P z = P(row_a.x) * Y[1].x[c] - P(row_a.y) * Y[0].x[c];
      areas.x[c] = (x * x + y * y + z * z) * weight.x[c];
    }
    double area = 0;
    const int b = largest_of(areas, s_.sums, area);
    const bool sure = longest > doubt * least && area > doubt * least_area && area > least_angle * squared_norm(row_a);
    if (!sure) {
      return false;
    }
    const Vec3<double> row_b{s_.Y[0][b], s_.Y[1][b], s_.Y[2][b]};
    const Vec3<double> normal = cross(row_a, row_b);
    const double square = squared_norm(normal);
    const double over = 1 / square;
    const Vec3<double> X = normal * (std::sqrt(square) * over);
    const Vec3<double> bias = (cross(row_b, normal) * s_.U[a] + cross(normal, row_a) * s_.U[b]) * over;
    const double largest = max_of(std::abs(bias.x), max_of(std::abs(bias.y), std::abs(bias.z)));
    const P most_left(least / doubt * square);
    const P most_lack(lack_of(allowed, largest));
    bool well = true;
    for (int c = 0; c < C; ++c) {
      const auto along = [&](const Vec3<double>& x) BUNRAKU_INLINE_LAMBDA {
        return P(x.x) * Y[0].x[c] + P(x.y) * Y[1].x[c] + P(x.z) * Y[2].x[c];
      };
      const P left = along(normal);
      const P lack = P::load(s_.U + c * width) - along(bias);
      well = well && all(left * left * weight.x[c] <= most_left) && all(lack * lack * weight.x[c] <= most_lack);
    }
    double* rows = free_rows(ws_, c_);
    constexpr std::size_t stride = embedded_stride(3);
    put_row(rows, bias.x, X.x);
    put_row(rows + stride, bias.y, X.y);
    put_row(rows + 2 * stride, bias.z, X.z);
    return well;
  }
  BUNRAKU_INLINE static double max_of(double x, double y) { return x > y ? x : y; }
  BUNRAKU_INLINE static void put_row(double* row, double bias, double X) {
    Pack<double, 2> both;
    both.set(0, bias);
    both.set(1, X);
    both.store(row);
  }

  /// X and θ̈_b by reflections, the longest row that is left first; see row_space.hpp.
  template <int C>
  [[gnu::noinline]] int settle_any(double allowed, double least) {
    std::size_t rank = 0;
    double largest = 0;
    Numbers<C> squares;
    for (std::size_t j = 0; j < m_; ++j) {
      squares.add(row_numbers<C>(s_.Y[j]), row_numbers<C>(s_.Y[j]));
    }
    for (; rank < m_ && rank < at(plan_.rows); ++rank) {
      Numbers<C> weighted;
      for (int c = 0; c < C; ++c) {
        squares.x[c].store(s_.squares + c * Lanes<P>::count);
        weighted.x[c] = squares.x[c] * P::load(s_.left + c * Lanes<P>::count);
      }
      double longest = 0;
      const int best = largest_of(weighted, s_.sums, longest);
      if (!(longest > least)) {
        if (longest > least / doubt) {
          return -1;
        }
        break;
      }
      if (longest < doubt * least) {
        return -1;
      }
      squares = reflect<C>(rank, best);
      largest = max_of(largest, std::abs(s_.z[rank]));
    }
    if (!(lack<C>() <= lack_of(allowed, largest))) {
      return -1;
    }
    spread(rank);
    return static_cast<int>(m_ - rank);
  }
  template <int C>
  BUNRAKU_INLINE static Numbers<C> row_numbers(const double* from) {
    Numbers<C> out;
    for (int c = 0; c < C; ++c) {
      out.x[c] = P::load(from + c * Lanes<P>::count);
    }
    return out;
  }

  /// Takes what row `best` has of the coordinates from k on to coordinate k, and out of the other rows. Returns the
  /// squares of what is left of these.
  template <int C>
  BUNRAKU_INLINE Numbers<C> reflect(std::size_t k, int best) {
    double* v = s_.v[k];
    const double sum = s_.squares[best];
    Numbers<C> even;  // two sums, which need not wait for each other
    Numbers<C> odd;
    std::size_t j = k;
    for (; j + 1 < m_; j += 2) {
      v[j] = s_.Y[j][best];
      v[j + 1] = s_.Y[j + 1][best];
      even.add(P(v[j]), row_numbers<C>(s_.Y[j]));
      odd.add(P(v[j + 1]), row_numbers<C>(s_.Y[j + 1]));
    }
    if (j < m_) {
      v[j] = s_.Y[j][best];
      even.add(P(v[j]), row_numbers<C>(s_.Y[j]));
    }
    even.add(odd);
    const double length = std::sqrt(sum);
    const double over = -1 / (sum + length * std::abs(v[k]));
    const double diagonal = -std::copysign(length, v[k]);
    const double z = s_.U[best] / diagonal;
    even.subtract(P(diagonal), row_numbers<C>(s_.Y[k]));
    const Numbers<C> along = even.times(P(over));
    v[k] -= diagonal;
    s_.lengths[k] = over;
    s_.z[k] = z;
    s_.left[best] = 0;
    Numbers<C> first = row_numbers<C>(s_.Y[k]);
    first.add(P(v[k]), along);
    Numbers<C> squares;
    for (j = k + 1; j < m_; ++j) {
      Numbers<C> y = row_numbers<C>(s_.Y[j]);
      y.add(P(v[j]), along);
      squares.add(y, y);
      for (int c = 0; c < C; ++c) {
        y.x[c].store(s_.Y[j] + c * Lanes<P>::count);
      }
    }
    for (int c = 0; c < C; ++c) {
      double* U = s_.U + c * Lanes<P>::count;
      (P::load(U) - P(z) * first.x[c]).store(U);
    }
    return squares;
  }
  /// The largest square of what is left of U, in the rows' scale.
  template <int C>
  BUNRAKU_INLINE double lack() const {
    constexpr int width = Lanes<P>::count;
    P largest{};
    for (int c = 0; c < C; ++c) {
      const P u = P::load(s_.U + c * width);
      largest = max(largest, u * u * P::load(s_.weight + c * width));
    }
    double out = 0;
    for (int i = 0; i < width; ++i) {
      out = largest[i] > out ? largest[i] : out;
    }
    return out;
  }

  /// [θ̈_b X] from the reflections.
  BUNRAKU_INLINE void spread(std::size_t rank) {
    double* rows = free_rows(ws_, c_);
    const std::size_t stride = embedded_stride(m_);
    const std::size_t columns = m_ - rank + 1;
    with_lanes<S>(columns, [&]<class L> {
      constexpr std::size_t width = Lanes<L>::count;
      L x[most];
      for (std::size_t first = 0; first < columns; first += width) {
        for (std::size_t i = 0; i < m_; ++i) {
          x[i] = L{};
          if (first == 0 && i < rank) {
            x[i].set(0, s_.z[i]);
          } else if (i >= rank && i - rank + 1 >= first && i - rank + 1 < first + width) {
            x[i].set(static_cast<int>(i - rank + 1 - first), 1.0);
          }
        }
        for (std::size_t k = rank; k-- > 0;) {
          const double* v = s_.v[k];
          L along{};
          L odd{};  // two sums, as above
          std::size_t j = k;
          for (; j + 1 < m_; j += 2) {
            along += L(v[j]) * x[j];
            odd += L(v[j + 1]) * x[j + 1];
          }
          along += j < m_ ? odd + L(v[j]) * x[j] : odd;
          along = along * L(s_.lengths[k]);
          for (std::size_t i = k; i < m_; ++i) {
            x[i] += L(v[i]) * along;
          }
        }
        for (std::size_t i = 0; i < m_; ++i) {
          x[i].store(rows + i * stride + first);
        }
      }
    });
  }

  double speed_ = 0;
};

/// X and θ̈_b of all clusters, and how many columns X has; false where something is in doubt.
template <class S>
bool free_loops(Workspace<S>& ws, std::span<const LoopPlan> plans, LoopScratch<S>& scratch, double tolerance,
                int* independent) {
  need_positions(ws);
  for (const LoopPlan& plan : plans) {
    const int count = LoopFreedom<S>(ws, plan, scratch).run(tolerance);
    if (count < 0) {
      return false;
    }
    independent[plan.links->embedded] = count;
  }
  ws.embedded.independent = independent;
  return true;
}

}  // namespace bunraku::kernels
