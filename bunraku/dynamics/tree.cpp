#include "bunraku/dynamics/detail/tree.hpp"

namespace bunraku::kernels {

namespace {

Stroke stroke_of(HingeType type) {
  switch (type) {
    case HingeType::fixed:
      return Stroke::none;
    case HingeType::revolute:
    case HingeType::continuous:
      return Stroke::revolute;
    case HingeType::prismatic:
      return Stroke::prismatic;
    default:
      return Stroke::general;
  }
}

}  // namespace

template <class T>
Tree<T>::Tree(const Model& model) {
  std::vector<Transform<double>> X_CB;  // in full precision for the children
  bodies.reserve(model.bodies().size());
  X_CB.reserve(model.bodies().size());
  for (const Body& body : model.bodies()) {
    TreeBody<T> out;
    out.parent = body.parent;
    out.stroke = stroke_of(body.hinge.type);
    out.nv = body.hinge.velocity_size();
    out.q_index = nq;
    out.v_index = nv;
    out.d_index = nd;
    const bool turned = out.stroke == Stroke::revolute || out.stroke == Stroke::prismatic;
    const Transform<double> X_MC = Transform<double>::rotate(
        turned ? Rotation<double>::between(Vec3<double>::unit_z(), body.hinge.axis) : Rotation<double>());
    const Transform<double> X_PF = body.X_PF * X_MC;
    X_CB.push_back(X_MC.inverse() * body.X_MB);
    out.X_PF = cast<T>(body.parent == world ? X_PF : X_CB[static_cast<std::size_t>(body.parent)] * X_PF);
    out.inertia = cast<T>(X_CB.back() * body.inertia);
    out.X_CB = cast<T>(X_CB.back());
    const bool follows = body.leader != world;
    has_mimics = has_mimics || follows;
    for (int j = 0; j < out.nv; ++j) {
      velocities.push_back({body.v_index + (follows ? 0 : j), static_cast<T>(follows ? body.leader_ratio : 1.0)});
      armature.push_back(static_cast<T>(body.hinge.dofs[static_cast<std::size_t>(j)].armature));
    }
    nq += body.hinge.configuration_size();
    nv += out.nv;
    nd += out.nv * out.nv;
    bodies.push_back(out);
  }
}

template struct Tree<double>;
template struct Tree<float>;

}  // namespace bunraku::kernels
