#include "bunraku/dynamics/closed_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/model/detail/validation.hpp"

namespace bunraku {

namespace detail {

template <class T>
ClosedMember<T>::ClosedMember(const Model& model, Role r, PassiveForces passive) : state(model, passive), role(r) {
  const std::size_t n = state.data().full.size();
  torque.resize(n);
  given.resize(n);
  acceleration.resize(n);
  slot.resize(n, -1);
}

template <class T>
ClosedMember<T>& ClosedData<T>::member(int i) const {
  if (i < 0 || static_cast<std::size_t>(i) >= members.size() || !members[static_cast<std::size_t>(i)]->present) {
    throw ArgumentError(fmt::format("the closed system has no member {}", i));
  }
  return *members[static_cast<std::size_t>(i)];
}

template <class T>
ClosedClosure<T>& ClosedData<T>::at(int i) const {
  if (i < 0 || static_cast<std::size_t>(i) >= closures.size() || !closures[static_cast<std::size_t>(i)]->exists) {
    throw ArgumentError(fmt::format("the closed system has no closure {}", i));
  }
  return *closures[static_cast<std::size_t>(i)];
}

template <class T>
void ClosedData<T>::count() {
  nq = nv = rows = 0;
  paired = false;
  int full = 0;
  for (const auto& m : members) {
    m->touched = false;
    if (m->present) {
      m->first_full = full;
      full += static_cast<int>(m->torque.size());
      m->first_q = nq;
      m->first_v = nv;
      nq += m->state.model().nq();
      nv += m->state.model().nv();
    }
  }
  for (const auto& c : closures) {
    if (c->present) {
      c->first = rows;
      rows += c->rows;
      member(c->a.member).touched = member(c->b.member).touched = true;
    }
  }
  plan_blocks();
  choose_rows();
  scale.resize(static_cast<std::size_t>(rows));
  const auto m = static_cast<std::size_t>(solved);
  for (std::vector<T>* each : {&right, &size, &shared}) {
    each->resize(m);
  }
  // room for one column more, and for a whole closure's numbers from any column on
  constexpr auto step = static_cast<std::size_t>(kernels::closure_lanes);
  stride = (m + 1 + step + step - 1) / step * step;
  for (std::vector<T>* each : {&lambda, &factor, &scratch}) {
    each->resize(m * stride);
  }
  for (std::vector<T>* each : {&force, &left_over, &residual}) {
    each->assign(m + step, T(0));
  }
  gathered.resize(static_cast<std::size_t>(full) * stride);
  order.resize(m);
  std::iota(order.begin(), order.end(), 0);
  kept = m;
  tangled = 0;
  plainly_named = false;
  stacked.resize(static_cast<std::size_t>(nv));
}

template <class T>
void ClosedData<T>::choose_rows() {
  constexpr double least_tolerance = 1e-11;  // what idle rows may have is far below
  solved = 0;
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    const bool all = blocks.chosen || c.changeable || c.asks || tolerance < least_tolerance;
    const int before = c.active;
    c.active = 0;
    for (int r = 0; r < c.rows; ++r) {
      if (all || !c.idle[index(r)]) {
        c.row[index(c.active++)] = r;
      }
    }
    if (c.active != before && !c.changeable) {
      c.directed = false;
      c.stale = true;
    }
    c.solved = solved;
    solved += c.active;
  }
}

namespace {

/// The body of a hinge that a coupling ties, which has one coordinate. Throws ArgumentError.
int coupled_body(const Model& model, int body, const Closure& closure) {
  if (body < 0 || body >= std::ssize(model.bodies())) {
    throw ArgumentError(fmt::format("closure '{}' ties the hinge of body {}, which '{}' does not have", closure.name,
                                    body, model.name()));
  }
  const Hinge& hinge = model.body(body).hinge;
  if (hinge.velocity_size() != 1 || hinge.configuration_size() != 1) {
    throw ArgumentError(fmt::format("closure '{}' ties hinge '{}', which is {}: it must have one coordinate",
                                    closure.name, hinge.name, to_string(hinge.type)));
  }
  return body;
}

}  // namespace

template <class T>
ClosedEnd<T> ClosedData<T>::end(const Closure& closure, bool second, int i) const {
  const StateData<T>& s = member(i).state.data();
  const kernels::Tree& tree = s.sweeps->tree();
  ClosedEnd<T> out;
  out.member = i;
  if (closure.kind == ClosureKind::hinges) {
    const int named = second ? closure.hinge_b : closure.hinge_a;
    if (second && named == world) {
      return out;
    }
    const auto body = static_cast<std::size_t>(coupled_body(s.model, named, closure));
    out.velocity = s.coordinates.slots[body].v;
    out.position = s.coordinates.slots[body].q;
    out.link = tree.bodies[body].link;
    return out;
  }
  const Node& node = second ? closure.b : closure.a;
  if (node.body != world && (node.body < 0 || node.body >= std::ssize(s.model.bodies()))) {
    throw ArgumentError(fmt::format("closure '{}' joins a node of body {}, which '{}' does not have", closure.name,
                                    node.body, s.model.name()));
  }
  const Transform<T> X_BN = kernels::cast<T>(node.X_BN);
  if (node.body == world) {
    out.node.X_LN.set(X_BN);
    return out;
  }
  const kernels::BodyPlace& place = tree.bodies[static_cast<std::size_t>(node.body)];
  out.link = out.node.link = place.link;
  out.node.X_LN.set(kernels::cast<T>(place.X_LB) * X_BN);
  return out;
}

template <class T>
void ClosedData<T>::place(ClosedClosure<T>& c) {
  const auto on = [&](int i, kernels::ClosureColumns<T>& part) {
    const std::array<const ClosedEnd<T>*, 2> ends{&c.a, &c.b};
    std::array<int, 2> links{-1, -1};
    std::array<int, 2> hinges{};
    std::size_t ties = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      if (ends[side]->member == i) {
        links[side] = ends[side]->link;
        if (ends[side]->velocity >= 0) {
          hinges[ties++] = ends[side]->velocity;
        }
      }
    }
    part.place(member(i).state.data().sweeps->tree(), c.rows, links, std::span(hinges).first(ties));
  };
  on(c.a.member, c.on_a);
  if (!c.within()) {
    on(c.b.member, c.on_b);
  }
  c.idle = {};
  if (c.within()) {
    kernels::ClosureEquations<T> known;
    known.keeps = true;
    if (c.closure.kind == ClosureKind::nodes || c.closure.kind == ClosureKind::plane ||
        c.closure.kind == ClosureKind::line) {
      kernels::closure_positions(c.closure, Transform<T>::identity(), known);
    }
    if (known.constant) {  // from the first call on, so that none depends on those before it
      c.equations = known;
      c.idle = kernels::idle_rows<T>(member(c.a.member).state.data().sweeps->tree(), c.on_a, c.a.node.X_LN.get(),
                                     c.a.link < 0, std::span<const Force<T>>(known.directions).first(index(c.rows)));
    }
  }
  c.relative[0].e.resize(c.on_a.e.size());
  c.relative[1].e.resize(c.within() ? 0 : c.on_b.e.size());
  c.stale = true;
}

template struct ClosedMember<double>;
template struct ClosedMember<float>;
template ClosedMember<double>& ClosedData<double>::member(int) const;
template ClosedMember<float>& ClosedData<float>::member(int) const;
template ClosedClosure<double>& ClosedData<double>::at(int) const;
template ClosedClosure<float>& ClosedData<float>::at(int) const;

}  // namespace detail

namespace {

/// Throws ArgumentError with all that is wrong with a closure by itself; normalizes its axes.
void check(Closure& closure) {
  ProblemList problems({});
  check_closure(closure, problems);
  for (const Problem& problem : problems.problems()) {
    if (problem.severity == Severity::error) {
      throw ArgumentError(problem.cure.empty() ? problem.text : problem.text + ": " + problem.cure);
    }
  }
}

}  // namespace

template <class T>
BasicClosedSystem<T>::BasicClosedSystem(const Model& model, PassiveForces passive)
    : data_(std::make_unique<detail::ClosedData<T>>()) {
  add_member(model, Role::primary, passive);
}
template <class T>
BasicClosedSystem<T>::~BasicClosedSystem() = default;
template <class T>
BasicClosedSystem<T>::BasicClosedSystem(BasicClosedSystem&&) noexcept = default;
template <class T>
BasicClosedSystem<T>& BasicClosedSystem<T>::operator=(BasicClosedSystem&&) noexcept = default;

template <class T>
int BasicClosedSystem<T>::add_member(const Model& model, Role role, PassiveForces passive) {
  auto& members = data_->members;
  const auto free = std::find_if(members.begin(), members.end(), [&](const auto& m) {
    return !m->present && m->state.model().is_same_as(model) && m->state.passive_forces() == passive;
  });
  const int number = static_cast<int>(free - members.begin());
  if (free != members.end()) {
    (*free)->present = true;
    (*free)->role = role;
    (*free)->version = 0;
  } else {
    members.push_back(std::make_unique<detail::ClosedMember<T>>(model, role, passive));
  }
  data_->count();
  for (const Closure& closure : model.closures()) {
    add_closure(closure, number, number);
  }
  return number;
}

template <class T>
void BasicClosedSystem<T>::remove_member(int member) {
  data_->member(member).present = false;
  for (const auto& c : data_->closures) {
    c->exists = c->exists && c->a.member != member && c->b.member != member;
    c->present = c->present && c->exists;
  }
  data_->count();
}

template <class T>
int BasicClosedSystem<T>::members() const {
  return static_cast<int>(data_->members.size());
}

template <class T>
bool BasicClosedSystem<T>::has_member(int member) const {
  return member >= 0 && member < members() && data_->members[static_cast<std::size_t>(member)]->present;
}

template <class T>
int BasicClosedSystem<T>::add_closure(const Closure& closure, int member_a, int member_b) {
  detail::ClosedData<T>& d = *data_;
  Closure checked = closure;
  check(checked);
  detail::ClosedEnd<T> a = d.end(checked, false, member_a);
  detail::ClosedEnd<T> b = d.end(checked, true, member_b);
  if (closure.kind == ClosureKind::hinges
          ? a.velocity == b.velocity && member_a == member_b
          : member_a == member_b && closure.a.body == closure.b.body && closure.a.X_BN == closure.b.X_BN) {
    throw ArgumentError(fmt::format("closure '{}' joins '{}' to itself", closure.name, closure.a.name));
  }
  const auto free = std::find_if(d.closures.begin(), d.closures.end(), [](const auto& c) { return !c->exists; });
  const auto number = static_cast<std::size_t>(free - d.closures.begin());
  if (free == d.closures.end()) {
    d.closures.push_back(std::make_unique<detail::ClosedClosure<T>>());
  }
  detail::ClosedClosure<T>& c = *d.closures[number];
  c.closure = checked;
  c.exists = c.present = true;
  c.stamp = ++d.stamps;
  c.changeable = false;
  c.rows = closure_rows(checked);
  c.a = a;
  c.b = b;
  c.asked = {};
  c.asks = false;
  c.force = {};
  c.equations.keeps = true;
  c.directed = false;
  c.equations.constant = false;
  d.place(c);
  d.count();
  return static_cast<int>(number);
}

template <class T>
void BasicClosedSystem<T>::remove_closure(int closure) {
  detail::ClosedClosure<T>& c = data_->at(closure);
  c.exists = c.present = false;
  data_->count();
}

template <class T>
void BasicClosedSystem<T>::attach(int closure) {
  detail::ClosedClosure<T>& c = data_->at(closure);
  c.stale = c.stale || !c.present;
  c.present = true;
  data_->count();
}

template <class T>
void BasicClosedSystem<T>::detach(int closure) {
  data_->at(closure).present = false;
  data_->count();
}

template <class T>
bool BasicClosedSystem<T>::is_attached(int closure) const {
  return data_->at(closure).present;
}

template <class T>
void BasicClosedSystem<T>::change_closure(int closure, const Closure& with) {
  detail::ClosedClosure<T>& c = data_->at(closure);
  const bool ties = c.closure.kind == ClosureKind::hinges;
  if (ties != (with.kind == ClosureKind::hinges)) {
    throw ArgumentError(fmt::format("closure '{}' cannot become one of {}: remove it and add another", c.closure.name,
                                    ties ? "nodes" : "hinges"));
  }
  Closure next = c.closure;
  next.kind = with.kind;
  next.hinge = with.hinge;
  next.length = with.length;
  next.rows = with.rows;
  next.polynomial = with.polynomial;
  next.reference_a = with.reference_a;
  next.reference_b = with.reference_b;
  check(next);
  const bool relative = !ties && next.kind != ClosureKind::rows && c.closure.kind != ClosureKind::rows;
  c.closure = std::move(next);
  c.rows = closure_rows(c.closure);
  if (!relative || !c.changeable) {
    c.stale = true;
  }
  c.changeable = relative;
  c.equations.constant = false;
  c.directed = false;
  c.stamp = ++data_->stamps;
  c.asked = {};
  c.asks = false;
  data_->count();
}

template <class T>
int BasicClosedSystem<T>::closure_index(std::string_view name) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < data_->closures.size(); ++i) {
    if (data_->closures[i]->exists) {
      if (data_->closures[i]->closure.name == name) {
        return static_cast<int>(i);
      }
      known.push_back(data_->closures[i]->closure.name);
    }
  }
  throw ArgumentError(fmt::format("the closed system has no closure '{}'{}", name, detail::did_you_mean(name, known)));
}

template <class T>
int BasicClosedSystem<T>::closures() const {
  return static_cast<int>(data_->closures.size());
}

template <class T>
bool BasicClosedSystem<T>::has_closure(int closure) const {
  return closure >= 0 && closure < closures() && data_->closures[static_cast<std::size_t>(closure)]->exists;
}

template <class T>
const Closure& BasicClosedSystem<T>::closure(int closure) const {
  return data_->at(closure).closure;
}

template <class T>
void BasicClosedSystem<T>::set_rate(int closure, In<T> rate) {
  detail::ClosedClosure<T>& c = data_->at(closure);
  const std::span<const T> given = detail::given(rate, c.rows, "rate");
  std::copy(given.begin(), given.end(), c.asked.begin());
  c.asks = std::any_of(given.begin(), given.end(), [](T x) { return x != T(0); });
  data_->count();
}

template <class T>
BasicState<T>& BasicClosedSystem<T>::state(int member) {
  return data_->member(member).state;
}

template <class T>
void BasicClosedSystem<T>::set(const Input<T>& q, const Input<T>& v) {
  detail::ClosedData<T>& d = *data_;
  const std::span<const T> positions = detail::given(q, d.nq, "q");
  const std::span<const T> velocities = detail::given(v, d.nv, "v");
  for (const auto& m : d.members) {
    if (m->present) {
      m->state.set(
          positions.subspan(static_cast<std::size_t>(m->first_q), static_cast<std::size_t>(m->state.model().nq())),
          velocities.subspan(static_cast<std::size_t>(m->first_v), static_cast<std::size_t>(m->state.model().nv())));
    }
  }
}

template <class T>
int BasicClosedSystem<T>::nq() const {
  return data_->nq;
}
template <class T>
int BasicClosedSystem<T>::nv() const {
  return data_->nv;
}
template <class T>
int BasicClosedSystem<T>::first(int member) const {
  return data_->member(member).first_v;
}
template <class T>
int BasicClosedSystem<T>::rows() const {
  return data_->rows;
}
template <class T>
void BasicClosedSystem<T>::set_rank_tolerance(double tolerance) {
  if (!(tolerance > 0) || !(tolerance < 1)) {
    throw ArgumentError(fmt::format("a rank tolerance of {} is not between 0 and 1", tolerance));
  }
  data_->tolerance = tolerance;
  data_->generic_ranks.clear();
  data_->count();
}

template class BasicClosedSystem<double>;
template class BasicClosedSystem<float>;

}  // namespace bunraku
