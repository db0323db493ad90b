/// @file
/// RJK89 §4 literally: block matrices over links and nodes, in the world's axes, from poses.
#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "papers/flexible.hpp"
#include "papers/nodal.hpp"

namespace bunraku::cli::papers {

namespace {

/// Where the nodes of the links are taken to be.
enum class Nodes {
  deformed,
  at_rest,
};

/// A chain of Systems::nodal. Links are counted from the base; the last node of each is the one at O.
class NodalChain {
 public:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;

  explicit NodalChain(Sample& sample, Nodes where = Nodes::deformed) : sample_(&sample), dense_(&sample.dense()) {
    find_links(where);
    find_phi();
    find_nodes();
    find_motion();
  }

  const Matrix& phi() const { return phi_; }      ///< φ of the links.
  const Matrix& E_phi() const { return E_; }      ///< Their E_φ.
  const Matrix& B() const { return B_; }          ///< B_k on the diagonal.
  const Matrix& C() const { return C_; }          ///< C_k at (k, the next link).
  const Matrix& h() const { return h_; }          ///< h_k = [I 0] on the diagonal.
  const Matrix& H() const { return H_; }          ///< H(k) on the diagonal.
  const Vector& beta() const { return beta_; }    ///< Hinge velocities.
  const Vector& rates() const { return rates_; }  ///< u̇: what each node moves by against its link.
  const Vector& u() const { return u_; }          ///< u: how far each node has turned and moved.
  int links() const { return static_cast<int>(frames_.size()); }
  bool last(int k) const { return k + 1 == links(); }

  /// Velocities of the links at O, as the operators have them.
  Vector V() const { return of_bodies(frames_); }
  /// V^f, of all nodes, as the operators have them.
  Vector V_f() const { return of_bodies(nodes_); }

  /// I + CφB.
  Matrix spread() const { return Matrix::Identity(C_.rows(), C_.rows()) + C_ * phi_ * B_; }
  /// (h; HB).
  Matrix maps() const { return below(h_, H_ * B_); }
  /// (HB; h), as printed.
  Matrix printed_maps() const { return below(H_ * B_, h_); }
  /// X = (u̇; β).
  Vector X() const { return below(rates_, beta_); }
  /// m of the nodes' lumps.
  Matrix lumps() const {
    const auto n = static_cast<Eigen::Index>(nodes_.size());
    Matrix out = Matrix::Zero(6 * n, 6 * n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const int k = nodes_[static_cast<std::size_t>(i)];
      out.block<6, 6>(6 * i, 6 * i) = turned(k) * dense_->inertia(k) * turned(k).transpose();
    }
    return out;
  }
  /// m with full m_k, as of a finite-element model: random and positive.
  Matrix full_mass() const {
    Random random(3);
    Matrix out = lumps();
    for (int k = 0; k < links(); ++k) {
      const int n = 6 * counts_[static_cast<std::size_t>(k)];
      Matrix A(n, n);
      for (double& each : A.reshaped()) {
        each = random.uniform(-0.3, 0.3);
      }
      out.block(6 * starts_[static_cast<std::size_t>(k)], 6 * starts_[static_cast<std::size_t>(k)], n, n) +=
          A * A.transpose();
    }
    return out;
  }
  /// 𝓜^f.
  static Matrix mass_matrix(const Matrix& maps, const Matrix& spread, const Matrix& m) {
    const Matrix factor = maps * spread;
    return factor * m * factor.transpose();
  }
  /// X for the velocities of the library: hinge after hinge, displacements by their coordinates.
  const Matrix& coordinates() const { return coordinates_; }

 private:
  static Matrix below(const Matrix& upper, const Matrix& lower) {
    Matrix out(upper.rows() + lower.rows(), upper.cols());
    out << upper, lower;
    return out;
  }
  /// Axes of a body twice on the diagonal.
  Eigen::Matrix<double, 6, 6> turned(int body) const {
    return force_matrix(dense_->axes(body), Eigen::Vector3d::Zero());
  }
  static Eigen::Matrix<double, 6, 6> shift(const Eigen::Vector3d& l) {
    return force_matrix(Eigen::Matrix3d::Identity(), l);
  }
  Vector of_bodies(const std::vector<int>& bodies) const {
    const Vector all = sample_->matrix("~phi*~H*thetad");
    Vector out(6 * static_cast<Eigen::Index>(bodies.size()));
    Eigen::Index row = 0;
    for (const int k : bodies) {
      out.segment<6>(row) = turned(k) * all.segment<6>(6 * k);
      row += 6;
    }
    return out;
  }

  void find_links(Nodes where) {
    const Model& model = dense_->instant().model;
    for (const FlexiblePart& part : model.flexible()) {
      const int k = part.body;
      starts_.push_back(static_cast<int>(nodes_.size()));
      counts_.push_back(static_cast<int>(part.nodes.size()) + 1);
      frames_.push_back(k);
      const std::string& name = model.bodies()[static_cast<std::size_t>(k)].name;
      for (std::size_t j = 0; j < part.nodes.size(); ++j) {
        const int node = model.body_index(fmt::format("{}.n{}", name, j));
        nodes_.push_back(node);
        const Eigen::Vector3d rest = to_eigen(model.bodies()[static_cast<std::size_t>(node)].X_PF.translation);
        places_.emplace_back(where == Nodes::deformed ? dense_->origin(node)
                                                      : Eigen::Vector3d(dense_->origin(k) + dense_->axes(k) * rest));
      }
      nodes_.push_back(k);
      places_.push_back(dense_->origin(k));
    }
  }

  void find_phi() {
    const int n = links();
    phi_ = Matrix::Zero(6 * n, 6 * n);
    E_ = Matrix::Zero(6 * n, 6 * n);
    for (int i = 0; i < n; ++i) {
      for (int j = i; j < n; ++j) {
        phi_.block<6, 6>(6 * i, 6 * j) = shift(origin(j) - origin(i));
      }
      if (!last(i)) {
        E_.block<6, 6>(6 * i, 6 * (i + 1)) = phi_.block<6, 6>(6 * i, 6 * (i + 1));
      }
    }
  }

  void find_nodes() {
    const int n = links();
    const auto all = 6 * static_cast<Eigen::Index>(nodes_.size());
    B_ = Matrix::Zero(6 * n, all);
    C_ = Matrix::Zero(all, 6 * n);
    h_ = Matrix::Zero(all - 6 * n, all);
    int row = 0;
    for (int k = 0; k < n; ++k) {
      const int start = starts_[static_cast<std::size_t>(k)];
      const int count = counts_[static_cast<std::size_t>(k)];
      for (int j = start; j < start + count; ++j) {
        B_.block<6, 6>(6 * k, 6 * j) = shift(places_[static_cast<std::size_t>(j)] - origin(k));
      }
      if (!last(k)) {
        C_.block<6, 6>(6 * start, 6 * (k + 1)) = shift(origin(k + 1) - places_[static_cast<std::size_t>(start)]);
      }
      h_.block(row, 6 * start, 6 * (count - 1), 6 * (count - 1)).setIdentity();
      row += 6 * (count - 1);
    }
  }

  void find_motion() {
    const Instant& now = dense_->instant();
    const auto displacements = h_.rows();
    const int n = now.model.nv();
    int hinges = 0;
    for (const int k : frames_) {
      hinges += dense_->count(k);
    }
    H_ = Matrix::Zero(hinges, 6 * links());
    coordinates_ = Matrix::Zero(displacements + hinges, n);
    u_ = Vector::Zero(displacements);
    int row = 0;
    for (const int node : nodes_) {
      if (std::find(frames_.begin(), frames_.end(), node) == frames_.end()) {
        coordinates_.block(row, dense_->first(node), 6, dense_->count(node)) = turned(node) * dense_->joint_map(node);
        const Body& body = now.model.bodies()[static_cast<std::size_t>(node)];
        const Vector eta = now.q.segment(leading(body).q_index, dense_->count(node));
        u_.segment<3>(row) = dense_->axes(body.parent) * (rotations(*body.hinge.modal) * eta);
        u_.segment<3>(row + 3) = dense_->origin(node) - dense_->origin(body.parent) -
                                 dense_->axes(body.parent) * to_eigen(body.X_PF.translation);
        row += 6;
      }
    }
    int hinge = 0;
    for (int k = 0; k < links(); ++k) {
      const int body = frames_[static_cast<std::size_t>(k)];
      const int count = dense_->count(body);
      H_.block(hinge, 6 * k, count, 6) = (turned(body) * dense_->joint_map(body)).transpose();
      coordinates_.block(displacements + hinge, dense_->first(body), count, count).setIdentity();
      hinge += count;
    }
    const Vector X = coordinates_ * now.v;
    rates_ = X.head(displacements);
    beta_ = X.tail(hinges);
  }

  const Eigen::Vector3d& origin(int link) const { return dense_->origin(frames_[static_cast<std::size_t>(link)]); }
  const Body& leading(const Body& body) const {
    return body.leader == world ? body : dense_->instant().model.bodies()[static_cast<std::size_t>(body.leader)];
  }

  Sample* sample_;
  const Dense* dense_;
  std::vector<int> frames_;              // the body of each link
  std::vector<int> starts_;              // its first node
  std::vector<int> counts_;              // how many it has, O among them
  std::vector<int> nodes_;               // the bodies of all nodes
  std::vector<Eigen::Vector3d> places_;  // Q
  Matrix phi_, E_, B_, C_, h_, H_, coordinates_;
  Vector beta_, rates_, u_;
};

double stacked_residual(const NodalChain& chain, const Eigen::VectorXd& u) {
  Eigen::VectorXd X = chain.X();
  X.head(u.size()) = u;
  return residual(chain.V_f(), (chain.maps() * chain.spread()).transpose() * X);
}

double energy_residual(const NodalChain& chain, const Eigen::MatrixXd& maps) {
  const Eigen::MatrixXd m = chain.full_mass();
  const Eigen::VectorXd V_f = chain.V_f();
  const Eigen::VectorXd X = chain.X();
  const Eigen::MatrixXd mass = NodalChain::mass_matrix(maps, chain.spread(), m);
  return residual(Eigen::MatrixXd::Constant(1, 1, V_f.dot(m * V_f) / 2),
                  Eigen::MatrixXd::Constant(1, 1, X.dot(mass * X) / 2));
}

double nodal_mass_residual(Sample& sample, const NodalChain& chain, const Eigen::MatrixXd& maps) {
  const Eigen::MatrixXd& N = chain.coordinates();
  return residual(sample.matrix("MASS"),
                  N.transpose() * NodalChain::mass_matrix(maps, chain.spread(), chain.lumps()) * N);
}

/// Velocities of the flexible bodies' nodes against those of their frames, in the frames' axes, and λη̇ or Tλη̇ over γη̇ −
/// eη*Sη̇.
double modal_residual(Sample& sample, bool exact) {
  const Dense& dense = sample.dense();
  const Instant& now = dense.instant();
  const Eigen::VectorXd V = sample.matrix("V");
  double worst = 0;
  for (const FlexiblePart& part : now.model.flexible()) {
    for (const int node : part.nodes) {
      const ModalShape& shape = *now.model.bodies()[static_cast<std::size_t>(node)].hinge.modal;
      const Eigen::VectorXd rates = now.v.segment(part.v_index, part.modes);
      const NodalMotion motion = nodal_motion(shape, now.q.data() + part.q_index, rates.data());
      const Eigen::Matrix3d axes = dense.axes(part.body).transpose() * dense.axes(node);
      const Eigen::Vector3d place = dense.axes(part.body).transpose() * (dense.origin(node) - dense.origin(part.body));
      const Eigen::Matrix<double, 6, 6> turn = force_matrix(axes, Eigen::Vector3d::Zero());
      Eigen::Matrix<double, 6, 1> moves = turn * (motion.map * rates);
      if (!exact) {
        moves.head<3>() = rotations(shape) * rates;
      }
      const Eigen::Matrix<double, 6, 1> frame = V.segment<6>(6 * part.body);
      const Eigen::Matrix<double, 6, 1> found = turn * V.segment<6>(6 * node);
      worst = std::max(worst,
                       residual(found, force_matrix(Eigen::Matrix3d::Identity(), place).transpose() * frame + moves));
    }
  }
  return worst;
}

}  // namespace

double nodal_velocities(Sample& sample) {
  const NodalChain chain(sample);
  return residual(chain.V(), chain.phi().transpose() * (chain.H().transpose() * chain.beta() +
                                                        chain.C().transpose() * chain.h().transpose() * chain.rates()));
}

double nodal_recursion(Sample& sample) {
  const NodalChain chain(sample);
  const Eigen::VectorXd V = chain.V();
  return residual(V, chain.E_phi().transpose() * V + chain.H().transpose() * chain.beta() +
                         chain.C().transpose() * (chain.h().transpose() * chain.rates()));
}

double node_velocities(Sample& sample) {
  const NodalChain chain(sample);
  return residual(chain.V_f(), chain.B().transpose() * chain.V() + chain.h().transpose() * chain.rates());
}

double stacked_velocities(Sample& sample) {
  const NodalChain chain(sample);
  return stacked_residual(chain, chain.rates());
}

double printed_velocities(Sample& sample) {
  const NodalChain chain(sample);
  return stacked_residual(chain, chain.u());
}

double undeformed_velocities(Sample& sample) {
  const NodalChain chain(sample, Nodes::at_rest);
  return stacked_residual(chain, chain.rates());
}

double link_transitions(Sample& sample) {
  const NodalChain chain(sample);
  return residual(chain.B() * chain.C(), chain.E_phi());
}

double transition_sum(Sample& sample) {
  const NodalChain chain(sample);
  return residual(chain.B() * chain.C() * chain.phi(),
                  chain.phi() - Eigen::MatrixXd::Identity(chain.phi().rows(), chain.phi().rows()));
}

double transition_factor(Sample& sample) {
  const NodalChain chain(sample);
  return residual(chain.B() * chain.spread(), chain.phi() * chain.B());
}

double nodal_energy(Sample& sample) {
  const NodalChain chain(sample);
  return energy_residual(chain, chain.maps());
}

double printed_energy(Sample& sample) {
  const NodalChain chain(sample);
  return energy_residual(chain, chain.printed_maps());
}

double nodal_mass_matrix(Sample& sample) {
  const NodalChain chain(sample);
  return nodal_mass_residual(sample, chain, chain.maps());
}

double printed_mass_matrix(Sample& sample) {
  const NodalChain chain(sample);
  return nodal_mass_residual(sample, chain, chain.printed_maps());
}

double modal_velocities(Sample& sample) {
  return modal_residual(sample, true);
}

double modal_velocities_linear(Sample& sample) {
  return modal_residual(sample, false);
}

double lumps_as_given(Sample& sample) {
  Random random(static_cast<std::uint64_t>(1e6 * std::abs(sample.x()(0))));
  const FlexibleBody body = random_many_lumps(random);
  ModelBuilder builder("lumps");
  add_flexible_body(builder, {.name = "body", .hinge = {.type = HingeType::free}}, body);
  const Model model = builder.build();
  const Eigen::VectorXd q = random_configuration(model, random.seed());
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(model.nv());
  const System system(model, q, still);
  const FlexiblePart& part = model.flexible().front();
  const auto matrix_of = [](const RigidInertia<double>& inertia) -> Eigen::Matrix<double, 6, 6> {
    const Eigen::Matrix3d first = tilde(to_eigen(inertia.first_moment));
    Eigen::Matrix<double, 6, 6> out;
    out << to_eigen(inertia.inertia), first, -first, inertia.mass * Eigen::Matrix3d::Identity();
    return out;
  };
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(model.nv(), model.nv());
  expected.topLeftCorner<6, 6>() = matrix_of(body.inertia);
  for (const FlexibleNode& node : body.nodes) {
    const NodalMotion motion = nodal_motion(node.shape, q.data() + part.q_index, still.data());
    Eigen::MatrixXd moves = Eigen::MatrixXd::Zero(6, model.nv());  // of the node, in its axes
    moves.leftCols<6>() = force_matrix(motion.R, to_eigen(node.place) + motion.r).transpose();
    moves.rightCols(part.modes) = motion.map;
    expected += moves.transpose() * matrix_of(node.inertia) * moves;
  }
  return residual(system.literal(parse(expand("MASS"), {})).dense(), expected);
}

double flexible_forward_dynamics(Sample& sample) {
  const Instant& now = sample.dense().instant();
  Eigen::VectorXd left = sample.x() - sample.dense().bias();
  for (const FlexiblePart& part : now.model.flexible()) {
    const Hinge& hinge = now.model.bodies()[static_cast<std::size_t>(part.nodes.front())].hinge;
    for (int i = 0; i < part.modes; ++i) {
      const HingeDof& dof = hinge.dofs[static_cast<std::size_t>(i)];
      left(part.v_index + i) -= dof.stiffness * now.q(part.q_index + i) + dof.damping * now.v(part.v_index + i);
    }
  }
  State state(now.model);
  state.set(now.q, now.v);
  return residual(forward_dynamics(state, sample.x()), sample.mass().llt().solve(left));
}

}  // namespace bunraku::cli::papers
