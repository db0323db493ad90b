#include "bunraku/operators/program/detail/execution.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/kernels/passive.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku::operators {

// ---------------------------------------------------------------------------------------------------------------------
// State

SystemData::SystemData(const Model& of, PassiveForces forces)
    : passive(forces),
      bodies(std::make_shared<const Folded>(of, Fold::bodies)),
      links(std::make_shared<const Folded>(of, Fold::links)),
      attached(std::make_shared<const Attachments>()),
      closure_own(closure_nodes(of)),
      q(at(bodies->coordinates.nq)),
      user_q(at(of.nq())),
      v(at(of.nv())) {
  if (passive == PassiveForces::left_out) {
    attached = std::make_shared<const Attachments>(Attachments{.ideal = true});
  }
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

void SystemData::passive_torques(std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  if (passive == PassiveForces::left_out) {
    return;
  }
  kernels::for_each_dof(model(), bodies->coordinates, q.data(),
                        [&](const HingeDof& dof, std::size_t j, double stretch) {
                          const kernels::Follower<double>& f = bodies->coordinates.velocities[j];
                          out[at(f.own)] -= f.ratio * kernels::passive_torque(dof, f.ratio * v[at(f.own)], stretch);
                        });
}

// ---------------------------------------------------------------------------------------------------------------------
// Execution

Execution::Execution(const Operator& x, const Operator& asked, Inverses inverses,
                     std::shared_ptr<const SystemData> data)
    : expression_(x), asked_(asked), inverses_(inverses), data_(std::move(data)), node_count_(data_->nodes().size()) {
  prepare();
}

void Execution::prepare() {
  attached_ = nullptr;  // until all is well: what failed is tried again
  meaning_ = data_->meaning();
  defined_ = std::make_shared<Attachments>(
      attachments_for(asked_, data_->model(), *data_->attached, "name the nodes: --nodes A,B,… or System::set_nodes"));
  plan_ = std::make_shared<const Plan>(make_plan(expression_, meaning_, inverses_));
  check_values();
  attach_defined(*data_->bodies, *plan_, *defined_);
  evaluator_ = std::make_unique<Evaluator<double>>(plan_, folded(), defined_);
  passive_.resize(at(data_->model().nv()));
  attached_ = data_->attached;
  version_ = 0;
}

void Execution::check_values() const {
  for (const Value& v : plan_->values) {
    const Term& t = v.what.term();
    if ((v.part == Part::variable || v.step == Step::constants) && t.type == TermType::variable &&
        t.function == nullptr &&
        std::none_of(data_->attached->variables.begin(), data_->attached->variables.end(),
                     [&](const VariableBlocks& each) { return each.variable == v.what; })) {
      throw OperatorError(fmt::format("the variable '{}' has no values", t.name),
                          "`verify` gives it random ones, System::bind those that you choose");
    }
    if (t.type == TermType::unit && v.step == Step::constants && t.index >= data_->model().nv()) {
      throw OperatorError(fmt::format("unit({}): the model has {} velocities", t.index, data_->model().nv()),
                          "they are counted from 0", fmt::format("unit({})", t.index));
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
  fill_defined(data_->model(), data_->user_q, data_->v, defined_->variables);
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
  Evaluator<Counting> counter(plan_, folded(), defined_);
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
