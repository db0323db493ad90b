/// Programs in other scalars than double: the same source runs them all.
#include <cmath>
#include <stdexcept>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/verify.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::VectorXd;
using operators::Evaluator;
using operators::Fold;

/// A number with its derivative along one direction.
struct Dual {
  double value = 0;
  double rate = 0;

  Dual() = default;
  Dual(double x) : value(x) {}  // NOLINT(google-explicit-constructor)
  Dual(double x, double dx) : value(x), rate(dx) {}

  friend Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.rate + b.rate}; }
  friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.rate - b.rate}; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.rate * b.value + a.value * b.rate};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    return {a.value / b.value, (a.rate * b.value - a.value * b.rate) / (b.value * b.value)};
  }
  friend Dual operator-(const Dual& a) { return {-a.value, -a.rate}; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }
  friend constexpr bool operator==(const Dual& a, const Dual& b) { return a.value == b.value && a.rate == b.rate; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend Dual sin(const Dual& a) { return {std::sin(a.value), std::cos(a.value) * a.rate}; }
  friend Dual cos(const Dual& a) { return {std::cos(a.value), -std::sin(a.value) * a.rate}; }
  friend Dual sqrt(const Dual& a) { return {std::sqrt(a.value), a.rate / (2 * std::sqrt(a.value))}; }
  friend Dual abs(const Dual& a) { return a.value < 0 ? -a : a; }
};

/// A number that writes down how it came about.
struct Recorded {
  enum class Op { constant, input, add, subtract, multiply, divide, negate, sine, cosine, root };
  struct Line {
    Op op = Op::constant;
    int a = 0;
    int b = 0;
    double number = 0;
  };
  static std::vector<Line>& tape() {
    static std::vector<Line> lines;
    return lines;
  }
  static Recorded noted(Line line) {
    tape().push_back(line);
    Recorded out;
    out.line = static_cast<int>(tape().size()) - 1;
    return out;
  }
  static Recorded input(int i) { return noted({Op::input, i}); }

  int line = -1;

  Recorded() = default;
  Recorded(double x) { *this = noted({Op::constant, 0, 0, x}); }  // NOLINT(google-explicit-constructor)
  int place() const { return line < 0 ? Recorded(0.0).line : line; }

  friend Recorded operator+(const Recorded& a, const Recorded& b) { return noted({Op::add, a.place(), b.place()}); }
  friend Recorded operator-(const Recorded& a, const Recorded& b) {
    return noted({Op::subtract, a.place(), b.place()});
  }
  friend Recorded operator*(const Recorded& a, const Recorded& b) {
    return noted({Op::multiply, a.place(), b.place()});
  }
  friend Recorded operator/(const Recorded& a, const Recorded& b) { return noted({Op::divide, a.place(), b.place()}); }
  friend Recorded operator-(const Recorded& a) { return noted({Op::negate, a.place()}); }
  Recorded& operator+=(const Recorded& b) { return *this = *this + b; }
  Recorded& operator-=(const Recorded& b) { return *this = *this - b; }
  Recorded& operator*=(const Recorded& b) { return *this = *this * b; }
  friend Recorded sin(const Recorded& a) { return noted({Op::sine, a.place()}); }
  friend Recorded cos(const Recorded& a) { return noted({Op::cosine, a.place()}); }
  friend Recorded sqrt(const Recorded& a) { return noted({Op::root, a.place()}); }
  /// Between formulas, which only nodes of flexible bodies that turn choose, and no tape can.
  friend bool operator<(const Recorded&, const Recorded&) { throw std::logic_error("recorded numbers have no order"); }

  /// All lines again, with other inputs.
  static std::vector<double> replay(const std::vector<double>& inputs) {
    std::vector<double> out;
    for (const Line& l : tape()) {
      const auto at = [&](int i) { return out[static_cast<std::size_t>(i)]; };
      switch (l.op) {
        case Op::constant:
          out.push_back(l.number);
          break;
        case Op::input:
          out.push_back(inputs[static_cast<std::size_t>(l.a)]);
          break;
        case Op::add:
          out.push_back(at(l.a) + at(l.b));
          break;
        case Op::subtract:
          out.push_back(at(l.a) - at(l.b));
          break;
        case Op::multiply:
          out.push_back(at(l.a) * at(l.b));
          break;
        case Op::divide:
          out.push_back(at(l.a) / at(l.b));
          break;
        case Op::negate:
          out.push_back(-at(l.a));
          break;
        case Op::sine:
          out.push_back(std::sin(at(l.a)));
          break;
        case Op::cosine:
          out.push_back(std::cos(at(l.a)));
          break;
        case Op::root:
          out.push_back(std::sqrt(at(l.a)));
          break;
      }
    }
    return out;
  }
};

constexpr const char* inverse_mass = "~(I - H*psi*K)*inv(D)*(I - H*psi*K)";

/// A program of an expression in scalar S, by links where that is allowed.
template <class S>
Evaluator<S> program(const Model& model, const char* text) {
  auto plan =
      std::make_shared<const operators::Plan>(operators::make_plan(parse(text), {}, operators::Inverses::refused));
  auto folded = std::make_shared<const operators::Folded>(model, plan->mergeable ? Fold::links : Fold::bodies);
  return {plan, folded, std::make_shared<const operators::Attachments>()};
}

VectorXd in_double(const Model& model, const char* text, const VectorXd& q, const VectorXd& v, const VectorXd& x) {
  Evaluator<double> evaluator = program<double>(model, text);
  evaluator.set_state(q.data(), v.data());
  VectorXd y(evaluator.rows());
  evaluator.apply(x.data(), y.data());
  return y;
}

/// A chain of revolute and prismatic hinges: q is plain there.
Model some_chain(int n) {
  Random random(3);
  return random_chain(n, random);
}

TEST(Scalars, DualNumbersGiveDerivatives) {
  const Model model = some_chain(8);
  Random random(2);
  const VectorXd q = random.vector(model.nv());
  const VectorXd v = random.vector(model.nv());
  const VectorXd direction = random.vector(model.nv());
  const VectorXd x = random.vector(model.nv());
  for (const char* const text :
       {inverse_mass, "H*phi*M*~phi*~H", "H*psi*K", "H*(R + Upsilon)*~H", "H*phi*(M*~phi*a + b)"}) {
    std::vector<Dual> q_dual;
    std::vector<Dual> v_dual;
    std::vector<Dual> x_dual;
    for (Eigen::Index i = 0; i < q.size(); ++i) {
      q_dual.emplace_back(q[i], direction[i]);
      v_dual.emplace_back(v[i]);
      x_dual.emplace_back(x[i]);
    }
    Evaluator<Dual> evaluator = program<Dual>(model, text);
    evaluator.set_state(q_dual.data(), v_dual.data());
    std::vector<Dual> y(static_cast<std::size_t>(evaluator.rows()));
    evaluator.apply(x_dual.data(), y.data());
    // sixth-order differences
    constexpr double h = 2e-3;
    const auto at = [&](double s) { return in_double(model, text, q + s * direction, v, x); };
    const VectorXd expected =
        ((at(h) - at(-h)) * 45 - (at(2 * h) - at(-2 * h)) * 9 + (at(3 * h) - at(-3 * h))) / (60 * h);
    VectorXd values(expected.size());
    VectorXd rates(expected.size());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      values[i] = y[static_cast<std::size_t>(i)].value;
      rates[i] = y[static_cast<std::size_t>(i)].rate;
    }
    EXPECT_TRUE(is_near(values, at(0), 1e-12)) << text;
    EXPECT_TRUE(is_near(rates, expected, 1e-8)) << text;
  }
}

TEST(Scalars, ARecordIsReplayedOnAnotherState) {
  const Model model = some_chain(7);
  const int n = model.nv();
  Recorded::tape().clear();
  Evaluator<Recorded> evaluator = program<Recorded>(model, inverse_mass);
  std::vector<Recorded> q;
  std::vector<Recorded> x;
  const std::vector<Recorded> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    q.push_back(Recorded::input(i));
    x.push_back(Recorded::input(n + i));
  }
  evaluator.set_state(q.data(), v.data());
  std::vector<Recorded> y(static_cast<std::size_t>(n));
  evaluator.apply(x.data(), y.data());
  EXPECT_GT(Recorded::tape().size(), 1000U);
  Random random(9);
  for (int sample = 0; sample < 3; ++sample) {
    const VectorXd inputs = random.vector(2 * n);
    const std::vector<double> lines = Recorded::replay({inputs.data(), inputs.data() + 2 * n});
    const VectorXd expected = in_double(model, inverse_mass, inputs.head(n), VectorXd::Zero(n), inputs.tail(n));
    VectorXd found(n);
    for (int i = 0; i < n; ++i) {
      found[i] = lines[static_cast<std::size_t>(y[static_cast<std::size_t>(i)].place())];
    }
    EXPECT_TRUE(is_near(found, expected, 1e-11));
  }
}

TEST(Scalars, Floats) {
  const Model model = some_chain(6);
  Random random(2);
  const VectorXd q = random.vector(model.nv());
  const VectorXd x = random.vector(model.nv());
  const Eigen::VectorXf q_float = q.cast<float>();
  const Eigen::VectorXf x_float = x.cast<float>();
  Evaluator<float> evaluator = program<float>(model, inverse_mass);
  evaluator.set_state(q_float.data(), q_float.data());
  Eigen::VectorXf y(model.nv());
  evaluator.apply(x_float.data(), y.data());
  const VectorXd expected =
      in_double(model, inverse_mass, q_float.cast<double>(), q_float.cast<double>(), x_float.cast<double>());
  EXPECT_TRUE(is_near(VectorXd(y.cast<double>()), expected, 1e-6));
}

TEST(Scalars, CountingCountsWhatIsDone) {  // of a chain whose hinges turn: H and H* take nothing there
  const Model model = some_chain(5);
  using operators::Counting;
  Evaluator<Counting> evaluator = program<Counting>(model, "armature");
  const std::vector<Counting> x(static_cast<std::size_t>(model.nv()));
  std::vector<Counting> y(x.size());
  evaluator.set_state(x.data(), x.data());
  const long before = Counting::count();
  evaluator.apply(x.data(), y.data());
  EXPECT_EQ(Counting::count() - before, model.nv());
}

}  // namespace
}  // namespace bunraku::test
