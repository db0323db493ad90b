#include "operators/closed_system.hpp"

#include <string>

#include <Eigen/Cholesky>
#include <Eigen/SVD>

#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/finite_difference.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

constexpr std::array closing_types{HingeType::spherical, HingeType::revolute,  HingeType::universal,
                                   HingeType::planar,    HingeType::prismatic, HingeType::cylindrical,
                                   HingeType::helical};
constexpr std::array tree_types{HingeType::revolute, HingeType::spherical,   HingeType::universal, HingeType::prismatic,
                                HingeType::revolute, HingeType::cylindrical, HingeType::planar,    HingeType::revolute};

std::string name_of(int body) {
  return body < 0 ? std::string(world_name) : "b" + std::to_string(body);
}

ModelBuilder open_tree(const ClosedKind& kind, Random& random) {
  ModelBuilder out("closed");
  out.set_gravity(random.vec3(9));
  for (int i = 0; i < kind.bodies; ++i) {
    BodySpec body{.name = name_of(i)};
    // a trunk of three that all branches share
    const int parent = i < 3 ? i - 1 : random.uniform(0, 1) < kind.branching ? random.integer(2, i - 1) : i - 1;
    body.parent = name_of(parent);
    const auto type =
        i < 2 ? HingeType::revolute
              : tree_types[static_cast<std::size_t>(random.integer(0, static_cast<int>(tree_types.size()) - 1))];
    body.hinge = random_hinge(type, random);
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = kind.armature ? random.uniform(0.1, 0.5) : 0;
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    if (kind.mimics && (i == 4 || i == 6)) {  // one on its leader's branch, one anywhere
      body.hinge = random_hinge(HingeType::revolute, random);
      body.hinge.mimic = Mimic{i == 4 ? "b1_hinge" : "b0_hinge", random.uniform(-1.5, 1.5), 0.2};
    }
    out.add(std::move(body));
  }
  return out;
}

/// Node b of a closure so that it holds: its pose in the world, with node a at X_WA.
Transform<double> closed_pose(ClosureSpec& closure, const Transform<double>& X_WA, Random& random) {
  Transform<double> X_AB = random.transform();
  const Vec3<double> axis = closure.hinge.axis;
  switch (closure.kind) {
    case ClosureKind::nodes: {
      std::array<double, max_hinge_positions> x{};
      for (double& each : x) {
        each = random.uniform();
      }
      hinge_normalize(closure.hinge, x.data());
      X_AB = hinge_pose(closure.hinge, x.data());
      break;
    }
    case ClosureKind::distance:
      X_AB.translation = random.unit() * random.uniform(0.4, 1);  // of a short rod differences are not good enough
      closure.length = norm(X_AB.translation);
      break;
    case ClosureKind::plane:
      X_AB.translation = X_AB.translation - axis * dot(axis, X_AB.translation);
      break;
    case ClosureKind::line:
      X_AB.translation = axis * random.uniform();
      break;
    case ClosureKind::soft_finger:
      X_AB.translation = Vec3<double>::zero();
      break;
    case ClosureKind::hinges:
    case ClosureKind::rows:
      break;
  }
  return X_WA * X_AB;
}

}  // namespace

ClosedSystem::ClosedSystem(const ClosedKind& kind, unsigned seed)
    : model([&] {
        Random random(seed + 900);
        ModelBuilder builder = open_tree(kind, random);
        const Model open = builder.build();
        q = random_configuration(open, seed);
        State state(open);
        state.set(q, Vector::Zero(open.nv()));
        for (int c = 0; c < kind.closures; ++c) {
          ClosureSpec closure{.name = "c" + std::to_string(c)};
          constexpr int by_hinge = static_cast<int>(closing_types.size());
          const int which = random.integer(0, by_hinge + 2);
          closure.kind = kind.general && c == 0  ? ClosureKind::rows
                         : which == by_hinge     ? ClosureKind::distance
                         : which == by_hinge + 1 ? ClosureKind::plane
                         : which == by_hinge + 2 ? ClosureKind::line
                                                 : ClosureKind::nodes;
          closure.hinge = random_hinge(
              which < by_hinge ? closing_types[static_cast<std::size_t>(which)] : HingeType::fixed, random);
          const int a = random.integer(kind.bodies / 2, kind.bodies - 1);
          int b = random.integer(0, kind.bodies - 1);
          b = kind.to_world && c == 0 ? world : b == a ? a - 1 : b;
          closure.a = closure.name + "a";
          closure.b = closure.name + "b";
          for (int i = 0; closure.kind == ClosureKind::rows && i < 2; ++i) {
            ClosureRow row{};
            for (double& each : row) {
              each = random.uniform();
            }
            closure.rows.push_back(row);
          }
          const Transform<double> X_on = random.transform();
          const Transform<double> X_WA = pose(state, a) * X_on;
          const Transform<double> X_WB = closed_pose(closure, X_WA, random);
          const Transform<double> X_Wb = b == world ? Transform<double>::identity() : pose(state, b);
          builder.add(NodeSpec{.name = closure.a, .body = name_of(a), .X_BN = X_on});
          builder.add(NodeSpec{.name = closure.b, .body = name_of(b), .X_BN = X_Wb.inverse() * X_WB});
          if (kind.doubled && c == 0) {
            ClosureSpec again = closure;
            again.name = "again";
            builder.add(again);
          }
          builder.add(closure);
        }
        if (kind.coupling) {
          builder.add(ClosureSpec{.name = "tie",
                                  .kind = ClosureKind::hinges,
                                  .a = kind.mimics ? "b6_hinge" : "b0_hinge",
                                  .b = kind.mimics ? "b4_hinge" : "b1_hinge",
                                  .polynomial = {0.1, 0.7, -0.4, 0.3, 0.2},
                                  .reference_a = 0.3,
                                  .reference_b = -0.2});
        }
        return builder.build();
      }()) {
  Random random(seed + 5);
  T = random.vector(model.nv());
  v = random.vector(model.nv());
  Y = rows_at(q);
  project_velocities();
  State state(model, PassiveForces::left_out);
  state.set(q, v);
  mass = mass_matrix(state);
  bias = bunraku::bias(state);
  U = -central_difference([&](double t) { return Vector(rows_at(integrate(model, q, v, t)) * v); }, 2e-3);
  solve();
}

ClosedSystem::Matrix ClosedSystem::rows_at(const Vector& configuration) const {
  State state(model);
  state.set(configuration, Vector::Zero(model.nv()));
  Matrix out = Matrix::Zero(100, model.nv());
  int row = 0;
  const auto coordinate = [&](int b) {  // of a mimic hinge, that of its leader times the ratio
    const Body& body = model.body(b);
    const bool follows = body.leader != world;
    return std::tuple{model.body(follows ? body.leader : b).v_index, model.body(follows ? body.leader : b).q_index,
                      follows ? body.leader_ratio : 1.0, follows ? body.leader_offset : 0.0};
  };
  for (const Closure& each : model.closures()) {
    if (each.kind == ClosureKind::hinges) {
      const auto [va, qa, ratio_a, offset_a] = coordinate(each.hinge_a);
      const auto [vb, qb, ratio_b, offset_b] = coordinate(each.hinge_b);
      const double x = ratio_b * configuration[qb] + offset_b - each.reference_b;
      double slope = 0;
      for (std::size_t i = 1; i < each.polynomial.size(); ++i) {
        slope += static_cast<double>(i) * each.polynomial[i] * std::pow(x, static_cast<double>(i) - 1);
      }
      out(row, va) += ratio_a;
      out(row++, vb) -= slope * ratio_b;
      continue;
    }
    kernels::ClosureEquations<double> at;
    kernels::closure_positions(each, pose(state, each.a).inverse() * pose(state, each.b), at);
    const Matrix on_a = jacobian(state, each.a, Frame::node);
    const Matrix on_b = jacobian(state, each.b, Frame::node);
    for (std::size_t i = 0; i < static_cast<std::size_t>(at.rows); ++i, ++row) {
      for (int j = 0; j < 6; ++j) {
        out.row(row) += at.on_a[i][j] * on_a.row(j) + at.on_b[i][j] * on_b.row(j);
      }
    }
  }
  return out.topRows(row);
}

void ClosedSystem::project_velocities() {
  const Eigen::JacobiSVD<Matrix> svd(Y, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Vector off = svd.matrixU().transpose() * (Y * v);
  for (Eigen::Index i = 0; i < off.size(); ++i) {
    const double s = svd.singularValues()[i];
    off[i] = s > 1e-9 * svd.singularValues()[0] ? off[i] / s : 0;
  }
  v -= svd.matrixV() * off;
}

/// θ̈ = 𝓜⁻¹(T − 𝓒 − Y*f̃), Yθ̈ = U, by the singular values of Y𝓜^(−½).
void ClosedSystem::solve() {
  const Eigen::LLT<Matrix> llt(mass);
  const Matrix L = llt.matrixL();
  const Matrix b = llt.matrixL().solve(Y.transpose());  // L⁻¹Y*
  const Eigen::JacobiSVD<Matrix> svd(b, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vector& s = svd.singularValues();
  rank = static_cast<int>((s.array() > 1e-9 * s[0]).count());
  weakest = s[rank - 1] / s[0];
  const Matrix P = svd.matrixU().leftCols(rank);
  const Vector free = llt.matrixL().solve(T - bias);
  const Vector asked = s.head(rank).cwiseInverse().asDiagonal() * (svd.matrixV().leftCols(rank).transpose() * U);
  const Vector x = free - P * (P.transpose() * free) + P * asked;
  acceleration = llt.matrixL().transpose().solve(x);
  reaction = L * (free - x);
}

}  // namespace bunraku::test
