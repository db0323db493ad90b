#include "bunraku/dynamics/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <Eigen/SVD>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku {

namespace {

/// Smaller singular values of Y than this, relative, are left out of a step, and steps are at most this long.
constexpr double truncated = 1e-6;
constexpr double longest = 0.3;

template <class T>
struct Search {
  using Vector = VectorX<T>;

  explicit Search(BasicClosedSystem<T>& s) : system(s), d(s.data()), q(s.nq()) {}

  BasicClosedSystem<T>& system;
  detail::ClosedData<T>& d;
  Vector q;

  void load() {
    for (const auto& m : d.members) {
      if (m->present) {
        q.segment(m->first_q, m->state.model().nq()) = m->state.q();
      }
    }
  }
  void store() {
    const Vector rest = Vector::Zero(d.nv);
    system.set(q, rest);
  }
  void move(const Vector& v) {
    for (const auto& m : d.members) {
      if (m->present) {
        const Model& model = m->state.model();
        const Vector from = q.segment(m->first_q, model.nq());
        q.segment(m->first_q, model.nq()) = integrate(model, from, Vector(v.segment(m->first_v, model.nv())), T(1));
      }
    }
  }
  /// Calls f(member, body, dof, index of the position, index of the velocity) for coordinates that have limits.
  template <class F>
  void for_each_limit(F&& f) {
    for (const auto& m : d.members) {
      if (!m->present) {
        continue;
      }
      for (const Body& body : m->state.model().bodies()) {
        if (body.nq != body.nv || body.hinge.type == HingeType::custom) {
          continue;
        }
        for (int j = 0; j < body.nv; ++j) {
          const HingeDof& dof = body.hinge.dofs[static_cast<std::size_t>(j)];
          if (std::isfinite(dof.lower) || std::isfinite(dof.upper)) {
            f(body, dof, m->first_q + body.q_index + j, m->first_v + body.v_index + j);
          }
        }
      }
    }
  }
  /// Puts coordinates back within their limits, and marks those that stand there.
  void clamp(std::vector<bool>& held) {
    for_each_limit([&](const Body&, const HingeDof& dof, int position, int velocity) {
      T& x = q(position);
      const T inside = std::clamp(x, static_cast<T>(dof.lower), static_cast<T>(dof.upper));
      held[static_cast<std::size_t>(velocity)] =
          inside != x || x == static_cast<T>(dof.lower) || x == static_cast<T>(dof.upper);
      x = inside;
    });
  }
};

/// One guess: as many steps as it takes. Returns the largest gap.
template <class T>
T descend(Search<T>& search, const AssemblyOptions& options, T tolerance, int& steps, std::vector<bool>& held) {
  using Matrix = MatrixX<T>;
  detail::ClosedData<T>& d = search.d;
  VectorX<T> gap(d.rows);
  Matrix Y(d.rows, d.nv);
  T open = std::numeric_limits<T>::infinity();
  int stuck = 0;
  for (steps = 0; steps <= options.steps; ++steps) {
    search.store();
    closure_gap(search.system, gap);
    const T now = d.rows > 0 ? gap.cwiseAbs().maxCoeff() : T(0);
    stuck = now < T(0.99) * open ? 0 : stuck + 1;
    open = std::min(open, now);
    if (now <= tolerance || steps == options.steps || stuck > 25) {
      return now;
    }
    closure_jacobian(search.system, Y);
    const VectorX<T> wanted = -gap;
    VectorX<T> step = VectorX<T>::Zero(d.nv);
    std::vector<bool> fixed(held.size(), false);
    for (int again = 0; again < 2; ++again) {  // those that would leave their limits are held the second time
      Matrix free = Y;
      for (int j = 0; j < d.nv; ++j) {
        if (fixed[static_cast<std::size_t>(j)]) {
          free.col(j).setZero();
        }
      }
      Eigen::JacobiSVD<Matrix> svd(free, Eigen::ComputeThinU | Eigen::ComputeThinV);
      svd.setThreshold(static_cast<T>(truncated));
      step = svd.solve(wanted);
      const T length = step.cwiseAbs().maxCoeff();
      if (length > T(longest)) {
        step *= T(longest) / length;
      }
      bool leaves = false;
      if (options.limits) {
        search.for_each_limit([&](const Body&, const HingeDof& dof, int position, int velocity) {
          const T x = search.q(position);
          const T s = step(velocity);
          if ((x <= static_cast<T>(dof.lower) && s < T(0)) || (x >= static_cast<T>(dof.upper) && s > T(0))) {
            fixed[static_cast<std::size_t>(velocity)] = leaves = true;
          }
        });
      }
      if (!leaves) {
        break;
      }
    }
    search.move(step);
    if (options.limits) {
      search.clamp(held);
    }
  }
  return open;
}

}  // namespace

namespace detail {

namespace {

/// The same trees and closures at the same configuration, to be moved about.
template <class T>
std::unique_ptr<BasicClosedSystem<T>> twin_of(const ClosedData<T>& d) {
  std::unique_ptr<BasicClosedSystem<T>> twin;
  std::vector<int> number(d.members.size(), -1);
  for (std::size_t i = 0; i < d.members.size(); ++i) {
    const ClosedMember<T>& m = *d.members[i];
    if (!m.present) {
      continue;
    }
    if (twin == nullptr) {
      twin = std::make_unique<BasicClosedSystem<T>>(m.state.model(), PassiveForces::left_out);
      number[i] = 0;
    } else {
      number[i] = twin->add_member(m.state.model(), m.role, PassiveForces::left_out);
    }
    twin->state(number[i]).set(VectorX<T>(m.state.q()), VectorX<T>(VectorX<T>::Zero(m.state.model().nv())));
  }
  for (int i = 0; i < twin->closures(); ++i) {
    twin->remove_closure(i);
  }
  for (const auto& c : d.closures) {
    if (c->present) {
      twin->add_closure(c->closure, number[index(c->a.member)], number[index(c->b.member)]);
    }
  }
  twin->set_rank_tolerance(d.tolerance);
  twin->data().looks_around = false;
  return twin;
}

/// Puts a system at closed configurations near where it is, a few, until f says that it is enough.
template <class T, class F>
void for_each_near(BasicClosedSystem<T>& system, double far, F&& f) {
  constexpr int tries = 3;
  Search<T> search(system);
  search.load();
  const VectorX<T> start = search.q;
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same places every time
  std::uniform_real_distribution<double> spread(-far, far);
  for (int i = 0; i < tries; ++i) {
    search.q = start;
    VectorX<T> away(system.nv());
    for (Eigen::Index k = 0; k < away.size(); ++k) {
      away(k) = static_cast<T>(spread(random));
    }
    search.move(away);
    search.store();
    if (assemble(system, AssemblyOptions{.guesses = 1, .limits = false}).closed && f()) {
      return;
    }
  }
}

/// An orthonormal basis of the forces that do nothing, rows of Y scaled.
template <class T>
MatrixX<T> idle_forces(BasicClosedSystem<T>& system, const std::vector<T>& scale, int rank) {
  MatrixX<T> Y(system.rows(), system.nv());
  closure_jacobian(system, Y);
  for (Eigen::Index i = 0; i < Y.rows(); ++i) {
    Y.row(i) /= scale[static_cast<std::size_t>(i)];
  }
  const Eigen::JacobiSVD<MatrixX<T>> svd(Y, Eigen::ComputeFullU);
  return svd.matrixU().rightCols(Y.rows() - rank);
}

}  // namespace

template <class T>
int rank_near_by(const ClosedData<T>& d) {
  constexpr double far = 0.1;  // rad, m
  int rank = 0;
  const auto twin = twin_of(d);
  for_each_near<T>(*twin, far, [&] {
    rank = std::max(rank, closure_report(*twin).rank);
    return false;
  });
  return rank;
}

template int rank_near_by(const ClosedData<double>&);
template int rank_near_by(const ClosedData<float>&);

}  // namespace detail

template <class T>
std::vector<std::vector<T>> singular_directions(BasicClosedSystem<T>& system) {
  constexpr double far = 1e-4;  // near enough for those of redundant closures to be as they are here
  std::vector<std::vector<T>> out;
  const ClosureReport report = closure_report(system);
  if (!report.singular) {
    return out;
  }
  const std::vector<T> scale = system.data().scale;
  const MatrixX<T> here = detail::idle_forces(system, scale, report.rank);
  const auto twin = detail::twin_of(system.data());
  detail::for_each_near<T>(*twin, far, [&] {
    const int rank = closure_report(*twin).rank;
    if (rank <= report.rank) {
      return false;
    }
    const MatrixX<T> seen = here.transpose() * detail::idle_forces(*twin, scale, rank);
    const Eigen::JacobiSVD<MatrixX<T>> svd(seen, Eigen::ComputeFullU);
    const MatrixX<T> lost = here * svd.matrixU().rightCols(rank - report.rank);
    for (Eigen::Index j = 0; j < lost.cols(); ++j) {
      VectorX<T> force = lost.col(j);
      for (Eigen::Index i = 0; i < force.size(); ++i) {
        force(i) /= scale[static_cast<std::size_t>(i)];
      }
      force.normalize();
      out.emplace_back(force.begin(), force.end());
    }
    return true;
  });
  return out;
}

template <class T>
AssemblyResult assemble(BasicClosedSystem<T>& system, const AssemblyOptions& options) {
  detail::ClosedData<T>& d = system.data();
  Search<T> search(system);
  search.load();
  const VectorX<T> start = search.q;
  const T tolerance = static_cast<T>(std::is_same_v<T, float> ? std::max(options.tolerance, 1e-5) : options.tolerance);
  std::mt19937 random(options.seed);
  AssemblyResult best;
  best.residual = std::numeric_limits<double>::infinity();
  VectorX<T> best_q = start;
  std::vector<bool> best_held(static_cast<std::size_t>(d.nv));
  for (int guess = 0; guess < std::max(options.guesses, 1); ++guess) {
    search.q = start;
    std::vector<bool> held(static_cast<std::size_t>(d.nv));
    if (guess > 0) {
      std::uniform_real_distribution<double> spread(-1, 1);
      VectorX<T> away(d.nv);
      for (Eigen::Index i = 0; i < away.size(); ++i) {
        away(i) = static_cast<T>(0.2 * guess * spread(random));
      }
      search.move(away);
    }
    if (options.limits) {
      search.clamp(held);
    }
    int steps = 0;
    const auto open = static_cast<double>(descend(search, options, tolerance, steps, held));
    best.guesses = guess + 1;
    if (open < best.residual) {
      best.residual = open;
      best.steps = steps;
      best_q = search.q;
      best_held = held;
    }
    if (open <= static_cast<double>(tolerance)) {
      break;
    }
  }
  search.q = best_q;
  search.store();
  best.closed = best.residual <= static_cast<double>(tolerance);
  VectorX<T> gap(d.rows);
  closure_gap(system, gap);
  T largest = T(-1);
  for (const auto& c : d.closures) {
    if (c->present && gap.segment(c->first, c->rows).cwiseAbs().maxCoeff() > largest) {
      largest = gap.segment(c->first, c->rows).cwiseAbs().maxCoeff();
      best.worst = c->closure.name;
    }
  }
  if (!best.closed) {
    std::vector<std::string> names;
    search.for_each_limit([&](const Body& body, const HingeDof&, int, int velocity) {
      if (best_held[static_cast<std::size_t>(velocity)]) {
        names.push_back(body.hinge.name);
      }
    });
    best.limited = fmt::format("{}", fmt::join(names, ", "));
  }
  return best;
}

namespace {

/// The closure whose row that is.
template <class T>
const std::string& owner(const detail::ClosedData<T>& d, Eigen::Index row) {
  const auto found = std::find_if(d.closures.begin(), d.closures.end(), [&](const auto& c) {
    return c->present && row >= c->first && row < c->first + c->rows;
  });
  return (*found)->closure.name;
}

}  // namespace

template <class T>
void settle(BasicClosedSystem<T>& system, OffClosures how, double tolerance) {
  detail::ClosedData<T>& d = system.data();
  if (how == OffClosures::keep || d.rows == 0) {
    return;
  }
  const auto within = static_cast<T>(std::is_same_v<T, float> ? std::max(tolerance, 1e-4) : tolerance);
  Eigen::Index row = 0;
  VectorX<T> rates(d.rows);
  VectorX<T> gap = closure_gap(system);
  if (gap.cwiseAbs().maxCoeff(&row) > within) {
    if (how != OffClosures::assemble) {
      throw Error(fmt::format("closure '{}' is open by {:.3g}: assemble the configuration first", owner(d, row),
                              std::abs(gap(row))));
    }
    VectorX<T> v(d.nv);
    for (const auto& m : d.members) {
      if (m->present) {
        v.segment(m->first_v, m->state.model().nv()) = m->state.v();
      }
    }
    const AssemblyResult result = assemble(system);
    if (!result.closed) {
      throw Error(fmt::format("no configuration was found that closes '{}': {:.3g} are left after {} guesses{}{}",
                              result.worst, result.residual, result.guesses,
                              result.limited.empty() ? "" : "; at their limits: ", result.limited));
    }
    for (const auto& m : d.members) {
      if (m->present) {
        const VectorX<T> q = m->state.q();
        m->state.set(q, VectorX<T>(v.segment(m->first_v, m->state.model().nv())));
      }
    }
  }
  closure_velocity(system, rates);
  T fastest = T(1);
  for (const auto& m : d.members) {
    fastest = m->present && m->state.model().nv() > 0 ? std::max(fastest, m->state.v().cwiseAbs().maxCoeff()) : fastest;
  }
  if (rates.cwiseAbs().maxCoeff(&row) > within * fastest) {
    if (how == OffClosures::refuse) {
      throw Error(fmt::format("the velocities open closure '{}' by {:.3g} a second: project them first", owner(d, row),
                              std::abs(rates(row))));
    }
    project_velocities(system);
  }
}

template void settle(BasicClosedSystem<double>&, OffClosures, double);
template void settle(BasicClosedSystem<float>&, OffClosures, double);
template AssemblyResult assemble(BasicClosedSystem<double>&, const AssemblyOptions&);
template AssemblyResult assemble(BasicClosedSystem<float>&, const AssemblyOptions&);
template std::vector<std::vector<double>> singular_directions(BasicClosedSystem<double>&);
template std::vector<std::vector<float>> singular_directions(BasicClosedSystem<float>&);

}  // namespace bunraku
