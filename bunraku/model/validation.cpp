#include "bunraku/model/detail/validation.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace bunraku {

void ProblemList::add(Problem problem) {
  detail::add_problem(problems_, std::move(problem));
}

void ProblemList::error(const SourceLocation& where, std::string text, std::string cure) {
  add({Severity::error, where, std::move(text), std::move(cure)});
}

void ProblemList::warning(const SourceLocation& where, std::string text, std::string cure) {
  add({Severity::warning, where, std::move(text), std::move(cure)});
}

std::string ProblemList::suggestion(std::string_view name, const NameTable& known, const NameTable& more,
                                    std::string_view except) {
  constexpr int most = 20;
  if (++suggestions_ > most) {
    return {};
  }
  std::vector<std::string> names;
  for (const NameTable* table : {&known, &more}) {
    for (const auto& [entry, index] : *table) {
      if (entry != except) {
        names.emplace_back(entry);
      }
    }
  }
  std::sort(names.begin(), names.end());  // the table's own order differs between machines
  return detail::did_you_mean(name, names);
}

bool ProblemList::has_errors() const {
  return std::any_of(problems_.begin(), problems_.end(),
                     [](const Problem& p) { return p.severity == Severity::error; });
}

/// The largest of the three sizes.
static double largest(const Vec3<double>& v) {
  return std::max({std::abs(v.x), std::abs(v.y), std::abs(v.z)});
}

bool is_finite(const Vec3<double>& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

namespace {

/// Whether each position coordinate of the type is a plain number with a velocity of its own, so that it can have
/// limits.
bool has_plain_positions(HingeType type) {
  return type != HingeType::spherical && type != HingeType::free && type != HingeType::custom;
}

bool normalize_axis(Vec3<double>& axis, const std::string& what, const SourceLocation& where, ProblemList& problems) {
  if (!is_finite(axis)) {
    problems.error(where, fmt::format("{} is not finite", what), "give three finite numbers");
    return false;
  }
  if (axis == Vec3<double>::zero()) {
    problems.error(where, fmt::format("{} is zero", what), "give the direction of the axis");
    return false;
  }
  axis = normalized(axis);
  return true;
}

/// Reports a finite number that is larger than a model's may be.
void check_range(double value, const std::string& what, const SourceLocation& where, ProblemList& problems) {
  if (std::abs(value) > largest_model_number) {
    problems.error(where, fmt::format("{} is {:.3g}, beyond {:.0e}", what, value, largest_model_number),
                   "check its unit: results would leave the range of numbers");
  }
}

/// Axes of hinges and of closures follow the same rules.
void check_axes(HingeType type, Vec3<double>& axis, Vec3<double>& axis2, double pitch, const std::string& owner,
                const SourceLocation& where, ProblemList& problems) {
  bool good = !has_axis(type) || normalize_axis(axis, "the axis of " + owner, where, problems);
  if (has_second_axis(type)) {
    good = normalize_axis(axis2, "the second axis of " + owner, where, problems) && good;
  }
  if (good && has_second_axis(type) && norm(cross(axis, axis2)) < 1e-9) {
    problems.error(where, fmt::format("the two axes of {} are parallel", owner),
                   type == HingeType::planar ? "let axis2, the direction of x, be at right angles to the normal, axis"
                                             : "give axes that cross");
  } else if (good && type == HingeType::planar) {
    axis2 = normalized(axis2 - axis * dot(axis, axis2));
  }
  if (!std::isfinite(pitch)) {
    problems.error(where, fmt::format("the pitch of {} is not finite", owner), "give metres a turn");
  } else {
    check_range(pitch, "the pitch of " + owner, where, problems);
  }
}

void check_dof(const HingeDof& dof, const Hinge& hinge, const SourceLocation& where, ProblemList& problems) {
  const auto owner = [&] { return fmt::format("hinge '{}'", hinge.name); };
  if (std::isnan(dof.lower) || std::isnan(dof.upper) || std::isnan(dof.velocity) || std::isnan(dof.effort)) {
    problems.error(where, fmt::format("a limit of {} is not a number", owner()), "give a number, or inf for no limit");
  } else {
    if (dof.lower > dof.upper) {
      problems.error(where,
                     fmt::format("the lower limit {} of {} is above the upper limit {}", dof.lower, owner(), dof.upper),
                     "exchange the two");
    } else if (std::isinf(dof.lower) && dof.lower > 0) {
      problems.error(where, fmt::format("the lower limit of {} is +inf", owner()), "use -inf for no limit");
    } else if (std::isinf(dof.upper) && dof.upper < 0) {
      problems.error(where, fmt::format("the upper limit of {} is -inf", owner()), "use inf for no limit");
    }
    if (dof.velocity < 0 || dof.effort < 0) {
      problems.error(where, fmt::format("the velocity or effort limit of {} is negative", owner()),
                     "give its size, or inf for no limit");
    }
    if (!has_plain_positions(hinge.type) && (std::isfinite(dof.lower) || std::isfinite(dof.upper))) {
      problems.error(where, fmt::format("{} is {} and cannot have position limits", owner(), to_string(hinge.type)),
                     "remove them");
    }
    if (hinge.type == HingeType::continuous && (std::isfinite(dof.lower) || std::isfinite(dof.upper))) {
      problems.error(where, fmt::format("{} is continuous and has position limits", owner()),
                     "make it revolute, or remove them");
    }
  }
  for (const auto& [value, what] : {std::pair(dof.armature, "armature"), std::pair(dof.damping, "damping"),
                                    std::pair(dof.friction, "friction"), std::pair(dof.stiffness, "stiffness")}) {
    if (!std::isfinite(value)) {
      problems.error(where, fmt::format("the {} of {} is not finite", what, owner()), "give a finite number");
    } else if (std::abs(value) > largest_model_number) {
      check_range(value, fmt::format("the {} of {}", what, owner()), where, problems);
    } else if (value < 0 && std::string_view(what) == "armature") {
      problems.error(where, fmt::format("the armature of {} is negative", owner()), "a rotor's inertia is positive");
    } else if (value < 0) {
      problems.warning(where, fmt::format("the {} of {} is negative: it feeds energy in", what, owner()));
    }
  }
}

/// Whether a modal hinge has shapes that can be counted; what else is wrong with them is reported.
bool check_modal(const Hinge& hinge, const std::string& owner, const SourceLocation& where, ProblemList& problems) {
  if ((hinge.type == HingeType::modal) != (hinge.modal != nullptr)) {
    problems.error(where,
                   hinge.modal == nullptr ? fmt::format("{} is modal but has no ModalShape", owner)
                                          : fmt::format("{} has a ModalShape but is {}", owner, to_string(hinge.type)),
                   "set both, or neither");
    return hinge.type != HingeType::modal;
  }
  if (hinge.type != HingeType::modal) {
    return true;
  }
  const ModalShape& shape = *hinge.modal;
  const std::size_t n = shape.translation.size();
  if (n < 1 || n > static_cast<std::size_t>(max_modes)) {
    problems.error(where, fmt::format("{} has {} modes", owner, n), fmt::format("give 1 to {}", max_modes));
    return false;
  }
  if ((!shape.rotation.empty() && shape.rotation.size() != n) ||
      (!shape.shortening.empty() && shape.shortening.size() != n * n)) {
    problems.error(where,
                   fmt::format("{} has {} rotations and {} numbers of shortening where its {} modes want {} and {}",
                               owner, shape.rotation.size(), shape.shortening.size(), n, n, n * n),
                   "give one rotation for each mode, or none, and n² numbers of shortening, or none");
    return false;
  }
  const auto usable = [](const Vec3<double>& x) { return is_finite(x) && largest(x) <= largest_model_number; };
  if (!std::all_of(shape.translation.begin(), shape.translation.end(), usable) ||
      !std::all_of(shape.rotation.begin(), shape.rotation.end(), usable) || !usable(shape.shortening_axis) ||
      !std::all_of(shape.shortening.begin(), shape.shortening.end(), [&](double x) { return usable({x, 0, 0}); })) {
    problems.error(where, fmt::format("a shape of {} is not finite, or beyond {:g}", owner, largest_model_number),
                   "give finite numbers in SI units");
    return false;
  }
  return true;
}

}  // namespace

bool check_hinge(Hinge& hinge, const SourceLocation& where, ProblemList& problems) {
  const std::string owner = fmt::format("hinge '{}'", hinge.name);
  if ((hinge.type == HingeType::custom) != (hinge.custom != nullptr)) {
    problems.error(where,
                   hinge.custom == nullptr
                       ? fmt::format("{} is custom but has no CustomHinge", owner)
                       : fmt::format("{} has a CustomHinge but is {}", owner, to_string(hinge.type)),
                   "set both, or neither");
    if (hinge.type == HingeType::custom) {
      return false;
    }
  }
  if (!check_modal(hinge, owner, where, problems)) {
    return false;
  }
  const int nq = hinge.configuration_size();
  const int nv = hinge.velocity_size();
  if (hinge.type == HingeType::custom &&
      (nq < 1 || nq > max_hinge_positions || nv < 1 || nv > max_hinge_velocities || nv > nq)) {
    problems.error(where, fmt::format("{} has {} positions and {} velocities", owner, nq, nv),
                   fmt::format("1 to {} velocities and as many positions, {} at the most", max_hinge_velocities,
                               max_hinge_positions));
    return false;
  }
  check_axes(hinge.type, hinge.axis, hinge.axis2, hinge.pitch, owner, where, problems);
  if (!hinge.dofs.empty() && std::ssize(hinge.dofs) != nv) {
    problems.error(where, fmt::format("{} has {} dofs where {} are wanted", owner, hinge.dofs.size(), nv),
                   "give one for each velocity coordinate, or none");
  }
  hinge.dofs.resize(static_cast<std::size_t>(nv));
  for (const HingeDof& dof : hinge.dofs) {
    check_dof(dof, hinge, where, problems);
  }
  if (!hinge.rest.empty() &&
      (std::ssize(hinge.rest) != nq ||
       !std::all_of(hinge.rest.begin(), hinge.rest.end(), [](double x) { return std::isfinite(x); }))) {
    problems.error(where, fmt::format("the rest configuration of {} is not {} finite numbers", owner, nq));
    hinge.rest.clear();
  }
  if (hinge.rest.empty()) {
    hinge.rest.resize(static_cast<std::size_t>(nq));
    hinge_neutral(hinge, hinge.rest.data());
  } else {
    hinge_normalize(hinge, hinge.rest.data());
  }
  if (hinge.mimic && (!std::isfinite(hinge.mimic->ratio) || !std::isfinite(hinge.mimic->offset))) {
    problems.error(where, fmt::format("ratio or offset of the mimic of {} is not finite", owner));
  }
  if (hinge.mimic && nv != 1 && hinge.type != HingeType::modal) {
    problems.error(where, fmt::format("{} is {} and cannot mimic another", owner, to_string(hinge.type)),
                   "only hinges with one coordinate can");
  }
  return true;
}

void check_pose(const Transform<double>& pose, std::string_view what, const SourceLocation& where,
                ProblemList& problems) {
  const Mat3<double>& r = pose.rotation.matrix();
  const Mat3<double> defect = r * r.transpose() - Mat3<double>::identity();
  double worst = 0;
  bool finite = is_finite(pose.translation);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      finite = finite && std::isfinite(r(i, j));
      worst = std::max(worst, std::abs(defect(i, j)));
    }
  }
  if (!finite) {
    problems.error(where, fmt::format("{} is not finite", what), "give finite numbers");
  } else if (largest(pose.translation) > largest_model_number) {
    check_range(largest(pose.translation), fmt::format("a distance of {}", what), where, problems);
  } else if (worst > 1e-9 || determinant(r) < 0) {
    problems.error(where, fmt::format("the rotation of {} is not a rotation", what), "give orthonormal axes");
  }
}

void check_inertia(const RigidInertia<double>& inertia, const std::string& body, const SourceLocation& where,
                   ProblemList& problems, bool lump) {
  const Sym3<double>& i = inertia.inertia;
  if (!std::isfinite(inertia.mass) || !is_finite(inertia.first_moment) || !is_finite({i.xx, i.yy, i.zz}) ||
      !is_finite({i.xy, i.xz, i.yz})) {
    problems.error(where, fmt::format("mass, centre of mass or inertia of body '{}' is not finite", body),
                   "give finite numbers");
    return;
  }
  if (inertia.mass < 0) {
    problems.error(where, fmt::format("the mass {} of body '{}' is negative", inertia.mass, body),
                   "give a mass of zero or more");
    return;
  }
  const double most =
      std::max({inertia.mass, largest(inertia.first_moment), largest({i.xx, i.yy, i.zz}), largest({i.xy, i.xz, i.yz})});
  if (most > largest_model_number) {
    check_range(most, fmt::format("mass, first moment or inertia of body '{}'", body), where, problems);
    return;
  }
  if (lump) {
    return;
  }
  const Mat3<double> central = inertia.central().full();
  Eigen::Matrix3d matrix;
  matrix << central(0, 0), central(0, 1), central(0, 2), central(1, 0), central(1, 1), central(1, 2), central(2, 0),
      central(2, 1), central(2, 2);
  const Eigen::Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
  // rounding in the shift to the centre of mass is of the size of the inertia about the origin
  const double slack = 1e-9 * std::max({std::abs(i.xx), std::abs(i.yy), std::abs(i.zz)});
  if (inertia.mass == 0 && (moments.cwiseAbs().maxCoeff() > 0 || inertia.first_moment != Vec3<double>::zero())) {
    problems.warning(where, fmt::format("body '{}' has an inertia but no mass", body), "check mass and inertia");
  } else if (moments[0] < -slack) {
    problems.warning(where,
                     fmt::format("the inertia of body '{}' is not positive definite: its principal moments are {:.6g}, "
                                 "{:.6g}, {:.6g}",
                                 body, moments[0], moments[1], moments[2]),
                     "no body can have it; check the inertia's numbers and its frame");
  } else if (moments[0] + moments[1] < moments[2] * (1 - 1e-6) - slack) {
    problems.warning(where,
                     fmt::format("the inertia of body '{}' breaks the triangle inequality: its principal moments are "
                                 "{:.6g}, {:.6g}, {:.6g}",
                                 body, moments[0], moments[1], moments[2]),
                     "no body can have it: each moment is at most the sum of the other two");
  }
}

void check_geometry(const std::vector<Geometry>& shapes, const std::string& body, const SourceLocation& where,
                    ProblemList& problems) {
  for (const Geometry& shape : shapes) {
    if (!is_finite(shape.size)) {
      problems.error(where, fmt::format("a shape of '{}' has a size that is not finite", body));
    }
    check_pose(shape.pose, fmt::format("a shape of '{}'", body), where, problems);
  }
}

void check_closure(Closure& closure, ProblemList& problems) {
  const std::string owner = fmt::format("closure '{}'", closure.name);
  Hinge& hinge = closure.hinge;
  switch (closure.kind) {
    case ClosureKind::nodes:
      if (hinge.type == HingeType::free || hinge.type == HingeType::modal ||
          (hinge.type == HingeType::custom && !hinge.custom) || hinge.velocity_size() >= max_hinge_velocities) {
        problems.error(closure.where, fmt::format("{} cannot be {}", owner, to_string(hinge.type)),
                       hinge.type == HingeType::custom ? "give it a law that leaves less than six freedoms"
                                                       : "use a type that leaves less than six freedoms");
      }
      check_axes(hinge.type, hinge.axis, hinge.axis2, hinge.pitch, owner, closure.where, problems);
      return;
    case ClosureKind::plane:
    case ClosureKind::line:
    case ClosureKind::soft_finger:
      normalize_axis(hinge.axis, "the axis of " + owner, closure.where, problems);
      return;
    case ClosureKind::distance:
      if (!(closure.length > 0) || !std::isfinite(closure.length)) {
        problems.error(closure.where, fmt::format("the length of {} is {}", owner, closure.length),
                       "give a positive length; to join two points use a spherical closure");
      }
      check_range(closure.length, "the length of " + owner, closure.where, problems);
      return;
    case ClosureKind::rows:
      if (closure.rows.empty() || closure.rows.size() > most_closure_rows) {
        problems.error(closure.where, fmt::format("{} has {} rows", owner, closure.rows.size()),
                       fmt::format("give 1 to {} equations; make several closures of more", most_closure_rows));
      }
      for (const ClosureRow& row : closure.rows) {
        if (!std::all_of(row.begin(), row.end(), [](double x) { return std::isfinite(x); })) {
          problems.error(closure.where, fmt::format("a coefficient of {} is not finite", owner));
          break;
        }
      }
      return;
    case ClosureKind::hinges:
      break;
  }
  if (!std::all_of(closure.polynomial.begin(), closure.polynomial.end(), [](double x) { return std::isfinite(x); }) ||
      !std::isfinite(closure.reference_a) || !std::isfinite(closure.reference_b)) {
    problems.error(closure.where, fmt::format("a coefficient of {} is not finite", owner));
  }
}

}  // namespace bunraku
