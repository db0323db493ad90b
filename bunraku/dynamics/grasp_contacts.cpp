// Whether one-sided contacts hold: they push, do not slip, do not twist, do not tip over.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/grasp_data.hpp"
#include "bunraku/dynamics/grasp.hpp"

namespace bunraku {

std::string_view to_string(ContactLimit limit) {
  static constexpr std::array<std::string_view, 4> names = {"push", "friction", "torsion", "pressure"};
  return names[static_cast<std::size_t>(limit)];
}

namespace {

/// Below this part of |F| a margin is a violation, not rounding.
constexpr double rounding = 1e-9;

bool is_one_sided(ContactType type) {
  return type == ContactType::line || type == ContactType::point || type == ContactType::soft_finger;
}

/// Adds the margins of a contact with a force on it.
class Margins {
 public:
  Margins(int i, const Contact& contact, const Force<double>& f, GraspCheck& out)
      : i_(i), contact_(contact), f_(f), out_(out) {}

  void run() {
    const double F_n = f_.force.z;
    const double F_t = std::hypot(f_.force.x, f_.force.y);
    add(ContactLimit::push, F_n);
    if (contact_.type == ContactType::soft_finger && contact_.limit == TorsionLimit::ellipsoid) {
      const auto part = [](double x, double limit) { return std::isfinite(limit) ? x / limit : 0.0; };
      if (std::isfinite(contact_.friction) || std::isfinite(contact_.torsion)) {
        add(ContactLimit::friction,
            F_n - std::hypot(part(F_t, contact_.friction), part(f_.moment.z, contact_.torsion)));
      }
      return;
    }
    if (std::isfinite(contact_.friction)) {
      add(ContactLimit::friction, contact_.friction * F_n - F_t);
    }
    if (contact_.type == ContactType::soft_finger && std::isfinite(contact_.torsion)) {
      add(ContactLimit::torsion, contact_.torsion * F_n - std::abs(f_.moment.z));
    }
    if (contact_.type == ContactType::line) {
      line(F_n);
    }
  }

 private:
  void line(double F_n) {
    const Vec3<double> n = Vec3<double>::unit_z();
    const Vec3<double>& t = contact_.axis;
    const double tipping = dot(f_.moment, cross(n, t));
    if (std::isfinite(contact_.half_length)) {
      add(ContactLimit::pressure, contact_.half_length * F_n - std::abs(tipping));
    }
    if (std::isfinite(contact_.torsion) && F_n > 0) {  // about the centre of pressure, which is where something pushes
      const double s = -tipping / F_n;
      add(ContactLimit::torsion, contact_.torsion * F_n - std::abs(f_.moment.z - s * dot(cross(t, f_.force), n)));
    }
  }
  void add(ContactLimit limit, double margin) {
    const double size = norm(f_.force);
    out_.margins.push_back({i_, limit, margin, size > 0 ? margin / size : 0.0, margin < -rounding * size});
  }

  int i_;
  const Contact& contact_;
  const Force<double>& f_;
  GraspCheck& out_;
};

/// Checks all contacts; `force(i)` is what acts on one, `known(i)` whether that is certain.
template <class Known, class Forces>
void check_all(const std::vector<Contact>& contacts, GraspCheck& out, Known&& known, Forces&& force) {
  out.margins.clear();
  out.undetermined.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!is_one_sided(contacts[i].type)) {
      continue;
    }
    if (known(i)) {
      const Force<double> f = force(i);
      Margins(static_cast<int>(i), contacts[i], f, out).run();
    } else {
      out.undetermined.push_back(static_cast<int>(i));
    }
  }
  out.verdict = out.undetermined.empty() ? GraspVerdict::holds : GraspVerdict::undetermined;
  for (const ContactMargin& margin : out.margins) {
    if (margin.violated) {
      out.verdict = GraspVerdict::violated;
    }
  }
}

}  // namespace

template <class T>
const GraspCheck& check_contacts(BasicGrasp<T>& grasp) {
  detail::GraspData<T>& d = grasp.data();
  if (!d.solved) {
    throw Error("there are no contact forces yet: call grasp_forward_dynamics");
  }
  check_all(
      d.contacts, d.check,
      [&](std::size_t i) {
        const detail::ClosedClosure<T>& c = d.closed(i);
        bool all = true;
        for (std::size_t r = 0; c.present && r < static_cast<std::size_t>(c.rows); ++r) {
          all = all && c.unique[r];
        }
        return all;
      },
      [&](std::size_t i) {
        return Force<double>{kernels::cast<double>(d.forces[i].moment), kernels::cast<double>(d.forces[i].force)};
      });
  return d.check;
}

template <class T>
const GraspCheck& check_contacts(BasicGrasp<T>& grasp, In<T> forces) {
  detail::GraspData<T>& d = grasp.data();
  const std::span<const T> given = detail::given(forces, 6 * grasp.contacts(), "forces");
  check_all(
      d.contacts, d.check, [](std::size_t) { return true; },
      [&](std::size_t i) {
        Force<double> f = Force<double>::zero();
        for (std::size_t k = 0; k < 6; ++k) {
          f[static_cast<int>(k)] = static_cast<double>(given[6 * i + k]);
        }
        return f;
      });
  return d.check;
}

template <class T>
std::string describe(const BasicGrasp<T>& grasp, const GraspCheck& check) {
  std::string out;
  const auto name = [&](int i) {
    const Contact& contact = grasp.contact(i);
    return fmt::format("contact of arm '{}' with '{}'", contact.arm, contact.node);
  };
  for (const ContactMargin& margin : check.margins) {
    if (margin.violated) {
      out += fmt::format("{}: {} is beyond its limit by {:.3g} ({:.2g} of the force)\n", name(margin.contact),
                         to_string(margin.limit), -margin.margin, -margin.relative);
    }
  }
  for (const int i : check.undetermined) {
    out += fmt::format("{}: its force is not determined: choose an internal force\n", name(i));
  }
  return out;
}

#define BUNRAKU_GRASP(T)                                            \
  template const GraspCheck& check_contacts(BasicGrasp<T>&);        \
  template const GraspCheck& check_contacts(BasicGrasp<T>&, In<T>); \
  template std::string describe(const BasicGrasp<T>&, const GraspCheck&);
BUNRAKU_GRASP(double)
BUNRAKU_GRASP(float)
#undef BUNRAKU_GRASP

}  // namespace bunraku
