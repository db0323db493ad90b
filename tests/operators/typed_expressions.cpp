#include "operators/typed_expressions.hpp"

#include <cmath>
#include <ctime>
#include <utility>

#include <Eigen/Core>

#include "bunraku/operators/language/text.hpp"
#include "operators/random_expression.hpp"
#include "support/linear_algebra.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Matrix = Eigen::MatrixXd;
using enum SpaceKind;

/// Small trees whose D is regular whatever they lack.
Model model_of(const Conditions& conditions, unsigned seed) {
  Random random(seed + 300);
  const std::vector<int> parents{-1, 0, 1, 0, 3};
  ModelBuilder builder("tree");
  for (std::size_t i = 0; i < parents.size(); ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    body.parent = parents[i] < 0 ? std::string(world_name) : "b" + std::to_string(parents[i]);
    body.hinge = random_hinge(i == 4   ? HingeType::universal
                              : i == 3 ? HingeType::prismatic
                                       : HingeType::revolute,
                              random);
    if (conditions.couplings && i == (seed % 2 == 0 ? 1U : 3U)) {  // a child of its leader, or beside it
      body.hinge = random_hinge(HingeType::revolute, random);
      body.hinge.mimic = Mimic{seed % 2 == 0 ? "b0_hinge" : "b1_hinge", 0.7, 0.2};
    }
    for (HingeDof& dof : body.hinge.dofs) {
      const bool rotor = conditions.armature && !(conditions.ungeared && i == 2);
      dof.armature = rotor ? random.uniform(0.1, 0.5) : 0;
    }
    body.X_PF = random.transform();
    body.X_MB = random.transform();
    if (!(conditions.massless && i == 1)) {
      body.inertia = random.inertia();
    }
    builder.add(std::move(body));
  }
  return builder.build();
}

/// Values of an expression's parts, and how large rounding may become.
struct Size {
  Matrix value;
  double error = 0;  ///< In units of rounding.
  bool regular = true;
};

Size size_of(const DenseSystem& dense, const Operator& x) {
  const Term& t = x.term();
  std::vector<Size> parts;
  const bool open = t.type == TermType::sum || t.type == TermType::product || t.type == TermType::scale ||
                    t.type == TermType::adjoint || t.type == TermType::inverse || t.type == TermType::dense_inverse ||
                    t.type == TermType::cross;
  bool regular = true;
  if (open) {
    for (const Operator& part : t.parts) {
      parts.push_back(size_of(dense, part));
      regular = regular && parts.back().regular;
    }
  }
  if (!regular) {
    return {{}, 0, false};
  }
  switch (t.type) {
    case TermType::sum: {
      Size out = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) {
        out.value += parts[i].value;
        out.error += parts[i].error;
      }
      return out;
    }
    case TermType::product: {
      Size out = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) {
        out.error = out.error * parts[i].value.norm() + out.value.norm() * parts[i].error;
        out.value = product(out.value, parts[i].value);
      }
      return out;
    }
    case TermType::scale:
      return {t.number * parts[0].value, std::abs(t.number) * parts[0].error};
    case TermType::adjoint:
      return {parts[0].value.transpose(), parts[0].error};
    case TermType::inverse:
    case TermType::dense_inverse: {
      const Eigen::VectorXd values = singular_values(parts[0].value);
      const double least = values.minCoeff();
      if (!(least > 1e-9 * (1 + values.maxCoeff()))) {
        return {{}, 0, false};
      }
      return {pivoted_inverse_of(parts[0].value), parts[0].error / (least * least)};
    }
    default: {
      const Matrix value = dense(x);
      return {value, value.norm() + (parts.empty() ? 0 : parts[0].error)};
    }
  }
}

}  // namespace

TypedExpressions::TypedExpressions(const Conditions& conditions, const DenseSystem& dense, unsigned seed)
    : random_(seed) {
  for (const Operator& each : all_symbols()) {
    const Symbol s = each.term().symbol;
    if (dense.has(s) && s != Symbol::T_p) {
      put(each);
    }
  }
  for (const Operator& each : variables()) {
    put(each);
  }
  const Operator X = Operator(Symbol::M) + Operator(Symbol::B) * ~Operator(Symbol::B);
  const Operator none = Operator(0.0) * Operator(Symbol::armature);
  for (const Symbol s : {Symbol::D, Symbol::K, Symbol::psi, Symbol::P, Symbol::G}) {
    if (dense.has(s)) {
      put(Operator::of_family(s, X, none));
      if (conditions.armature) {
        put(Operator::of_family(s, Operator(Symbol::M), none));
      }
    }
  }
  put(gather(Operator(Symbol::E_phi), X));
  put(spread(Operator(Symbol::E_phi), variables()[0]));
}

std::vector<Operator> TypedExpressions::variables() {
  return {Operator::variable("W", body, body), Operator::variable("x", body, hinge),
          Operator::variable("y", hinge, body)};
}

Operator TypedExpressions::any(int depth) {
  const SpaceKind range = random_.integer(0, 1) == 0 ? hinge : body;
  const int choice = random_.integer(0, 4);
  return between(range, choice == 0 ? number : choice < 3 ? hinge : body, depth);
}

void TypedExpressions::put(const Operator& x) {
  leaves_.push_back(x);
  if (!(~x == x)) {
    leaves_.push_back(~x);
  }
}

Operator TypedExpressions::leaf(SpaceKind range, SpaceKind domain) {
  std::vector<Operator> fitting;
  for (const Operator& each : leaves_) {
    if (each.range().kind == range && each.domain().kind == domain) {
      fitting.push_back(each);
    }
  }
  if (range == domain && range != number && random_.integer(0, 5) == 0) {
    return in_space(Operator::identity(), {range});
  }
  if (fitting.empty()) {
    return leaf(range, body) * leaf(body, domain);
  }
  return fitting[static_cast<std::size_t>(random_.integer(0, static_cast<int>(fitting.size()) - 1))];
}

Operator TypedExpressions::between(SpaceKind range, SpaceKind domain, int depth) {
  if (depth <= 0) {
    return leaf(range, domain);
  }
  const int choice = random_.integer(0, 10);
  if (choice < 3) {
    const double c = random_.integer(0, 3) == 0 ? random_.integer(-2, 2) : 1;
    const Operator second = between(range, domain, depth - 1);
    return between(range, domain, depth - 1) + Operator(c) * second;
  }
  if (choice == 3) {
    return ~between(domain, range, depth - 1);
  }
  if (choice == 4 && range == domain && range != number) {
    const Operator x = random_.integer(0, 3) == 0 ? between(range, domain, depth - 1) : regular(range);
    const Term& t = x.term();
    return t.type == TermType::scale && t.number == 0 ? x : inv(x);
  }
  if (choice == 5 && range == body && domain == body) {
    return cross(between(body, number, depth - 1));
  }
  const SpaceKind middle = random_.integer(0, 2) == 0 ? hinge : body;
  return between(range, middle, depth - 1) * between(middle, domain, depth - 1);
}

Operator TypedExpressions::regular(SpaceKind space) {
  const Operator I = in_space(Operator::identity(), {space});
  const Operator H(Symbol::H);
  const Operator phi(Symbol::phi);
  const Operator M(Symbol::M);
  if (space == hinge) {
    switch (random_.integer(0, 7)) {
      case 0:
        return H * phi * M * ~phi * ~H;
      case 1:
        return H * phi * M * ~phi * ~H + Operator(Symbol::armature);
      case 2:
        return H * phi * (M + Operator(Symbol::B) * ~Operator(Symbol::B)) * ~phi * ~H + Operator(0.3) * I;
      case 3:
        return I + H * phi * Operator(Symbol::K);
      case 4:
        return I + variables()[2] * variables()[1];
      case 5:
        return H * Operator(Symbol::psi) * M * ~phi * ~H;
      case 6:
        return H * phi * M * ~phi * ~H + variables()[2] * ~variables()[2];
      default:
        return {Symbol::D};
    }
  }
  switch (random_.integer(0, 7)) {
    case 0:
      return phi;
    case 1:
      return I - Operator(Symbol::E_psi);
    case 2:
      return I + Operator(Symbol::K) * H * phi;
    case 3:
      return M + variables()[1] * ~variables()[1];
    case 4:
      return I + variables()[1] * variables()[2];
    case 5:
      return variables()[0];
    case 6:
      return phi * M * ~phi;
    default:
      return I + ~Operator(Symbol::H) * H;
  }
}

std::string_view to_string(Outcome::Type type) {
  switch (type) {
    case Outcome::Type::agreed:
      return "agreed";
    case Outcome::Type::lost_in_rounding:
      return "agreed, in rounding";
    case Outcome::Type::singular:
      return "singular as written";
    case Outcome::Type::refused:
      return "refused: no rule";
    case Outcome::Type::refused_singular:
      return "refused: singular";
    case Outcome::Type::refused_limit:
      return "refused: limit";
    case Outcome::Type::wrong:
      return "wrong";
  }
  return "";
}

SoundnessTrial::SoundnessTrial(const Conditions& conditions, unsigned sample)
    : conditions_(conditions), dense_(SystemAndDense(model_of(conditions, sample), sample + 4).dense()) {
  Random random(sample + 9);
  for (const Operator& each : TypedExpressions::variables()) {
    Matrix value = Matrix::Zero(dense_.dimension(each.range()), dense_.dimension(each.domain()));
    for (int k = 0; k < dense_.N; ++k) {
      const auto [row, rows] = dense_.place({each.range().kind, std::to_string(k)});
      const auto [column, columns] = dense_.place({each.domain().kind, std::to_string(k)});
      for (int i = 0; i < rows * columns; ++i) {
        value(row + i % rows, column + i / rows) = random.uniform();
      }
    }
    dense_.bind(each, value);
  }
}

Outcome SoundnessTrial::operator()(const Operator& x) const {
  Outcome out;
  const std::clock_t start = std::clock();
  const auto seconds = [&] { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  std::optional<Derivation> found;
  try {
    found = derive(x, {.conditions = conditions_});
    out.seconds = seconds();
  } catch (const OperatorError& error) {
    const std::string& why = error.problem();
    const bool singular = why.find("singular") != std::string::npos || why.find("of zero") != std::string::npos;
    const bool limit = why.find("limit") != std::string::npos;
    return {singular ? Outcome::Type::refused_singular
            : limit  ? Outcome::Type::refused_limit
                     : Outcome::Type::refused,
            seconds(), why};
  }
  const Size written = size_of(dense_, x);
  if (!written.regular) {
    out.type = Outcome::Type::singular;
    return out;
  }
  const Size result = size_of(dense_, found->result);
  const double size = written.value.norm();
  const double rounding = 1e-13 * (written.error + result.error);
  if (!result.regular || !((written.value - result.value).norm() <= rounding)) {
    out.type = Outcome::Type::wrong;
    out.details = to_string(*found);
  } else if (rounding > 1e-3 * size && size > 0) {
    out.type = Outcome::Type::lost_in_rounding;
  }
  return out;
}

}  // namespace bunraku::test
