#include "bunraku/dynamics/program.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/program_data.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/program/detail/execution.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku {

namespace detail {

namespace {

/// What a program keeps in a state.
template <class T>
struct ProgramWorkspace {
  explicit ProgramWorkspace(const ProgramData& program)
      : attached(std::make_shared<operators::Attachments>(*program.layout->attached)),
        evaluator(attached->variables.empty() ? program.layout
                                              : std::make_shared<const operators::EvaluatorLayout>(
                                                    program.layout->plan, program.layout->folded, attached)),
        passive(program.passive ? static_cast<std::size_t>(program.model.nv()) : 0) {}

  std::shared_ptr<operators::Attachments> attached;  ///< With what functions give at the state.
  operators::Evaluator<T> evaluator;
  std::vector<T> passive;
  std::uint64_t version = 0;
};

template <class T>
ProgramWorkspace<T>& workspace_of(StateData<T>& state, const std::shared_ptr<const ProgramData>& program) {
  for (const auto& [key, workspace] : state.programs) {
    if (!key.owner_before(program) && !program.owner_before(key)) {
      return *static_cast<ProgramWorkspace<T>*>(workspace.get());
    }
  }
  std::erase_if(state.programs, [](const auto& each) { return each.first.expired(); });
  auto made = std::make_shared<ProgramWorkspace<T>>(*program);
  state.programs.emplace_back(program, made);
  return *made;
}

}  // namespace

template <class T>
void make_room(BasicState<T>& state, const std::shared_ptr<const ProgramData>& program) {
  workspace_of(state.data(), program);
}
template void make_room(BasicState<double>&, const std::shared_ptr<const ProgramData>&);
template void make_room(BasicState<float>&, const std::shared_ptr<const ProgramData>&);

}  // namespace detail

Program::Program(const Model& model, const Operator& x, const std::vector<std::string>& nodes) {
  operators::Attachments given;
  for (const std::string& name : nodes) {
    given.nodes.push_back(model.node(name));
    given.nodes.back().name = name;
  }
  auto attached = std::make_shared<operators::Attachments>(
      operators::attachments_for(x, model, given, "name the nodes: Program(model, x, {\"hand\"})"));
  auto data = std::make_shared<detail::ProgramData>(detail::ProgramData{.model = model});
  const Operator best = simplify(x, conditions_of(model));
  auto plan = std::make_shared<const operators::Plan>(operators::make_plan(best, {}, operators::Inverses::refused));
  for (const operators::Value& value : plan->values) {
    const Term& t = value.what.term();
    data->passive = data->passive || value.step == operators::Step::passive;
    if (value.step == operators::Step::given && t.symbol != Symbol::thetad) {
      throw OperatorError(fmt::format("{} has no value in a state", info(t.symbol).ascii),
                          "apply an operator to it, or evaluate the expression by a System",
                          std::string(info(t.symbol).ascii));
    }
    if (t.type == TermType::variable && t.function == nullptr) {
      throw OperatorError(fmt::format("the variable '{}' has no values", t.name),
                          "a System gives variables their values: System::bind");
    }
    if (t.type == TermType::unit && t.index >= model.nv()) {
      throw OperatorError(fmt::format("unit({}): the model has {} velocities", t.index, model.nv()),
                          "they are counted from 0");
    }
  }
  auto folded = std::make_shared<const operators::Folded>(
      model, plan->mergeable ? operators::Fold::links : operators::Fold::bodies);
  operators::attach_defined(*folded, *plan, *attached);
  data->layout =
      std::make_shared<const operators::EvaluatorLayout>(std::move(plan), std::move(folded), std::move(attached));
  data_ = std::move(data);
}

const Operator& Program::expression() const {
  return data_->plan().expression;
}
const Model& Program::model() const {
  return data_->model;
}
int Program::rows() const {
  return data_->layout->rows;
}
int Program::cols() const {
  return data_->layout->cols;
}

PlanReport Program::plan() const {
  System system(data_->model);
  const operators::Attachments& attached = *data_->layout->attached;
  system.set_nodes(std::vector<Node>(attached.nodes.begin() + attached.closure_nodes, attached.nodes.end()));
  return system(expression()).plan();
}

template <class T>
void Program::apply(BasicState<T>& state, const MatrixInput<T>& x, const MatrixOutput<T>& out) const {
  detail::StateData<T>& data = state.data();
  if (!data.model.is_same_as(data_->model)) {
    throw ArgumentError(fmt::format("the program was made for model '{}', the state is of another, '{}'",
                                    data_->model.name(), data.model.name()));
  }
  const auto columns = detail::given_columns(x, cols(), "x");
  const auto results = detail::wanted(out, rows(), columns.cols, "out");
  detail::ProgramWorkspace<T>& workspace = detail::workspace_of(data, data_);
  if (workspace.version != data.version) {
    if (data_->passive) {
      passive_torques(state, std::span<T>(workspace.passive));
    }
    const auto wide = [](const auto& from) { return std::vector<double>(from.data(), from.data() + from.size()); };
    if (!workspace.attached->variables.empty()) {
      operators::fill_defined(data.model, wide(state.q()), wide(state.v()), workspace.attached->variables);
    }
    workspace.evaluator.set_state(data.q.data(), state.v().data());
    workspace.evaluator.set_given(Symbol::T_p, workspace.passive.data());
    workspace.version = 0;  // until it has run
  }
  for (std::ptrdiff_t j = 0; j < columns.cols; ++j) {
    const std::span<T> result = results.column(j);
    const T factor = data_->is_stacked() ? columns(0, j) : T(1);
    workspace.evaluator.apply(columns.column(j).data(), result.data());
    workspace.version = data.version;
    if (factor != T(1)) {
      for (T& each : result) {
        each *= factor;
      }
    }
  }
}

template void Program::apply(BasicState<double>&, const MatrixInput<double>&, const MatrixOutput<double>&) const;
template void Program::apply(BasicState<float>&, const MatrixInput<float>&, const MatrixOutput<float>&) const;

}  // namespace bunraku
