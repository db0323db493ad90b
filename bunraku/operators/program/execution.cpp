#include "bunraku/operators/program/detail/execution.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/kernels/singular.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku::operators {

// ---------------------------------------------------------------------------------------------------------------------
// State

SystemData::SystemData(Model of, PassiveForces forces)
    : passive(forces),
      bodies(std::make_shared<const Folded>(of, Fold::bodies)),
      links(std::make_shared<const Folded>(of, Fold::links)),
      attached(std::make_shared<const Attachments>()),
      q(at(bodies->coordinates.nq)),
      user_q(at(of.nq())),
      v(at(of.nv())) {
  neutral(of, std::span<double>(user_q));
  bodies->coordinates.spread_positions(user_q, q);
}

void SystemData::set_state(std::span<const double> new_q, std::span<const double> new_v) {
  check_argument(new_q, model().nq(), "q");
  check_argument(new_v, model().nv(), "v");
  check_quaternions(model(), new_q, "q");
  if (bodies->coordinates.has_mimics || !bodies->coordinates.customs.empty()) {  // may lead beyond numbers, or throw
    std::vector<double> next(q.size());
    bodies->coordinates.spread_positions(new_q, next);
    if (!all_finite(std::span<const double>(next))) {
      refuse_values(std::span<const double>(next), "q of all hinges");
    }
    std::copy(next.begin(), next.end(), q.begin());
  } else {
    bodies->coordinates.spread_positions(new_q, q);
  }
  std::copy(new_q.begin(), new_q.end(), user_q.begin());
  std::copy(new_v.begin(), new_v.end(), v.begin());
  ++version;
}

void SystemData::set_accelerations(std::span<const double> a) {
  check_argument(a, model().nv(), "accelerations");
  accelerations.emplace(a.begin(), a.end());
  torques.reset();
  ++version;
}

void SystemData::set_torques(std::span<const double> tau) {
  check_argument(tau, model().nv(), "torques");
  torques.emplace(tau.begin(), tau.end());
  accelerations.reset();
  ++version;
}

void SystemData::set_nodes(std::vector<Node> nodes) {
  Attachments next = *attached;
  next.nodes = std::move(nodes);
  std::erase_if(next.variables, [](const VariableBlocks& each) {  // their blocks were made for the former nodes
    return each.variable.range().kind == SpaceKind::node || each.variable.domain().kind == SpaceKind::node;
  });
  attached = std::make_shared<const Attachments>(std::move(next));
  ++version;
}

void SystemData::bind(VariableBlocks values) {
  Attachments next = *attached;
  std::erase_if(next.variables,
                [&](const VariableBlocks& other) { return other.variable.term().name == values.variable.term().name; });
  next.variables.push_back(std::move(values));
  attached = std::make_shared<const Attachments>(std::move(next));
  ++version;
}

int SystemData::dimension(const Space& space) const {
  if (space.part.empty()) {
    return bodies->dimension(space.kind, static_cast<int>(attached->nodes.size()));
  }
  const int k = part_of(model(), attached->nodes, space);
  return space.kind == SpaceKind::hinge ? model().bodies()[at(k)].nv : rigid;
}

void SystemData::passive_torques(std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  if (passive == PassiveForces::left_out) {
    return;
  }
  std::array<double, max_hinge_velocities> stretch{};
  for (std::size_t k = 0; k < model().bodies().size(); ++k) {
    const Hinge& hinge = model().bodies()[k].hinge;
    const kernels::HingeSlot& slot = bodies->coordinates.slots[k];
    if (slot.nv == 0) {
      continue;
    }
    hinge_difference(hinge, hinge.rest.data(), q.data() + slot.q, stretch.data());
    for (int j = 0; j < slot.nv; ++j) {
      const HingeDof& dof = hinge.dofs[at(j)];
      const kernels::Follower<double>& f = bodies->coordinates.velocities[at(slot.v + j)];
      const double rate = f.ratio * v[at(f.own)];
      const double sign = rate > 0 ? 1.0 : rate < 0 ? -1.0 : 0.0;
      out[at(f.own)] -= f.ratio * (dof.damping * rate + dof.friction * sign + dof.stiffness * stretch[at(j)]);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Questions about D

namespace {

/// Throws Error naming the hinge where a D is rounding of zero.
void settle_doubts(const Folded& folded, const Joints<double>& joints, const RiccatiBlocks<double>& r) {
  std::vector<RigidInertia<double>> carried(folded.links.size(), RigidInertia<double>::zero());
  for (int k = static_cast<int>(folded.links.size()) - 1; k >= 0; --k) {
    const kernels::Link<double>& l = folded.links[at(k)];
    const LinkPlace& place = folded.places[at(k)];
    const bool turns = l.kind <= kernels::Kind::revolute_full;
    const Motion<double> about_z{Vec3<double>::unit_z(), Vec3<double>::zero()};
    const auto n = at(l.nv);
    if (!place.coupled && n > 0) {
      std::vector<double> inverses;
      for (std::size_t j = 0; j < n; ++j) {
        inverses.push_back(r.L[at(place.block) + j * n + j]);
      }
      const kernels::HingeDoubt<double> doubt{
          turns ? std::span(&about_z, 1) : std::span(joints.columns.data() + l.v, n), {r.U.data() + l.v, n}, inverses};
      kernels::check_positive(folded.model.bodies()[at(l.body)].hinge, doubt, l.inertia, carried[at(k)]);
    }
    if (l.parent >= 0) {
      Transform<double> X = joints.pose[at(k)];
      if (turns) {
        const kernels::Spin<double>& s = joints.spin[at(k)];
        X = {Rotation<double>(l.turn * Mat3<double>{{{s.c, -s.s, 0}, {s.s, s.c, 0}, {0, 0, 1}}}), l.p};
      }
      carried[at(l.parent)] += X * (l.inertia + carried[at(k)]);
    }
  }
}

void check_cluster(const Folded& folded, const Unit& unit, const RiccatiBlocks<double>& r) {
  const auto n = static_cast<Eigen::Index>(unit.coordinates.size());
  const Eigen::Map<const Eigen::MatrixXd> D(r.D.data() + unit.block, n, n);
  const Eigen::LDLT<Eigen::MatrixXd> factor(D);
  if (n > 0 && !(factor.vectorD().minCoeff() > kernels::vanishing_beside_others<double> * D.diagonal().maxCoeff())) {
    for (const int k : unit.members) {
      if (folded.links[at(k)].nv > 0) {
        throw kernels::massless(folded.model.bodies()[at(folded.links[at(k)].body)].hinge, "is coupled to others and ");
      }
    }
  }
}

/// Throws where X or A of a family is not symmetric, or some D has no inverse.
void check_family(Evaluator<double>& evaluator, int i) {
  const Folded& folded = evaluator.folded();
  const Value& v = evaluator.plan().values[at(i)];
  const RiccatiBlocks<double>& r = evaluator.family(i);
  for (std::size_t n = 1; n < v.uses.size(); ++n) {
    if (v.uses[n] != no_value && !evaluator.is_symmetric(v.uses[n])) {
      throw OperatorError(
          fmt::format("'{}' is not symmetric, and '{}' belongs to a symmetric one",
                      bunraku::detail::printable(to_ascii(evaluator.plan().values[at(v.uses[n])].what), 200),
                      bunraku::detail::printable(to_ascii(v.what), 200)),
          "dense_inv(x) forms an inverse by a dense matrix, O(n³)");
    }
  }
  for (const Unit& unit : folded.units) {
    const int k = unit.members[0];
    const std::size_t n = unit.coordinates.size();
    for (std::size_t j = 0; j < n; ++j) {
      const double inverse = r.L[at(unit.block) + j * n + j];
      if (inverse == 0 || !std::isfinite(inverse)) {
        throw OperatorError(
            fmt::format("'{}' has no inverse: the block of hinge '{}' is singular",
                        to_ascii(Operator::of_family(Symbol::D, v.what.term().parts[0], v.what.term().parts[1])),
                        folded.model.bodies()[at(folded.links[at(k)].body)].hinge.name));
      }
    }
  }
}

/// Throws where some D has no inverse.
void check_riccati(const void* /*context*/, Evaluator<double>& evaluator) {
  const Folded& folded = evaluator.folded();
  for (const int i : evaluator.families()) {
    const Value& v = evaluator.plan().values[at(i)];
    const RiccatiBlocks<double>& r = evaluator.family(i);
    const bool of_bodies = v.uses[1] == no_value && v.part != Part::blocks;
    if (!of_bodies) {
      check_family(evaluator, i);
    } else if (r.doubtful) {
      settle_doubts(folded, evaluator.joints(), r);
    }
    for (const Unit& unit : folded.units) {
      if (!folded.coupled) {
        break;
      }
      if (of_bodies && folded.places[at(unit.members[0])].coupled) {
        check_cluster(folded, unit, r);
      }
    }
  }
}

/// Throws what a block or matrix without inverse or root deserves.
void refuse_matrix(const void* context, const NoInverse& refusal) {
  const auto& evaluator = *static_cast<const Evaluator<double>*>(context);
  const std::string what = bunraku::detail::printable(to_ascii(evaluator.plan().values[at(refusal.value)].what), 200);
  if (refusal.unit < 0) {
    const Operator& inner = evaluator.plan().values[at(refusal.value)].what.term().parts[0];
    throw OperatorError(
        fmt::format("the matrix of '{}' {}", bunraku::detail::printable(to_ascii(inner), 200), refusal.why));
  }
  const Folded& folded = evaluator.folded();
  const int link = folded.units[at(refusal.unit)].members[0];
  throw OperatorError(fmt::format("'{}' cannot be formed: the block of body '{}' {}", what,
                                  folded.model.bodies()[at(folded.links[at(link)].body)].name, refusal.why));
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Execution

Execution::Execution(const Operator& x, Inverses inverses, std::shared_ptr<const SystemData> data)
    : expression_(x), inverses_(inverses), data_(std::move(data)), node_count_(data_->nodes().size()) {
  prepare();
}

void Execution::prepare() {
  meaning_ = data_->meaning();
  attached_ = data_->attached;
  const std::set<Symbol> symbols = symbols_in(expression_);
  if (symbols.contains(Symbol::B) && attached_->nodes.empty()) {
    throw OperatorError("B has no meaning without nodes", "name the nodes: --nodes A,B,… or System::set_nodes", "B");
  }
  plan_ = std::make_shared<const Plan>(make_plan(expression_, meaning_, inverses_));
  check_values();
  evaluator_ = std::make_unique<Evaluator<double>>(plan_, folded(), attached_);
  evaluator_->on_refusal(refuse_matrix, evaluator_.get());
  evaluator_->on_riccati(check_riccati, nullptr);
  passive_.resize(at(data_->model().nv()));
  version_ = 0;
}

void Execution::check_values() const {
  for (const Value& v : plan_->values) {
    const Term& t = v.what.term();
    if (v.step == Step::spread && v.part == Part::E_psi && data_->bodies->nested) {
      const auto body = std::find_if(data_->model().bodies().begin(), data_->model().bodies().end(),
                                     [](const Body& b) { return b.leader != world; });
      throw OperatorError(fmt::format("{} is not block diagonal here: hinge '{}' follows hinge '{}'", to_ascii(v.what),
                                      body->hinge.name, data_->model().bodies()[at(body->leader)].hinge.name),
                          "Omega does exist: the coupled bodies count as one body there", to_ascii(v.what));
    }
    if ((v.part == Part::variable || v.step == Step::constants) && t.type == TermType::variable &&
        std::none_of(attached_->variables.begin(), attached_->variables.end(),
                     [&](const VariableBlocks& each) { return each.variable == v.what; })) {
      throw OperatorError(fmt::format("the variable '{}' has no values", t.name),
                          "`verify` gives it random ones, System::bind those that you choose");
    }
    if (t.type == TermType::unit && v.step == Step::constants && t.index >= data_->model().nv()) {
      throw OperatorError(fmt::format("unit({}): the model has {} velocities", t.index, data_->model().nv()),
                          "they are counted from 0");
    }
  }
}

void Execution::refresh() {
  if (version_ == data_->version) {
    return;
  }
  if (data_->nodes().size() != node_count_) {
    throw OperatorError("the number of nodes has changed since this expression was prepared",
                        "prepare it again: system(expression)");
  }
  if (!(meaning_ == data_->meaning()) || attached_ != data_->attached) {
    prepare();
  }
  const auto needs = [&](Step step) {
    return std::any_of(plan_->values.begin(), plan_->values.end(), [&](const Value& v) {
      return v.step == step && (step == Step::passive || v.what.term().symbol != Symbol::thetad);
    });
  };
  if (needs(Step::given)) {
    if (!data_->accelerations && !data_->torques) {
      throw OperatorError("the hinge accelerations have no value, and thetadd, alpha, f and T follow from them",
                          "give accelerations or torques: --a or --tau, System::set_accelerations or set_torques");
    }
  }
  if (needs(Step::passive)) {
    data_->passive_torques(passive_);
  }
  evaluator_->set_state(data_->q.data(), data_->v.data());
  evaluator_->set_given(Symbol::T_p, passive_.data());
  evaluator_->set_given(Symbol::thetadd, data_->accelerations ? data_->accelerations->data() : nullptr);
  evaluator_->set_given(Symbol::T, data_->torques ? data_->torques->data() : nullptr);
  version_ = data_->version;
}

void Execution::apply(const double* x, double* y) {
  refresh();
  try {
    evaluator_->apply(x, y);
  } catch (...) {
    version_ = 0;
    throw;
  }
}

double Execution::flops() const {
  Evaluator<Counting> counter(plan_, folded(), attached_);
  const auto counted = [](const std::vector<double>& x) { return std::vector<Counting>(x.begin(), x.end()); };
  const std::vector<Counting> q = counted(data_->q);
  const std::vector<Counting> v = counted(data_->v);
  const std::vector<Counting> zeros(v.size());
  counter.set_state(q.data(), v.data());
  for (const Symbol each : {Symbol::T_p, Symbol::thetadd, Symbol::T}) {
    counter.set_given(each, zeros.data());
  }
  const std::vector<Counting> x(at(counter.cols()));
  std::vector<Counting> y(at(counter.rows()));
  const long before = Counting::count();
  counter.apply(x.data(), y.data());
  return static_cast<double>(Counting::count() - before);
}

}  // namespace bunraku::operators
