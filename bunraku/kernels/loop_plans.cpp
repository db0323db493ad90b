#include "bunraku/kernels/loop_plans.hpp"

#include <algorithm>

#include "bunraku/kernels/index.hpp"

namespace bunraku::kernels {

namespace {

/// How many axes of the nodes are the same where a closure is closed; −1 where its directions are not constant, or
/// where to see how far it is open takes more.
int common_axes(const Closure& closure) {
  switch (closure.kind) {
    case ClosureKind::plane:
    case ClosureKind::line:
      return 0;
    case ClosureKind::nodes:
      switch (closure.hinge.type) {
        case HingeType::spherical:
          return 0;
        case HingeType::revolute:
        case HingeType::continuous:
          return 1;
        case HingeType::fixed:
          return 3;
        default:
          return -1;
      }
    default:
      return -1;
  }
}

class LoopPlanner {
 public:
  LoopPlanner(const Tree& tree, const CoupledLinks& c) : tree_(tree), c_(c) { plan_.links = &c; }

  /// False where it cannot be done.
  bool make() {
    int velocities = 0;
    for (int k = c_.begin; k < c_.end; ++k) {
      velocities += tree_.links[at(k)].nv;
    }
    if (velocities > most_loop_numbers || c_.end - c_.begin > most_loop_numbers) {
      return false;
    }
    for (const int closure : c_.closures) {
      if (!add(closure)) {
        return false;
      }
    }
    if (plan_.rows > most_loop_numbers) {
      return false;
    }
    add_points();
    return true;
  }
  LoopPlan take() { return std::move(plan_); }

 private:
  /// A pose on a body as one on a link of the cluster, or on what carries it.
  LoopPoint on_link(int body, const Transform<double>& X_BN, Mat3<double>& turn) const {
    const BodyPlace* place = body == world ? nullptr : &tree_.bodies[at(body)];
    Transform<double> X = place == nullptr ? X_BN : place->X_LB * X_BN;
    const int link = place == nullptr ? -1 : place->link;
    if (link < 0) {  // the world's frame is turned, too
      X = Transform<double>::rotate(tree_.world_turn).inverse() * X;
    }
    turn = X.rotation.matrix();
    return {link >= c_.begin ? link - c_.begin : -1, X.translation, squared_norm(X.translation) == 0};
  }
  std::vector<int> way(const LoopPoint& from) const {
    std::vector<int> out;
    for (int k = from.place; k >= 0; k = tree_.links[at(c_.begin + k)].parent - c_.begin) {
      out.push_back(k);
    }
    return out;
  }

  bool moved_once(const LoopTie& tie) const {
    std::vector<int> moved(c_.coordinates.size());
    for (const std::vector<int>* each : {&tie.way_a, &tie.way_b}) {
      for (const int place : *each) {
        const Link<double>& l = tree_.links[at(c_.begin + place)];
        for (int j = l.v; j < l.v + l.nv; ++j) {
          moved[at(tree_.within[at(j)].own)] += tree_.within[at(j)].ratio == 1 ? 1 : 2;
        }
      }
    }
    return std::all_of(moved.begin(), moved.end(), [](int count) { return count == 1; });
  }

  bool add(int index) {
    const Closure& closure = tree_.model.closures()[at(index)];
    LoopTie tie;
    tie.closure = index;
    tie.first = plan_.rows;
    if (closure.kind == ClosureKind::hinges) {
      tie.hinges = true;
      tie.rows = 1;
    } else {
      tie.axes = common_axes(closure);
      if (tie.axes < 0 || !add_nodes(closure, tie)) {
        return false;
      }
    }
    plan_.rows += tie.rows;
    plan_.ties.push_back(std::move(tie));
    return true;
  }
  bool add_nodes(const Closure& closure, LoopTie& tie) const {
    ClosureEquations<double> equations{.keeps = true};
    closure_positions(closure, Transform<double>::identity(), equations);
    if (!equations.constant) {
      return false;
    }
    tie.rows = equations.rows;
    tie.apart = closure.kind != ClosureKind::nodes;
    Mat3<double> turn_a;
    Mat3<double> turn_b;
    tie.a = on_link(closure.a.body, closure.a.X_BN, turn_a);
    tie.b = on_link(closure.b.body, closure.b.X_BN, turn_b);
    tie.way_a = way(tie.a);
    tie.way_b = way(tie.b);
    tie.once = moved_once(tie);
    std::fill_n(tie.sizes.x, closure_lanes, 1.0);
    for (int i = 0; i < tie.rows; ++i) {
      const Force<double>& N = equations.directions[at(i)];
      const Force<double> turned{turn_a * N.moment, turn_a * N.force};
      for (int j = 0; j < 6; ++j) {
        tie.N[at(j)].x[i] = turned[j];
      }
      tie.sizes.x[i] = tie.squared_moments.x[i] = squared_norm(N.moment);
      tie.squared_forces.x[i] = squared_norm(N.force);
    }
    for (int i = 0; i < tie.axes; ++i) {
      const Vec3<double> axis = tie.axes == 1 ? closure.hinge.axis
                                : i == 0      ? Vec3<double>::unit_x()
                                : i == 1      ? Vec3<double>::unit_y()
                                              : Vec3<double>::unit_z();
      tie.axes_a[at(i)] = turn_a * axis;
      tie.axes_b[at(i)] = turn_b * axis;
    }
    return true;
  }
  /// Origins of the bodies on the ways, the first body's first, and the nodes.
  void add_points() {
    std::vector<int> bodies;
    const int base = c_.parent < 0 ? world : tree_.links[at(c_.parent)].body;
    const auto collect = [&](int body) {  // those of Embedding, with bodies that are fixed to c
      for (; body != base; body = tree_.model.bodies()[at(body)].parent) {
        bodies.push_back(body);
      }
    };
    for (const LoopTie& tie : plan_.ties) {
      const Closure& closure = tree_.model.closures()[at(tie.closure)];
      if (!tie.hinges) {
        collect(closure.a.body);
        collect(closure.b.body);
      }
    }
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    Mat3<double> turn;
    for (const int body : bodies) {
      plan_.points.push_back(on_link(body, Transform<double>::identity(), turn));
    }
    for (const LoopTie& tie : plan_.ties) {
      if (!tie.hinges) {
        plan_.points.push_back(tie.a);
        plan_.points.push_back(tie.b);
      }
    }
  }

  const Tree& tree_;
  const CoupledLinks& c_;
  LoopPlan plan_;
};

}  // namespace

std::vector<LoopPlan> loop_plans(const Tree& tree) {
  std::vector<LoopPlan> out;
  for (const CoupledLinks& c : tree.clusters) {
    if (c.embedded < 0) {
      continue;
    }
    LoopPlanner planner(tree, c);
    if (!planner.make()) {
      return {};
    }
    out.push_back(planner.take());
  }
  return out;
}

}  // namespace bunraku::kernels
