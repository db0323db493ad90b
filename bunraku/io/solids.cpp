#include "bunraku/io/detail/solids.hpp"

#include <cmath>
#include <numbers>

namespace bunraku::io {

namespace {

constexpr double pi = std::numbers::pi;

Solid box_shell(const Vec3<double>& s) {
  // faces across x, y, z; each counts twice
  const Vec3<double> areas{4 * s.y * s.z, 4 * s.x * s.z, 4 * s.x * s.y};
  const double half = areas.x + areas.y + areas.z;
  // the mean of x² over the surface: s.x² on the faces across x, s.x²/3 on the others
  const auto mean = [&](double size, double area) { return size * size * (area + (half - area) / 3) / half; };
  const Vec3<double> squares{mean(s.x, areas.x), mean(s.y, areas.y), mean(s.z, areas.z)};
  return {2 * half, {squares.y + squares.z, squares.x + squares.z, squares.x + squares.y}};
}

Solid ellipsoid_shell(const Vec3<double>& s) {
  // Thomsen's formula for the area, good to a percent. The layer has the same thickness along the three axes: the
  // difference of two ellipsoids whose half axes differ by it.
  constexpr double p = 1.6075;
  const double mean = (std::pow(s.x * s.y, p) + std::pow(s.y * s.z, p) + std::pow(s.z * s.x, p)) / 3;
  const double growth = 1 / s.x + 1 / s.y + 1 / s.z;
  const auto moment = [&](double a, double b) { return (a * a + b * b + 2 * (a + b) / growth) / 5; };
  return {4 * pi * std::pow(mean, 1 / p), {moment(s.y, s.z), moment(s.x, s.z), moment(s.x, s.y)}};
}

}  // namespace

Solid full_shape(std::string_view type, const Vec3<double>& s) {
  const double rr = s.x * s.x;
  if (type == "sphere") {
    return {4 * pi * rr * s.x / 3, Vec3<double>{1, 1, 1} * (2 * rr / 5)};
  }
  if (type == "cylinder") {
    const double across = rr / 4 + s.y * s.y / 3;
    return {2 * pi * rr * s.y, {across, across, rr / 2}};
  }
  if (type == "capsule") {
    // a cylinder and two half balls, whose centres of mass are 3/8 r beyond the cylinder's ends
    const double tube = 2 * pi * rr * s.y;
    const double balls = 4 * pi * rr * s.x / 3;
    const double share = tube / (tube + balls);
    const double of_balls = 2 * rr / 5;
    const double across = share * (rr / 4 + s.y * s.y / 3) + (1 - share) * (of_balls + s.y * s.y + 3 * s.x * s.y / 4);
    return {tube + balls, {across, across, share * rr / 2 + (1 - share) * of_balls}};
  }
  const Vec3<double> squares{rr, s.y * s.y, s.z * s.z};
  const Vec3<double> sums{squares.y + squares.z, squares.x + squares.z, squares.x + squares.y};
  if (type == "ellipsoid") {
    return {4 * pi * s.x * s.y * s.z / 3, sums / 5.0};
  }
  return {8 * s.x * s.y * s.z, sums / 3.0};  // box
}

Solid hollow_shape(std::string_view type, const Vec3<double>& s) {
  const double rr = s.x * s.x;
  if (type == "sphere") {
    return {4 * pi * rr, Vec3<double>{1, 1, 1} * (2 * rr / 3)};
  }
  const double tube = 4 * pi * s.x * s.y;
  const double of_tube = rr / 2 + s.y * s.y / 3;
  if (type == "cylinder") {
    const double disks = 2 * pi * rr;
    const double share = tube / (tube + disks);
    const double across = share * of_tube + (1 - share) * (rr / 4 + s.y * s.y);
    return {tube + disks, {across, across, share * rr + (1 - share) * rr / 2}};
  }
  if (type == "capsule") {  // the centre of mass of a half sphere is r/2 from its plane
    const double balls = 4 * pi * rr;
    const double share = tube / (tube + balls);
    const double across = share * of_tube + (1 - share) * (2 * rr / 3 + s.y * s.y + s.x * s.y);
    return {tube + balls, {across, across, share * rr + (1 - share) * 2 * rr / 3}};
  }
  return type == "ellipsoid" ? ellipsoid_shell(s) : box_shell(s);
}

}  // namespace bunraku::io
