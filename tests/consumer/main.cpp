// Passes Eigen objects to the library and back, many times and of many sizes, mixed with Eigen code of its own: a
// library and a program that disagree on the alignment of Eigen's types or on who frees memory how end here in a
// crash or in wrong figures.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <Eigen/Dense>
#include <bunraku/bunraku.hpp>

namespace {

void check(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "consumer: %s\n", what);
    std::exit(1);
  }
}

// Fixed-size members whose alignment depends on the flags of this program.
struct Record {
  Eigen::Vector4d four;
  Eigen::Matrix4d pose;
  Eigen::Quaterniond turn;
  Eigen::VectorXd q;
};

void round_trips(const bunraku::Model& model) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Eigen::VectorXd q0 = bunraku::random_configuration(model, seed);
    Eigen::VectorXd v = Eigen::VectorXd::Random(bunraku::difference(model, q0, q0).size());
    const Eigen::VectorXd q1 = bunraku::integrate(model, q0, v, 0.5);
    const Eigen::VectorXd back = bunraku::difference(model, q0, q1);
    check((back - 0.5 * v).cwiseAbs().maxCoeff() < 1e-12, "difference does not undo integrate");
    const Eigen::VectorXd again = bunraku::integrate(model, q0, back, 1.0);
    check((again - q1).cwiseAbs().maxCoeff() < 1e-12, "integrate does not undo difference");

    // Expressions and parts of larger objects in place of vectors.
    Eigen::MatrixXd columns(q0.size(), 3);
    columns << q0, q1, again;
    const Eigen::VectorXd from_columns = bunraku::difference(model, columns.col(0), columns.col(1));
    check((from_columns - back).norm() < 1e-14, "columns of a matrix are taken otherwise than vectors");
    v = bunraku::difference(model, q1, bunraku::integrate(model, q1, (v + v).eval(), 0.25));
    check((v - back).cwiseAbs().maxCoeff() < 1e-12, "nested calls differ");
  }
}

void fixed_sizes(const bunraku::Model& model) {
  bunraku::State state(model);
  std::vector<Record> records;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Record record;
    record.q = bunraku::random_configuration(model, seed);
    record.turn = Eigen::Quaterniond(record.q[0], record.q[1], record.q[2], record.q[3]);  // the free base's
    record.four = record.turn.coeffs();
    state.set(record.q, Eigen::VectorXd::Random(model.nv()));
    record.pose = bunraku::to_eigen(bunraku::pose(state, "base"));
    const Eigen::Matrix3d difference = record.pose.topLeftCorner<3, 3>() - record.turn.toRotationMatrix();
    check(difference.norm() < 1e-12, "the base's pose is not what the configuration says");
    const Eigen::Matrix<double, 6, 1> velocity =
        bunraku::to_eigen(bunraku::velocity(state, "hand", bunraku::Frame::node));
    check(velocity.allFinite() && velocity.norm() > 0, "the hand does not move");
    const Eigen::Matrix4d hand = bunraku::to_eigen(bunraku::pose(state, "hand"));
    record.pose = hand * hand.inverse();
    records.push_back(record);
  }
  Eigen::Matrix4d sum = Eigen::Matrix4d::Zero();
  for (const Record& record : records) {
    sum += record.pose;
    check(std::abs(record.four.norm() - 1) < 1e-14, "a unit quaternion is not");
  }
  const double size = static_cast<double>(records.size());
  check((sum / size - Eigen::Matrix4d::Identity()).norm() < 1e-12, "a matrix times its inverse is not 1");
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 2, "usage: consumer ROBOT");
  bunraku::LoadOptions options;
  options.free_base = true;
  const bunraku::Model model = bunraku::load(argv[1], options);
  const Eigen::VectorXd q = bunraku::neutral(model);
  check(q.size() == model.nq() && q.allFinite(), "the neutral configuration is not finite");
  round_trips(model);
  fixed_sizes(model);

  bool refused = false;
  try {
    bunraku::load("no such file");
  } catch (const bunraku::Error&) {
    refused = true;
  }
  check(refused, "an exception of the library was not caught by its type");

  std::printf("ok, %d positions, alignment %zu\n", static_cast<int>(q.size()), alignof(Eigen::Matrix4d));
}
