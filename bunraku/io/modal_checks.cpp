/// What must hold of modal data, and lumps of mass that have given inertia invariants.
///
/// With ρ the place of a piece of mass and γ_i its shape of mode i: S1_i = Σ m γ_i, C0_i = Σ m ρ × γ_i,
/// C1_il = Σ m γ_i × γ_l, J0 = −Σ m ρ̃ρ̃, J1_i = −Σ m ρ̃γ̃_i, J2_il = −Σ m γ̃_iγ̃_l. Since −ãb̃ = (a·b) I − b a*,
/// half a trace of the last three is Σ m a·b, and Σ m b a* follows: they hold C0, C1 and the modes' masses, too.

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/io/detail/modal.hpp"

namespace bunraku::io {

namespace {

constexpr const char* axes_cure =
    "look for other units, signs or axes: masses in kg, lengths in m, shapes normalised to unit modal mass";
constexpr const char* norm_cure = "normalise the modes against the masses that the file gives";

/// −ãb̃ summed → Σ m b a*.
Mat3<double> outer_of(const Mat3<double>& j) {
  const double half = (j(0, 0) + j(1, 1) + j(2, 2)) / 2;
  return Mat3<double>::diagonal(half, half, half) - j;
}
double half_trace(const Mat3<double>& j) {
  return (j(0, 0) + j(1, 1) + j(2, 2)) / 2;
}
/// Σ m b a* → −ãb̃ summed.
Mat3<double> inertia_of(const Mat3<double>& ba) {
  const double dot = ba(0, 0) + ba(1, 1) + ba(2, 2);
  return Mat3<double>::diagonal(dot, dot, dot) - ba;
}
/// Σ m a × b of Σ m b a*.
Vec3<double> cross_of(const Mat3<double>& ba) {
  return {ba(2, 1) - ba(1, 2), ba(0, 2) - ba(2, 0), ba(1, 0) - ba(0, 1)};
}
double largest(const Mat3<double>& a) {
  double out = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out = std::max(out, std::abs(a(i, j)));
    }
  }
  return out;
}
std::string text_of(const Vec3<double>& a) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", a.x, a.y, a.z);
}
Eigen::Matrix3d eigen_of(const Sym3<double>& s) {
  Eigen::Matrix3d out;
  out << s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz;
  return out;
}

/// What the rigid body has, as stated: mass, centre, inertia about the centre.
RigidInertia<double> stated_inertia(const ModalData& data) {
  RigidInertia<double> out{data.mass.value, data.com.value * data.mass.value, data.J0.value};
  return data.J0 ? out : RigidInertia<double>::about_center(data.mass.value, data.com.value, data.inertia.value);
}

/// Mode by mode that M_ηη, row by row, is the unit matrix.
void check_unit_mass(const ModalData& data, const std::vector<double>& mass, double tolerance,
                     ModalProblems& problems) {
  for (int i = 0; i < data.modes; ++i) {
    const int line = data.stiffness[static_cast<std::size_t>(i)].line;
    const double own = mass[data.pair(i, i)];
    if (!(std::abs(own - 1) <= tolerance)) {
      problems.error(line, fmt::format("mode {} has the modal mass {:.9g}, not 1", i + 1, own), norm_cure);
      continue;
    }
    int worst = i;
    double most = 0;
    for (int l = 0; l < i; ++l) {
      if (std::abs(mass[data.pair(i, l)]) > most) {
        most = std::abs(mass[data.pair(i, l)]);
        worst = l;
      }
    }
    if (!(most <= tolerance)) {
      problems.error(line,
                     fmt::format("mode {} is not orthogonal to mode {}: the two have {:.3g} of mass in common", i + 1,
                                 worst + 1, mass[data.pair(i, worst)]),
                     norm_cure);
    }
  }
}

/// That a vector which is stated is the one that follows from the rest.
void check_vector(const Stated<Vec3<double>>& stated, const Vec3<double>& found, double allowed,
                  const std::string& what, const char* from, ModalProblems& problems) {
  if (stated && !(norm(stated.value - found) <= allowed)) {
    problems.error(stated.line,
                   fmt::format("{} is {}, but {} make it {}", what, text_of(stated.value), from, text_of(found)),
                   axes_cure);
  }
}

void check_matrix(const Stated<Mat3<double>>& stated, const Mat3<double>& found, double allowed,
                  const std::string& what, const char* from, ModalProblems& problems) {
  if (stated && !(largest(stated.value - found) <= allowed)) {
    problems.error(
        stated.line,
        fmt::format("{} is not what {} make it: a number differs by {:.3g}", what, from, largest(stated.value - found)),
        axes_cure);
  }
}

/// Of the pairs of modes: C1_li = −C1_il, J2_li = J2_il*, as far as both are stated.
void check_pairs(const ModalData& data, double tolerance, ModalProblems& problems) {
  for (int i = 0; i < data.modes; ++i) {
    for (int l = i; l < data.modes; ++l) {
      const auto& ours = data.C1[data.pair(i, l)];
      const auto& theirs = data.C1[data.pair(l, i)];
      if (ours && theirs && !(norm(ours.value + theirs.value) <= tolerance)) {
        problems.error(std::max(ours.line, theirs.line),
                       i == l ? fmt::format("`C1 {} {}` is {}, not zero", i + 1, i + 1, text_of(ours.value))
                              : fmt::format("`C1 {} {}` is not the opposite of `C1 {} {}`", l + 1, i + 1, i + 1, l + 1),
                       "C1 i l is the sum of m γ_i × γ_l");
      }
      const auto& one = data.J2[data.pair(i, l)];
      const auto& other = data.J2[data.pair(l, i)];
      if (one && other && !(largest(one.value - other.value.transpose()) <= tolerance)) {
        problems.error(std::max(one.line, other.line),
                       i == l
                           ? fmt::format("`J2 {} {}` is not symmetric", i + 1, i + 1)
                           : fmt::format("`J2 {} {}` is not the transpose of `J2 {} {}`", l + 1, i + 1, i + 1, l + 1),
                       "J2 i l is the sum of −m γ̃_i γ̃_l, row by row");
      }
    }
  }
}

/// J2 of a pair, in whichever order it is stated.
Mat3<double> pair_inertia(const ModalData& data, int i, int l) {
  const auto& stated = data.J2[data.pair(i, l)];
  return stated ? stated.value : data.J2[data.pair(l, i)].value.transpose();
}

/// Whether M(0) ≥ 0: no more mass moves with the modes than there is. Says what is wrong.
bool check_effective_mass(const ModalData& data, const RigidInertia<double>& rigid, double tolerance,
                          ModalProblems& problems) {
  Eigen::Matrix<double, 6, 6> left;  // M_rr − M_rf M_fr
  const Mat6<double> whole = rigid.matrix();
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      left(i, j) = whole(i, j);
    }
  }
  Eigen::Matrix<double, 6, 1> scale = left.diagonal();
  int heaviest = 0;
  Eigen::Matrix3d effective = Eigen::Matrix3d::Zero();
  for (int i = 0; i < data.modes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Vec3<double> moment = cross_of(outer_of(data.J1[at].value));
    const Vec3<double>& force = data.S1[at].value;
    Eigen::Matrix<double, 6, 1> column;
    column << moment.x, moment.y, moment.z, force.x, force.y, force.z;
    left -= column * column.transpose();
    effective += column.tail<3>() * column.tail<3>().transpose();
    if (squared_norm(force) > squared_norm(data.S1[static_cast<std::size_t>(heaviest)].value)) {
      heaviest = i;
    }
  }
  const double angular = scale.head<3>().maxCoeff();
  const double linear = scale.tail<3>().maxCoeff();
  for (int i = 0; i < 6; ++i) {
    const double own = i < 3 ? angular : linear;
    scale(i) = own > 0 ? 1 / std::sqrt(own) : 0;
  }
  const Eigen::Matrix<double, 6, 6> scaled = scale.asDiagonal() * left * scale.asDiagonal();
  const double least =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 6, 6>>(scaled, Eigen::EigenvaluesOnly).eigenvalues()(0);
  if (least >= -tolerance) {
    return true;
  }
  const double share =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(effective, Eigen::EigenvaluesOnly).eigenvalues()(2) /
      data.mass.value;
  const int line = data.S1[static_cast<std::size_t>(heaviest)].line;
  if (share > 1 + tolerance) {
    problems.error(line, fmt::format("the modes move {:.4g} times the body's mass in one direction (S1)", share),
                   axes_cure);
  } else {
    problems.error(line, "the modes carry more momentum than the body has mass for (S1, J1): M(0) is not positive",
                   axes_cure);
  }
  return false;
}

/// Σ m x x* of x = (1, ρ, γ_1 … γ_n).
Eigen::MatrixXd gram_matrix(const ModalData& data, const RigidInertia<double>& rigid) {
  const Eigen::Index size = 4 + 3 * data.modes;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
  out(0, 0) = data.mass.value;
  const Mat3<double> places = outer_of(rigid.inertia.full());
  for (int a = 0; a < 3; ++a) {
    out(0, 1 + a) = out(1 + a, 0) = rigid.first_moment[a];
    for (int b = 0; b < 3; ++b) {
      out(1 + a, 1 + b) = places(a, b);
    }
  }
  for (int i = 0; i < data.modes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Mat3<double> moved = outer_of(data.J1[at].value);  // Σ m γ_i ρ*
    const Eigen::Index row = 4 + 3 * i;
    for (int a = 0; a < 3; ++a) {
      out(0, row + a) = out(row + a, 0) = data.S1[at].value[a];
      for (int b = 0; b < 3; ++b) {
        out(row + a, 1 + b) = out(1 + b, row + a) = moved(a, b);
      }
    }
    for (int l = i; l < data.modes; ++l) {
      const Mat3<double> both = outer_of(pair_inertia(data, i, l));  // Σ m γ_l γ_i*
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          out(4 + 3 * l + a, row + b) = out(row + b, 4 + 3 * l + a) = both(a, b);
        }
      }
    }
  }
  return out;
}

/// Whether each of the stated ones is there; says which is not.
template <class T>
bool all_stated(const std::vector<Stated<T>>& stated, const char* key, const ModalData& data, ModalProblems& problems) {
  bool all = true;
  for (std::size_t i = 0; i < stated.size(); ++i) {
    if (!stated[i]) {
      problems.error(data.stiffness[i].line, fmt::format("there is no `{} {}:`, and no node has mass", key, i + 1),
                     "give S1, J1 and J2 of all modes, or lumps of mass at the nodes");
      all = false;
    }
  }
  return all;
}

}  // namespace

void ModalProblems::error(int line, const std::string& text, const std::string& cure) {
  if (errors_++ <= max_problems) {
    bunraku::detail::add_problem(problems_, {Severity::error, {file_, line}, text, cure});
  }
}

void ModalProblems::warning(int line, const std::string& text, const std::string& cure) {
  if (warnings_++ <= max_problems) {
    bunraku::detail::add_problem(problems_, {Severity::warning, {file_, line}, text, cure});
  }
}

bool is_possible_inertia(const Sym3<double>& central, double tolerance) {
  const double half = central.trace() / 2;
  const Eigen::Matrix3d spread = half * Eigen::Matrix3d::Identity() - eigen_of(central);
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(spread, Eigen::EigenvaluesOnly).eigenvalues()(0);
  return least >= -tolerance * std::max(half, 0.0);
}

bool is_positive_inertia(const Sym3<double>& central, double tolerance) {
  const double least =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(eigen_of(central), Eigen::EigenvaluesOnly).eigenvalues()(0);
  return least >= -tolerance * std::max(central.trace(), 0.0);
}

void check_modal_lumps(const ModalData& data, const ModalTolerances& tolerances, ModalProblems& problems) {
  const double tolerance = tolerances.agreement;
  const int n = data.modes;
  RigidInertia<double> sum = RigidInertia<double>::zero();
  double moment = 0;  // Σ m |ρ|, which first moments are compared with
  bool turning = false;
  std::vector<double> modal(static_cast<std::size_t>(n * n));
  std::vector<Vec3<double>> S1(static_cast<std::size_t>(n));
  std::vector<Vec3<double>> C0(S1);
  std::vector<Mat3<double>> J1(S1.size(), Mat3<double>::zero());
  std::vector<Mat3<double>> J2(modal.size(), Mat3<double>::zero());
  std::vector<Force<double>> forces(S1.size());
  const bool all = std::any_of(data.J1.begin(), data.J1.end(), [](const auto& s) { return s.line > 0; }) ||
                   std::any_of(data.J2.begin(), data.J2.end(), [](const auto& s) { return s.line > 0; }) ||
                   std::any_of(data.C1.begin(), data.C1.end(), [](const auto& s) { return s.line > 0; });
  for (std::size_t j = 0; j < data.nodes.size(); ++j) {
    const ModalNode& node = data.nodes[j];
    if (!node.has_lump()) {
      continue;
    }
    const auto lump = RigidInertia<double>::about_center(node.mass, node.center, node.inertia);
    sum += shifted(lump, node.place);
    moment += node.mass * norm(node.place + node.center);
    if (j == data.inboard) {
      continue;
    }
    turning = turning || (node.turns && lump.inertia != Sym3<double>::zero());
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      forces[at] = lump * Motion<double>{data.turn(j, i), data.move(j, i)};
      S1[at] += forces[at].force;
      C0[at] += forces[at].moment + cross(node.place, forces[at].force);
      for (int l = 0; l <= i; ++l) {
        modal[data.pair(i, l)] += dot(data.turn(j, l), forces[at].moment) + dot(data.move(j, l), forces[at].force);
      }
      if (all) {
        J1[at] += outer(data.move(j, i), node.place * node.mass);
        for (int l = 0; l < n; ++l) {
          J2[data.pair(i, l)] += outer(data.move(j, l), data.move(j, i) * node.mass);
        }
      }
    }
  }

  for (std::vector<Mat3<double>>* sums : {&J1, &J2}) {
    std::transform(sums->begin(), sums->end(), sums->begin(), inertia_of);
  }

  const RigidInertia<double> stated = stated_inertia(data);
  const char* const from = "the lumps";
  if (!(std::abs(sum.mass - stated.mass) <= tolerance * stated.mass)) {
    problems.error(data.mass.line,
                   fmt::format("the mass is {:.9g} kg, but the lumps add up to {:.9g} kg", stated.mass, sum.mass),
                   "correct the mass, or the lumps of the nodes");
  } else if (!(norm(sum.first_moment - stated.first_moment) <= tolerance * moment)) {
    problems.error(data.com.line,
                   fmt::format("the centre of mass is {}, but {} have it at {}", text_of(data.com.value), from,
                               text_of(sum.center())),
                   "give the centre of mass in the axes and from the origin that nodes have");
  } else {
    const Sym3<double> given = stated.central();
    const Sym3<double> found = sum.central();
    const double scale = given.trace() + found.trace() + 0.01 * stated.mass * squared_norm(data.com.value);
    if (!(largest((given - found).full()) <= tolerance * scale)) {
      problems.error(
          data.J0 ? data.J0.line : data.inertia.line,
          fmt::format("the inertia about the centre of mass is (xx, yy, zz) = {}, but {} have {}",
                      text_of({given.xx, given.yy, given.zz}), from, text_of({found.xx, found.yy, found.zz})),
          "give xx xy xz yy yz zz, `inertia` about the centre of mass, `J0` about the origin");
    }
  }
  check_unit_mass(data, modal, tolerance, problems);
  const double linear = tolerance * std::sqrt(stated.mass);
  const double angular = tolerance * std::sqrt(std::max(stated.inertia.trace(), 0.0));
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    check_vector(data.S1[at], S1[at], linear, fmt::format("`S1 {}`", i + 1), from, problems);
    check_vector(data.C0[at], C0[at], angular, fmt::format("`C0 {}`", i + 1), from, problems);
    if (!turning) {
      check_matrix(data.J1[at], J1[at], angular, fmt::format("`J1 {}`", i + 1), from, problems);
      for (int l = 0; l < n; ++l) {
        const std::string pair = fmt::format(" {} {}`", i + 1, l + 1);
        check_vector(data.C1[data.pair(i, l)], cross_of(outer_of(J2[data.pair(i, l)])), tolerance, "`C1" + pair, from,
                     problems);
        check_matrix(data.J2[data.pair(i, l)], J2[data.pair(i, l)], tolerance, "`J2" + pair, from, problems);
      }
    }
  }
  if (turning && all) {
    problems.warning(data.mass.line,
                     "C1, J1 and J2 are not compared: lumps with inertia of their own have more than these",
                     "leave them out");
  }
  check_pairs(data, tolerance, problems);
}

std::vector<PointLump> lumps_of_invariants(const ModalData& data, const ModalTolerances& tolerances,
                                           ModalProblems& problems) {
  const double tolerance = tolerances.agreement;
  const int n = data.modes;
  bool complete = all_stated(data.S1, "S1", data, problems);
  complete = all_stated(data.J1, "J1", data, problems) && complete;
  for (int i = 0; i < n; ++i) {
    for (int l = i; l < n; ++l) {
      if (!data.J2[data.pair(i, l)] && !data.J2[data.pair(l, i)]) {
        problems.error(data.stiffness[static_cast<std::size_t>(i)].line,
                       fmt::format("there is no `J2 {} {}:`, and no node has mass", i + 1, l + 1),
                       "give S1, J1 and J2 of all modes, or lumps of mass at the nodes");
        complete = false;
      }
    }
  }
  if (!complete) {
    return {};
  }

  const std::size_t before = problems.errors();
  const RigidInertia<double> rigid = stated_inertia(data);
  if (data.J0 && data.inertia) {
    const Sym3<double> other =
        RigidInertia<double>::about_center(data.mass.value, data.com.value, data.inertia.value).inertia;
    if (!(largest((other - data.J0.value).full()) <= tolerance * other.trace())) {
      problems.error(data.J0.line, "J0 is not the inertia about the origin that `mass`, `com` and `inertia` make",
                     "give `inertia` about the centre of mass, `J0` about the origin, or one of them alone");
    }
  }
  std::vector<double> modal(static_cast<std::size_t>(n * n));
  const double angular = tolerance * std::sqrt(std::max(rigid.inertia.trace(), 0.0));
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    check_vector(data.C0[at], cross_of(outer_of(data.J1[at].value)), angular, fmt::format("`C0 {}`", i + 1),
                 fmt::format("the numbers of `J1 {}`", i + 1).c_str(), problems);
    for (int l = 0; l < n; ++l) {
      const Mat3<double> both = pair_inertia(data, i, l);
      modal[data.pair(i, l)] = half_trace(both);
      check_vector(data.C1[data.pair(i, l)], cross_of(outer_of(both)), tolerance,
                   fmt::format("`C1 {} {}`", i + 1, l + 1),
                   fmt::format("the numbers of `J2 {} {}`", i + 1, l + 1).c_str(), problems);
    }
  }
  check_unit_mass(data, modal, tolerance, problems);
  check_pairs(data, tolerance, problems);
  if (problems.errors() > before || !check_effective_mass(data, rigid, tolerance, problems)) {
    return {};
  }

  // each number of x in a unit of its own, so that directions can be told from rounding
  const Eigen::MatrixXd gram = gram_matrix(data, rigid);
  const Eigen::Index size = gram.rows();
  Eigen::VectorXd unit(size);
  const double radius = gram.diagonal().segment<3>(1).maxCoeff();
  for (Eigen::Index k = 0; k < size; ++k) {
    const double own = k == 0 ? gram(0, 0) : k < 4 ? radius : 1.0;  // modes have the mass 1
    unit(k) = own > 0 ? std::sqrt(own) : 1;
  }
  const Eigen::MatrixXd scaled = unit.cwiseInverse().asDiagonal() * gram * unit.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scaled);
  const Eigen::VectorXd& values = solver.eigenvalues();
  if (!(values(0) >= -tolerance)) {
    Eigen::Index worst = 0;
    solver.eigenvectors().col(0).cwiseAbs().maxCoeff(&worst);
    const int mode = worst < 4 ? 0 : static_cast<int>((worst - 4) / 3);
    problems.error(
        data.J2[data.pair(mode, mode)].line,
        fmt::format("no distribution of mass has these inertia invariants: in the direction of {} the second "
                    "moment of mass would be negative ({:.3g} of the largest)",
                    worst < 4 ? std::string("places") : fmt::format("mode {}", mode + 1), values(0) / values(size - 1)),
        axes_cure);
    return {};
  }
  std::vector<Eigen::Index> kept;
  for (Eigen::Index k = 0; k < size; ++k) {
    if (values(k) > ModalTolerances::rank * values(size - 1)) {
      kept.push_back(k);
    }
  }
  // G = F*F with as many rows as there are directions; a reflection makes the first column, the roots of the masses,
  // even
  const auto rows = static_cast<Eigen::Index>(kept.size());
  Eigen::MatrixXd factor(rows, size);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Eigen::Index from = kept[static_cast<std::size_t>(k)];
    factor.row(k) = std::sqrt(values(from)) * solver.eigenvectors().col(from).transpose() * unit.asDiagonal();
  }
  const double size_of_each = factor.col(0).norm() / std::sqrt(static_cast<double>(rows));
  const double each =
      factor.col(0).sum() > 0 ? -size_of_each : size_of_each;  // the farther one, so that nothing cancels
  const Eigen::VectorXd mirror = factor.col(0) - Eigen::VectorXd::Constant(rows, each);
  factor -= (2 / mirror.squaredNorm()) * mirror * (mirror.transpose() * factor).eval();
  std::vector<PointLump> out;
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Eigen::RowVectorXd x = factor.row(k) / each;
    PointLump lump{each * each, {x(1), x(2), x(3)}, {}};
    for (int i = 0; i < n; ++i) {
      const Eigen::Index at = 4 + 3 * i;
      lump.shape.push_back({x(at), x(at + 1), x(at + 2)});
    }
    out.push_back(std::move(lump));
  }
  return out;
}

}  // namespace bunraku::io
