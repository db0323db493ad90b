#include "operators/dense_system.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include <Eigen/Core>

#include "support/linear_algebra.hpp"

namespace bunraku::test {
namespace {

Eigen::MatrixXd identity(int n) {
  return Eigen::MatrixXd::Identity(n, n);
}

}  // namespace

DenseSystem::DenseSystem(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                         const Eigen::VectorXd& a, std::vector<Node> nodes)
    : blocks(model, q, v), q_(q), v_(v), a_(a), nodes_(std::move(nodes)) {
  N = blocks.N;
  nv = model.nv();
  const Matrix one = identity(6 * N);
  put(Symbol::E_phi, blocks.E);
  put(Symbol::phi, blocks.phi);
  put(Symbol::phit, blocks.phi - one);
  put(Symbol::H, blocks.S.transpose() * blocks.H);
  put(Symbol::M, blocks.M);
  put(Symbol::armature, congruence(blocks.S.transpose(), blocks.armature));
  Eigen::VectorXd halves(6 * N);
  for (int k = 0; k < N; ++k) {
    halves.segment<6>(6 * k) << 1, 1, 1, 0, 0, 0;
  }
  put(Symbol::ang, halves.asDiagonal());
  Matrix R = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {
    R.block<6, 6>(6 * k, 6 * k) = congruence(blocks.phi.middleRows<6>(6 * k), blocks.M);
  }
  put(Symbol::R, R);
  put_shifts();
  put_nodes();
  mass = congruence(product(get(Symbol::H), blocks.phi), blocks.M) + get(Symbol::armature);
  coupled = blocks.S.rows() != blocks.S.cols();
  eliminate();
  put_passive(q, v);
  put_vectors(v, a);
}

const DenseSystem::Matrix& DenseSystem::get(Symbol symbol) const {
  if (has(symbol) && !symbols_.contains(symbol)) {
    const Matrix J = product(blocks.phi.transpose(), get(Symbol::H).transpose());
    put(Symbol::Omega, product(J, solve_symmetric(mass, J.transpose())));
    if (!coupled) {
      put(Symbol::Upsilon, diagonal(symbols_.at(Symbol::Omega)));
    }
  }
  return symbols_.at(symbol);
}

DenseSystem::Matrix DenseSystem::operator()(const Operator& x) const {
  const Term& t = x.term();
  const auto part = [&](std::size_t i) { return (*this)(t.parts[i]); };
  switch (t.type) {
    case TermType::symbol:
      return t.parts.empty() ? get(t.symbol) : of_family(t);
    case TermType::variable:
      return variables_.at(t.name);
    case TermType::identity:
      return identity(dimension(t.range));
    case TermType::number:
      return Matrix::Constant(1, 1, t.number);
    case TermType::unit:
      return identity(nv).col(t.index);
    case TermType::sum: {
      Matrix out = part(0);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out += part(i);
      }
      return out;
    }
    case TermType::product: {
      Matrix out = part(0);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out = product(out, part(i));
      }
      return out;
    }
    case TermType::scale:
      return t.number * part(0);
    case TermType::adjoint:
      return part(0).transpose();
    case TermType::inverse:
    case TermType::dense_inverse:
      return pivoted_inverse_of(part(0));
    case TermType::root:
      return symmetric_root(part(0));
    case TermType::cross:
      return cross_of(part(0));
    case TermType::gather:
      return gathered(part(0), part(1));
    case TermType::spread:
      return spread_out(part(0), part(1));
    case TermType::carry:
      return carried(part(0), part(1));
    case TermType::force_cross:
      return force_cross_of(part(0));
    case TermType::lyapunov:
      return lyapunov_solution(part(0), part(1));
    case TermType::joint_rate: {
      std::vector<Matrix> along;
      for (std::size_t i = 0; i < t.parts.size(); ++i) {
        along.push_back(part(i));
      }
      return joint_rate(along);
    }
    case TermType::derivative:
      return slope(t.parts[0], part(1), Eigen::VectorXd::Zero(nv));
    case TermType::time_rate:
      return slope(t.parts[0], v_, a_);
    case TermType::block: {
      const auto [row, rows] = place(t.range);
      const auto [column, columns] = place(t.domain);
      return part(0).block(row, column, rows, columns);
    }
  }
  throw std::logic_error("no such term");
}

DenseSystem::Matrix DenseSystem::times(const Operator& x, const Matrix& vectors) const {
  const bool adjoint = x.term().type == TermType::adjoint;
  const Term& t = adjoint ? x.term().parts[0].term() : x.term();
  const auto factor = [&](std::size_t i) { return adjoint ? ~t.parts[i] : t.parts[i]; };
  const std::size_t count = t.parts.size();
  if (t.type == TermType::product) {
    Matrix out = vectors;
    for (std::size_t i = 0; i < count; ++i) {
      out = times(factor(adjoint ? i : count - 1 - i), out);
    }
    return out;
  }
  if (t.type == TermType::sum) {
    Matrix out = times(factor(0), vectors);
    for (std::size_t i = 1; i < count; ++i) {
      out += times(factor(i), vectors);
    }
    return out;
  }
  if (t.type == TermType::scale) {
    return t.number * times(factor(0), vectors);
  }
  return product((*this)(x), vectors);
}

int DenseSystem::dimension(const Space& space) const {
  if (!space.part.empty()) {
    return place(space).second;
  }
  switch (space.kind) {
    case SpaceKind::hinge:
      return nv;
    case SpaceKind::body:
      return 6 * N;
    case SpaceKind::node:
      return 6 * static_cast<int>(nodes_.size());
    default:
      return 1;
  }
}

DenseSystem::Matrix DenseSystem::diagonal(const Matrix& all) const {
  Matrix out = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {
    out.block<6, 6>(6 * k, 6 * k) = all.block<6, 6>(6 * k, 6 * k);
  }
  return out;
}

void DenseSystem::put_shifts() {
  Matrix shift = Matrix::Zero(6 * N, 6 * N);
  Matrix moved = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {
    const int p = blocks.body(k).parent;
    Eigen::Matrix4d X = to_eigen(blocks.kinematics.pose(k));
    if (p != world) {
      shift.block<6, 6>(6 * p, 6 * k).setIdentity();
      X = to_eigen(blocks.kinematics.pose(p)).inverse() * X;
    }
    moved.block<6, 6>(6 * k, 6 * k) = DenseBlocks::force_matrix(X);
  }
  put(Symbol::S, shift);
  put(Symbol::Delta_phi, moved);
}

void DenseSystem::put_nodes() {
  Matrix B = Matrix::Zero(6 * N, 6 * static_cast<Eigen::Index>(nodes_.size()));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].body != world) {
      B.block<6, 6>(6 * nodes_[i].body, 6 * static_cast<Eigen::Index>(i)) =
          DenseBlocks::force_matrix(to_eigen(nodes_[i].X_BN));
    }
  }
  put(Symbol::B, B);
}

void DenseSystem::find_clusters() {
  std::vector<int> set(static_cast<std::size_t>(N));
  for (int k = 0; k < N; ++k) {
    set[static_cast<std::size_t>(k)] = k;
  }
  const auto of = [&](int k) -> int& { return set[static_cast<std::size_t>(k)]; };
  const auto join = [&](int i, int j) {
    const int from = std::max(of(i), of(j));
    const int to = std::min(of(i), of(j));
    std::replace(set.begin(), set.end(), from, to);
  };
  for (int k = 0; k < N; ++k) {
    if (blocks.body(k).leader != world) {
      join(k, blocks.body(k).leader);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < N; ++j) {
        const int p = blocks.body(i).parent;
        const int r = blocks.body(j).parent;
        if (of(i) == of(j) && p > r && of(p) != of(i) && (r == world || of(r) != of(i))) {
          join(p, i);  // two ways out: the lower one is inside
          changed = true;
        }
      }
    }
  }
  for (int k = 0; k < N; ++k) {
    if (of(k) == k) {
      clusters.emplace_back();
      for (int i = 0; i < N; ++i) {
        if (of(i) == k) {
          clusters.back().push_back(i);
        }
      }
    }
  }
}

DenseSystem::Family DenseSystem::family_of(const Matrix& X, const Matrix& A) const {
  const Matrix& H = get(Symbol::H);
  Family out{X, Matrix::Zero(nv, nv), Matrix::Zero(6 * N, nv), Matrix::Zero(6 * N, nv)};
  for (auto cluster = clusters.rbegin(); cluster != clusters.rend(); ++cluster) {
    std::vector<int> inside;  // numbers of its bodies
    std::vector<int> hinges;
    std::vector<int> parent;  // and of the body on which it hangs
    for (const int k : *cluster) {
      for (int i = 0; i < 6; ++i) {
        inside.push_back(6 * k + i);
      }
      for (int j = 0; j < blocks.body(k).nv; ++j) {
        hinges.push_back(blocks.body(k).v_index + j);
      }
    }
    for (int i = 0; i < 6 && blocks.body(cluster->front()).parent != world; ++i) {
      parent.push_back(6 * blocks.body(cluster->front()).parent + i);
    }
    const Matrix within = DenseBlocks::inverse(blocks.E(inside, inside));
    const Matrix h = product(H(hinges, inside), within);
    const Matrix e = product(blocks.E(parent, inside), within);
    const Matrix p = out.P(inside, inside);
    const Matrix d = congruence(h, p) + A(hinges, hinges);
    const Matrix g = product(product(p, h.transpose()), inverse_of(d));
    const Matrix k = product(e, g);
    out.D(hinges, hinges) = d;
    out.G(inside, hinges) = g;
    out.K(parent, hinges) = k;
    out.P(parent, parent) += congruence(e, p) - congruence(k, d);
  }
  return out;
}

void DenseSystem::eliminate() {
  find_clusters();
  const Matrix& H = get(Symbol::H);
  const auto [P, D, G, K] = family_of(blocks.M, get(Symbol::armature));
  put(Symbol::P, P);
  put(Symbol::D, D);
  put(Symbol::G, G);
  put(Symbol::K, K);
  if (!coupled) {
    put(Symbol::tau, product(G, H));
    put(Symbol::taub, identity(6 * N) - get(Symbol::tau));
  }
  put(Symbol::E_psi, blocks.E - product(K, H));
  put(Symbol::psi, DenseBlocks::inverse(get(Symbol::E_psi)));
  put(Symbol::psit, get(Symbol::psi) - identity(6 * N));
}

DenseSystem::Matrix DenseSystem::of_family(const Term& t) const {
  if (!has(t.symbol)) {
    throw std::logic_error("no blocks with couplings");
  }
  const auto [P, D, G, K] = family_of((*this)(t.parts[0]), (*this)(t.parts[1]));
  const Matrix& H = get(Symbol::H);
  const Matrix one = identity(6 * N);
  const Matrix E_psi = blocks.E - product(K, H);
  const auto Omega = [&, &D = D] {
    const Matrix J = product(H, DenseBlocks::inverse(E_psi)).transpose();
    return congruence(J, inverse_of(D));
  };
  switch (t.symbol) {
    case Symbol::P:
      return P;
    case Symbol::D:
      return D;
    case Symbol::G:
      return G;
    case Symbol::K:
      return K;
    case Symbol::tau:
      return product(G, H);
    case Symbol::taub:
      return one - product(G, H);
    case Symbol::E_psi:
      return E_psi;
    case Symbol::psi:
      return DenseBlocks::inverse(E_psi);
    case Symbol::psit:
      return DenseBlocks::inverse(E_psi) - one;
    case Symbol::Omega:
      return Omega();
    case Symbol::Upsilon:
      return diagonal(Omega());
    default:
      throw std::logic_error("not of a family");
  }
}

DenseSystem::Matrix DenseSystem::gathered(const Matrix& E, const Matrix& x) const {
  Matrix y = x;
  for (int k = N - 1; k >= 0; --k) {
    if (const int p = blocks.body(k).parent; p != world) {
      const Matrix e = E.block(6 * p, 6 * k, 6, 6);
      y.block<6, 6>(6 * p, 6 * p) += e * y.block<6, 6>(6 * k, 6 * k) * e.transpose();
    }
  }
  return y;
}

DenseSystem::Matrix DenseSystem::spread_out(const Matrix& E, const Matrix& x) const {
  Matrix y = x;
  for (int k = 0; k < N; ++k) {
    if (const int p = blocks.body(k).parent; p != world) {
      const Matrix e = E.block(6 * p, 6 * k, 6, 6);
      y.block<6, 6>(6 * k, 6 * k) += e.transpose() * y.block<6, 6>(6 * p, 6 * p) * e;
    }
  }
  return y;
}

void DenseSystem::put_vectors(const Eigen::VectorXd& v, const Eigen::VectorXd& acceleration) {
  const Matrix& H = get(Symbol::H);
  put(Symbol::thetad, v);
  put(Symbol::thetadd, acceleration);
  Eigen::VectorXd V(6 * N);
  for (int k = 0; k < N; ++k) {
    V.segment<6>(6 * k) = to_eigen(blocks.kinematics.velocity(k));
  }
  put(Symbol::V, V);
  put(Symbol::a, blocks.a);
  Eigen::VectorXd gravity = Eigen::VectorXd::Zero(6 * N);
  const Vec3<double>& g = blocks.model.gravity();
  for (int k = 0; k < N; ++k) {
    if (blocks.body(k).parent == world) {
      const Eigen::Matrix3d R = to_eigen(blocks.kinematics.pose(k)).topLeftCorner<3, 3>();
      gravity.segment<3>(6 * k + 3) = -R.transpose() * Eigen::Vector3d(g.x, g.y, g.z);
    }
  }
  put(Symbol::a_g, gravity);
  put(Symbol::b, blocks.b);
  put(Symbol::alpha, blocks.phi.transpose() * (H.transpose() * acceleration + blocks.a));
  put(Symbol::f, blocks.phi * (blocks.M * get(Symbol::alpha) + blocks.b));
  put(Symbol::T, H * get(Symbol::f) + get(Symbol::armature) * acceleration - get(Symbol::T_p));
}

void DenseSystem::put_passive(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(nv);
  Eigen::VectorXd springs = Eigen::VectorXd::Zero(nv);
  bool linear = true;
  for (int k = 0; k < N; ++k) {
    const Body& body = blocks.body(k);
    const Hinge& hinge = body.hinge;
    const bool follows = body.leader != world;
    const double ratio = follows ? body.leader_ratio : 1;
    Eigen::VectorXd own = q.segment(body.q_index, hinge.configuration_size());
    if (follows) {
      own = (ratio * own).array() + body.leader_offset;
    }
    Eigen::VectorXd stretch(hinge.velocity_size());
    hinge_difference(hinge, hinge.rest.data(), own.data(), stretch.data());
    for (int j = 0; j < hinge.velocity_size(); ++j) {
      const HingeDof& dof = hinge.dofs[static_cast<std::size_t>(j)];
      const double rate = ratio * v[body.v_index + j];
      springs[body.v_index + j] += ratio * ratio * dof.stiffness;
      linear =
          linear && (dof.stiffness == 0 || (hinge.type != HingeType::spherical && hinge.type != HingeType::planar &&
                                            hinge.type != HingeType::free && hinge.type != HingeType::custom));
      const double sign = rate > 0 ? 1 : rate < 0 ? -1 : 0;
      out[body.v_index + j] -= ratio * (dof.damping * rate + dof.friction * sign + dof.stiffness * stretch[j]);
    }
  }
  put(Symbol::T_p, out);
  if (linear) {
    put(Symbol::stiffness, springs.asDiagonal());
  }
}

DenseSystem::Matrix DenseSystem::cross_of(const Matrix& z) const {
  Matrix out = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {
    const auto skew_of = [&](int at) {
      return to_eigen(skew(Vec3<double>{z(6 * k + at, 0), z(6 * k + at + 1, 0), z(6 * k + at + 2, 0)}));
    };
    out.block<3, 3>(6 * k, 6 * k) = out.block<3, 3>(6 * k + 3, 6 * k + 3) = skew_of(0);
    out.block<3, 3>(6 * k + 3, 6 * k) = skew_of(3);
  }
  return out;
}

std::pair<int, int> DenseSystem::place(const Space& space) const {
  if (space.part.empty()) {
    return {0, dimension(space)};
  }
  int i = -1;
  const std::string& name = space.part;
  std::from_chars(name.data(), name.data() + name.size(), i);
  if (space.kind == SpaceKind::node) {
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      i = nodes_[j].name == name ? static_cast<int>(j) : i;
    }
    return {6 * i, 6};
  }
  for (int k = 0; k < N; ++k) {
    i = blocks.body(k).name == name ? k : i;
  }
  return space.kind == SpaceKind::body ? std::pair{6 * i, 6} : std::pair{blocks.body(i).v_index, blocks.body(i).nv};
}

double relative_difference(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
  if (!left.allFinite() || !right.allFinite()) {
    return std::numeric_limits<double>::infinity();
  }
  const double scale = std::max(left.cwiseAbs().maxCoeff(), right.cwiseAbs().maxCoeff());
  return scale == 0 ? 0 : (left - right).cwiseAbs().maxCoeff() / scale;
}

SystemAndDense::SystemAndDense(const Model& of, unsigned seed) : random(seed), model(of), system(of) {
  q = random_configuration(model, seed);
  v = random.vector(model.nv());
  a = random.vector(model.nv());
  const int last = static_cast<int>(model.bodies().size()) - 1;
  // not in the order of their bodies
  nodes = {{"n0", last, random.transform()}, {"n1", 0, random.transform()}, {"n2", last / 2, random.transform()}};
  system.set_state(detail::as_span(q), detail::as_span(v));
  system.set_accelerations(detail::as_span(a));
  system.set_nodes(nodes);
}

}  // namespace bunraku::test
