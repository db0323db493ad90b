/// One model, many threads: run under the thread sanitizer with `./run test --sanitizer tsan`.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

TEST(Threads, ShareOneModel) {
  Random random(70);
  const Model model = random_tree(20, 0.3, random).build();
  constexpr unsigned states = 200;
  std::vector<Vec3<double>> alone;
  PlainKinematics kinematics(model);
  for (unsigned s = 0; s < states; ++s) {
    kinematics.set_configuration(random_configuration(model, s));
    alone.push_back(kinematics.center_of_mass());
  }
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      PlainKinematics own(model);
      State dynamics(model);
      for (unsigned s = 0; s < states; ++s) {
        dynamics.set(random_configuration(model, s), Eigen::VectorXd::Zero(model.nv()));
        static_cast<void>(forward_dynamics(dynamics, Eigen::VectorXd::Ones(model.nv())));
        own.set_configuration(random_configuration(model, s));
        const bool found = model.find_body("b3") == 3;
        wrong[t] += own.center_of_mass() == alone[s] && found ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const int w : wrong) {
    EXPECT_EQ(w, 0);
  }
}

}  // namespace
}  // namespace bunraku::test
