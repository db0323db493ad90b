#include "bunraku/operators/system.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/matrices.hpp"
#include "bunraku/model/detail/random.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/execution.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku {

namespace {

using operators::at;

/// For each row of a space in an order, the row in file order.
std::vector<int> places(const operators::Execution& execution, const Space& space, Order order) {
  const operators::SystemData& data = execution.data();
  if (order != Order::file && order != Order::paper) {
    throw ArgumentError(
        fmt::format("there is no order number {}: Order::file or Order::paper", static_cast<int>(order)));
  }
  std::vector<int> out;
  const Model& model = data.model();
  const bool reversed = order == Order::paper && space.part.empty();
  const int count = static_cast<int>(model.bodies().size());
  if (!reversed || (space.kind != SpaceKind::body && space.kind != SpaceKind::hinge)) {
    for (int i = 0; i < execution.dimension(space); ++i) {
      out.push_back(i);
    }
    return out;
  }
  for (int k = count - 1; k >= 0; --k) {
    const Body& body = model.bodies()[at(k)];
    const operators::SpaceTable& table = data.bodies->body;
    const bool of_body = space.kind == SpaceKind::body;
    const int first = of_body ? table.begin(k) : body.v_index;
    for (int i = 0; i < (of_body ? table.end(k) - first : body.nv); ++i) {
      out.push_back(first + i);
    }
  }
  return out;
}

/// First number and count of a body's, node's or closure's part.
std::pair<int, int> part_of(const operators::Execution& execution, const Space& space, int i) {
  const operators::SystemData& data = execution.data();
  const bool of_nodes = space.kind == SpaceKind::node;
  const bool of_closures = space.kind == SpaceKind::closure;
  const int count = static_cast<int>(of_nodes      ? execution.nodes().size()
                                     : of_closures ? data.model().closures().size()
                                                   : data.model().bodies().size());
  if (space.kind == SpaceKind::number || !space.part.empty()) {
    return {0, execution.dimension(space)};
  }
  if (i < 0 || i >= count) {
    throw ArgumentError(fmt::format("there is no {} {}: they are 0 to {}",
                                    of_nodes      ? "node"
                                    : of_closures ? "closure"
                                                  : "body",
                                    i, count - 1));
  }
  if (of_closures) {
    const operators::SpaceTable& table = data.bodies->closure;
    return {table.begin(i), table.end(i) - table.begin(i)};
  }
  if (space.kind == SpaceKind::hinge) {
    return {data.model().bodies()[at(i)].v_index, data.model().bodies()[at(i)].nv};
  }
  const int first = space.kind == SpaceKind::node ? operators::rigid * i : data.bodies->body.begin(i);
  return {first, space.kind == SpaceKind::node ? operators::rigid : data.bodies->body.end(i) - first};
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Evaluation

Evaluation::Evaluation(std::unique_ptr<operators::Execution> execution) : execution_(std::move(execution)) {}
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
std::span<const Node> Evaluation::nodes() const {
  return execution_->nodes();
}

void Evaluation::apply(const MatrixInput<double>& x, const MatrixOutput<double>& y) {
  const auto columns = detail::given_columns(x, cols(), "x");
  const auto results = detail::wanted(y, rows(), columns.cols, "y");
  for (std::ptrdiff_t j = 0; j < columns.cols; ++j) {
    const double factor = execution_->plan().input == operators::no_value ? columns(0, j) : 1;  // y may be x
    execution_->apply(columns.column(j).data(), results.column(j).data());
    if (factor != 1) {
      for (double& each : results.column(j)) {
        each *= factor;
      }
    }
  }
}

void Evaluation::dense(std::span<double> out, Order order) {
  check_size(out.size(), static_cast<std::ptrdiff_t>(rows()) * cols(), "out");
  const std::vector<int> row = places(*execution_, expression().range(), order);
  const std::vector<int> column = places(*execution_, expression().domain(), order);
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
  const auto [row, rows_of] = part_of(*execution_, expression().range(), i);
  const auto [column, columns_of] = part_of(*execution_, expression().domain(), j);
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

namespace {

std::string_view name_of(operators::Direction direction) {
  switch (direction) {
    case operators::Direction::inward:
      return "inward";
    case operators::Direction::outward:
      return "outward";
    case operators::Direction::local:
      return "local";
    case operators::Direction::whole:
      break;
  }
  return "whole";
}

std::vector<std::string_view> lines_of(std::string_view recursion) {
  std::vector<std::string_view> out;
  while (!recursion.empty()) {
    const std::size_t end = std::min(recursion.find('\n'), recursion.size());
    out.push_back(recursion.substr(0, end));
    recursion.remove_prefix(std::min(end + 1, recursion.size()));
  }
  return out;
}

/// Which bodies are eliminated together.
std::vector<std::string> clusters_text(const operators::Folded& folded) {
  std::vector<std::string> out;
  for (const operators::Unit& unit : folded.units) {
    if (unit.members.size() > 1) {
      std::vector<std::string> names;
      names.reserve(unit.members.size());
      for (const int k : unit.members) {
        names.push_back(folded.model.bodies()[at(k)].name);
      }
      out.push_back(fmt::format("coupled hinges: {} are one body k where G(k) stands, with one gain for all of it",
                                fmt::join(names, ", ")));
    }
  }
  if (folded.nested) {
    out.emplace_back("φ_b(k) is φ among the bodies that are one body k; H̄(k) = H(k) φ_b(k)");
  }
  return out;
}

}  // namespace

PlanReport Evaluation::plan() const {
  const operators::Plan& plan = execution_->plan();
  const operators::Folded& folded = *execution_->data().bodies;
  PlanReport report{.expression = operators::is_zero(plan.expression) ? "0" : to_ascii(plan.expression),
                    .sweeps = {},
                    .fused = operators::sweeps_in(plan.fused),
                    .flops = execution_->flops(),
                    .bytes = execution_->bytes(),
                    .symmetric = plan.symmetric,
                    .notes = {}};
  for (const auto* loops : {&plan.of_state, &plan.of_vector}) {
    for (const operators::Loop& loop : *loops) {
      std::string text = operators::recursion(plan, loop, folded.nested);
      if (loop.direction == operators::Direction::local && text.empty()) {
        continue;  // blocks that are written where they are used
      }
      report.sweeps.push_back({std::string(name_of(loop.direction)), std::move(text), loops == &plan.of_state});
    }
  }
  const bool eliminates = std::any_of(plan.values.begin(), plan.values.end(),
                                      [](const operators::Value& v) { return v.step == operators::Step::riccati; });
  if (eliminates && folded.coupled) {
    report.notes = clusters_text(folded);
  }
  const bool solves = std::any_of(plan.values.begin(), plan.values.end(),
                                  [](const operators::Value& v) { return v.step == operators::Step::solve; });
  if (solves) {
    report.notes.push_back(fmt::format("m = {}: the equations of the closures", folded.closure.dimension()));
  }
  return report;
}

std::string to_string(const PlanReport& plan) {
  std::string out = fmt::format("{}\n", plan.expression);
  const bool has_vector =
      std::any_of(plan.sweeps.begin(), plan.sweeps.end(), [](const Sweep& sweep) { return !sweep.once_per_state; });
  int number = 0;
  int once = 0;
  for (const Sweep& sweep : plan.sweeps) {
    const std::string_view when = sweep.once_per_state && has_vector ? ", once per state" : "";
    if (sweep.direction == "local") {
      out += fmt::format("\nat every body{}\n", when);
    } else if (sweep.direction == "whole") {
      out += fmt::format("\nall bodies together{}\n", when);
    } else {
      once += sweep.once_per_state ? 1 : 0;
      out += fmt::format("\nsweep {}, {}{}\n", ++number,
                         sweep.direction == "inward" ? "inward: for every body k from the tips to the base"
                                                     : "outward: for every body k from the base to the tips",
                         when);
    }
    for (const std::string_view line : lines_of(sweep.text)) {
      out += fmt::format("  {}\n", line);
    }
  }
  for (const std::string& note : plan.notes) {
    out += fmt::format("\n{}\n", note);
  }
  const auto sweeps = [](int n) { return fmt::format("{} sweep{}", n, n == 1 ? "" : "s"); };
  const std::string counts = has_vector && once > 0 ? fmt::format("{} from q to the result, {} for another vector",
                                                                  sweeps(plan.fused), number - once)
                                                    : sweeps(plan.fused);
  out += fmt::format("\n{}, {:.0f} flops, {:.0f} bytes{}{}\n", counts, plan.flops, plan.bytes,
                     plan.symmetric ? "; symmetric" : "",
                     plan.symmetric && number - once > 1 ? ": the second half is the adjoint of the first" : "");
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// System

System::System(const Model& model, PassiveForces passive)
    : data_(std::make_shared<operators::SystemData>(model, passive)) {}

System::System(const Model& model, const Input<double>& q, const Input<double>& v, PassiveForces passive)
    : System(model, passive) {
  set_state(q, v);
}

System::System(const System& other) : data_(std::make_shared<operators::SystemData>(*other.data_)) {}
System& System::operator=(const System& other) {
  if (this == &other) {
    return *this;
  }
  data_ = std::make_shared<operators::SystemData>(*other.data_);
  return *this;
}
System::System(System&&) noexcept = default;
System& System::operator=(System&&) noexcept = default;
System::~System() = default;

const Model& System::model() const {
  return data_->model();
}
void System::set_state(const Input<double>& q, const Input<double>& v) {
  data_->set_state(q, v);
}
void System::set_accelerations(const Input<double>& a) {
  data_->set_accelerations(a);
}
void System::set_torques(const Input<double>& tau) {
  data_->set_torques(tau);
}
void System::set_nodes(std::vector<Node> nodes) {
  for (const Node& node : nodes) {
    static_cast<void>(NodeRef(node).place(model()));
  }
  data_->set_nodes(std::move(nodes));
}

void System::set_nodes(const std::vector<std::string>& names) {
  std::vector<Node> nodes;
  for (const std::string& name : names) {
    nodes.push_back(model().node(name));
    nodes.back().name = name;
  }
  data_->set_nodes(std::move(nodes));
}

void System::bind(const Operator& variable, const Input<double>& numbers) {
  const std::span<const double> values = numbers;
  if (variable.term().type != TermType::variable) {
    throw ArgumentError(fmt::format("'{}' is not a variable: see Operator::variable", to_ascii(variable)));
  }
  const std::string& name = variable.term().name;
  if (variable.term().function != nullptr) {
    throw ArgumentError(fmt::format("'{}' has its values from the function that defines it", name));
  }
  if (!all_finite(values)) {
    refuse_values(values, name);
  }
  operators::VariableBlocks blocks = operators::blocks_for(*data_->bodies, data_->nodes(), variable);
  std::ptrdiff_t wanted = 0;
  for (const operators::VariableBlock& block : blocks.blocks) {
    wanted += static_cast<std::ptrdiff_t>(block.values.size());
  }
  check_size(values.size(), wanted, name);
  std::size_t used = 0;
  for (operators::VariableBlock& block : blocks.blocks) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(used), block.values.size(), block.values.begin());
    used += block.values.size();
  }
  data_->bind(std::move(blocks));
}

void System::bind_random(const Operator& variable, std::uint64_t seed) {
  std::size_t count = 0;
  for (const operators::VariableBlock& block : operators::blocks_for(*data_->bodies, data_->nodes(), variable).blocks) {
    count += block.values.size();
  }
  bind(variable, Random(seed).vector(count));
}

Evaluation System::operator()(const Operator& x) const {
  return Evaluation(std::make_unique<operators::Execution>(simplify(x, conditions_of(*this)), x,
                                                           operators::Inverses::refused, data_));
}

Evaluation System::literal(const Operator& x) const {
  return Evaluation(std::make_unique<operators::Execution>(x, x, operators::Inverses::dense, data_));
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
  return conditions_of(system.model());
}

namespace {

/// Whether all that a hinge does is along one line or parallel to it, or a translation.
bool is_simple(HingeType type) {
  switch (type) {
    case HingeType::fixed:
    case HingeType::revolute:
    case HingeType::continuous:
    case HingeType::prismatic:
    case HingeType::helical:
    case HingeType::cylindrical:
    case HingeType::translational:
      return true;
    default:
      return false;
  }
}

}  // namespace

Conditions conditions_of(const Model& model) {
  Conditions out;
  out.constant_maps = true;
  out.simple_hinges = true;
  bool every_rotor = true;
  for (const Body& body : model.bodies()) {
    out.couplings = out.couplings || body.leader != world;
    for (const HingeDof& dof : body.hinge.dofs) {
      out.armature = out.armature || dof.armature != 0;
      every_rotor = every_rotor && dof.armature != 0;
    }
    out.massless = out.massless || !has_full_inertia(body.inertia);
    out.simple_hinges = out.simple_hinges && is_simple(body.hinge.type);
    out.constant_maps = out.constant_maps && !kernels::has_changing_map(body.hinge);
  }
  out.ungeared = out.armature && !every_rotor;
  out.tied = std::any_of(model.closures().begin(), model.closures().end(),
                         [](const Closure& each) { return each.kind == ClosureKind::hinges; });
  return out;
}

}  // namespace bunraku
