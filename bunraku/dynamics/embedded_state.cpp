#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/embedded_data.hpp"

namespace bunraku {

namespace detail {

namespace {

kernels::TreeOptions embedding(const std::vector<int>& closures) {
  kernels::TreeOptions out;
  out.embedded = closures;
  return out;
}

}  // namespace

template <class T>
EmbeddedData<T>::EmbeddedData(const Model& model, std::vector<int> c, PassiveForces passive, double t)
    : open(model, passive),
      closures(std::move(c)),
      tolerance(t),
      tree(std::make_shared<const kernels::Tree>(model, detail::embedding(closures))),
      embedding(*tree, closures),
      sweeps(kernels::make_sweeps<T>(tree)),
      plans(kernels::loop_plans(*tree)),
      free(embedding.clusters().size()),
      old_q(static_cast<std::size_t>(model.nq())),
      old_v(nv()),
      full(static_cast<std::size_t>(tree->coordinates.nv)),
      full_solution(full.size()),
      user(nv()),
      residual(nv()),
      reaction(embedding.rows()) {
  for (const kernels::Loop& loop : embedding.loops()) {
    rows.push_back(loop.first_row);
  }
  rows.push_back(static_cast<int>(embedding.rows()));
  add_groups();
}

template <class T>
void EmbeddedData<T>::add_groups() {
  const std::vector<kernels::Follower<double>>& velocities = tree->coordinates.velocities;
  std::vector<const kernels::LoopCluster*> cluster_of(nv());
  for (const kernels::LoopCluster& c : embedding.clusters()) {
    for (const int j : c.links->coordinates) {
      cluster_of[static_cast<std::size_t>(velocities[static_cast<std::size_t>(j)].own)] = &c;
    }
  }
  std::vector<bool> seen(embedding.clusters().size());
  for (std::size_t i = 0; i < nv(); ++i) {
    if (const kernels::LoopCluster* c = cluster_of[i]; c == nullptr) {
      groups.push_back({.users = {static_cast<int>(i)}});
    } else if (!seen[static_cast<std::size_t>(c->links->embedded)]) {
      seen[static_cast<std::size_t>(c->links->embedded)] = true;
      groups.push_back({.cluster = c->links->embedded, .basis = c->basis});
      for (const int j : c->links->coordinates) {
        groups.back().users.push_back(velocities[static_cast<std::size_t>(j)].own);
      }
    }
  }
}

template <class T>
void EmbeddedData<T>::check() const {
  const auto name = [&](const kernels::Loop& loop) -> std::string_view {
    return open.model().closures()[static_cast<std::size_t>(loop.closure)].name;
  };
  for (const kernels::Loop& loop : embedding.loops()) {
    if (!(loop.gap <= tolerance)) {
      throw ArgumentError(fmt::format(
          "q leaves closure '{}' open by {:.3g} of its loop's size, or rad, which is more than {:.3g}: give a "
          "configuration that closes it",
          name(loop), loop.gap, tolerance));
    }
    if (!(loop.slip <= tolerance)) {
      throw ArgumentError(fmt::format(
          "v opens closure '{}' at {:.3g} of what it could at that speed, which is more than {:.3g}: give a "
          "velocity that fits it",
          name(loop), loop.slip, tolerance));
    }
  }
  const kernels::Loop* loop = nullptr;
  if (const double lack = embedding.contradiction(&loop); !(lack <= kernels::looser_in_rates * tolerance)) {
    throw ArgumentError(fmt::format(
        "no acceleration keeps closure '{}' closed with this v: what is left is {:.3g} of what it could be; "
        "the pose is singular, and v leads where the loops cannot follow",
        name(*loop), lack));
  }
}

template <class T>
void EmbeddedData<T>::need() {
  StateData<T>& s = open.data();
  if (version == s.version) {
    return;
  }
  version = equations = 0;
  sweeps->set_state(s.q.data(), s.v().data());
  if (sweeps->free_loops(plans, tolerance, free.data())) {
    independent = free.data();
  } else {
    embedding.set_state(s.q.data(), s.v().data());
    check();
    equations = s.version;
    embed();
  }
  version = s.version;
}

template <class T>
void EmbeddedData<T>::embed() {
  independent = embedding.independent().data();
  sweeps->set_embedding(embedding.basis(), embedding.bias(), independent);
}

template <class T>
void EmbeddedData<T>::need_equations() {
  need();
  if (equations == version) {
    return;
  }
  embedding.set_state(open.data().q.data(), open.data().v().data());
  if (!std::equal(free.begin(), free.end(), embedding.independent().begin())) {  // what is at the edge of being free
    check();
    embed();
  }
  equations = version;
}

template <class T>
void EmbeddedData<T>::count() {
  degrees = 0;
  for (EmbeddedGroup& group : groups) {
    group.first = degrees;
    group.independent = group.cluster < 0 ? 1 : static_cast<std::size_t>(independent[group.cluster]);
    degrees += group.independent;
  }
}

template <class T>
void EmbeddedData<T>::place_torques(std::span<const T> torque, Forces<T> forces) {
  StateData<T>& s = open.data();
  s.check_forces(forces);
  std::copy(torque.begin(), torque.end(), user.begin());
  for (T& each : user) {
    each = -each;
  }
  s.subtract_applied(forces, user);
  for (T& each : user) {
    each = -each;
  }
  s.coordinates.place(user, full);
  s.subtract_passive(full);
}

template struct EmbeddedData<double>;
template struct EmbeddedData<float>;

}  // namespace detail

namespace {

/// The indices of closures given by name.
std::vector<int> chosen(const Model& model, const EmbeddingOptions& options) {
  std::vector<int> out;
  if (!options.closures) {
    for (std::size_t i = 0; i < model.closures().size(); ++i) {
      out.push_back(static_cast<int>(i));
    }
    return out;
  }
  for (const std::string& name : *options.closures) {
    const auto found = std::find_if(model.closures().begin(), model.closures().end(),
                                    [&](const Closure& each) { return each.name == name; });
    if (found == model.closures().end()) {
      std::vector<std::string> known;
      for (const Closure& each : model.closures()) {
        known.push_back(each.name);
      }
      throw ArgumentError(
          fmt::format("model '{}' has no closure '{}'{}", model.name(), name, detail::did_you_mean(name, known)));
    }
    const int index = static_cast<int>(found - model.closures().begin());
    if (std::find(out.begin(), out.end(), index) != out.end()) {
      throw ArgumentError(fmt::format("closure '{}' is named twice", name));
    }
    out.push_back(index);
  }
  return out;
}

}  // namespace

template <class T>
BasicEmbeddedState<T>::BasicEmbeddedState(const Model& model, const EmbeddingOptions& options)
    : data_(std::make_unique<detail::EmbeddedData<T>>(
          model, chosen(model, options), options.passive,
          options.tolerance.value_or(sizeof(T) == sizeof(float) ? 1e-5 : 1e-6))) {}
template <class T>
BasicEmbeddedState<T>::~BasicEmbeddedState() = default;
template <class T>
BasicEmbeddedState<T>::BasicEmbeddedState(BasicEmbeddedState&&) noexcept = default;
template <class T>
BasicEmbeddedState<T>& BasicEmbeddedState<T>::operator=(BasicEmbeddedState&&) noexcept = default;

template <class T>
BasicEmbeddedState<T>::BasicEmbeddedState(const BasicEmbeddedState& other)
    : data_(std::make_unique<detail::EmbeddedData<T>>(other.model(), other.data_->closures,
                                                      other.data_->open.passive_forces(), other.data_->tolerance)) {
  data_->open.data().copy(other.data_->open.data());
}
template <class T>
BasicEmbeddedState<T>& BasicEmbeddedState<T>::operator=(const BasicEmbeddedState& other) {
  if (this != &other) {
    *this = BasicEmbeddedState(other);
  }
  return *this;
}

template <class T>
const Model& BasicEmbeddedState<T>::model() const {
  return data_->open.model();
}

template <class T>
void BasicEmbeddedState<T>::set(const Input<T>& q, const Input<T>& v) {
  detail::EmbeddedData<T>& e = *data_;
  std::copy_n(e.open.q().data(), e.old_q.size(), e.old_q.begin());
  std::copy_n(e.open.v().data(), e.old_v.size(), e.old_v.begin());
  e.open.set(q, v);
  try {
    e.need();
  } catch (...) {
    e.open.set(e.old_q, e.old_v);
    throw;
  }
}

template <class T>
void BasicEmbeddedState<T>::set(const Input<T>& q) {
  set(q, data_->open.data().rest());
}

template <class T>
BasicState<T>& BasicEmbeddedState<T>::open() {
  return data_->open;
}

template <class T>
std::span<const int> BasicEmbeddedState<T>::closures() const {
  return data_->closures;
}

template <class T>
std::span<const int> BasicEmbeddedState<T>::rows() const {
  return data_->rows;
}

template class BasicEmbeddedState<double>;
template class BasicEmbeddedState<float>;

}  // namespace bunraku
