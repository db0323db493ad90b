#include <algorithm>
#include <cmath>

#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/flexible.hpp"

namespace bunraku {

namespace {

/// What is smaller than this beside all of its kind does not raise a rank. It is left out of a factor at right angles
/// to what stays, so that the mass matrix changes by its square alone, which is far below rounding.
constexpr double rank_tolerance = 1e-10;
/// How far from an axis, and from symmetry about it, rounding may lead.
constexpr double axis_tolerance = 1e-14;

/// A lump as far as it is a mass in one point.
struct PointMass {
  double mass;
  Vec3<double> place;
  const ModalShape* shape;
};

/// A lump as far as it turns: its inertia about its centre of mass, and λ.
struct Rotor {
  Sym3<double> inertia;
  std::vector<Vec3<double>> rotation;
};

/// The nodes of a body: those that stay as they are, and what the others are made of. A lump whose centre of mass is in
/// its node has the kinetic energy of a point mass and that of a rotor, each by itself.
struct LumpParts {
  std::vector<FlexibleNode> kept;
  int taken = 0;  ///< How many nodes are not among those kept.
  std::vector<PointMass> masses;
  std::vector<Rotor> rotors;
  Sym3<double> unturned;  ///< The inertia of lumps that never turn against the frame, about their centres of mass.
};

void check_lump_shape(const FlexibleNode& node, int modes) {
  const auto n = static_cast<std::size_t>(modes);
  const ModalShape& shape = node.shape;
  if (shape.translation.size() != n || (!shape.rotation.empty() && shape.rotation.size() != n) ||
      (!shape.shortening.empty() && shape.shortening.size() != n * n)) {
    throw ArgumentError(fmt::format(
        "node '{}' has shapes of {} translations, {} rotations and {} numbers of shortening: "
        "{} modes want {}, {} or none, and {} or none",
        node.name, shape.translation.size(), shape.rotation.size(), shape.shortening.size(), n, n, n, n * n));
  }
}

bool shape_turns(const ModalShape& shape) {
  return std::any_of(shape.rotation.begin(), shape.rotation.end(),
                     [](const Vec3<double>& lambda) { return lambda != Vec3<double>::zero(); });
}

LumpParts take_apart(const FlexibleBody& body) {
  LumpParts out;
  const ModalShape* shortened = nullptr;  // the first that is: its axis goes for all that are taken
  for (const FlexibleNode& node : body.nodes) {
    check_lump_shape(node, body.modes());
    const bool turning = shape_turns(node.shape);
    const bool other_axis = shortened != nullptr && !node.shape.shortening.empty() &&
                            node.shape.shortening_axis != shortened->shortening_axis;
    if (!node.name.empty() || other_axis || !(node.inertia.mass >= 0) ||
        (turning && node.inertia.first_moment != Vec3<double>::zero())) {
      out.kept.push_back(node);
      continue;
    }
    ++out.taken;
    if (shortened == nullptr && !node.shape.shortening.empty()) {
      shortened = &node.shape;
    }
    if (node.inertia.mass > 0) {
      out.masses.push_back({node.inertia.mass, node.place + node.inertia.center(), &node.shape});
    }
    if (turning && node.inertia.inertia != Sym3<double>::zero()) {
      out.rotors.push_back({node.inertia.inertia, node.shape.rotation});
    } else if (!turning) {
      out.unturned += node.inertia.central();
    }
  }
  return out;
}

/// R with as many rows as X has rank and R*R = X*X. Columns count in units of their scale.
Eigen::MatrixXd factor(const Eigen::MatrixXd& X, const Eigen::VectorXd& scale) {
  const Eigen::VectorXd unit = (scale.array() > 0).select(scale, 1);
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
  qr.setThreshold(rank_tolerance);
  qr.compute(X * unit.cwiseInverse().asDiagonal());
  const Eigen::MatrixXd R = qr.matrixR().topRows(qr.rank()).template triangularView<Eigen::Upper>();
  return R * qr.colsPermutation().transpose() * unit.asDiagonal();
}

/// The same R*R in `rows` rows, all of which begin with the same number, which is not negative.
Eigen::MatrixXd with_equal_first_column(const Eigen::MatrixXd& R, Eigen::Index rows) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows, R.cols());
  out.topRows(R.rows()) = R;
  const Eigen::VectorXd f = out.col(0);
  const Eigen::VectorXd u = Eigen::VectorXd::Constant(rows, f.norm() / std::sqrt(static_cast<double>(rows)));
  // a reflection that takes f to u or to −u, whichever is farther, so that nothing cancels
  const double sign = f.dot(u) < 0 ? 1 : -1;
  const Eigen::VectorXd v = f - sign * u;
  if (v.squaredNorm() > 0) {
    out -= v * ((2 / v.squaredNorm()) * (v.transpose() * out));
    out *= sign;
  }
  return out;
}

/// Row j is √m_j (1, ρ, γ, S) of mass j; S, where one has it, is the upper triangle column by column.
class MassRows {
 public:
  MassRows(const std::vector<PointMass>& masses, int modes) : modes_(modes) {
    for (const PointMass& each : masses) {
      shortened_ = shortened_ != nullptr || each.shape->shortening.empty() ? shortened_ : each.shape;
    }
    const Eigen::Index columns = first_shortening() + (shortened_ == nullptr ? 0 : modes_ * (modes_ + 1) / 2);
    rows_.setZero(static_cast<Eigen::Index>(masses.size()), columns);
    for (Eigen::Index j = 0; j < rows_.rows(); ++j) {
      fill(masses[static_cast<std::size_t>(j)], j);
    }
  }

  /// R of these rows; none where there is no mass.
  Eigen::MatrixXd factor_of() const {
    return rows_.rows() == 0 ? Eigen::MatrixXd(0, rows_.cols()) : factor(rows_, scales());
  }

  /// The lump that a row of a factor stands for, as a point mass.
  FlexibleNode lump(const Eigen::RowVectorXd& row) const {
    const double root = row[0];
    const auto vector = [&](Eigen::Index i) {
      return root > 0 ? Vec3<double>{row[i], row[i + 1], row[i + 2]} / root : Vec3<double>::zero();
    };
    FlexibleNode out;
    out.inertia.mass = root * root;
    out.place = vector(1);
    for (Eigen::Index i = 0; i < modes_; ++i) {
      out.shape.translation.push_back(vector(4 + 3 * i));
    }
    if (shortened_ != nullptr) {
      out.shape.shortening_axis = shortened_->shortening_axis;
      out.shape.shortening.resize(static_cast<std::size_t>(modes_ * modes_));
      for (Eigen::Index l = 0; l < modes_; ++l) {
        for (Eigen::Index i = 0; i < modes_; ++i) {
          const double S = root > 0 ? row[shortening_column(std::min(i, l), std::max(i, l))] / root : 0;
          out.shape.shortening[static_cast<std::size_t>(i * modes_ + l)] = S;
        }
      }
    }
    return out;
  }

 private:
  Eigen::Index first_shortening() const { return 4 + 3 * modes_; }
  /// Of S_il, i ≤ l.
  Eigen::Index shortening_column(Eigen::Index i, Eigen::Index l) const {
    return first_shortening() + l * (l + 1) / 2 + i;
  }

  void fill(const PointMass& each, Eigen::Index j) {
    const double root = std::sqrt(each.mass);
    const auto put = [&](Eigen::Index column, const Vec3<double>& v) {
      rows_.row(j).segment<3>(column) << root * v.x, root * v.y, root * v.z;
    };
    rows_(j, 0) = root;
    put(1, each.place);
    for (Eigen::Index i = 0; i < modes_; ++i) {
      put(4 + 3 * i, each.shape->translation[static_cast<std::size_t>(i)]);
    }
    if (each.shape->shortening.empty()) {
      return;
    }
    const auto S = [&](Eigen::Index i, Eigen::Index l) {
      return each.shape->shortening[static_cast<std::size_t>(i * modes_ + l)];
    };
    for (Eigen::Index l = 0; l < modes_; ++l) {
      for (Eigen::Index i = 0; i <= l; ++i) {
        rows_(j, shortening_column(i, l)) = root * 0.5 * (S(i, l) + S(l, i));
      }
    }
  }

  /// The three components of a vector have one scale, and S_il has no smaller one than S_ii and S_ll let it: else the
  /// rounding of what ought to be zero would count as much as all else.
  Eigen::VectorXd scales() const {
    Eigen::VectorXd out(rows_.cols());
    out[0] = rows_.col(0).norm();
    for (Eigen::Index i = 1; i < first_shortening(); i += 3) {
      out.segment<3>(i).setConstant(rows_.middleCols<3>(i).norm());
    }
    for (Eigen::Index i = first_shortening(); i < rows_.cols(); ++i) {
      out[i] = rows_.col(i).norm();
    }
    if (shortened_ == nullptr) {
      return out;
    }
    for (Eigen::Index l = 0; l < modes_; ++l) {
      for (Eigen::Index i = 0; i < l; ++i) {
        double& scale = out[shortening_column(i, l)];
        scale = std::max(scale, std::sqrt(out[shortening_column(i, i)] * out[shortening_column(l, l)]));
      }
    }
    return out;
  }

  Eigen::Index modes_;
  const ModalShape* shortened_ = nullptr;
  Eigen::MatrixXd rows_;
};

/// Along and across an axis.
struct AxialInertia {
  double along;
  double across;
};

AxialInertia about(const Sym3<double>& inertia, const Vec3<double>& e) {
  const double along = dot(e, inertia * e);
  return {along, 0.5 * (inertia.trace() - along)};
}

Sym3<double> sym3(const AxialInertia& inertia, const Vec3<double>& e) {
  return Sym3<double>::diagonal(1, 1, 1) * inertia.across +
         Sym3<double>::outer_square(e) * (inertia.along - inertia.across);
}

/// Whether a rotor turns about e alone and is the same after any turn about it.
bool is_axial(const Rotor& rotor, const Vec3<double>& e) {
  const AxialInertia inertia = about(rotor.inertia, e);
  const Sym3<double> rest = rotor.inertia - sym3(inertia, e);
  const double most = std::max({std::abs(rest.xx), std::abs(rest.yy), std::abs(rest.zz), std::abs(rest.xy),
                                std::abs(rest.xz), std::abs(rest.yz)});
  return inertia.along >= 0 && most <= axis_tolerance * rotor.inertia.trace() &&
         std::all_of(rotor.rotation.begin(), rotor.rotation.end(), [&](const Vec3<double>& lambda) {
           return norm(lambda - e * dot(e, lambda)) <= axis_tolerance * norm(lambda);
         });
}

/// The axis of the largest λ.
Vec3<double> main_axis(const std::vector<Rotor>& rotors) {
  Vec3<double> most = Vec3<double>::zero();
  for (const Rotor& rotor : rotors) {
    for (const Vec3<double>& lambda : rotor.rotation) {
      most = squared_norm(lambda) > squared_norm(most) ? lambda : most;
    }
  }
  return normalized(most);
}

/// Rotors that turn about one axis e and are symmetric about it count by Σ J_e x x* of x = (1, λ·e), and by the sum of
/// what they have across e: as many as x has independent numbers stand for all.
std::vector<Rotor> fewest_rotors(std::vector<Rotor> rotors, int modes) {
  if (rotors.empty()) {
    return rotors;
  }
  const Vec3<double> e = main_axis(rotors);
  const auto axial =
      std::stable_partition(rotors.begin(), rotors.end(), [&](const Rotor& r) { return !is_axial(r, e); });
  AxialInertia sum{0, 0};
  Eigen::MatrixXd X(rotors.end() - axial, 1 + modes);
  for (Eigen::Index j = 0; j < X.rows(); ++j) {
    const Rotor& rotor = axial[j];
    const AxialInertia inertia = about(rotor.inertia, e);
    sum = {sum.along + inertia.along, sum.across + inertia.across};
    X(j, 0) = std::sqrt(inertia.along);
    for (Eigen::Index i = 0; i < modes; ++i) {
      X(j, 1 + i) = X(j, 0) * dot(e, rotor.rotation[static_cast<std::size_t>(i)]);
    }
  }
  if (X.rows() == 0 || !(sum.along > 0)) {
    return rotors;
  }
  Eigen::MatrixXd R = factor(X, X.colwise().norm().transpose());
  if (R.rows() >= X.rows()) {
    return rotors;
  }
  R = with_equal_first_column(R, R.rows());
  rotors.erase(axial, rotors.end());
  const auto share = static_cast<double>(R.rows());
  for (Eigen::Index j = 0; j < R.rows(); ++j) {
    Rotor rotor{sym3({sum.along / share, sum.across / share}, e), {}};
    for (Eigen::Index i = 0; i < modes; ++i) {
      rotor.rotation.push_back(e * (R(j, 1 + i) / R(j, 0)));
    }
    rotors.push_back(std::move(rotor));
  }
  return rotors;
}

}  // namespace

FlexibleBody with_fewest_lumps(const FlexibleBody& body) {
  LumpParts parts = take_apart(body);
  std::vector<Rotor> rotors = fewest_rotors(std::move(parts.rotors), body.modes());
  const MassRows rows(parts.masses, body.modes());
  const Eigen::MatrixXd R = rows.factor_of();
  // a mass and a rotor go into one lump: it does not matter which with which, nor how many the masses are beyond rank
  const Eigen::Index lumps = std::max(R.rows(), static_cast<Eigen::Index>(rotors.size()));
  if (lumps >= parts.taken || !R.allFinite() || (lumps == 0 && parts.kept.empty())) {
    return body;
  }
  FlexibleBody out = body;
  out.nodes = std::move(parts.kept);
  const Eigen::Index unturned = lumps - static_cast<Eigen::Index>(rotors.size());
  if (unturned == 0) {
    out.inertia.inertia += parts.unturned;  // lumps that turn cannot take it
  }
  const Eigen::MatrixXd equal = lumps == 0 ? R : with_equal_first_column(R, lumps);
  for (Eigen::Index j = 0; j < lumps; ++j) {
    FlexibleNode lump = rows.lump(equal.row(j));
    if (j < std::ssize(rotors)) {
      Rotor& rotor = rotors[static_cast<std::size_t>(j)];
      lump.inertia.inertia = rotor.inertia;
      lump.shape.rotation = std::move(rotor.rotation);
    } else {
      lump.inertia.inertia = parts.unturned * (1 / static_cast<double>(unturned));
    }
    out.nodes.push_back(std::move(lump));
  }
  return out;
}

}  // namespace bunraku
