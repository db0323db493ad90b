/// @file
/// Flights of flexible bodies that support/flexible_exudyn.py asks for, to be compared with those of Exudyn.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numbers>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flexible_parts.hpp"
#include "meter.hpp"

namespace bench {

namespace {

namespace bk = bunraku;
using Numbers = std::vector<double>;

/// Diameter of beams whose sections have as good as no inertia of their own, as those of Exudyn's cable elements, m.
constexpr double thin = 1e-4;

/// A flying body, twice: with all its nodes, and with as few lumps as can be.
struct Flyer {
  bk::Model named;
  bk::Model lumped;
  bk::Vec3<double> spin;
  int nodes = 0;
  int modes = 0;
};

bk::Vec3<double> read_vector(std::istream& in) {
  bk::Vec3<double> out;
  in >> out.x >> out.y >> out.z;
  return out;
}

bk::Model free_body(const bk::FlexibleBody& flexible) {
  bk::ModelBuilder builder("flyer");
  builder.set_gravity(bk::Vec3<double>::zero());
  bk::BodySpec frame{.name = "flyer"};
  frame.hinge.type = bk::HingeType::free;
  bk::add_flexible_body(builder, std::move(frame), flexible);
  return builder.build();
}

Flyer read_flyer(const std::string& path) {
  std::ifstream in(path);
  bk::FlexibleBody body;
  bk::Vec3<double> spin = bk::Vec3<double>::zero();
  std::size_t modes = 0;
  for (std::string word; in >> word;) {
    if (word == "modes") {
      in >> modes;
    } else if (word == "spin") {
      spin = read_vector(in);
    } else if (word == "stiffness") {
      body.stiffness.resize(modes);
      std::ranges::for_each(body.stiffness, [&](double& k) { in >> k; });
    } else if (word == "node") {
      bk::FlexibleNode node;
      in >> node.inertia.mass;
      node.place = read_vector(in);
      for (std::size_t i = 0; i < modes; ++i) {
        node.shape.translation.push_back(read_vector(in));
      }
      body.nodes.push_back(std::move(node));
    } else {
      throw std::runtime_error(fmt::format("{}: unknown word '{}'", path, word));
    }
    if (!in) {
      throw std::runtime_error(fmt::format("{}: numbers are missing after '{}'", path, word));
    }
  }
  const bk::Model lumped = free_body(body);
  for (std::size_t i = 0; i < body.nodes.size(); ++i) {
    body.nodes[i].name = fmt::format("n{}", i);
  }
  return {free_body(body), lumped, spin, static_cast<int>(body.nodes.size()), static_cast<int>(modes)};
}

/// Configuration and velocity that go on by the classical Runge–Kutta method.
class Flight {
 public:
  Flight(const bk::Model& model, Numbers q, Numbers v, double h)
      : state_(model), q_(std::move(q)), v_(std::move(v)), torque_(v_.size(), 0), h_(h) {
    state_.set(std::span(q_), std::span(v_));
  }

  void step() {
    bk::step(state_, torque_, h_, bk::Integrator::runge_kutta_4, q_, v_);
    state_.set(std::span(q_), std::span(v_));
  }

  bk::State& state() { return state_; }
  const Numbers& q() const { return q_; }
  const Numbers& v() const { return v_; }

 private:
  bk::State state_;
  Numbers q_, v_, torque_;
  double h_;
};

/// At the origin, straight, spinning.
Flight start(const Flyer& flyer, const bk::Model& model, double h) {
  Numbers q(static_cast<std::size_t>(model.nq()), 0);
  Numbers v(static_cast<std::size_t>(model.nv()), 0);
  q[0] = 1;
  v[0] = flyer.spin.x;
  v[1] = flyer.spin.y;
  v[2] = flyer.spin.z;
  return {model, std::move(q), std::move(v), h};
}

void append(Numbers& out, const bk::Vec3<double>& x) {
  out.insert(out.end(), {x.x, x.y, x.z});
}

Numbers fly(const Flyer& flyer, double end, int steps) {
  Flight flight = start(flyer, flyer.named, end / steps);
  for (int i = 0; i < steps; ++i) {
    flight.step();
  }
  Numbers out;
  for (int i = 0; i < flyer.nodes; ++i) {
    append(out, bk::pose(flight.state(), flyer.named.node(fmt::format("flyer.n{}", i))).translation);
  }
  return out;
}

/// Of accelerations along the flight.
double nanoseconds_of(const Flyer& flyer, double seconds) {
  constexpr int states = 16;
  Flight flight = start(flyer, flyer.lumped, 1e-3);
  std::vector<std::pair<Numbers, Numbers>> visited;
  for (int i = 0; i < states; ++i) {
    for (int j = 0; j < 10; ++j) {
      flight.step();
    }
    visited.emplace_back(flight.q(), flight.v());
  }
  bk::State state(flyer.lumped);
  const Numbers torque(visited.front().second.size(), 0);
  Numbers out(torque.size());
  const Batch batch = [&] {
    for (const auto& [q, v] : visited) {
      state.set(std::span(q), std::span(v));
      bk::forward_dynamics(state, std::span(torque), std::span(out));
    }
  };
  batch();
  return least_nanoseconds({&batch, 1}, seconds)[0] / states;
}

/// A beam in the plane x, y on a hinge at the origin.
bk::Model hinged_beam(const BeamData& data, double gravity) {
  bk::ModelBuilder builder("hinged beam");
  builder.set_gravity({0, -gravity, 0});
  bk::BodySpec frame{.name = "beam"};
  frame.hinge.name = "hub";
  frame.hinge.type = bk::HingeType::revolute;
  frame.hinge.axis = bk::Vec3<double>::unit_z();
  bk::add_flexible_body(builder, std::move(frame), plane_beam(data));
  return builder.build();
}

/// The tip in the beam's frame.
bk::Vec3<double> tip_in_frame(bk::State& state) {
  const bk::Model& model = state.model();
  return (bk::pose(state, model.node("beam")).inverse() * bk::pose(state, model.node("beam.tip"))).translation;
}

Numbers pendulum(const BeamData& data, double end, int steps, int samples) {
  const bk::Model model = hinged_beam(data, 9.81);
  Flight flight(model, Numbers(static_cast<std::size_t>(model.nq()), 0),
                Numbers(static_cast<std::size_t>(model.nv()), 0), end / steps);
  Numbers out;
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) {
      flight.step();
    }
    if (i % (steps / samples) == 0) {
      const bk::Vec3<double> tip = bk::pose(flight.state(), model.node("beam.tip")).translation;
      out.insert(out.end(), {tip.x, tip.y, tip_in_frame(flight.state()).y});
    }
  }
  return out;
}

/// Angle, speed and acceleration of the hub: up to 6 rad/s within 15 s, and steady from then on.
struct Hub {
  explicit Hub(double t) {
    constexpr double last = 15;
    constexpr double speed = 6;
    constexpr double w = 2 * std::numbers::pi / last;
    const double s = std::min(t, last);
    angle = speed / last * (s * s / 2 + (std::cos(w * s) - 1) / (w * w)) + speed * (t - s);
    rate = speed / last * (s - std::sin(w * s) / w);
    acceleration = speed / last * (1 - std::cos(w * s));
  }

  double angle, rate, acceleration;
};

/// A beam whose hub moves as prescribed: the rates of its modes' coordinates and velocities, in one vector.
class DrivenBeam {
 public:
  explicit DrivenBeam(const bk::Model& model)
      : state_(model),
        hub_(model, {"hub"}),
        part_(model.flexible().front()),
        hinge_(static_cast<std::size_t>(model.bodies()[static_cast<std::size_t>(part_.body)].v_index)),
        q_(static_cast<std::size_t>(model.nq())),
        v_(static_cast<std::size_t>(model.nv())),
        acceleration_(v_.size()),
        torque_(v_.size()) {}

  int modes() const { return part_.modes; }
  bk::State& state() { return state_; }

  void set(double t, const Numbers& x) {
    const Hub hub(t);
    q_[hinge_] = hub.angle;
    v_[hinge_] = hub.rate;
    std::copy_n(x.begin(), modes(), q_.begin() + part_.q_index);
    std::copy_n(x.begin() + modes(), modes(), v_.begin() + part_.v_index);
    state_.set(std::span(q_), std::span(v_));
  }

  Numbers rates(double t, const Numbers& x) {
    set(t, x);
    std::ranges::fill(torque_, 0);
    acceleration_[hinge_] = Hub(t).acceleration;
    bk::hybrid_dynamics(state_, hub_, acceleration_, torque_);
    Numbers out(x.begin() + modes(), x.end());
    out.insert(out.end(), acceleration_.begin() + part_.v_index, acceleration_.begin() + part_.v_index + modes());
    return out;
  }

 private:
  bk::State state_;
  bk::HingeSet hub_;
  bk::FlexiblePart part_;
  std::size_t hinge_;
  Numbers q_, v_, acceleration_, torque_;
};

Numbers sum(const Numbers& x, double factor, const Numbers& y) {
  Numbers out(x);
  std::ranges::transform(x, y, out.begin(), [&](double a, double b) { return a + factor * b; });
  return out;
}

Numbers spin(const BeamData& data, double end, int steps, int samples) {
  const bk::Model model = hinged_beam(data, 0);
  DrivenBeam beam(model);
  const double h = end / steps;
  Numbers x(2 * static_cast<std::size_t>(beam.modes()), 0);
  Numbers out;
  for (int i = 0; i <= steps; ++i) {
    const double t = h * i;
    if (i % (steps / samples) == 0) {
      beam.set(t, x);
      const bk::Vec3<double> tip = tip_in_frame(beam.state());
      if (std::abs(tip.y) > 100 * data.length) {
        break;
      }
      out.insert(out.end(), {tip.x - data.length, tip.y});
    }
    const Numbers k1 = beam.rates(t, x);
    const Numbers k2 = beam.rates(t + h / 2, sum(x, h / 2, k1));
    const Numbers k3 = beam.rates(t + h / 2, sum(x, h / 2, k2));
    const Numbers k4 = beam.rates(t + h, sum(x, h, k3));
    x = sum(sum(x, h / 6, sum(k1, 1, k4)), h / 3, sum(k2, 1, k3));
  }
  return out;
}

/// Reads what a request says after its first word; throws where something is missing.
template <class... Values>
void read(std::istream& in, Values&... values) {
  if (!(in >> ... >> values)) {
    throw std::runtime_error("a request has too few numbers");
  }
}

Numbers answer(std::istream& request, std::optional<Flyer>& flyer) {
  std::string word;
  request >> word;
  if (word == "body") {
    std::string path;
    read(request, path);
    flyer = read_flyer(path);
    const double lumps = static_cast<double>(flyer->lumped.bodies().size()) - 1;
    return {static_cast<double>(flyer->nodes), static_cast<double>(flyer->modes), lumps};
  }
  double end = 0;
  int steps = 0;
  int samples = 0;
  if (word == "pendulum") {
    BeamData data{.diameter = thin};
    read(request, data.bending, data.modes, data.shortening, end, steps, samples);
    return pendulum(data, end, steps, samples);
  }
  if (word == "spin") {
    BeamData data{.length = 10, .mass_per_length = 1.2, .bending = 1.4e4, .diameter = thin};
    read(request, data.modes, data.shortening, end, steps, samples);
    return spin(data, end, steps, samples);
  }
  if (flyer && word == "fly") {
    read(request, end, steps);
    return fly(*flyer, end, steps);
  }
  if (flyer && word == "time") {
    double seconds = 0;
    read(request, seconds);
    return {nanoseconds_of(*flyer, seconds)};
  }
  throw std::runtime_error(fmt::format("unknown request '{}'", word));
}

}  // namespace

void serve_flexible() {
  std::optional<Flyer> flyer;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream request(line);
    fmt::print("{:.17g}\n", fmt::join(answer(request, flyer), " "));
    std::fflush(stdout);
  }
}

}  // namespace bench
