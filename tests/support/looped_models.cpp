#include "support/looped_models.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/finite_difference.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What a hinge does not let move, in a's axes at b's point: the projector on the complement of its joint map there.
/// Any rows of it would do, but would have to change smoothly where it does.
MatrixXd directions(const Hinge& hinge, const Transform<double>& X_AB) {
  const int n = hinge.velocity_size();
  if (n == 0) {
    return MatrixXd::Identity(6, 6);
  }
  std::array<double, max_hinge_positions> q{};
  hinge_nearest(hinge, X_AB, q.data());
  std::array<Motion<double>, max_hinge_velocities> columns{};
  hinge_joint_map(hinge, q.data(), columns.data());
  MatrixXd map(6, n);
  for (int j = 0; j < n; ++j) {
    map.col(j) = to_eigen(X_AB.rotation * columns[static_cast<std::size_t>(j)]);
  }
  return MatrixXd::Identity(6, 6) - map * (map.transpose() * map).ldlt().solve(map.transpose());
}

MatrixXd directions(const Closure& closure, const Transform<double>& X_AB) {
  if (closure.kind == ClosureKind::nodes) {
    return directions(closure.hinge, X_AB);
  }
  MatrixXd out = MatrixXd::Zero(closure.kind == ClosureKind::line ? 2 : 1, 6);
  const Vec3<double>& axis = closure.hinge.axis;
  if (closure.kind == ClosureKind::distance) {
    out.row(0).tail(3) = to_eigen(X_AB.translation).normalized().transpose();
  } else if (closure.kind == ClosureKind::plane) {
    out.row(0).tail(3) = to_eigen(axis).transpose();
  } else {
    const Vec3<double> across = perpendicular(axis);
    out.row(0).tail(3) = to_eigen(across).transpose();
    out.row(1).tail(3) = to_eigen(cross(axis, across)).transpose();
  }
  return out;
}

double polynomial(const std::array<double, 5>& c, double x) {
  return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
}

}  // namespace

MatrixXd closure_jacobian(State& state, const Closure& closure) {
  const Model& model = state.model();
  if (closure.kind == ClosureKind::hinges) {
    MatrixXd out = MatrixXd::Zero(1, model.nv());
    const auto add = [&](int hinge, double part) {
      const Body& body = model.body(hinge);
      out(0, body.v_index) += part * (body.leader == world ? 1 : body.leader_ratio);
    };
    add(closure.hinge_a, 1);
    if (closure.hinge_b != world) {
      const Body& b = model.body(closure.hinge_b);
      const double q =
          b.leader == world ? state.q()(b.q_index) : b.leader_ratio * state.q()(b.q_index) + b.leader_offset;
      const double x = q - closure.reference_b;
      add(closure.hinge_b, -central_difference([&](double s) { return polynomial(closure.polynomial, x + s); }, 0.01));
    }
    return out;
  }
  const MatrixXd J_a = jacobian(state, closure.a, Frame::node);
  const MatrixXd J_b = jacobian(state, closure.b, Frame::node);
  if (closure.kind == ClosureKind::rows) {
    MatrixXd out(static_cast<Eigen::Index>(closure.rows.size()), model.nv());
    for (std::size_t i = 0; i < closure.rows.size(); ++i) {
      const Eigen::Map<const Eigen::Matrix<double, 1, 12>> row(closure.rows[i].data());
      out.row(static_cast<Eigen::Index>(i)) = row.head(6) * J_a + row.tail(6) * J_b;
    }
    return out;
  }
  const Transform<double> X_AB = pose(state, closure.a).inverse() * pose(state, closure.b);
  const Eigen::Matrix3d R = to_eigen(X_AB.rotation.matrix());
  Eigen::Matrix3d p;  // p×
  p << 0, -X_AB.translation.z, X_AB.translation.y, X_AB.translation.z, 0, -X_AB.translation.x, -X_AB.translation.y,
      X_AB.translation.x, 0;
  MatrixXd relative(6, model.nv());
  relative.topRows(3) = R * J_b.topRows(3) - J_a.topRows(3);
  relative.bottomRows(3) = R * J_b.bottomRows(3) - J_a.bottomRows(3) + p * J_a.topRows(3);
  return directions(closure, X_AB) * relative;
}

MatrixXd LoopedState::jacobian(const std::vector<int>& closures, double t) const {
  State state(model);
  state.set(t == 0 ? q : integrate(model, q, v, t));
  MatrixXd out(0, model.nv());
  for (const int i : closures) {
    const MatrixXd Y = closure_jacobian(state, model.closures()[static_cast<std::size_t>(i)]);
    MatrixXd more(out.rows() + Y.rows(), model.nv());
    more << out, Y;
    out = more;
  }
  return out;
}

VectorXd LoopedState::rate(const std::vector<int>& closures) const {
  return -central_difference([&](double t) -> VectorXd { return jacobian(closures, t) * v; }, 0.002);
}

std::vector<int> LoopedState::all() const {
  std::vector<int> out;
  for (std::size_t i = 0; i < model.closures().size(); ++i) {
    out.push_back(static_cast<int>(i));
  }
  return out;
}

FreeMotion::FreeMotion(const MatrixXd& Y, const VectorXd& U, double tolerance) {
  const Eigen::JacobiSVD<MatrixXd> svd(Y, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const VectorXd& s = svd.singularValues();
  Eigen::Index rank = 0;
  const double most = s.size() == 0 ? 1 : std::max(s(0), 0.01);  // nothing but rounding is nothing
  while (rank < s.size() && s(rank) > tolerance * most) {
    ++rank;
  }
  last_kept = rank == 0 ? 1 : s(rank - 1) / most;
  first_lost = rank == s.size() ? 0 : s(rank) / most;
  X = svd.matrixV().rightCols(Y.cols() - rank);
  b = svd.matrixV().leftCols(rank) * (svd.matrixU().leftCols(rank).transpose() * U).cwiseQuotient(s.head(rank));
}

LoopMaker::LoopMaker(const ModelBuilder& tree, Random& random)
    : builder_(tree),
      open_(tree.build()),
      random_(random),
      q_(random_configuration(open_, static_cast<unsigned>(random.integer(0, 1000000)))),
      state_(open_) {
  state_.set(q_);
}

std::string LoopMaker::add_node(int body, const Transform<double>& X_WN) {
  const std::string name = "n" + std::to_string(builder_.nodes().size());
  const Transform<double> X_WB = body == world ? Transform<double>::identity() : pose(state_, body);
  builder_.add(NodeSpec{.name = name,
                        .body = body == world ? std::string(world_name) : open_.body(body).name,
                        .X_BN = X_WB.inverse() * X_WN});
  return name;
}

LoopMaker& LoopMaker::join(int a, int b, const Hinge& hinge) {
  const Transform<double> X_WA = (a == world ? Transform<double>::identity() : pose(state_, a)) * random_.transform();
  std::array<double, max_hinge_positions> q{};
  hinge_neutral(hinge, q.data());
  std::array<double, max_hinge_velocities> v{};
  for (double& each : v) {
    each = random_.uniform();
  }
  hinge_integrate(hinge, q.data(), v.data(), 1, q.data());
  ClosureSpec closure{.name = name(), .hinge = hinge};
  closure.a = add_node(a, X_WA);
  closure.b = add_node(b, X_WA * hinge_pose(hinge, q.data()));
  builder_.add(closure);
  return *this;
}

LoopMaker& LoopMaker::join(int a, int b, ClosureKind kind) {
  const Transform<double> X_WA = (a == world ? Transform<double>::identity() : pose(state_, a)) * random_.transform();
  ClosureSpec closure{.name = name(), .kind = kind};
  closure.hinge.axis = random_.unit();
  Vec3<double> p = random_.vec3();
  if (kind == ClosureKind::plane) {
    p = perpendicular(closure.hinge.axis) * random_.uniform();
  } else if (kind == ClosureKind::line) {
    p = closure.hinge.axis * random_.uniform();
  }
  closure.length = kind == ClosureKind::distance ? norm(p) : 0;
  if (kind == ClosureKind::rows) {
    closure.rows.resize(2);
    for (ClosureRow& row : closure.rows) {
      for (double& each : row) {
        each = random_.uniform();
      }
    }
  }
  closure.a = add_node(a, X_WA);
  closure.b = add_node(b, X_WA * Transform<double>{random_.rotation(), p});
  builder_.add(closure);
  return *this;
}

double LoopMaker::position(int k) const {
  const Body& body = open_.body(k);
  return body.leader == world ? q_(body.q_index) : body.leader_ratio * q_(body.q_index) + body.leader_offset;
}

LoopMaker& LoopMaker::tie(int a, int b) {
  ClosureSpec closure{.name = name(),
                      .kind = ClosureKind::hinges,
                      .a = open_.body(a).hinge.name,
                      .b = open_.body(b).hinge.name,
                      .reference_b = position(b) + random_.uniform(-0.5, 0.5)};
  for (double& each : closure.polynomial) {
    each = random_.uniform();
  }
  closure.reference_a = position(a) - polynomial(closure.polynomial, position(b) - closure.reference_b);
  builder_.add(closure);
  return *this;
}

LoopMaker& LoopMaker::hold(int a) {
  builder_.add(ClosureSpec{.name = name(),
                           .kind = ClosureKind::hinges,
                           .a = open_.body(a).hinge.name,
                           .polynomial = {0.25},
                           .reference_a = position(a) - 0.25});
  return *this;
}

LoopedState LoopMaker::make() {
  LoopedState out{builder_.build(), q_, VectorXd::Zero(open_.nv()), random_.vector(open_.nv())};
  const MatrixXd Y = out.jacobian(out.all());
  const FreeMotion free(Y, VectorXd::Zero(Y.rows()));
  out.v = free.X * random_.vector(free.X.cols());
  return out;
}

LoopedState random_looped(int sample) {
  Random random(static_cast<unsigned>(sample) + 7000);
  Random of_tree(static_cast<unsigned>(sample) + 400);
  LoopMaker maker(edit(random_dynamics_model(sample, of_tree)), random);
  const int n = static_cast<int>(maker.model().bodies().size());
  constexpr std::array kinds = {ClosureKind::distance, ClosureKind::plane, ClosureKind::line, ClosureKind::rows};
  std::vector<int> single;
  for (int k = 0; k < n; ++k) {
    if (maker.model().body(k).hinge.velocity_size() == 1) {
      single.push_back(k);
    }
  }
  const auto any = [&] {
    return single[static_cast<std::size_t>(random.integer(0, static_cast<int>(single.size()) - 1))];
  };
  const int loops = 1 + sample % 3;
  for (int i = 0; i < loops; ++i) {
    const int choice = (sample + 5 * i) % 17;
    const int a = random.integer(-1, n - 1);
    int b = random.integer(0, n - 1);
    while (b == a) {
      b = random.integer(0, n - 1);
    }
    if (choice < 11) {
      const auto type = all_hinge_types[static_cast<std::size_t>(choice < 10 ? choice : 11)];  // all but free
      maker.join(a, b, random_hinge(type, random));
    } else if (choice < 15) {
      maker.join(a, b, kinds[static_cast<std::size_t>(choice - 11)]);
    } else if (single.size() > 1) {
      const int hinge = any();
      int other = any();
      while (other == hinge) {
        other = any();
      }
      choice == 15 ? maker.tie(hinge, other) : maker.hold(hinge);
    }
  }
  return maker.make();
}

}  // namespace bunraku::test
