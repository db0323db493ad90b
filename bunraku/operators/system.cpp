#include "bunraku/operators/system.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/random.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/execution.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku {

namespace {

using operators::at;

/// For each row of a space in an order, the row in file order.
std::vector<int> places(const operators::Bindings& bindings, const Space& space, Order order) {
  if (order != Order::file && order != Order::paper) {
    throw ArgumentError(
        fmt::format("there is no order number {}: Order::file or Order::paper", static_cast<int>(order)));
  }
  std::vector<int> out;
  const Model& model = bindings.model();
  const bool reversed = order == Order::paper && space.part.empty();
  const int count = static_cast<int>(model.bodies().size());
  if (!reversed || (space.kind != SpaceKind::body && space.kind != SpaceKind::hinge)) {
    for (int i = 0; i < bindings.dimension(space); ++i) {
      out.push_back(i);
    }
    return out;
  }
  for (int k = count - 1; k >= 0; --k) {
    const Body& body = model.bodies()[at(k)];
    const int first = space.kind == SpaceKind::body ? 6 * k : body.v_index;
    for (int i = 0; i < (space.kind == SpaceKind::body ? 6 : body.nv); ++i) {
      out.push_back(first + i);
    }
  }
  return out;
}

/// First number and count of a body's or node's part.
std::pair<int, int> part_of(const operators::Bindings& bindings, const Space& space, int i) {
  const int count =
      static_cast<int>(space.kind == SpaceKind::node ? bindings.nodes().size() : bindings.model().bodies().size());
  if (space.kind == SpaceKind::number || !space.part.empty()) {
    return {0, bindings.dimension(space)};
  }
  if (i < 0 || i >= count) {
    throw ArgumentError(fmt::format("there is no {} {}: they are 0 to {}",
                                    space.kind == SpaceKind::node ? "node" : "body", i, count - 1));
  }
  if (space.kind == SpaceKind::hinge) {
    return {bindings.model().bodies()[at(i)].v_index, bindings.model().bodies()[at(i)].nv};
  }
  return {6 * i, 6};
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Evaluation

Evaluation::Evaluation(std::shared_ptr<operators::Bindings> bindings, std::unique_ptr<operators::Execution> execution)
    : bindings_(std::move(bindings)), execution_(std::move(execution)) {}
Evaluation::Evaluation(Evaluation&&) noexcept = default;
Evaluation& Evaluation::operator=(Evaluation&&) noexcept = default;
Evaluation::~Evaluation() = default;

const Operator& Evaluation::expression() const {
  return execution_->plan().expression;
}
int Evaluation::rows() const {
  return execution_->rows();
}
int Evaluation::cols() const {
  return execution_->cols();
}

void Evaluation::apply(std::span<const double> x, std::span<double> y) {
  check_argument(x, cols(), "x");
  check_size(y.size(), rows(), "y");
  execution_->apply(x.data(), y.data());
  if (execution_->plan().input == operators::no_value && x[0] != 1) {
    for (double& each : y) {
      each *= x[0];
    }
  }
}

void Evaluation::dense(std::span<double> out, Order order) {
  check_size(out.size(), static_cast<std::ptrdiff_t>(rows()) * cols(), "out");
  const std::vector<int> row = places(*bindings_, expression().range(), order);
  const std::vector<int> column = places(*bindings_, expression().domain(), order);
  std::vector<double> unit(at(cols()));
  std::vector<double> y(at(rows()));
  for (std::size_t j = 0; j < column.size(); ++j) {
    unit[at(column[j])] = 1;
    apply(unit, y);
    unit[at(column[j])] = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      out[j * row.size() + i] = y[at(row[i])];
    }
  }
}

std::vector<double> Evaluation::block(int i, int j) {
  const auto [row, rows_of] = part_of(*bindings_, expression().range(), i);
  const auto [column, columns_of] = part_of(*bindings_, expression().domain(), j);
  std::vector<double> unit(at(cols()));
  std::vector<double> y(at(rows()));
  std::vector<double> out;
  for (int c = column; c < column + columns_of; ++c) {
    unit[at(c)] = 1;
    apply(unit, y);
    unit[at(c)] = 0;
    out.insert(out.end(), y.begin() + row, y.begin() + row + rows_of);
  }
  return out;
}

PlanReport Evaluation::plan() const {
  const operators::Plan& plan = execution_->plan();
  const operators::Work work = execution_->work();
  PlanReport report{.expression = to_ascii(plan.expression),
                    .sweeps = {},
                    .flops = work.flops,
                    .bytes = work.bytes,
                    .symmetric = plan.symmetric,
                    .notes = {}};
  for (const operators::Loop& loop : plan.loops) {
    report.sweeps.push_back({loop.direction == operators::Direction::inward    ? "inward"
                             : loop.direction == operators::Direction::outward ? "outward"
                                                                               : "local",
                             operators::recursion(plan, loop)});
  }
  for (const operators::Cluster& cluster : bindings_->clusters()) {
    if (cluster.members.size() > 1) {
      std::vector<std::string> names;
      names.reserve(cluster.members.size());
      for (const int k : cluster.members) {
        names.push_back(bindings_->model().bodies()[at(k)].name);
      }
      report.notes.push_back(
          fmt::format("coupled hinges: {} are one body k, with one gain G(k) for all of it", fmt::join(names, ", ")));
    }
  }
  return report;
}

std::string to_string(const PlanReport& plan) {
  std::string out = fmt::format("{}\n", plan.expression);
  int number = 0;
  for (const Sweep& sweep : plan.sweeps) {
    if (sweep.direction == "local") {
      out += "\nat every body\n";
    } else {
      out += fmt::format("\nsweep {}, {}\n", ++number,
                         sweep.direction == "inward" ? "inward: for every body k from the tips to the base"
                                                     : "outward: for every body k from the base to the tips");
    }
    for (const std::string_view line : operators::lines_of(sweep.text)) {
      out += fmt::format("  {}\n", line);
    }
  }
  for (const std::string& note : plan.notes) {
    out += fmt::format("\n{}\n", note);
  }
  out += fmt::format("\n{} sweep{}, {:.0f} flops, {:.0f} bytes{}\n", number, number == 1 ? "" : "s", plan.flops,
                     plan.bytes, plan.symmetric ? "; symmetric: the second half is the adjoint of the first" : "");
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// System

System::System(Model model, PassiveForces passive)
    : bindings_(std::make_shared<operators::Bindings>(std::move(model), passive)) {}

System::System(Model model, const Input<double>& q, const Input<double>& v, PassiveForces passive)
    : System(std::move(model), passive) {
  set_state(q, v);
}

const Model& System::model() const {
  return bindings_->model();
}
void System::set_state(const Input<double>& q, const Input<double>& v) {
  bindings_->set_state(q, v);
}
void System::set_accelerations(const Input<double>& a) {
  bindings_->set_accelerations(a);
}
void System::set_torques(const Input<double>& tau) {
  bindings_->set_torques(tau);
}
void System::set_nodes(std::vector<Node> nodes) {
  bindings_->set_nodes(std::move(nodes));
}

void System::set_nodes(const std::vector<std::string>& names) {
  std::vector<Node> nodes;
  for (const std::string& name : names) {
    nodes.push_back(model().node(name));
    nodes.back().name = name;
  }
  bindings_->set_nodes(std::move(nodes));
}

void System::bind(const Operator& variable, const Input<double>& numbers) {
  const std::span<const double> values = numbers;
  if (variable.term().type != TermType::variable) {
    throw ArgumentError(fmt::format("'{}' is not a variable: see Operator::variable", to_ascii(variable)));
  }
  const std::string& name = variable.term().name;
  if (!all_finite(values)) {
    refuse_values(values, name);
  }
  operators::VariableBlocks blocks = bindings_->blocks_for(variable);
  std::ptrdiff_t wanted = 0;
  for (const operators::VariableBlock& block : blocks.blocks) {
    wanted += block.values.size();
  }
  check_size(values.size(), wanted, name);
  std::size_t used = 0;
  for (operators::VariableBlock& block : blocks.blocks) {
    for (Eigen::Index i = 0; i < block.values.rows(); ++i) {
      for (Eigen::Index j = 0; j < block.values.cols(); ++j) {
        block.values(i, j) = values[used++];
      }
    }
  }
  bindings_->bind(std::move(blocks));
}

void System::bind_random(const Operator& variable, std::uint64_t seed) {
  std::size_t count = 0;
  for (const operators::VariableBlock& block : bindings_->blocks_for(variable).blocks) {
    count += static_cast<std::size_t>(block.values.size());
  }
  bind(variable, Random(seed).vector(count));
}

Evaluation System::operator()(const Operator& x) const {
  const Operator& best =
      bindings_->simplified(x, [this](const Operator& y) { return simplify(y, conditions_of(*this)); });
  return {bindings_, std::make_unique<operators::Execution>(operators::make_plan(best, false), *bindings_)};
}

Evaluation System::literal(const Operator& x) const {
  return {bindings_, std::make_unique<operators::Execution>(operators::make_plan(x, true), *bindings_)};
}

namespace {

/// Whether a body's spatial inertia is known to be invertible: mass, and extent in all directions.
bool has_full_inertia(const RigidInertia<double>& inertia) {
  const Sym3<double> J = inertia.central();
  const double size = J.xx + J.yy + J.zz;
  const double minor = J.xx * J.yy - J.xy * J.xy;
  const double determinant = J.zz * minor - J.xx * J.yz * J.yz - J.yy * J.xz * J.xz + 2 * J.xy * J.yz * J.xz;
  constexpr double least = 1e-9;
  return inertia.mass > 0 && J.xx > least * size && minor > least * size * size &&
         determinant > least * size * size * size;
}

}  // namespace

Conditions conditions_of(const System& system) {
  const Model& model = system.model();
  Conditions out;
  bool every_rotor = true;
  for (const Body& body : model.bodies()) {
    out.couplings = out.couplings || body.leader != world;
    for (const HingeDof& dof : body.hinge.dofs) {
      out.armature = out.armature || dof.armature != 0;
      every_rotor = every_rotor && dof.armature != 0;
    }
    out.massless = out.massless || !has_full_inertia(body.inertia);
  }
  out.ungeared = out.armature && !every_rotor;
  return out;
}

}  // namespace bunraku
