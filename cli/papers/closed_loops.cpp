#include "papers/closed_loops.hpp"

#include <algorithm>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/embedded.hpp"
#include "bunraku/model/builder.hpp"
#include "bunraku/model/changes.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku::cli::papers {

namespace {

/// Systems with a weaker direction than this are not asked: they are near a singularity.
constexpr double weakest = 0.02;

/// Three copies of a sample's tree, two of them hanging on the end of the first, with their ends joined, and the
/// constrained equations of motion by dense matrices: closures in the world's axes, from node Jacobians and
/// accelerations.
class Loops {
 public:
  explicit Loops(const Sample& sample, bool doubled = false) {
    now_ = closed(sample, doubled);
    find_rates();
    Random random(7);
    torque_ = random.vector(now_->model.nv());
    solve();
  }

  const Instant& instant() const { return *now_; }
  const Eigen::MatrixXd& Y() const { return Y_; }
  const Eigen::VectorXd& U() const { return U_; }
  const Eigen::VectorXd& torque() const { return torque_; }
  const Eigen::VectorXd& acceleration() const { return acceleration_; }
  const Eigen::VectorXd& reaction() const { return reaction_; }
  int rank() const { return rank_; }
  /// X(X*𝓜X)⁻¹X*.
  Eigen::MatrixXd inverse_mass() const { return X_ * (X_.transpose() * mass_ * X_).ldlt().solve(X_.transpose()); }

  /// What an expression is at the state, the hinge vector x being the torques.
  Eigen::MatrixXd matrix(const std::string& text) const {
    System system(now_->model, as_span(now_->q), as_span(now_->v));
    system.bind(variables().front(), as_span(torque_));
    return system.literal(parse(expand(text), Variables{variables().front()})).dense();
  }

 private:
  /// Node b of loop i of the two that are joined at a point or rigidly.
  static bool rigid(int i) { return i % 2 == 1; }

  Instant closed(const Sample& sample, bool doubled) {
    const Model& part = sample.dense().instant().model;
    const std::string end = part.bodies().back().name;
    ModelBuilder plain = edit(part);
    plain.nodes().clear();
    const Model bare = plain.build();
    const Model tree = join(join(bare, end, bare, "l_"), end, bare, "r_");
    const int loops = tree.nv() >= 16 ? 2 : 1;
    Random random(11);
    for (int attempt = 0;; ++attempt) {
      Instant now{tree, {}, random.vector(tree.nv()), Eigen::VectorXd::Zero(tree.nv()), {}};
      now.q = random_configuration(tree, random.seed());
      ModelBuilder builder = edit(tree);
      const Dense open(now);
      std::vector<Node> nodes;
      for (int i = 0; i < loops; ++i) {
        add_loop(builder, open, i, fmt::format("l_{}", end),
                 i == 0 ? fmt::format("r_{}", end) : tree.bodies().front().name, random);
      }
      if (doubled) {
        ClosureSpec again = builder.closures().front();
        again.name = "again";
        builder.add(again);
      }
      now.model = builder.build();
      for (const Closure& c : now.model.closures()) {
        now.nodes.push_back(c.a);
        now.nodes.push_back(c.b);
      }
      now_ = now;
      find_rows();
      const Eigen::JacobiSVD<Eigen::MatrixXd> svd(Y_, Eigen::ComputeThinU | Eigen::ComputeThinV);
      const Eigen::VectorXd& sigma = svd.singularValues();
      rank_ = static_cast<int>((sigma.array() > 1e-9 * sigma(0)).count());
      if (attempt < 200 && (sigma(rank_ - 1) < weakest * sigma(0) || rank_ >= tree.nv())) {
        continue;
      }
      now.v -= svd.matrixV().leftCols(rank_) * (svd.matrixV().leftCols(rank_).transpose() * now.v);
      return now;
    }
  }

  static void add_loop(ModelBuilder& builder, const Dense& open, int i, const std::string& a, const std::string& b,
                       Random& random) {
    const Model& model = open.instant().model;
    const auto pose = [&](const std::string& name) {
      const int k = model.body_index(name);
      Mat3<double> R;
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
          R(r, c) = open.axes(k)(r, c);
        }
      }
      return Transform<double>{Rotation<double>(R), {open.origin(k).x(), open.origin(k).y(), open.origin(k).z()}};
    };
    const Eigen::VectorXd at = random.vector(3);
    const Transform<double> X_WN = pose(a) * Transform<double>::translate({at(0), at(1), at(2)});
    builder.add(NodeSpec{fmt::format("loop{}_a", i), a, pose(a).inverse() * X_WN});
    builder.add(NodeSpec{fmt::format("loop{}_b", i), b, pose(b).inverse() * X_WN});
    builder.add(ClosureSpec{.name = fmt::format("loop{}", i),
                            .hinge = {.type = rigid(i) ? HingeType::fixed : HingeType::spherical},
                            .a = fmt::format("loop{}_a", i),
                            .b = fmt::format("loop{}_b", i)});
  }

  /// Axes of a node in the world.
  static Eigen::Matrix3d axes(const Dense& dense, const Node& node) {
    Eigen::Matrix3d R;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        R(r, c) = node.X_BN.rotation.matrix()(r, c);
      }
    }
    return dense.axes(node.body) * R;
  }

  /// Of a stacked vector or matrix over node space the differences that closures are about, in a's axes.
  Eigen::MatrixXd differences(const Dense& dense, const Eigen::MatrixXd& of_nodes) const {
    std::vector<Eigen::MatrixXd> parts;
    Eigen::Index rows = 0;
    for (std::size_t i = 0; i < now_->model.closures().size(); ++i) {
      const Closure& c = now_->model.closures()[i];
      const Eigen::Matrix3d R_a = axes(dense, c.a);
      const Eigen::Matrix3d R_ab = R_a.transpose() * axes(dense, c.b);
      const auto first = static_cast<Eigen::Index>(12 * i);
      const auto block = [&](int half) -> Eigen::MatrixXd {
        return R_ab * of_nodes.middleRows(first + 6 + half, 3) - of_nodes.middleRows(first + half, 3);
      };
      Eigen::MatrixXd part = block(3);
      if (c.hinge.type == HingeType::fixed) {
        Eigen::MatrixXd both(6, of_nodes.cols());
        both << block(0), part;
        part = both;
      }
      rows += part.rows();
      parts.push_back(std::move(part));
    }
    Eigen::MatrixXd out(rows, of_nodes.cols());
    Eigen::Index at = 0;
    for (const Eigen::MatrixXd& part : parts) {
      out.middleRows(at, part.rows()) = part;
      at += part.rows();
    }
    return out;
  }

  void find_rows() {
    const Dense dense(*now_);
    Y_ = differences(dense, dense.jacobian());
  }

  /// U: what the nodes' accelerations differ by at θ̈ = 0, negative; gravity moves all of them alike.
  void find_rates() {
    Instant still = *now_;
    still.a.setZero();
    const Dense dense(still);
    find_rows();
    U_ = -differences(dense, dense.node_alpha());
    mass_ = dense.mass_matrix();
    bias_ = dense.bias();
  }

  void solve() {
    Eigen::JacobiSVD<Eigen::MatrixXd> svd(Y_, Eigen::ComputeThinU | Eigen::ComputeFullV);
    svd.setThreshold(1e-9);
    X_ = svd.matrixV().rightCols(now_->model.nv() - rank_);
    const Eigen::VectorXd forced = svd.solve(U_);
    const Eigen::VectorXd left = X_.transpose() * (torque_ - bias_ - mass_ * forced);
    acceleration_ = forced + X_ * (X_.transpose() * mass_ * X_).ldlt().solve(left);
    reaction_ = torque_ - bias_ - mass_ * acceleration_;
  }

  int rank_ = 0;
  Eigen::MatrixXd Y_;
  Eigen::VectorXd U_;
  Eigen::MatrixXd mass_;
  Eigen::VectorXd bias_;
  Eigen::MatrixXd X_;
  Eigen::VectorXd torque_;
  Eigen::VectorXd acceleration_;
  Eigen::VectorXd reaction_;
  std::optional<Instant> now_;
};

std::string W() {
  return "(I-H*psi*K)";
}
std::string free_torque() {
  return "(x-BIAS)";
}
std::string step_a() {
  return "~" + W() + "*inv(D)*" + W() + "*" + free_torque();
}
std::string step_b() {
  return "A*~B*~psi*~H*inv(D)*" + W() + "*" + free_torque();
}
std::string step_d() {
  return "inv(A*~B*Omega*B*~A)*(" + step_b() + "-U)";
}
std::string step_e() {
  return "-~" + W() + "*inv(D)*H*psi*B*~A*(" + step_d() + ")";
}
/// 𝔟, the b of (3.13)
std::string factor() {
  return "(inv(sqrt(D))*H*psi*B*~A)";
}
std::string projected() {
  return "(I-" + factor() + "*inv(~" + factor() + "*" + factor() + ")*~" + factor() + ")";
}

ClosedSystem system_of(const Loops& loops) {
  ClosedSystem out(loops.instant().model);
  out.set(loops.instant().q, loops.instant().v);
  return out;
}

}  // namespace

double closure_matrix(Sample& sample) {
  const Loops loops(sample);
  return residual(loops.matrix("A*~B*~phi*~H"), loops.Y());
}

double closure_rate(Sample& sample) {
  const Loops loops(sample);
  // where nothing moves U is rounding: it is compared beside velocities squared
  const double speed = loops.instant().v.cwiseAbs().maxCoeff();
  const Eigen::MatrixXd U = loops.matrix("U");
  return (U - loops.U()).cwiseAbs().maxCoeff() / std::max(U.cwiseAbs().maxCoeff(), std::max(1.0, speed * speed));
}

double closure_velocities_fit(Sample& sample) {
  const Loops loops(sample);
  return loops.matrix("A*~B*~phi*~H*thetad").cwiseAbs().maxCoeff() / loops.instant().v.cwiseAbs().maxCoeff();
}

double closed_steps(Sample& sample) {
  const Loops loops(sample);
  return residual(loops.matrix(step_a()) + loops.matrix(step_e()), loops.acceleration());
}

double closed_forces(Sample& sample) {
  const Loops loops(sample);
  return residual(loops.matrix("H*phi*B*~A*(" + step_d() + ")"), loops.reaction());
}

double compact_form(Sample& sample) {
  const Loops loops(sample);
  return residual(loops.matrix("~" + W() + "*inv(sqrt(D))*(" + projected() + "*inv(sqrt(D))*" + W() + "*" +
                               free_torque() + "+" + factor() + "*inv(~" + factor() + "*" + factor() + ")*U)"),
                  loops.acceleration());
}

double compact_form_printed(Sample& sample) {
  const Loops loops(sample);
  return residual(
      loops.matrix("~" + W() + "*inv(sqrt(D))*" + projected() + "*inv(sqrt(D))*" + W() + "*" + free_torque()),
      loops.acceleration());
}

double closed_inverse_mass(Sample& sample) {
  const Loops loops(sample);
  return residual(loops.matrix("M_C"), loops.inverse_mass());
}

double embedded_loops(Sample& sample) {
  const Loops loops(sample);
  EmbeddedState state(loops.instant().model);
  state.set(loops.instant().q, loops.instant().v);
  return residual(embedded_forward_dynamics(state, loops.torque()), loops.acceleration());
}

double closed_inverse(Sample& sample) {
  const Loops loops(sample);
  const Eigen::VectorXd thetadd = loops.matrix(step_a()) + loops.matrix(step_e());
  return residual(loops.matrix("MASS") * thetadd + loops.matrix("BIAS") + loops.matrix("H*phi*B*~A*(" + step_d() + ")"),
                  loops.torque());
}

double changed_closure(Sample& sample) {
  const Loops loops(sample);
  ClosedSystem system = system_of(loops);
  Eigen::VectorXd out(system.nv());
  Closure other = system.closure(0);
  const Hinge own = other.hinge;
  other.hinge = {.type = HingeType::universal};
  system.change_closure(0, other);
  closed_forward_dynamics(system, loops.torque(), out);
  const detail::ClosedWork before = system.data().work;
  other.hinge = own;
  system.change_closure(0, other);
  closed_forward_dynamics(system, loops.torque(), out);
  const detail::ClosedWork& after = system.data().work;
  return static_cast<double>(after.sweeps - before.sweeps + after.columns - before.columns) +
         std::abs(static_cast<double>(after.solves - before.solves - 1));
}

double changed_closure_result(Sample& sample) {
  const Loops loops(sample);
  ClosedSystem system = system_of(loops);
  Closure other = system.closure(0);
  const Hinge own = other.hinge;
  other.hinge = {.type = HingeType::universal};
  Eigen::VectorXd out(system.nv());
  system.change_closure(0, other);
  closed_forward_dynamics(system, loops.torque(), out);
  other.hinge = own;
  system.change_closure(0, other);
  closed_forward_dynamics(system, loops.torque(), out);
  return residual(out, loops.acceleration());
}

double doubled_loop(Sample& sample) {
  const Loops loops(sample, true);
  ClosedSystem system = system_of(loops);
  return std::max(residual(closed_forward_dynamics(system, loops.torque()), loops.acceleration()),
                  residual(loops.matrix(step_a()) + loops.matrix(step_e()), loops.acceleration()));
}

double doubled_rank(Sample& sample) {
  const Loops loops(sample, true);
  ClosedSystem system = system_of(loops);
  const ClosureReport& report = closure_report(system);
  const auto named = [&](const char* name) {
    return std::find(report.redundant.begin(), report.redundant.end(), name) != report.redundant.end();
  };
  return std::abs(static_cast<double>(report.rank - loops.rank())) + (named("loop0") && named("again") ? 0.0 : 1.0);
}

}  // namespace bunraku::cli::papers
