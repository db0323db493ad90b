/// @file
/// Flexible bodies made at random, and the text of their modal data.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bunraku/model/flexible.hpp"

namespace bunraku::test {

/// Lumps at nodes and their shapes, orthonormal; node 0 is the frame, at rest and without mass.
struct ModalSample {
  int modes = 2;
  std::vector<RigidInertia<double>> lumps = {};          ///< About each node.
  std::vector<Vec3<double>> places = {};                 ///< Of the nodes.
  std::vector<std::vector<Motion<double>>> shapes = {};  ///< By node and mode.
  std::vector<double> frequencies = {};                  ///< Hz.

  /// The inertia invariants, from their definitions.
  Vec3<double> s1(int i) const {
    Vec3<double> out = Vec3<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      out += (lumps[j] * shapes[j][static_cast<std::size_t>(i)]).force;
    }
    return out;
  }
  Vec3<double> c0(int i) const {
    Vec3<double> out = Vec3<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      const Force<double> force = lumps[j] * shapes[j][static_cast<std::size_t>(i)];
      out += force.moment + cross(places[j], force.force);
    }
    return out;
  }
  Vec3<double> c1(int i, int l) const {
    Vec3<double> out = Vec3<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      out += cross(shapes[j][static_cast<std::size_t>(i)].linear, shapes[j][static_cast<std::size_t>(l)].linear) *
             lumps[j].mass;
    }
    return out;
  }
  Mat3<double> j1(int i) const {
    Mat3<double> out = Mat3<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      out -= skew(places[j]) * skew(shapes[j][static_cast<std::size_t>(i)].linear) * lumps[j].mass;
    }
    return out;
  }
  Mat3<double> j2(int i, int l) const {
    Mat3<double> out = Mat3<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      out -= skew(shapes[j][static_cast<std::size_t>(i)].linear) * skew(shapes[j][static_cast<std::size_t>(l)].linear) *
             lumps[j].mass;
    }
    return out;
  }
  RigidInertia<double> rigid() const {
    RigidInertia<double> out = RigidInertia<double>::zero();
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      out += shifted(lumps[j], places[j]);
    }
    return out;
  }
  double mass_between(int i, int l) const {
    double out = 0;
    for (std::size_t j = 0; j < lumps.size(); ++j) {
      const Motion<double>& a = shapes[j][static_cast<std::size_t>(i)];
      const Force<double> b = lumps[j] * shapes[j][static_cast<std::size_t>(l)];
      out += dot(a.angular, b.moment) + dot(a.linear, b.force);
    }
    return out;
  }
};

/// `count` nodes besides the frame; their lumps turn, or are points.
inline ModalSample modal_sample(int modes, int count, bool turning, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> spread(-1, 1);
  const auto vector = [&] { return Vec3<double>{spread(random), spread(random), spread(random)}; };
  ModalSample out;
  out.modes = modes;
  for (int j = 0; j <= count; ++j) {
    out.places.push_back(j == 0 ? Vec3<double>::zero() : vector());
    RigidInertia<double> lump = RigidInertia<double>::zero();
    if (j > 0 && turning) {
      lump = RigidInertia<double>::about_center(1.2 + spread(random), vector() * 0.1,
                                                Sym3<double>::diagonal(0.3, 0.4, 0.5));
    } else if (j > 0) {
      lump.mass = 1.2 + spread(random);
    }
    out.lumps.push_back(lump);
    std::vector<Motion<double>> shapes(static_cast<std::size_t>(modes));
    for (Motion<double>& shape : shapes) {
      shape = j == 0 ? Motion<double>{} : Motion<double>{turning ? vector() : Vec3<double>::zero(), vector()};
    }
    out.shapes.push_back(shapes);
  }
  for (int i = 0; i < modes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (int twice = 0; twice < 2; ++twice) {
      for (int l = 0; l < i; ++l) {
        const double common = out.mass_between(i, l);
        for (auto& shapes : out.shapes) {
          shapes[at] = shapes[at] - shapes[static_cast<std::size_t>(l)] * common;
        }
      }
    }
    const double size = std::sqrt(out.mass_between(i, i));
    for (auto& shapes : out.shapes) {
      shapes[at] = shapes[at] * (1 / size);
    }
    out.frequencies.push_back(2.0 * (i + 1));
  }
  return out;
}

inline std::string digits_of(const Vec3<double>& a, int digits = 17) {
  return fmt::format("{:.{}g} {:.{}g} {:.{}g}", a.x, digits, a.y, digits, a.z, digits);
}
inline std::string digits_of(const Mat3<double>& a, int digits = 17) {
  return digits_of(a.row(0), digits) + ' ' + digits_of(a.row(1), digits) + ' ' + digits_of(a.row(2), digits);
}
inline std::string digits_of(const Sym3<double>& a, int digits = 17) {
  return fmt::format("{:.{}g} {:.{}g} {:.{}g} {:.{}g} {:.{}g} {:.{}g}", a.xx, digits, a.xy, digits, a.xz, digits, a.yy,
                     digits, a.yz, digits, a.zz, digits);
}

/// How to write a sample.
struct ModalTextOptions {
  bool lumps = true;                           ///< At the nodes, or the invariants in their place.
  bool both = false;                           ///< The invariants beside the lumps.
  int digits = 17;                             ///< Of every number.
  Vec3<double> origin = Vec3<double>::zero();  ///< Added to all places.
};

/// The lines of a sample's file; nodes are called n0, n1 …, the last is outboard.
inline std::vector<std::string> modal_lines(const ModalSample& sample, const ModalTextOptions& options = {}) {
  const int digits = options.digits;
  const auto text = [&](const auto& a) { return digits_of(a, digits); };
  const RigidInertia<double> rigid = sample.rigid();
  const std::size_t last = sample.places.size() - 1;
  std::vector<std::string> out = {"format: bunraku-modal 1", "name: sample", "units: SI"};
  out.push_back(fmt::format("mass: {:.{}g}", rigid.mass, digits));
  out.push_back("com: " + text(rigid.center() + options.origin));
  out.push_back("inertia: " + text(rigid.central()));
  out.push_back(fmt::format("nodes: {}", last + 1));
  out.push_back("inboard: n0");
  out.push_back(fmt::format("outboard: n{}", last));
  out.push_back(fmt::format("modes: {}", sample.modes));
  for (int i = 0; i < sample.modes; ++i) {
    out.push_back(
        fmt::format("mode {}: frequency {} ratio 0.01", i + 1, sample.frequencies[static_cast<std::size_t>(i)]));
  }
  for (std::size_t j = 0; j <= last; ++j) {
    std::string line = fmt::format("node n{}: ", j) + text(sample.places[j] + options.origin);
    const RigidInertia<double>& lump = sample.lumps[j];
    if (options.lumps && lump.mass > 0) {
      line += fmt::format(" {:.{}g}", lump.mass, digits);
      if (lump.inertia != Sym3<double>::zero()) {
        line += ' ' + text(lump.central()) + ' ' + text(lump.center());
      }
    }
    out.push_back(line);
  }
  for (std::size_t j = 1; j <= last; ++j) {
    for (int i = 0; i < sample.modes; ++i) {
      const Motion<double>& shape = sample.shapes[j][static_cast<std::size_t>(i)];
      out.push_back(fmt::format("shape {} n{}: ", i + 1, j) + text(shape.angular) + ' ' + text(shape.linear));
    }
  }
  if (options.lumps && !options.both) {
    return out;
  }
  for (int i = 0; i < sample.modes; ++i) {
    out.push_back(fmt::format("S1 {}: ", i + 1) + text(sample.s1(i)));
    out.push_back(fmt::format("C0 {}: ", i + 1) + text(sample.c0(i)));
    out.push_back(fmt::format("J1 {}: ", i + 1) + text(sample.j1(i)));
    for (int l = 0; l < sample.modes; ++l) {
      out.push_back(fmt::format("C1 {} {}: ", i + 1, l + 1) + text(sample.c1(i, l)));
      if (l >= i) {
        out.push_back(fmt::format("J2 {} {}: ", i + 1, l + 1) + text(sample.j2(i, l)));
      }
    }
  }
  return out;
}

/// Lines as one text.
inline std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    out += line + '\n';
  }
  return out;
}

}  // namespace bunraku::test
