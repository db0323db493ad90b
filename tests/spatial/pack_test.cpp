/// Packs as scalars: their arithmetic, sine and cosine, and the exponential, the logarithm and all hinge laws on them,
/// against single numbers. What a lane gives does not depend on the others, to the last bit.
#include "bunraku/kernels/pack.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bunraku/kernels/sincos.hpp"
#include "bunraku/model/hinge_laws.hpp"
#include "bunraku/spatial/exponential.hpp"
#include "bunraku/spatial/inertia.hpp"
#include "support/random.hpp"
#include "support/traps.hpp"

namespace bunraku::test {
namespace {

using kernels::BitsOf;
using kernels::Lanes;
using kernels::Mask;
using kernels::NumberOf;
using kernels::Pack;

constexpr double pi = std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
/// A result has at most so many numbers.
constexpr std::size_t most = 40;

template <class P>
class PackTest : public testing::Test {};
using Packs =
    testing::Types<Pack<double, 1>, Pack<double, 2>, Pack<double, 4>, Pack<double, 8>, Pack<float, 4>, Pack<float, 8>>;
TYPED_TEST_SUITE(PackTest, Packs);

template <class T>
constexpr double eps = std::numeric_limits<T>::epsilon();

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Row operator+(Row a, const Row& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Row row(const Vec3<double>& v) {
  return {v.x, v.y, v.z};
}
Row row(const Quaternion<double>& q) {
  return {q.w, q.x, q.y, q.z};
}
Quaternion<double> turned(const Vec3<double>& by) {
  return Quaternion<double>::exp(by);
}

/// What is tried, from numbers in to numbers out. It is called where the compiler does not see it, so that
/// floating-point traps are on while it computes.
template <class S>
using Function = std::function<void(const S* in, S* out)>;

/// f of a row in every lane, lane by lane.
template <class P>
std::array<std::array<NumberOf<P>, most>, Lanes<P>::count> in_lanes(
    const Function<P>& f, const std::array<const Row*, Lanes<P>::count>& rows) {
  std::array<P, most> in{};
  std::array<P, most> out{};
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    for (std::size_t i = 0; i < rows[lane]->size(); ++i) {
      in[i].set(static_cast<int>(lane), static_cast<NumberOf<P>>((*rows[lane])[i]));
    }
  }
  f(in.data(), out.data());
  std::array<std::array<NumberOf<P>, most>, Lanes<P>::count> numbers{};
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    for (std::size_t i = 0; i < most; ++i) {
      numbers[lane][i] = out[i][static_cast<int>(lane)];
    }
  }
  return numbers;
}

template <class T>
bool same_bits(const std::array<T, most>& a, const std::array<T, most>& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](T x, T y) { return std::bit_cast<BitsOf<T>>(x) == std::bit_cast<BitsOf<T>>(y); });
}

/// Runs f on packs of rows: that it divides nothing by zero, gives what it gives of single numbers of type R, and the
/// same bits in every lane whatever is in the others, nonsense included.
template <class P, class R>
void compare(const std::string& what, const Rows& rows, double tolerance, const Function<P>& f,
             const Function<R>& reference) {
  using T = NumberOf<P>;
  constexpr std::size_t width = Lanes<P>::count;
  std::array<const Row*, width> mixed{};
  const std::array<Row, 3> wrong = {Row(most, not_a_number), Row(most, infinity), Row(most, 0.0)};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::string where = what + ", row " + std::to_string(k);
    for (std::size_t lane = 0; lane < width; ++lane) {
      mixed[lane] = &rows[(k + 5 * lane) % rows.size()];
    }
    const auto results = [&] {
#if !defined(__clang__)  // which takes it that nobody watches over what a selection throws away
      const Traps traps;
#endif
      return in_lanes<P>(f, mixed);
    }();
    std::array<R, most> in{};
    std::array<R, most> expected{};
    std::transform(rows[k].begin(), rows[k].end(), in.begin(),
                   [](double x) { return static_cast<R>(static_cast<T>(x)); });
    reference(in.data(), expected.data());
    double size = 1;
    for (const R x : expected) {
      size = std::max(size, std::abs(static_cast<double>(x)));
    }
    for (std::size_t i = 0; i < most; ++i) {
      ASSERT_NEAR(results[0][i], expected[i], tolerance * eps<T> * size) << where << ", number " << i;
    }
    for (std::size_t lane = 0; lane < width; ++lane) {
      for (std::size_t other = 0; other < width; ++other) {
        mixed[other] = other == lane ? &rows[k] : &wrong[(k + other) % wrong.size()];
      }
      ASSERT_TRUE(same_bits(in_lanes<P>(f, mixed)[lane], results[0])) << where << ", lane " << lane;
    }
  }
}

/// The same of a function of any scalar.
template <class P, class R, class F>
void check(const std::string& what, const Rows& rows, double tolerance, const F& f) {
  compare<P, R>(what, rows, tolerance, f, f);
}

/// From no turn over the borders of the series to half a turn and beyond.
constexpr double angles[] = {0,         1e-160, 1e-31,  1e-9,  9.9999e-5, 1e-4, 1.0001e-4,  1e-3,
                             0.1,       0.2499, 0.25,   0.251, 0.9999,    1,    1.01,       2,
                             pi - 1e-3, 3,      pi / 2, 3.14,  pi - 1e-6, pi,   pi - 1e-10, 3.5};

/// Rotation vectors of these angles, about random and coordinate axes.
std::vector<Vec3<double>> turns(double largest = infinity) {
  Random random(90);
  std::vector<Vec3<double>> out;
  for (const double angle : angles) {
    if (angle <= largest) {
      out.push_back(random.unit() * angle);
      out.push_back(random.unit() * angle);
      out.push_back(Vec3<double>::unit_x() * angle);
      out.push_back(Vec3<double>::unit_z() * -angle);
    }
  }
  return out;
}
/// The same, and where to go meanwhile.
Rows twists(double largest = infinity) {
  Random random(91);
  Rows out;
  for (const Vec3<double>& turn : turns(largest)) {
    out.push_back(row(turn) + row(random.vec3()));
  }
  return out;
}

// Writers of results, and readers of arguments.
template <class S>
void put(const Vec3<S>& v, S* out) {
  out[0] = v.x;
  out[1] = v.y;
  out[2] = v.z;
}
template <class S>
void put(const Quaternion<S>& q, S* out) {
  out[0] = q.w;
  put(q.vector(), out + 1);
}
template <class S>
void put(const Mat3<S>& m, S* out) {
  for (int i = 0; i < 9; ++i) {
    out[i] = m(i / 3, i % 3);
  }
}
template <class S>
void put(const Motion<S>& v, S* out) {
  put(v.angular, out);
  put(v.linear, out + 3);
}
template <class S>
void put(const Transform<S>& x, S* out) {
  put(x.rotation.matrix(), out);
  put(x.translation, out + 9);
}
template <class S>
void put(const Mat6<S>& m, S* out) {
  put(m.a, out);
  put(m.b, out + 9);
  put(m.c, out + 18);
  put(m.d, out + 27);
}
template <class S>
Vec3<S> vec3(const S* in) {
  return {in[0], in[1], in[2]};
}
template <class S>
Motion<S> motion(const S* in) {
  return {vec3(in), vec3(in + 3)};
}

TYPED_TEST(PackTest, ArithmeticIsThatOfEachNumber) {
  using T = NumberOf<TypeParam>;
  constexpr int width = Lanes<TypeParam>::count;
  Random random(92);
  for (int k = 0; k < 50; ++k) {
    std::array<T, width + 1> x{};
    std::array<T, width + 1> y{};
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(random.uniform(-2, 2));
      y[i] = k % 5 == 0 ? x[i] : static_cast<T>(random.uniform(-2, 2));
    }
    x[1] = k % 2 == 0 ? T(0) : T(-0.0);
    const TypeParam a = TypeParam::load(x.data() + 1);  // from an address that no register is aligned to
    const TypeParam b = TypeParam::load(y.data() + 1);
    TypeParam sum = a;
    TypeParam difference = a;
    TypeParam product = a;
    TypeParam quotient = a;
    sum += b;
    difference -= b;
    product *= b;
    quotient /= b;
    for (int i = 0; i < width; ++i) {
      const T s = a[i];
      const T t = b[i];
      ASSERT_EQ(s, x[static_cast<std::size_t>(i) + 1]);
      EXPECT_EQ((a + b)[i], s + t);
      EXPECT_EQ((a - b)[i], s - t);
      EXPECT_EQ((a * b)[i], s * t);
      EXPECT_EQ((a / b)[i], s / t);
      EXPECT_EQ(sum[i], s + t);
      EXPECT_EQ(difference[i], s - t);
      EXPECT_EQ(product[i], s * t);
      EXPECT_EQ(quotient[i], s / t);
      EXPECT_EQ((-a)[i], -s);
      EXPECT_EQ((a < b)[i], s < t);
      EXPECT_EQ((a <= b)[i], s <= t);
      EXPECT_EQ((a > b)[i], s > t);
      EXPECT_EQ((a >= b)[i], s >= t);
      EXPECT_EQ((a == b)[i], s == t);
      EXPECT_EQ(abs(a)[i], std::abs(s));
      EXPECT_FALSE(std::signbit(abs(a)[i]));
      EXPECT_EQ(max(a, b)[i], std::max(s, t));
      EXPECT_EQ(min(a, b)[i], std::min(s, t));
      EXPECT_EQ(sqrt(a * a)[i], std::sqrt(s * s));
      EXPECT_EQ(log(b * b)[i], std::log(t * t));
      EXPECT_EQ(atan2(a, b)[i], std::atan2(s, t));
      EXPECT_EQ(remainder(a, b)[i], std::remainder(s, t));
      EXPECT_EQ(TypeParam(3)[i], T(3));
      EXPECT_EQ(TypeParam()[i], T(0));
    }
    std::array<T, width + 1> stored{};
    a.store(stored.data() + 1);
    EXPECT_TRUE(std::equal(stored.begin() + 1, stored.end(), x.begin() + 1));
  }
}

TYPED_TEST(PackTest, ConditionsChooseLaneByLane) {
  using T = NumberOf<TypeParam>;
  constexpr int width = Lanes<TypeParam>::count;
  TypeParam a;
  for (int i = 0; i < width; ++i) {
    a.set(i, static_cast<T>(i));
  }
  const TypeParam b(10);
  for (int bound = 0; bound <= width; ++bound) {
    const auto below = a < TypeParam(bound);
    const auto odd = a == TypeParam(1);
    EXPECT_EQ(any(below), bound > 0);
    EXPECT_EQ(all(below), bound == width);
    const Vec3<TypeParam> v = select(below, Vec3<TypeParam>{a, a, b}, Vec3<TypeParam>{b, -a, a});
    const Quaternion<TypeParam> q = select(below, Quaternion<TypeParam>{a, b, a, b}, Quaternion<TypeParam>{b, a, b, a});
    const auto both = select(below, std::array<TypeParam, 2>{a, b}, std::array<TypeParam, 2>{b, a});
    const TypeParam chosen = choose(below, [&] { return a; }, [&] { return b; });
    for (int i = 0; i < width; ++i) {
      const bool yes = i < bound;
      EXPECT_EQ(below[i], yes);
      EXPECT_EQ((!below)[i], !yes);
      EXPECT_EQ((below & odd)[i], yes && i == 1);
      EXPECT_EQ((below && odd)[i], yes && i == 1);
      EXPECT_EQ((below | odd)[i], yes || i == 1);
      const T x = a[i];
      EXPECT_EQ(select(below, a, b)[i], yes ? x : T(10));
      EXPECT_EQ(chosen[i], yes ? x : T(10));
      EXPECT_EQ(both[0][i], yes ? x : T(10));
      EXPECT_EQ(both[1][i], yes ? T(10) : x);
      EXPECT_EQ(v.x[i], yes ? x : T(10));
      EXPECT_EQ(v.y[i], yes ? x : -x);
      EXPECT_EQ(v.z[i], yes ? T(10) : x);
      EXPECT_EQ(q.w[i], yes ? x : T(10));
      EXPECT_EQ(q.x[i], yes ? T(10) : x);
      EXPECT_EQ(q.y[i], yes ? x : T(10));
      EXPECT_EQ(q.z[i], yes ? T(10) : x);
    }
  }
}

TEST(Scalar, PlainConditionsComputeOneSideOnly) {
  int calls = 0;
  const auto count = [&](double x) {
    return [&calls, x] {
      ++calls;
      return x;
    };
  };
  EXPECT_EQ(choose(true, count(1), count(2)), 1);
  EXPECT_EQ(choose(false, count(1), count(2)), 2);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(choose(Mask<double, 1>{true}, count(1), count(2)), 1);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(select(true, 1, 2), 1);
  EXPECT_EQ(select(false, Vec3<double>::unit_x(), Vec3<double>::unit_y()), Vec3<double>::unit_y());
  constexpr RigidInertia<double> body{2, {2, 4, 6}, {}};  // and at compile time
  static_assert(body.center().y == 2);
  static_assert(RigidInertia<double>{0, {2, 4, 6}, {}}.center().y == 0);
  static_assert(exponential_translation(Motion<double>{{}, {1, 2, 3}}).z == 3);
  static_assert(logarithm_linear(Vec3<double>{}, Vec3<double>{1, 2, 3}).z == 3);
}

/// Angles to ask sine and cosine of: random ones, edges of quadrants and their neighbours, those that are left to the
/// standard library.
template <class T>
std::vector<T> sample_angles() {
  Random random(93);
  std::vector<T> out = {T(0), T(-0.0), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min()};
  for (int i = 0; i < 2000; ++i) {
    out.push_back(static_cast<T>(random.uniform(-10, 10)));
    out.push_back(static_cast<T>(random.uniform(-kernels::SincosConstants<T>::largest, 1000)));
  }
  for (int k = -200; k <= 200; ++k) {
    for (const double part : {pi / 4, pi / 2}) {
      const T edge = static_cast<T>(k * part);
      out.insert(out.end(), {edge, std::nextafter(edge, T(1e4)), std::nextafter(edge, T(-1e4))});
    }
  }
  for (const double huge : {1e3, 1001.0, 1e5, 100001.0, 1e10, 1e22, 3e38}) {
    out.insert(out.end(), {static_cast<T>(huge), static_cast<T>(-huge)});
  }
  out.push_back(std::numeric_limits<T>::max());
  return out;
}

TYPED_TEST(PackTest, SineAndCosineAreThoseOfTheStandardLibrary) {
  using T = NumberOf<TypeParam>;
  constexpr int width = Lanes<TypeParam>::count;
  const std::vector<T> samples = sample_angles<T>();
  for (std::size_t k = 0; k < samples.size(); ++k) {
    TypeParam x;
    for (int i = 0; i < width; ++i) {
      x.set(i, samples[(k + 997 * static_cast<std::size_t>(i)) % samples.size()]);
    }
    const TypeParam s = sin(x);
    const TypeParam c = cos(x);
    TypeParam both_s;
    TypeParam both_c;
    sincos(x, both_s, both_c);
    const TypeParam alone = sin(TypeParam(x[0]));
    EXPECT_EQ(s[0], alone[width - 1]) << x[0];
    for (int i = 0; i < width; ++i) {
      const auto exact = static_cast<double>(x[i]);
      EXPECT_NEAR(s[i], std::sin(exact), eps<T>) << x[i];
      EXPECT_NEAR(c[i], std::cos(exact), eps<T>) << x[i];
      EXPECT_EQ(both_s[i], s[i]);
      EXPECT_EQ(both_c[i], c[i]);
    }
  }
  EXPECT_EQ(sin(TypeParam(0))[0], T(0));
  EXPECT_EQ(cos(TypeParam(0))[0], T(1));
  const auto small = static_cast<T>(1e-9);
  EXPECT_EQ(sin(TypeParam(small))[0], small) << "small angles keep their digits";
  EXPECT_TRUE(std::isnan(sin(TypeParam(not_a_number))[0]));
  EXPECT_TRUE(std::isnan(cos(TypeParam(infinity))[0]));
}

TYPED_TEST(PackTest, ExponentialsAreThoseOfSingleNumbers) {
  const Rows rows = twists();
  check<TypeParam, double>("Quaternion::exp", rows, 4,
                           []<class S>(const S* in, S* out) { put(Quaternion<S>::exp(vec3(in)), out); });
  check<TypeParam, double>("exp", rows, 8, []<class S>(const S* in, S* out) { put(exp(motion(in)), out); });
  check<TypeParam, double>("translation", rows, 8,
                           []<class S>(const S* in, S* out) { put(exponential_translation(motion(in)), out); });
  check<TypeParam, double>("left Jacobian", rows, 50,
                           []<class S>(const S* in, S* out) { put(left_jacobian(motion(in)), out); });
}

TYPED_TEST(PackTest, LogarithmsAreThoseOfSingleNumbers) {
  Random random(94);
  Rows quaternions = {{1, 0, 0, 0}, {-1, 0, 0, 0}, {1, 1e-32, 0, 0}, {-1, 0, 1e-32, 0}, {0, 1, 0, 0}, {-0.0, 0, 0, -1}};
  Rows poses;
  for (const Vec3<double>& turn : turns()) {
    const Quaternion<double> q = turned(turn);
    quaternions.push_back(row(q));
    quaternions.push_back(row(Quaternion<double>{-q.w, -q.x, -q.y, -q.z}));
    poses.push_back(row(q) + row(random.vec3()));
  }
  check<TypeParam, double>("Quaternion::log", quaternions, 4,
                           []<class S>(const S* in, S* out) { put(laws::Spherical::quaternion(in).log(), out); });
  check<TypeParam, double>("linear part", twists(), 16,
                           []<class S>(const S* in, S* out) { put(logarithm_linear(vec3(in), vec3(in + 3)), out); });
  check<TypeParam, double>("inverse of the left Jacobian", twists(), 100,
                           []<class S>(const S* in, S* out) { put(left_jacobian_inverse(motion(in)), out); });
  // at half a turn rounding decides which of two logarithms it is, but both lead back
  check<TypeParam, double>("exp(log)", poses, 32,
                           []<class S>(const S* in, S* out) { put(exp(log(laws::Free::pose(Hinge{}, in))), out); });
  check<TypeParam, double>("exp, then log", twists(3), 32,
                           []<class S>(const S* in, S* out) { put(log(exp(motion(in))), out); });
}

TYPED_TEST(PackTest, NormsAndCentersAreThoseOfSingleNumbers) {
  Random random(95);
  Rows quaternions;
  Rows bodies;
  for (const double size : {1.0, 1e-3, 1e-30, 1e30}) {
    for (int i = 0; i < 10; ++i) {
      quaternions.push_back(row(Quaternion<double>{random.uniform() * size, random.uniform() * size, 0, size}));
      bodies.push_back(Row{i % 3 == 0 ? 0 : random.uniform(0.1, 2)} + row(random.vec3()));
    }
  }
  check<TypeParam, double>("normalized", quaternions, 4, []<class S>(const S* in, S* out) {
    put(laws::Spherical::quaternion(in).normalized(), out);
  });
  check<TypeParam, double>("center", bodies, 4, []<class S>(const S* in, S* out) {
    put(RigidInertia<S>{in[0], vec3(in + 1), {}}.center(), out);
  });
}

/// Configurations of a law (twice, for differences between them), velocities and a step of time, one after the other.
template <class Law>
Rows motions_of(Law) {
  Random random(96);
  Rows out;
  const auto random_row = [&](int n, double size) {
    Row x(static_cast<std::size_t>(n));
    std::generate(x.begin(), x.end(), [&] { return random.uniform(-size, size); });
    return x;
  };
  // differences stay off half a turn, but for those from the neutral configuration, where nothing is rounded
  for (const Vec3<double>& turn : turns(3)) {
    Row q0 = random_row(Law::nq, 1.5);
    Row q1 = random_row(Law::nq, 1.5);
    const double angle = norm(turn);
    if constexpr (Law::nq >= 4) {
      const Quaternion<double> q = turned(random.vec3(2));
      std::copy_n(row(q).begin(), 4, q0.begin());
      std::copy_n(row(q * turned(turn)).begin(), 4, q1.begin());
    } else if constexpr (Law::nq == 3) {
      q1[2] = q0[2] + angle * 0.99;
    } else if constexpr (Law::nq > 0) {
      q1[0] = angle;
    }
    Row v = random_row(Law::nv, 1);
    if constexpr (Law::nv >= 3) {
      (Law::nq == 3 ? v[2] : v[0]) = angle;
    }
    out.push_back(q0 + q1 + v + Row{random.uniform(0.1, 1)});
  }
  Row neutral(static_cast<std::size_t>(Law::nq));
  Law::neutral(Hinge{}, neutral.data());
  const Row rest(static_cast<std::size_t>(Law::nv));
  out.push_back(neutral + neutral + rest + Row{0.0});
  Row half = random_row(Law::nq, 1);
  if constexpr (Law::nq >= 4) {
    std::copy_n(Row{0, 0, -1, 0}.begin(), 4, half.begin());
  } else if constexpr (Law::nq == 3) {
    half[2] = pi;
  } else if constexpr (Law::nq > 0) {
    half[0] = 123456.5;  // and beyond what sine and cosine do by themselves
  }
  out.push_back(neutral + half + rest + Row{1.0});
  out.push_back(half + half + random_row(Law::nv, 3) + Row{1.0});
  return out;
}

template <class P, class Law>
void check_law(const Hinge& hinge, Law law) {
  using T = NumberOf<P>;
  constexpr int nq = Law::nq;
  constexpr int nv = Law::nv;
  const std::string name(std::to_string(static_cast<int>(hinge.type)));
  const Rows rows = motions_of(law);
  const auto run = [&](const std::string& what, double tolerance, const auto& f) {
    check<P, T>("hinge type " + name + ", " + what, rows, tolerance, f);
  };
  run("pose", 16, [&]<class S>(const S* in, S* out) { put(law.pose(hinge, in), out); });
  run("joint_map and joint_map_rate", 16, [&]<class S>(const S* in, S* out) {
    std::array<Motion<S>, max_hinge_velocities> columns{};
    law.joint_map(hinge, in, columns.data());
    for (int i = 0; i < nv; ++i) {
      put(columns[static_cast<std::size_t>(i)], out + 6 * i);
    }
    law.joint_map_rate(hinge, in, in + 2 * nq, columns.data());
    if constexpr (nv < 4) {
      for (int i = 0; i < nv; ++i) {
        put(columns[static_cast<std::size_t>(i)], out + 6 * (nv + i));
      }
    }
  });
  run("bias", 16, [&]<class S>(const S* in, S* out) { put(law.bias(hinge, in, in + 2 * nq), out); });
  run("integrate", 32,
      [&]<class S>(const S* in, S* out) { law.integrate(hinge, in, in + 2 * nq, in[2 * nq + nv], out); });
  run("difference", 64, [&]<class S>(const S* in, S* out) { law.difference(hinge, in, in + nq, out); });
  run("normalize", 8, [&]<class S>(const S* in, S* out) {
    for (int i = 0; i < nq; ++i) {
      out[i] = in[i] * S(3);
    }
    law.normalize(out);
    std::array<S, max_hinge_positions> zeros{};
    law.normalize(zeros.data());
    std::copy_n(zeros.begin(), nq, out + nq);
    law.neutral(hinge, out + 2 * nq);
  });
}

TYPED_TEST(PackTest, HingeLawsAreThoseOfSingleNumbers) {
  const Vec3<double> axis = normalized(Vec3<double>{1, -2, 2});
  for (const HingeType type : {HingeType::fixed, HingeType::revolute, HingeType::continuous, HingeType::prismatic,
                               HingeType::helical, HingeType::cylindrical, HingeType::universal, HingeType::planar,
                               HingeType::spherical, HingeType::translational, HingeType::free}) {
    const Hinge hinge{.type = type, .axis = axis, .axis2 = perpendicular(axis), .pitch = 0.3};
    laws::visit_hinge_law(type, [&](auto law) { check_law<TypeParam>(hinge, law); }, [] { FAIL(); });
  }
}

TYPED_TEST(PackTest, DifferencesAcrossHalfATurnLeadBack) {
  Random random(97);
  Rows rows;
  for (const Vec3<double>& turn : turns()) {
    const Quaternion<double> q = turned(random.vec3(2));
    rows.push_back(row(q) + row(random.vec3()) + row(q * turned(turn)) + row(random.vec3()));
  }
  check<TypeParam, NumberOf<TypeParam>>("free", rows, 64, []<class S>(const S* in, S* out) {
    std::array<S, 6> v{};
    std::array<S, 7> q{};
    laws::Free::difference(Hinge{}, in, in + 7, v.data());
    laws::Free::integrate(Hinge{}, in, v.data(), S(1), q.data());
    put(laws::Free::pose(Hinge{}, q.data()), out);
  });
}

}  // namespace
}  // namespace bunraku::test
