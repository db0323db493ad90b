/// Batches against the functions of one state, on random trees of all hinges, with wrong and singular states strewn in;
/// threads, subsets and places that must not matter; parameters against models made with them; trajectories.
#include "bunraku/batch/batch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batch/tables.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/changes.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/vectors.hpp"
#include "support/allocations.hpp"
#include "support/coupled_models.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// States of a model, a row each, and what is applied to them.
template <class T>
struct Tables {
  Tables(const Model& m, int states, unsigned seed)
      : model(m),
        q(random_positions<T>(m, states, seed)),
        v(random_rows<T>(states, m.nv(), seed + 1)),
        x(random_rows<T>(states, m.nv(), seed + 2)) {}
  Model model;
  Table<T> q;
  Table<T> v;
  Table<T> x;
};

/// A quantity by batch and by state.
template <class T>
struct Quantity {
  const char* name;
  std::function<int(const Model&)> size;
  std::function<const BatchReport&(BasicBatch<T>&, const Tables<T>&, const StateRows<T>&)> batch;
  std::function<Eigen::Matrix<T, Eigen::Dynamic, 1>(BasicState<T>&, const Tables<T>&, int)> state;
  double slack = 1;  ///< How many times the rounding errors of others it may have.
};

/// The i-th of three matrices, or vectors, side by side in the rows.
template <class T>
StateRows<T> third(const StateRows<T>& rows, int i) {
  const std::ptrdiff_t n = rows.cols() / 3;
  return {rows.data() + i * n * rows.column_stride(), rows.rows(), n, rows.row_stride(), rows.column_stride()};
}

template <class T>
Eigen::Matrix<T, Eigen::Dynamic, 1> flat(const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& m) {  // row by row
  const Table<T> rows = m;
  return Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(rows.data(), rows.size());
}

template <class T>
Eigen::Matrix<T, 16, 1> flat(const Transform<T>& X) {
  Eigen::Matrix<T, 16, 1> out = Eigen::Matrix<T, 16, 1>::Zero();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out(4 * i + j) = X.rotation(i, j);
    }
    out(4 * i + 3) = X.translation[i];
  }
  out(15) = 1;
  return out;
}

int last_body(const Model& m) {
  return static_cast<int>(m.bodies().size()) - 1;
}

template <class T>
std::vector<Quantity<T>> quantities() {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Data = Tables<T>;
  const auto n = [](const Model& m) { return m.nv(); };
  const auto nn = [](const Model& m) { return m.nv() * m.nv(); };
  const auto row = [](const Table<T>& t, int i) { return Vector(t.row(i).transpose()); };
  std::vector<Quantity<T>> out;
  out.push_back({"inverse_dynamics", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_dynamics(d.q, d.v, d.x, out_rows);
                 },
                 [row](auto& s, const Data& d, int i) { return inverse_dynamics(s, row(d.x, i)); }});
  out.push_back({"forward_dynamics", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.forward_dynamics(d.q, d.v, d.x, out_rows);
                 },
                 [row](auto& s, const Data& d, int i) { return forward_dynamics(s, row(d.x, i)); }});
  const auto three = [](const auto& x, const auto& y, const auto& z) {
    Vector all(x.size() + y.size() + z.size());
    all << flat<T>(x), flat<T>(y), flat<T>(z);
    return all;
  };
  const auto nnn = [](const Model& m) { return 3 * m.nv() * m.nv(); };
  constexpr double slack = 100;  // 𝓜⁻¹ has the condition of a chain of 24: in float single states are off by as much
  out.push_back({"inverse_dynamics_derivatives", nnn,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_dynamics_derivatives(d.q, d.v, d.x, third(out_rows, 0), third(out_rows, 1),
                                                         third(out_rows, 2));
                 },
                 [row, three](auto& s, const Data& d, int i) {
                   const InverseDynamicsDerivatives<T> x = inverse_dynamics_derivatives(s, row(d.x, i));
                   return three(x.dq, x.dv, x.da);
                 },
                 slack});
  out.push_back({"forward_dynamics_derivatives", nnn,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.forward_dynamics_derivatives(d.q, d.v, d.x, third(out_rows, 0), third(out_rows, 1),
                                                         third(out_rows, 2));
                 },
                 [row, three](auto& s, const Data& d, int i) {
                   const ForwardDynamicsDerivatives<T> x = forward_dynamics_derivatives(s, row(d.x, i));
                   return three(x.dq, x.dv, x.dtau);
                 },
                 slack});
  const auto three_vectors = [](const Model& m) { return 3 * m.nv(); };
  out.push_back({"inverse_dynamics_jvp", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_dynamics_jvp(d.q, d.v, d.x, d.v, d.x, d.v, out_rows);
                 },
                 [row](auto& s, const Data& d, int i) {
                   Vector rate(d.model.nv());
                   inverse_dynamics_jvp(s, row(d.x, i), row(d.v, i), row(d.x, i), row(d.v, i), rate);
                   return rate;
                 },
                 slack});
  out.push_back({"inverse_dynamics_vjp", three_vectors,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_dynamics_vjp(d.q, d.v, d.x, d.v, third(out_rows, 0), third(out_rows, 1),
                                                 third(out_rows, 2));
                 },
                 [row, three](auto& s, const Data& d, int i) {
                   Vector by_q(d.model.nv());
                   Vector by_v(d.model.nv());
                   Vector by_a(d.model.nv());
                   inverse_dynamics_vjp(s, row(d.x, i), row(d.v, i), by_q, by_v, by_a);
                   return three(by_q, by_v, by_a);
                 },
                 slack});
  out.push_back({"forward_dynamics_jvp", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.forward_dynamics_jvp(d.q, d.v, d.x, d.v, d.x, d.v, out_rows);
                 },
                 [row](auto& s, const Data& d, int i) {
                   Vector rate(d.model.nv());
                   forward_dynamics_jvp(s, row(d.x, i), row(d.v, i), row(d.x, i), row(d.v, i), rate);
                   return rate;
                 },
                 slack});
  out.push_back({"forward_dynamics_vjp", three_vectors,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.forward_dynamics_vjp(d.q, d.v, d.x, d.v, third(out_rows, 0), third(out_rows, 1),
                                                 third(out_rows, 2));
                 },
                 [row, three](auto& s, const Data& d, int i) {
                   Vector by_q(d.model.nv());
                   Vector by_v(d.model.nv());
                   Vector by_tau(d.model.nv());
                   forward_dynamics_vjp(s, row(d.x, i), row(d.v, i), by_q, by_v, by_tau);
                   return three(by_q, by_v, by_tau);
                 },
                 slack});
  out.push_back(
      {"bias", n,
       [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& { return b.bias(d.q, d.v, out_rows); },
       [](auto& s, const Data&, int) { return bias(s); }});
  out.push_back({"gravity_torques", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.gravity_torques(d.q, out_rows);
                 },
                 [](auto& s, const Data&, int) { return gravity_torques(s); }});
  out.push_back(
      {"mass_matrix", nn,
       [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& { return b.mass_matrix(d.q, out_rows); },
       [](auto& s, const Data&, int) { return flat<T>(mass_matrix(s)); }});
  out.push_back({"inverse_mass_matrix", nn,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_mass_matrix(d.q, out_rows);
                 },
                 [](auto& s, const Data&, int) { return flat<T>(inverse_mass_matrix(s)); }});
  out.push_back({"inverse_mass_times", n,
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.inverse_mass_times(d.q, d.x, out_rows);
                 },
                 [row](auto& s, const Data& d, int i) { return Vector(inverse_mass_times(s, row(d.x, i))); }});
  out.push_back(
      {"log_det_mass", [](const Model&) { return 1; },
       [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& { return b.log_det_mass(d.q, out_rows); },
       [](auto& s, const Data&, int) { return Vector(Vector::Constant(1, log_det_mass(s))); }});
  out.push_back(
      {"poses", [](const Model& m) { return 16 * static_cast<int>(m.bodies().size()); },
       [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& { return b.poses(d.q, out_rows); },
       [](auto& s, const Data& d, int) {
         Vector all(16 * std::ssize(d.model.bodies()));
         for (int k = 0; k <= last_body(d.model); ++k) {
           all.segment(16 * k, 16) = flat<T>(pose(s, k));
         }
         return all;
       }});
  out.push_back({"pose", [](const Model&) { return 16; },
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.pose(d.q, last_body(d.model), out_rows);
                 },
                 [](auto& s, const Data& d, int) { return Vector(flat<T>(pose(s, last_body(d.model)))); }});
  out.push_back({"velocities", [](const Model& m) { return 6 * static_cast<int>(m.bodies().size()); },
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.velocities(d.q, d.v, out_rows);
                 },
                 [](auto& s, const Data& d, int) {
                   Vector all(6 * std::ssize(d.model.bodies()));
                   for (int k = 0; k <= last_body(d.model); ++k) {
                     const Motion<T> V = velocity(s, k, Frame::aligned);
                     for (int j = 0; j < 6; ++j) {
                       all(6 * k + j) = V[j];
                     }
                   }
                   return all;
                 }});
  for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
    out.push_back({"jacobian", [](const Model& m) { return 6 * m.nv(); },
                   [frame](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                     return b.jacobian(d.q, last_body(d.model), frame, out_rows);
                   },
                   [frame](auto& s, const Data& d, int) { return flat<T>(jacobian(s, last_body(d.model), frame)); }});
  }
  out.push_back({"center_of_mass", [](const Model&) { return 3; },
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.center_of_mass(d.q, out_rows);
                 },
                 [](auto& s, const Data&, int) {
                   const Vec3<T> c = center_of_mass(s);
                   return Vector(Eigen::Matrix<T, 3, 1>(c.x, c.y, c.z));
                 }});
  out.push_back(
      {"energy", [](const Model&) { return 2; },
       [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& { return b.energy(d.q, d.v, out_rows); },
       [](auto& s, const Data&, int) {
         return Vector(Eigen::Matrix<T, 2, 1>(kinetic_energy(s), potential_energy(s)));
       }});
  out.push_back({"momentum", [](const Model&) { return 6; },
                 [](auto& b, const Data& d, const auto& out_rows) -> const BatchReport& {
                   return b.momentum(d.q, d.v, out_rows);
                 },
                 [](auto& s, const Data&, int) {
                   const Force<T> h = momentum(s);
                   Vector all(6);
                   for (int j = 0; j < 6; ++j) {
                     all(j) = h[j];
                   }
                   return all;
                 }});
  return out;
}

/// Models of all kinds: trees of all hinges, chains, couplings nested and beside each other.
std::vector<Model> models() {
  Random random(77);
  std::vector<Model> out;
  for (int sample = 0; sample < 12; ++sample) {
    out.push_back(random_dynamics_model(sample, random));
  }
  for (const double branching : {0.0, 0.3, 1.0}) {
    out.push_back(random_tree(24, branching, random).build());
  }
  for (const CoupledModel& each : coupled_models(true)) {
    out.push_back(each.model);
  }
  return out;
}

template <class T>
void expect_as_single(const Model& model, int states, double tolerance) {
  const Tables<T> data(model, states, 5);
  BasicBatch<T> batch(model);
  BasicState<T> state(model);
  for (const Quantity<T>& quantity : quantities<T>()) {
    Table<T> out = Table<T>::Constant(states, quantity.size(model), T(-77));
    const BatchReport& report = quantity.batch(batch, data, out);
    ASSERT_TRUE(report.ok()) << quantity.name << " state " << report.first_failed();
    for (int i = 0; i < states; ++i) {
      state.set(Eigen::Matrix<T, Eigen::Dynamic, 1>(data.q.row(i).transpose()),
                Eigen::Matrix<T, Eigen::Dynamic, 1>(data.v.row(i).transpose()));
      const Eigen::Matrix<T, Eigen::Dynamic, 1> wanted = quantity.state(state, data, i);
      const double scale = std::max(1.0, static_cast<double>(wanted.cwiseAbs().maxCoeff()));
      EXPECT_LE(static_cast<double>((out.row(i).transpose() - wanted).cwiseAbs().maxCoeff()),
                tolerance * quantity.slack * scale)
          << quantity.name << " of " << model.name() << ", state " << i;
    }
  }
}

TEST(Batches, AreAsSingleStates) {
  for (const Model& model : models()) {
    expect_as_single<double>(model, 11, 1e-13);
  }
}

TEST(Batches, InFloatToo) {
  for (const Model& model : models()) {
    expect_as_single<float>(model, 19, 2e-5);
  }
}

template <class T>
bool same_bits(const Table<T>& a, const Table<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

TEST(Batches, DoNotDependOnThreadsPlacesOrSubsets) {
  Random random(3);
  const Model model = random_dynamics_model(3, random);
  const int states = 1003;
  const Tables<double> data(model, states, 9);
  Tables<double> reversed = data;
  reversed.q = data.q.colwise().reverse();
  reversed.v = data.v.colwise().reverse();
  reversed.x = data.x.colwise().reverse();
  for (const Quantity<double>& quantity : quantities<double>()) {
    Batch one(model);
    Table<double> first(states, quantity.size(model));
    quantity.batch(one, data, first).or_throw();
    for (const int threads : {2, 3, 0}) {
      Batch batch(model, {.threads = threads});
      Table<double> out(states, quantity.size(model));
      quantity.batch(batch, data, out).or_throw();
      ASSERT_TRUE(same_bits(first, out)) << quantity.name << " on " << threads;
    }
    Table<double> back(states, quantity.size(model));
    quantity.batch(one, reversed, back).or_throw();
    ASSERT_TRUE(same_bits<double>(first, back.colwise().reverse())) << quantity.name;
  }
  const std::vector<std::ptrdiff_t> subset = {700, 3, 4, 5, 999, 12, 13};
  Batch batch(model);
  Table<double> all(states, model.nv());
  Table<double> some = Table<double>::Constant(states, model.nv(), -5);
  batch.forward_dynamics(data.q, data.v, data.x, all).or_throw();
  batch.forward_dynamics(data.q, data.v, data.x, some, subset).or_throw();
  for (int i = 0; i < states; ++i) {
    const bool ran = std::find(subset.begin(), subset.end(), i) != subset.end();
    EXPECT_EQ(some.row(i), ran ? Eigen::RowVectorXd(all.row(i)) : Eigen::RowVectorXd::Constant(model.nv(), -5)) << i;
  }
}

TEST(Batches, DerivativesOfSomeStatesAndOfWrongOnes) {
  Random random(3);
  const Model model = random_dynamics_model(3, random);
  const int square = model.nv() * model.nv();
  Tables<double> data(model, 13, 9);
  Batch batch(model);
  std::array<Table<double>, 3> all;
  std::array<Table<double>, 3> some;
  all.fill(Table<double>(13, square));
  some.fill(Table<double>::Constant(13, square, -5));
  batch.forward_dynamics_derivatives(data.q, data.v, data.x, all[0], all[1], all[2]).or_throw();
  data.x(4, 0) = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::ptrdiff_t> subset = {11, 3, 4, 9, 0, 1};
  const BatchReport& report =
      batch.forward_dynamics_derivatives(data.q, data.v, data.x, some[0], some[1], some[2], subset);
  EXPECT_EQ(report.failed(), 1);
  EXPECT_EQ(report[4], StateStatus::not_finite);
  for (std::size_t k = 0; k < 3; ++k) {
    for (int i = 0; i < 13; ++i) {
      if (i == 4) {
        EXPECT_TRUE(some[k].row(i).array().isNaN().all());
        continue;
      }
      const bool ran = std::find(subset.begin(), subset.end(), i) != subset.end();
      EXPECT_EQ(some[k].row(i), ran ? Eigen::RowVectorXd(all[k].row(i)) : Eigen::RowVectorXd::Constant(square, -5));
    }
  }
}

TEST(Batches, ReadAndWriteThroughStrides) {
  Random random(4);
  const Model model = random_dynamics_model(1, random);
  const Tables<double> data(model, 13, 1);
  Batch batch(model);
  Table<double> wanted(13, model.nv());
  batch.inverse_dynamics(data.q, data.v, data.x, wanted).or_throw();
  const Eigen::MatrixXd columns = data.q;  // column-major
  Eigen::MatrixXd wide(40, 3 * model.nv());
  wide.setConstant(7);
  Eigen::MatrixXd given = Eigen::MatrixXd::Zero(13, model.nv() + 9);
  given.middleCols(4, model.nv()) = data.v;
  batch.inverse_dynamics(columns, given.middleCols(4, model.nv()), data.x, wide.block(5, 2, 13, model.nv())).or_throw();
  EXPECT_EQ(wide.block(5, 2, 13, model.nv()), Eigen::MatrixXd(wanted));
  EXPECT_EQ((wide.array() == 7).count(), wide.size() - wanted.size()) << "nothing else is written";
}

/// Rows one behind the other, of all lengths about that of a register, against rows with room between them.
template <class T>
void expect_any_length() {
  Random random(5);
  const int states = 37;
  for (const int n : {1, 2, 3, 5, 7, 8, 9, 15, 17}) {
    const Model model = random_chain(n, random);
    const Tables<T> data(model, states, 2);
    BasicBatch<T> batch(model);
    for (const Quantity<T>& quantity : quantities<T>()) {
      const int cols = quantity.size(model);
      Table<T> apart = Table<T>::Constant(states, cols + 3, T(7));
      quantity.batch(batch, data, StateRows<T>(apart.data(), states, cols, cols + 3)).or_throw();
      Table<T> close = Table<T>::Constant(states + 2, cols, T(7));
      quantity.batch(batch, data, StateRows<T>(close.row(1).data(), states, cols, cols)).or_throw();
      EXPECT_TRUE(same_bits<T>(close.middleRows(1, states), apart.leftCols(cols))) << quantity.name << " of " << n;
      EXPECT_TRUE((close.row(0).array() == T(7)).all() && (close.row(states + 1).array() == T(7)).all() &&
                  (apart.rightCols(3).array() == T(7)).all())
          << quantity.name << " of " << n << ": nothing else is written";
    }
  }
}

TEST(Batches, RowsOfAnyLength) {
  expect_any_length<double>();
  expect_any_length<float>();
}

TEST(Batches, MoreThanCachesHold) {
  Random random(6);
  const Model model = random_tree(12, 0.5, random).build();
  const int square = model.nv() * model.nv();
  const int few = 16;
  const int states = (1 << 22) / square;  // 32 MB a matrix
  const Tables<double> data(model, few, 3);
  const Table<double> q = data.q.replicate(states / few, 1);
  const Table<double> v = data.v.replicate(states / few, 1);
  const Table<double> x = data.x.replicate(states / few, 1);
  Batch batch(model);
  std::array<Table<double>, 8> some;
  some.fill(Table<double>(few, square));
  batch.mass_matrix(data.q, some[0]).or_throw();
  batch.inverse_dynamics_derivatives(data.q, data.v, data.x, some[1], some[2], some[3]).or_throw();
  batch.inverse_mass_matrix(data.q, some[4]).or_throw();
  batch.forward_dynamics_derivatives(data.q, data.v, data.x, some[5], some[6], some[7]).or_throw();
  std::array<Table<double>, 8> all;
  all.fill(Table<double>(q.rows(), square));
  batch.mass_matrix(q, all[0]).or_throw();
  batch.inverse_mass_matrix(q, all[4]).or_throw();
  batch.inverse_dynamics_derivatives(q, v, x, all[1], all[2], all[3]).or_throw();
  batch.forward_dynamics_derivatives(q, v, x, all[5], all[6], all[7]).or_throw();
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_TRUE(same_bits<double>(all[k], some[k].replicate(states / few, 1))) << k;
  }
}

/// What goes to rows part by part: products with several vectors, and the steps of rollouts.
TEST(Batches, MoreThanCachesHoldInParts) {
  Random random(7);
  const Model model = random_chain(33, random);
  const int nv = model.nv();
  const int few = 16;
  const int vectors = 6;
  const int states = (28 << 20) / (8 * vectors * nv) / few * few;  // 28 MB
  const Tables<double> data(model, few, 3);
  const Table<double> x =
      data.x.replicate(1, vectors) + data.v.replicate(1, vectors).cwiseProduct(data.q.replicate(1, vectors));
  const auto all = [&](const Table<double>& rows) { return Table<double>(rows.replicate(states / few, 1)); };
  Batch batch(model);
  Table<double> some(few, vectors * nv);
  Table<double> many(states, vectors * nv);
  batch.inverse_mass_times(data.q, x, some).or_throw();
  batch.inverse_mass_times(all(data.q), all(x), many).or_throw();
  EXPECT_TRUE(same_bits<double>(many, all(some)));
  const RolloutOptions options{.step = 1e-3, .steps = vectors};
  Table<double> some_v(few, vectors * nv);
  Table<double> many_v(states, vectors * nv);
  batch.rollout(data.q, data.v, {}, options, some, some_v).or_throw();
  batch.rollout(all(data.q), all(data.v), {}, options, many, many_v).or_throw();
  EXPECT_TRUE(same_bits<double>(many, all(some)));
  EXPECT_TRUE(same_bits<double>(many_v, all(some_v)));
}

/// 𝓜 of a block goes to memory while that of the next is computed; wrong states among them are NaN, and nothing around
/// the rows is touched, wherever they start and however far apart they are.
TEST(Batches, MoreThanCachesHoldWithWrongStates) {
  Random random(8);
  for (const int links : {9, 12, 16}) {
    const Model model = random_chain(links, random);
    const int few = 48;
    const int square = model.nv() * model.nv();
    const Tables<double> data(model, few, 5);
    Batch batch(model);
    Table<double> wanted(few, square);
    batch.mass_matrix(data.q, wanted).or_throw();
    for (const int gap : {0, 3, 8}) {
      SCOPED_TRACE(testing::Message() << links << " links, gap " << gap);
      const int stride = square + gap;
      const int states = (10 << 20) / (8 * square) / few * few + few + 5;  // 10 MB, and some in the last block
      Table<double> q = data.q.replicate(states / few + 1, 1).topRows(states);
      const std::set<int> wrong = {0, 7, 8, 9, 1000, states / 2, states - 20, states - 1};
      for (const int i : wrong) {
        q(i, 1) = std::numeric_limits<double>::quiet_NaN();
      }
      constexpr double untouched = -7;
      std::vector<double> memory(static_cast<std::size_t>(states * stride + 3), untouched);
      const BatchReport& report = batch.mass_matrix(q, StateRows<double>(memory.data() + 1, states, square, stride));
      EXPECT_EQ(report.failed(), static_cast<std::ptrdiff_t>(wrong.size()));
      EXPECT_EQ(memory.front(), untouched);
      for (int i = 0; i < states; ++i) {
        const double* row = memory.data() + 1 + static_cast<std::ptrdiff_t>(i) * stride;
        const bool is_wrong = wrong.contains(i);
        for (int j = 0; j < stride; ++j) {
          if (j >= square) {
            ASSERT_EQ(row[j], untouched) << i << ", " << j;
          } else if (is_wrong) {
            ASSERT_TRUE(std::isnan(row[j])) << i << ", " << j;
          } else {
            ASSERT_EQ(row[j], wanted(i % few, j)) << i << ", " << j;
          }
        }
      }
    }
  }
}

TEST(Batches, WrongStatesDoNotStopTheOthers) {
  ModelBuilder builder("free");
  builder.add(BodySpec{.name = "a",
                       .hinge = {.name = "f", .type = HingeType::free},
                       .inertia = RigidInertia<double>::about_center(2, {0.1, 0, 0}, Sym3<double>::diagonal(1, 2, 2))});
  builder.add(BodySpec{.name = "b",
                       .parent = "a",
                       .hinge = {.name = "r", .type = HingeType::revolute},
                       .inertia = RigidInertia<double>::about_center(1, {0, 0.3, 0}, Sym3<double>::diagonal(1, 2, 2))});
  const Model model = builder.build();
  Tables<double> data(model, 21, 3);
  Batch batch(model, {.threads = 2});
  Table<double> wanted(21, model.nv());
  batch.forward_dynamics(data.q, data.v, data.x, wanted).or_throw();
  data.q(2, 5) = std::numeric_limits<double>::quiet_NaN();
  data.q(3, 0) += 0.01;
  data.v(7, 1) = std::numeric_limits<double>::infinity();
  data.x(20, 0) = -std::numeric_limits<double>::infinity();
  Table<double> out(21, model.nv());
  const BatchReport& report = batch.forward_dynamics(data.q, data.v, data.x, out);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.failed(), 4);
  EXPECT_EQ(report.first_failed(), 2);
  EXPECT_EQ(report[3], StateStatus::not_normalized);
  for (int i = 0; i < 21; ++i) {
    if (report[i] == StateStatus::ok) {
      EXPECT_EQ(out.row(i), wanted.row(i)) << i;
    } else {
      EXPECT_TRUE(out.row(i).array().isNaN().all()) << i;
    }
  }
  EXPECT_EQ(report[2], StateStatus::not_finite);
  EXPECT_EQ(report[7], StateStatus::not_finite);
  EXPECT_EQ(report[20], StateStatus::not_finite);
  EXPECT_THROW(report.or_throw(), Error);
}

/// A massless ring turns about a shaft's end: singular only where the ring's axis and the shaft's are parallel.
Model sometimes_singular() {
  ModelBuilder builder("ring");
  const RigidInertia<double> none = RigidInertia<double>::zero();
  builder.add(BodySpec{.name = "a", .hinge = {.name = "first", .type = HingeType::revolute}, .inertia = none});
  builder.add(BodySpec{.name = "b",
                       .parent = "a",
                       .hinge = {.name = "second", .type = HingeType::revolute, .axis = {1, 0, 0}},
                       .inertia = none});
  builder.add(
      BodySpec{.name = "c",
               .parent = "b",
               .hinge = {.name = "third", .type = HingeType::revolute},
               .inertia = RigidInertia<double>::about_center(1, {0, 0, 0}, Sym3<double>::diagonal(0.1, 0.1, 0.2))});
  return builder.build();
}

TEST(Batches, SingularStatesAreTold) {
  const Model model = sometimes_singular();
  Tables<double> data(model, 17, 3);
  for (const int i : {0, 5, 6, 16}) {
    data.q(i, 1) = 0;
  }
  Batch batch(model);
  Table<double> out(17, 3);
  for (const Quantity<double>& quantity : quantities<double>()) {
    const std::string name = quantity.name;
    if (!name.starts_with("forward_dynamics") && name.find("inverse_mass") == std::string::npos &&
        name != "log_det_mass") {
      continue;
    }
    out.resize(17, quantity.size(model));
    const BatchReport& report = quantity.batch(batch, data, out);
    EXPECT_EQ(report.failed(), 4) << name;
    State state(model);
    for (int i = 0; i < 17; ++i) {
      const bool singular = i == 0 || i == 5 || i == 6 || i == 16;
      EXPECT_EQ(report[i], singular ? StateStatus::singular : StateStatus::ok) << name << i;
      EXPECT_EQ(out.row(i).array().isNaN().any(), singular) << name << i;
      if (!singular) {
        state.set(Eigen::VectorXd(data.q.row(i).transpose()), Eigen::VectorXd(data.v.row(i).transpose()));
        EXPECT_TRUE(is_near(Eigen::VectorXd(out.row(i).transpose()), quantity.state(state, data, i), 1e-11)) << name;
      }
    }
    try {
      report.or_throw();
      ADD_FAILURE() << name;
    } catch (const SingularError& e) {
      EXPECT_THAT(e.what(), HasSubstr("state 0: hinge 'first'")) << name;
    }
  }
}

/// A user's hinge that throws beyond an angle.
class Fragile : public CamHinge {
 public:
  Transform<double> pose(const double* q) const override {
    if (q[0] > 10) {
      throw std::runtime_error("the hinge is broken");
    }
    return CamHinge::pose(q);
  }
};

TEST(Batches, AHingeThatThrowsStopsItsStateAlone) {
  Random random(3);
  ModelBuilder builder("cam");
  BodySpec body{.name = "a"};
  body.hinge = random_hinge(HingeType::custom, random);
  body.hinge.custom = std::make_shared<Fragile>();
  body.inertia = RigidInertia<double>::about_center(1, {0.1, 0.2, 0.3}, Sym3<double>::diagonal(0.1, 0.1, 0.15));
  builder.add(body);
  const Model model = builder.build();
  Tables<double> data(model, 9, 3);
  data.q(4, 0) = 11;
  Batch batch(model);
  Table<double> out(9, model.nv());
  const BatchReport& report = batch.inverse_dynamics(data.q, data.v, data.x, out);
  EXPECT_EQ(report.failed(), 1);
  EXPECT_EQ(report[4], StateStatus::refused);
  EXPECT_FALSE(out.row(3).array().isNaN().any());
  EXPECT_TRUE(out.row(4).array().isNaN().all());
  EXPECT_THROW(report.or_throw(), Error);
  data.q(4, 0) = 1;
  EXPECT_TRUE(batch.inverse_dynamics(data.q, data.v, data.x, out).ok());
}

TEST(Batches, ACallbackThatThrowsLeavesAllUsable) {
  Random random(4);
  const Model model = random_dynamics_model(1, random);
  const Tables<double> data(model, 5000, 1);
  Batch batch(model, {.threads = 2});
  Table<double> wanted(5000, model.nv());
  std::ptrdiff_t most = 0;
  batch.set_progress([&](std::ptrdiff_t done) { most = std::max(most, done); });
  batch.inverse_dynamics(data.q, data.v, data.x, wanted).or_throw();
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 5000);
  batch.set_progress([](std::ptrdiff_t) { throw std::runtime_error("enough"); });
  Table<double> out(5000, model.nv());
  EXPECT_THROW(batch.inverse_dynamics(data.q, data.v, data.x, out), std::runtime_error);
  batch.set_progress({});
  batch.inverse_dynamics(data.q, data.v, data.x, out).or_throw();
  EXPECT_TRUE(same_bits(out, wanted));
}

TEST(Batches, WrongShapesAreRefused) {
  Random random(4);
  const Model model = random_dynamics_model(1, random);
  const Tables<double> data(model, 5, 1);
  Batch batch(model);
  Table<double> out(5, model.nv());
  Table<double> narrow(5, model.nv() - 1);
  Table<double> few(4, model.nv());
  EXPECT_THROW(batch.inverse_dynamics(data.v, data.v, data.x, out), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics(data.q, few, data.x, out), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics(data.q, data.v, data.x, narrow), ArgumentError);
  EXPECT_THROW(batch.inverse_mass_times(data.q, narrow, narrow), ArgumentError);
  Table<double> square(5, model.nv() * model.nv());
  EXPECT_THROW(batch.inverse_dynamics_derivatives(data.q, data.v, data.x, out, square, square), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics_derivatives(data.q, data.v, narrow, square, square, square), ArgumentError);
  EXPECT_THROW(batch.forward_dynamics_derivatives(data.q, data.v, data.x, square, square, out), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics_jvp(data.q, data.v, data.x, data.x, narrow, data.x, out), ArgumentError);
  EXPECT_THROW(batch.inverse_dynamics_vjp(data.q, data.v, data.x, narrow, out, out, out), ArgumentError);
  EXPECT_THROW(batch.forward_dynamics_jvp(data.q, data.v, data.x, data.x, data.x, data.x, narrow), ArgumentError);
  EXPECT_THROW(batch.forward_dynamics_vjp(data.q, data.v, data.x, data.x, out, square, out), ArgumentError);
  EXPECT_THROW(batch.jacobian(data.q, "nobody", Frame::node, out), ArgumentError);
  const std::vector<std::ptrdiff_t> outside = {5};
  EXPECT_THROW(batch.inverse_dynamics(data.q, data.v, data.x, out, outside), ArgumentError);
  EXPECT_THROW(Batch(model, {.threads = -1}), ArgumentError);
  const Table<double> none(0, model.nq());
  Table<double> no_out(0, model.nv());
  EXPECT_TRUE(batch.gravity_torques(none, no_out).ok());
}

TEST(Batches, AllocateNothingAfterTheFirstCall) {
  Random random(4);
  const Model model = random_dynamics_model(3, random);
  const Tables<double> data(model, 1000, 1);
  Batch batch(model, {.threads = 2});
  for (const Quantity<double>& quantity : quantities<double>()) {
    Table<double> out(1000, quantity.size(model));
    const StateRows<double> rows(out);
    quantity.batch(batch, data, rows);
    const std::size_t before = allocations();
    quantity.batch(batch, data, rows);
    EXPECT_EQ(allocations(), before) << quantity.name;
  }
}

TEST(Batches, SeveralRightHandSides) {
  Random random(4);
  const Model model = random_dynamics_model(3, random);
  const Tables<double> data(model, 10, 1);
  Batch batch(model);
  Table<double> x(10, 3 * model.nv());
  for (int i = 0; i < 10; ++i) {
    x.row(i) = random.vector(3 * model.nv()).transpose();
  }
  Table<double> out(10, 3 * model.nv());
  Table<double> one(10, model.nv());
  batch.inverse_mass_times(data.q, x, out).or_throw();
  for (int j = 0; j < 3; ++j) {
    batch.inverse_mass_times(data.q, x.middleCols(j * model.nv(), model.nv()), one).or_throw();
    EXPECT_EQ(Table<double>(out.middleCols(j * model.nv(), model.nv())), one);
  }
}

}  // namespace
}  // namespace bunraku::test
