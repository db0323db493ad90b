#include "bunraku/dynamics/kinematics.hpp"

#include <array>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/map_rates.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"

namespace bunraku {

namespace {

/// A motion of a body, given at its origin in its axes, as `frame` wants it for a node at X_WN.
template <class T>
Motion<T> seen(const Motion<T>& h, const Transform<T>& X_WB, const Transform<T>& X_WN, Frame frame) {
  if (frame == Frame::world) {
    return X_WB * h;
  }
  const Motion<T> at_node = PhiAdjoint<T>(X_WN.translation - X_WB.translation) * (X_WB.rotation * h);
  return frame == Frame::aligned ? at_node : X_WN.rotation.inverse() * at_node;
}

/// Where the rows of a Jacobian begin among the six.
int first_row(Rows rows) {
  return rows == Rows::linear ? 3 : 0;
}
/// How many rows there are.
int row_count(Rows rows) {
  return rows == Rows::all ? 6 : 3;
}

/// Adds the column of one of all hinges' velocities to the user's matrix.
template <class T>
void add_column(const Motion<T>& h, const kernels::Follower<T>& follower, Rows rows, const detail::MatrixSpan<T>& out) {
  const int first = first_row(rows);
  for (int i = 0; i < row_count(rows); ++i) {
    out(i, follower.own) += follower.ratio * h[first + i];
  }
}

/// A velocity given at a node in its own axes, as `frame` wants it.
template <class T>
Motion<T> shown(const Motion<T>& in_node, const Transform<T>& X_WN, Frame frame) {
  switch (frame) {
    case Frame::node:
      return in_node;
    case Frame::aligned:
      return X_WN.rotation * in_node;
    case Frame::world:
      break;
  }
  return X_WN * in_node;
}

/// J̇θ̇ of a node.
template <class T>
Motion<T> bias_of(detail::StateData<T>& s, const Place& place, Frame frame) {
  s.blocks.need_world();
  s.blocks.need_velocities();
  const Transform<T>& X_WB = s.blocks.X_WB(place.body);
  const Transform<T> X_WN = X_WB * kernels::cast<T>(place.X_BN);
  const Vec3<T> l = X_WN.translation - X_WB.translation;
  const Motion<T> V = PhiAdjoint<T>(l) * (X_WB.rotation * s.blocks.V(place.body));
  Motion<T> rate{Vec3<T>::zero(), cross(V.angular, cross(V.angular, l))};  // a(0)
  for (int k = place.body; k != world; k = s.blocks.parent(k)) {           // J̇θ̇ = B*φ*a + a(0) (from RK92 9 and 25)
    rate += seen(s.blocks.a(k), s.blocks.X_WB(k), X_WN, Frame::aligned);
  }
  if (frame == Frame::aligned) {
    return rate;
  }
  // ω × v is not seen at a point that stands still, nor in axes that turn with the node
  rate.linear -= cross(V.angular, V.linear);
  return frame == Frame::node ? X_WN.rotation.inverse() * rate : PhiAdjoint<T>(-X_WN.translation) * rate;
}

}  // namespace

template <class T>
Transform<T> pose(BasicState<T>& state, const NodeRef& node) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  s.blocks.need_world();
  return s.blocks.X_WB(place.body) * kernels::cast<T>(place.X_BN);
}

template <class T>
Motion<T> velocity(BasicState<T>& state, const NodeRef& node, Frame frame) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  const Transform<T> X_BN = kernels::cast<T>(place.X_BN);
  s.blocks.need_world();
  s.blocks.need_velocities();
  return shown(inverse_times(X_BN, s.blocks.V(place.body)), s.blocks.X_WB(place.body) * X_BN, frame);
}

template <class T>
Motion<T> acceleration(BasicState<T>& state, const NodeRef& node, Frame frame, In<T> acceleration) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  s.coordinates.spread(detail::given(acceleration, s.nv(), "acceleration"), s.full);
  Motion<T> rate = bias_of(s, place, frame);
  const Transform<T> X_WN = s.blocks.X_WB(place.body) * kernels::cast<T>(place.X_BN);
  for (int k = place.body; k != world; k = s.blocks.parent(k)) {
    Motion<T> relative = Motion<T>::zero();
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      relative += s.blocks.H(j) * s.full[static_cast<std::size_t>(j)];
    }
    rate += seen(relative, s.blocks.X_WB(k), X_WN, frame);
  }
  return rate;
}

template <class T>
void jacobian(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> matrix, Rows rows) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  const auto out = detail::wanted(matrix, row_count(rows), s.nv(), "the Jacobian");
  s.blocks.need_world();
  out.set_zero();
  const Transform<T> X_WN = s.blocks.X_WB(place.body) * kernels::cast<T>(place.X_BN);
  for (int k = place.body; k != world; k = s.blocks.parent(k)) {  // J = B*φ*H* (RK92 20, RJK89 2.13)
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      add_column(seen(s.blocks.H(j), s.blocks.X_WB(k), X_WN, frame),
                 s.coordinates.velocities[static_cast<std::size_t>(j)], rows, out);
    }
  }
}

template <class T>
void jacobian_rate(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> matrix, Rows rows) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  const auto out = detail::wanted(matrix, row_count(rows), s.nv(), "the Jacobian's rate");
  s.blocks.need_world();
  s.blocks.need_velocities();
  out.set_zero();
  const Transform<T> X_BN = kernels::cast<T>(place.X_BN);
  const Transform<T> X_WN = s.blocks.X_WB(place.body) * X_BN;
  // U: how the frame of reference itself moves, at its origin in its axes
  const Motion<T> V = inverse_times(X_BN, s.blocks.V(place.body));
  const Motion<T> U = frame == Frame::node      ? V
                      : frame == Frame::aligned ? Motion<T>{Vec3<T>::zero(), X_WN.rotation * V.linear}
                                                : Motion<T>::zero();
  for (int k = place.body; k != world; k = s.blocks.parent(k)) {
    s.rate_columns(k);
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const Transform<T>& X_WB = s.blocks.X_WB(k);
      const Motion<T> moving = cross(U, seen(s.blocks.H(j), X_WB, X_WN, frame));
      add_column(seen(s.column_rate[at], X_WB, X_WN, frame) - moving, s.coordinates.velocities[at], rows, out);
    }
  }
}

template <class T>
Motion<T> jacobian_bias(BasicState<T>& state, const NodeRef& node, Frame frame) {
  detail::StateData<T>& s = state.data();
  return bias_of(s, node.place(s.model), frame);
}

// Seen from a frame that stands still, a column S(i) that lies farther in than S(j), or on its body, carries it along:
// S(i) × S(j). A frame that moves with the node takes off S(i) × S(j) in any case, one that moves with its point alone
// what the point's velocity does.
template <class T>
void jacobian_dq(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const Place place = node.place(s.model);
  const std::ptrdiff_t n = s.nv();
  const auto out = detail::wanted(matrix, 6, n * n, "the Jacobian's derivative");
  s.blocks.need_world();
  out.set_zero();
  const Transform<T> X_WN = s.blocks.X_WB(place.body) * kernels::cast<T>(place.X_BN);
  const auto add = [&](int i, int j, const Motion<T>& change) {
    const kernels::Follower<T>& along = s.coordinates.velocities[static_cast<std::size_t>(i)];
    const kernels::Follower<T>& column = s.coordinates.velocities[static_cast<std::size_t>(j)];
    for (int row = 0; row < 6; ++row) {
      out(row, along.own * n + column.own) += along.ratio * column.ratio * change[row];
    }
  };
  const auto columns_of = [&](int k, auto&& f) {
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      f(j, seen(s.blocks.H(j), s.blocks.X_WB(k), X_WN, frame));
    }
  };
  for (int k = place.body; k != world; k = s.blocks.parent(k)) {
    columns_of(k, [&](int j, const Motion<T>& S_j) {
      for (int p = k; p != world; p = s.blocks.parent(p)) {
        columns_of(p, [&](int i, const Motion<T>& S_i) {
          if (frame != Frame::node) {
            add(i, j, cross(S_i, S_j));
          } else if (p != k) {
            add(j, i, cross(S_i, S_j));
          }
          if (frame == Frame::aligned) {
            add(i, j, {Vec3<T>::zero(), cross(S_j.angular, S_i.linear)});
            if (p != k) {
              add(j, i, {Vec3<T>::zero(), cross(S_i.angular, S_j.linear)});
            }
          }
        });
      }
    });
    if (kernels::has_changing_map(s.model.bodies()[static_cast<std::size_t>(k)].hinge)) {
      const detail::MapRates<T> map(s, k);
      const int first = s.blocks.first(k);
      for (int i = 0; i < map.nv(); ++i) {
        for (int c = 0; c < map.nv(); ++c) {
          add(first + i, first + c, seen(map.rate(i, c), s.blocks.X_WB(k), X_WN, frame));
        }
      }
    }
  }
}

template Transform<double> pose(BasicState<double>&, const NodeRef&);
template Motion<double> velocity(BasicState<double>&, const NodeRef&, Frame);
template Motion<double> acceleration(BasicState<double>&, const NodeRef&, Frame, In<double>);
template void jacobian(BasicState<double>&, const NodeRef&, Frame, MatrixOut<double>, Rows);
template void jacobian_rate(BasicState<double>&, const NodeRef&, Frame, MatrixOut<double>, Rows);
template Motion<double> jacobian_bias(BasicState<double>&, const NodeRef&, Frame);
template void jacobian_dq(BasicState<double>&, const NodeRef&, Frame, MatrixOut<double>);
template Transform<float> pose(BasicState<float>&, const NodeRef&);
template Motion<float> velocity(BasicState<float>&, const NodeRef&, Frame);
template Motion<float> acceleration(BasicState<float>&, const NodeRef&, Frame, In<float>);
template void jacobian(BasicState<float>&, const NodeRef&, Frame, MatrixOut<float>, Rows);
template void jacobian_rate(BasicState<float>&, const NodeRef&, Frame, MatrixOut<float>, Rows);
template Motion<float> jacobian_bias(BasicState<float>&, const NodeRef&, Frame);
template void jacobian_dq(BasicState<float>&, const NodeRef&, Frame, MatrixOut<float>);

}  // namespace bunraku
