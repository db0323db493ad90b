/// @file
/// The forms of the dynamics calls that take and return Eigen objects. They are compiled with the caller's flags.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/export.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku {

enum class ForwardAlgorithm;
template <class T>
struct AppliedForce;

/// The point and the axes in which something at a node is given.
enum class ReferenceFrame {
  node,          ///< At the node, in the node's axes.
  aligned,       ///< At the node, in the world's axes.
  world_origin,  ///< Of the body's point at the world's origin, in the world's axes.
};

/// What BasicDynamics offers for Eigen: each function is the span form of the same name, which says what it computes,
/// costs and throws, with the result returned.
template <class Derived, class T>
class DynamicsForms {
 public:
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;               ///< n numbers.
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;  ///< n×n and others.
  using Matrix6 = Eigen::Matrix<T, 6, Eigen::Dynamic>;              ///< Six rows.
  using Matrix3 = Eigen::Matrix<T, 3, Eigen::Dynamic>;              ///< Three rows.
  using VectorArgument = const Eigen::Ref<const Vector>&;           ///< Any vector, without a copy where it is one.
  using MatrixArgument = const Eigen::Ref<const Matrix>&;           ///< Any matrix, likewise.
  using Forces = std::span<const AppliedForce<T>>;                  ///< Forces from outside.

  /// See the span form.
  BUNRAKU_INLINE void set_state(VectorArgument q, VectorArgument v) { self().set_state(given(q), given(v)); }
  /// See the span form.
  BUNRAKU_INLINE Vector inverse(VectorArgument acceleration, Forces forces = {}) {
    Vector out(nv());
    self().inverse(given(acceleration), wanted(out), forces);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector forward(VectorArgument torque, Forces forces = {}) {
    Vector out(nv());
    self().forward(given(torque), wanted(out), forces);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector forward_by(ForwardAlgorithm algorithm, VectorArgument torque, Forces forces = {}) {
    Vector out(nv());
    self().forward_by(algorithm, given(torque), wanted(out), forces);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector bias() {
    Vector out(nv());
    self().bias(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector gravity_torques() {
    Vector out(nv());
    self().gravity_torques(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE std::vector<Force<T>> reactions(VectorArgument acceleration, Forces forces = {}) {
    std::vector<Force<T>> out(self().model().bodies().size());
    self().reactions(given(acceleration), out, forces);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix regressor(VectorArgument acceleration) {
    Matrix out(nv(), 10 * static_cast<Eigen::Index>(self().model().bodies().size()));
    self().regressor(given(acceleration), wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix mass_matrix() {
    Matrix out(nv(), nv());
    self().mass_matrix(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix coriolis_matrix() {
    Matrix out(nv(), nv());
    self().coriolis_matrix(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix inverse_mass_matrix() {
    Matrix out(nv(), nv());
    self().inverse_mass_matrix(wanted(out));
    return out;
  }
  /// 𝓜⁻¹x for a vector x. See the span form.
  BUNRAKU_INLINE Vector solve(VectorArgument x) {
    Vector out(nv());
    self().solve(given(x), wanted(out));
    return out;
  }
  /// 𝓜⁻¹X for the columns of X. See the span form.
  BUNRAKU_INLINE Matrix solve_columns(MatrixArgument x) {
    if (x.rows() != nv()) {
      throw ArgumentError("x has " + std::to_string(x.rows()) + " rows, the model wants " + std::to_string(nv()));
    }
    const Matrix columns = x;
    Matrix out(x.rows(), x.cols());
    self().solve({columns.data(), static_cast<std::size_t>(columns.size())}, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector square_root_times(VectorArgument x) {
    Vector out(nv());
    self().square_root_times(given(x), wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector inverse_square_root_times(VectorArgument x) {
    Vector out(nv());
    self().inverse_square_root_times(given(x), wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix hinge_inertia(int body) {
    const int n = self().model().body(body).hinge.velocity_size();
    Matrix out(n, n);
    self().hinge_inertia(body, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix6 kalman_gain(int body) {
    Matrix6 out(6, self().model().body(body).hinge.velocity_size());
    self().kalman_gain(body, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix6 shifted_gain(int body) {
    Matrix6 out(6, self().model().body(body).hinge.velocity_size());
    self().shifted_gain(body, wanted(out));
    return out;
  }
  /// Of the node or body of that name: see the span form.
  BUNRAKU_INLINE Matrix6 jacobian(std::string_view node, ReferenceFrame frame) {
    Matrix6 out(6, nv());
    self().jacobian(self().model().node(node), frame, wanted(out));
    return out;
  }
  /// Of the node or body of that name: see the span form.
  BUNRAKU_INLINE Matrix6 jacobian_rate(std::string_view node, ReferenceFrame frame) {
    Matrix6 out(6, nv());
    self().jacobian_rate(self().model().node(node), frame, wanted(out));
    return out;
  }
  /// Of the node or body of that name: see the span form.
  BUNRAKU_INLINE EigenVector6<T> jacobian_bias(std::string_view node, ReferenceFrame frame) {
    return to_eigen(self().jacobian_bias(self().model().node(node), frame));
  }
  /// See the span form.
  BUNRAKU_INLINE std::vector<Motion<T>> accelerations(VectorArgument acceleration) {
    std::vector<Motion<T>> out(self().model().bodies().size());
    self().accelerations(given(acceleration), out);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE std::vector<Motion<T>> bias_accelerations() {
    std::vector<Motion<T>> out(self().model().bodies().size());
    self().bias_accelerations(out);
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix3 center_of_mass_jacobian() {
    Matrix3 out(3, nv());
    self().center_of_mass_jacobian(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix6 centroidal_momentum_matrix() {
    Matrix6 out(6, nv());
    self().centroidal_momentum_matrix(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix6 centroidal_momentum_matrix_rate() {
    Matrix6 out(6, nv());
    self().centroidal_momentum_matrix_rate(wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix operational_space_inverse(std::span<const Node> nodes) {
    const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
    Matrix out(m, m);
    self().operational_space_inverse(nodes, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix operational_space_inertia(std::span<const Node> nodes) {
    const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
    Matrix out(m, m);
    self().operational_space_inertia(nodes, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Matrix dynamically_consistent_inverse(std::span<const Node> nodes) {
    Matrix out(nv(), 6 * static_cast<Eigen::Index>(nodes.size()));
    self().dynamically_consistent_inverse(nodes, wanted(out));
    return out;
  }
  /// See the span form.
  BUNRAKU_INLINE Vector force_correction(Forces forces) {
    Vector out(nv());
    self().force_correction(forces, wanted(out));
    return out;
  }

 private:
  friend Derived;
  DynamicsForms() = default;

  BUNRAKU_INLINE Derived& self() { return static_cast<Derived&>(*this); }
  BUNRAKU_INLINE Eigen::Index nv() { return self().model().nv(); }
  BUNRAKU_INLINE static std::span<const T> given(VectorArgument x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
  }
  template <class M>
  BUNRAKU_INLINE static std::span<T> wanted(M& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
  }
};

}  // namespace bunraku
