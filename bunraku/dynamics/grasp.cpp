#include "bunraku/dynamics/grasp.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/grasp_data.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/model/detail/validation.hpp"

namespace bunraku {

std::string_view to_string(ContactType type) {
  static constexpr std::array<std::string_view, 6> names = {"rigid", "revolute", "line",
                                                            "ball",  "point",    "soft_finger"};
  return names[static_cast<std::size_t>(type)];
}

namespace detail {

template <class T>
std::size_t contact_number(const GraspData<T>& d, int i) {
  if (i < 0 || i >= static_cast<int>(d.contacts.size())) {
    throw ArgumentError(fmt::format("the grasp has no contact {}: it has {}", i, d.contacts.size()));
  }
  return static_cast<std::size_t>(i);
}

template <class T>
Node aligned_tip(BasicGrasp<T>& grasp, std::size_t contact) {
  const GraspData<T>& d = grasp.data();
  Node out = d.tips[contact];
  const Node body{.name = {}, .body = out.body, .X_BN = Transform<double>::identity()};
  const Transform<T> X_BC = pose(grasp.arm(d.arm_of[contact]), body).inverse() * pose(grasp.object(), d.nodes[contact]);
  out.X_BN.rotation = kernels::cast<double>(X_BC).rotation;
  return out;
}

template std::size_t contact_number(const GraspData<double>&, int);
template std::size_t contact_number(const GraspData<float>&, int);
template Node aligned_tip(BasicGrasp<double>&, std::size_t);
template Node aligned_tip(BasicGrasp<float>&, std::size_t);

}  // namespace detail

namespace {

/// A node of a model. Throws ArgumentError with the contact's names, too.
Node find_node(const Model& model, const std::string& name, const Contact& contact) {
  try {
    return model.node(name);
  } catch (const ArgumentError& error) {
    throw ArgumentError(fmt::format("the contact of arm '{}': {}", contact.arm, error.what()));
  }
}

void check(const Contact& contact) {
  const auto refuse = [&](const char* what, double value) {
    throw ArgumentError(
        fmt::format("the contact of arm '{}' with '{}': {} of {}", contact.arm, contact.node, what, value));
  };
  if (!(contact.friction >= 0)) {
    refuse("a friction", contact.friction);
  }
  if (!(contact.torsion >= 0)) {
    refuse("a torsion limit", contact.torsion);
  }
  if (!(contact.half_length >= 0)) {
    refuse("a half length", contact.half_length);
  }
  if (contact.type == ContactType::revolute || contact.type == ContactType::line) {
    const double size = norm(contact.axis);
    if (!(size > 0) || !std::isfinite(size)) {
      refuse("an axis of length", size);
    }
    if (contact.type == ContactType::line && std::abs(contact.axis.z) > 1e-6 * size) {
      refuse("a line that is not at right angles to the normal, its z axis, but has a part along it", contact.axis.z);
    }
  }
}

/// The closure that a contact is.
Closure closure_of(const Contact& contact, const Node& tip, const Node& node) {
  Closure out;
  out.name = fmt::format("{}.{}", contact.arm, contact.tip);
  out.a = tip;
  out.b = node;
  switch (contact.type) {
    case ContactType::rigid:
      out.hinge.type = HingeType::fixed;
      break;
    case ContactType::revolute:
    case ContactType::line:
      out.hinge.type = HingeType::revolute;
      out.hinge.axis = contact.axis;
      break;
    case ContactType::ball:
    case ContactType::point:
      out.hinge.type = HingeType::spherical;
      break;
    case ContactType::soft_finger:
      out.kind = ClosureKind::soft_finger;
      out.hinge.axis = Vec3<double>::unit_z();
      break;
  }
  return out;
}

void check_names(const std::vector<GraspArm>& arms) {
  if (arms.empty()) {
    throw ArgumentError("a grasp needs an arm");
  }
  for (std::size_t i = 0; i < arms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (arms[i].name == arms[j].name) {
        throw ArgumentError(fmt::format("there are two arms of the name '{}'", arms[i].name));
      }
    }
  }
}

}  // namespace

template <class T>
BasicGrasp<T>::BasicGrasp(const std::vector<GraspArm>& arms, const Model& object,
                          const std::vector<Contact>& contacts) {
  check_names(arms);
  data_ = std::make_unique<detail::GraspData<T>>(arms[0].model, arms[0].passive);
  detail::GraspData<T>& d = *data_;
  d.arms = arms;
  for (std::size_t i = 1; i < arms.size(); ++i) {
    d.system.add_member(arms[i].model, Role::primary, arms[i].passive);
  }
  d.system.add_member(object, Role::secondary);
  for (const Contact& contact : contacts) {
    check(contact);
    const int arm = arm_index(contact.arm);
    for (std::size_t i = 0; i < d.contacts.size(); ++i) {
      if (d.arm_of[i] == arm && d.contacts[i].tip == contact.tip) {
        throw ArgumentError(fmt::format("tip '{}' of arm '{}' holds twice: '{}' and '{}'", contact.tip, contact.arm,
                                        d.contacts[i].node, contact.node));
      }
    }
    const Node tip = find_node(arms[static_cast<std::size_t>(arm)].model, contact.tip, contact);
    const Node node = find_node(object, contact.node, contact);
    d.closures.push_back(d.system.add_closure(closure_of(contact, tip, node), arm, d.object()));
    d.contacts.push_back(contact);
    d.contacts.back().axis = normalized(contact.axis);
    d.tips.push_back(tip);
    d.nodes.push_back(node);
    d.arm_of.push_back(arm);
  }
  d.forces.resize(contacts.size());
  d.accelerations.resize(static_cast<std::size_t>(d.system.nv()));
}
template <class T>
BasicGrasp<T>::~BasicGrasp() = default;
template <class T>
BasicGrasp<T>::BasicGrasp(BasicGrasp&&) noexcept = default;
template <class T>
BasicGrasp<T>& BasicGrasp<T>::operator=(BasicGrasp&&) noexcept = default;

template <class T>
int BasicGrasp<T>::arms() const {
  return static_cast<int>(data_->arms.size());
}

template <class T>
int BasicGrasp<T>::arm_index(std::string_view name) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < data_->arms.size(); ++i) {
    if (data_->arms[i].name == name) {
      return static_cast<int>(i);
    }
    known.push_back(data_->arms[i].name);
  }
  throw ArgumentError(fmt::format("the grasp has no arm '{}'{}", name, detail::did_you_mean(name, known)));
}

template <class T>
int BasicGrasp<T>::contacts() const {
  return static_cast<int>(data_->contacts.size());
}
template <class T>
const Contact& BasicGrasp<T>::contact(int i) const {
  return data_->contacts[detail::contact_number(*data_, i)];
}
template <class T>
int BasicGrasp<T>::closure(int contact) const {
  return data_->closures[detail::contact_number(*data_, contact)];
}

template <class T>
BasicState<T>& BasicGrasp<T>::arm(int i) {
  if (i < 0 || i >= arms()) {
    throw ArgumentError(fmt::format("the grasp has no arm {}: it has {}", i, arms()));
  }
  return data_->system.state(i);
}
template <class T>
BasicState<T>& BasicGrasp<T>::object() {
  return data_->system.state(data_->object());
}
template <class T>
BasicClosedSystem<T>& BasicGrasp<T>::system() {
  return data_->system;
}
template <class T>
const BasicClosedSystem<T>& BasicGrasp<T>::system() const {
  return data_->system;
}

template <class T>
void BasicGrasp<T>::align() {
  detail::GraspData<T>& d = *data_;
  for (std::size_t i = 0; i < d.contacts.size(); ++i) {
    const ContactType type = d.contacts[i].type;
    if (type != ContactType::rigid && type != ContactType::revolute && type != ContactType::line) {
      continue;
    }
    const Node held = detail::aligned_tip(*this, i);
    d.system.remove_closure(d.closures[i]);
    d.closures[i] = d.system.add_closure(closure_of(d.contacts[i], held, d.nodes[i]), d.arm_of[i], d.object());
  }
  d.solved = false;
}

template <class T>
void BasicGrasp<T>::set_reach(double tolerance) {
  if (!(tolerance > 0)) {
    throw ArgumentError(fmt::format("tips cannot be {} off", tolerance));
  }
  data_->reach = tolerance;
}

namespace {

/// Throws Error with all tips that are not where they hold.
template <class T>
void check_reach(detail::GraspData<T>& d) {
  std::string text;
  for (std::size_t i = 0; i < d.contacts.size(); ++i) {
    const detail::ClosedClosure<T>& c = d.closed(i);
    double away = 0;
    double turned = 0;
    for (std::size_t r = 0; c.present && r < static_cast<std::size_t>(c.rows); ++r) {
      const auto gap = static_cast<double>(c.equations.gap[r]);
      (squared_norm(c.equations.directions[r].moment) > T(0) ? turned : away) += gap * gap;
    }
    if (!(std::sqrt(away) <= d.reach) || !(std::sqrt(turned) <= d.reach)) {
      text += fmt::format("{}arm '{}' does not reach '{}': '{}' is {:.3g} m away", text.empty() ? "" : "; ",
                          d.contacts[i].arm, d.contacts[i].node, d.contacts[i].tip, std::sqrt(away));
      if (turned > 0) {
        text += fmt::format(" and turned by {:.3g} rad", std::sqrt(turned));
      }
    }
  }
  if (!text.empty()) {
    throw Error(text);
  }
}

}  // namespace

template <class T>
const ClosureReport& grasp_forward_dynamics(BasicGrasp<T>& grasp, In<T> torques, Out<T> out) {
  detail::GraspData<T>& d = grasp.data();
  const std::span<T> acceleration = detail::wanted(out, d.system.nv(), "acceleration");
  d.solved = false;
  d.system.data().evaluate(false);
  check_reach(d);
  const ClosureReport& report = closed_forward_dynamics(d.system, torques, acceleration);
  std::copy(acceleration.begin(), acceleration.end(), d.accelerations.begin());
  for (std::size_t i = 0; i < d.contacts.size(); ++i) {  // f(0) = −Q*f̃: columns of A* at the object
    const detail::ClosedClosure<T>& c = d.closed(i);
    d.forces[i] = Force<T>::zero();
    for (int r = 0; c.present && r < c.active; ++r) {
      d.forces[i] -= c.equations.on_b[detail::index(c.row[detail::index(r)])] * c.force.x[r];
    }
  }
  d.solved = true;
  return report;
}

namespace {

template <class T>
void need_solution(const detail::GraspData<T>& d) {
  if (!d.solved) {
    throw Error("there are no contact forces yet: call grasp_forward_dynamics");
  }
}

}  // namespace

template <class T>
Force<T> contact_force(const BasicGrasp<T>& grasp, int contact) {
  const detail::GraspData<T>& d = grasp.data();
  const std::size_t i = detail::contact_number(d, contact);
  need_solution(d);
  return d.forces[i];
}

template <class T>
void contact_forces(const BasicGrasp<T>& grasp, Out<T> out) {
  const detail::GraspData<T>& d = grasp.data();
  const std::span<T> forces = detail::wanted(out, 6 * grasp.contacts(), "forces");
  need_solution(d);
  for (std::size_t i = 0; i < d.forces.size(); ++i) {
    for (int k = 0; k < 6; ++k) {
      forces[6 * i + static_cast<std::size_t>(k)] = d.forces[i][k];
    }
  }
}

template <class T>
Motion<T> contact_acceleration(BasicGrasp<T>& grasp, int contact) {
  detail::GraspData<T>& d = grasp.data();
  const std::size_t i = detail::contact_number(d, contact);
  need_solution(d);
  const auto first = static_cast<std::size_t>(d.system.first(d.object()));
  const std::span<const T> own = std::span<const T>(d.accelerations).subspan(first);
  BasicState<T>& object = grasp.object();
  const Motion<T> alpha = acceleration(object, d.nodes[i], Frame::aligned, own);
  const Rotation<T> R = pose(object, d.nodes[i]).rotation;
  return {R.inverse_times(alpha.angular), R.inverse_times(alpha.linear)};
}

template class BasicGrasp<double>;
template class BasicGrasp<float>;

#define BUNRAKU_GRASP(T)                                                               \
  template const ClosureReport& grasp_forward_dynamics(BasicGrasp<T>&, In<T>, Out<T>); \
  template Force<T> contact_force(const BasicGrasp<T>&, int);                          \
  template void contact_forces(const BasicGrasp<T>&, Out<T>);                          \
  template Motion<T> contact_acceleration(BasicGrasp<T>&, int);
BUNRAKU_GRASP(double)
BUNRAKU_GRASP(float)
#undef BUNRAKU_GRASP

}  // namespace bunraku
