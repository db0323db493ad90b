/// One model, many threads: each with a state of its own computes what one thread computes, to the last bit. `./run
/// test` runs this with the thread sanitizer, too.
#include <thread>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/identities.hpp"
#include "bunraku/operators/system.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

constexpr int thread_count = 4;

/// What `compute(s)` gives for each s in turn, in one thread and then in several at once, is the same.
template <class Make>
void expect_same_in_threads(unsigned states, const Make& make) {
  std::vector<Eigen::VectorXd> alone;
  {
    auto compute = make();
    for (unsigned s = 0; s < states; ++s) {
      alone.push_back(compute(s));
      ASSERT_TRUE(alone.back().allFinite());
    }
  }
  EXPECT_NE(alone[0], alone[1]) << "the results depend on the state";
  std::vector<int> right(thread_count);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      auto compute = make();
      for (unsigned i = 0; i < states; ++i) {
        const unsigned s = (i + 7 * static_cast<unsigned>(t)) % states;  // not all at the same state
        right[t] += compute(s) == alone[s] ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const int count : right) {
    EXPECT_EQ(count, static_cast<int>(states));
  }
}

/// Numbers one below the other.
Eigen::VectorXd stacked(const std::vector<Eigen::VectorXd>& parts) {
  Eigen::Index size = 0;
  for (const Eigen::VectorXd& part : parts) {
    size += part.size();
  }
  Eigen::VectorXd out(size);
  size = 0;
  for (const Eigen::VectorXd& part : parts) {
    out.segment(size, part.size()) = part;
    size += part.size();
  }
  return out;
}

void expect_same_dynamics(const Model& model) {
  expect_same_in_threads(50, [&] {
    return [&model, state = State(model)](unsigned s) mutable {
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1 + 0.1 * s);
      state.set(random_configuration(model, s), v);
      const bool found = model.find_body("b3") == 3;
      return stacked({forward_dynamics(state, v), inverse_dynamics(state, v), inverse_mass_times(state, v),
                      mass_matrix(state).reshaped(), jacobian(state, "b7", Frame::aligned).reshaped(),
                      to_eigen(center_of_mass(state)), Eigen::VectorXd::Constant(1, found ? 1 : 0)});
    };
  });
}

TEST(Threads, ShareOneModel) {
  Random random(70);
  expect_same_dynamics(random_tree(20, 0.3, random).build());
}

TEST(Threads, ShareOneModelWithMimics) {
  Random random(71);
  ModelBuilder builder = random_tree(20, 0.3, random);
  add_mimic_pair(builder, random);
  expect_same_dynamics(builder.build());
}

TEST(Threads, EvaluateExpressionsOfOneModel) {
  Random random(72);
  const Model model = random_tree(12, 0.3, random).build();
  expect_same_in_threads(5, [&] {
    return [&model](unsigned s) {
      const Eigen::VectorXd q = random_configuration(model, s);
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1 + 0.1 * s);
      System system(model, q, v);
      const bool armature = conditions_of(system).armature;
      Evaluation inverse =
          system(parse(armature ? "inv(H*phi*M*~phi*~H + armature)" : "inv(H*phi*M*~phi*~H)"));  // the search, too
      return Eigen::VectorXd(inverse * v);
    };
  });
}

TEST(Threads, ShareOneProgram) {
  Random random(73);
  const Model model = random_tree(12, 0.3, random).build();
  const Program inverse(model, parse("inv(H*phi*M*~phi*~H + armature)"));
  const Program bias_of(model, parse("H*phi*(M*~phi*a + b)"));
  expect_same_in_threads(20, [&] {
    return [&, state = State(model)](unsigned s) mutable {
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1 + 0.1 * s);
      state.set(random_configuration(model, s), v);
      return Eigen::VectorXd(inverse(state, v) + bias_of(state));
    };
  });
}

TEST(Threads, PrepareExpressionsOnCopiesOfOneSystem) {
  Random random(74);
  const Model model = random_tree(8, 0.3, random).build();
  const System original(model);
  expect_same_in_threads(5, [&] {
    return [system = System(original)](unsigned s) mutable {
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(system.model().nv(), -1, 1 + 0.1 * s);
      system.set_state(random_configuration(system.model(), s), v);
      return Eigen::VectorXd(system(parse("inv(H*phi*M*~phi*~H + armature)*(I + H*phi*K)")) * v);
    };
  });
}

}  // namespace
}  // namespace bunraku::test
