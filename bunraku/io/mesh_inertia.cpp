#include <cmath>

#include "bunraku/io/detail/mesh.hpp"

namespace bunraku::io {

namespace {

/// A triangle seen from a point.
struct Triangle {
  Vec3<double> a;
  Vec3<double> b;
  Vec3<double> c;

  Vec3<double> center() const { return (a + b + c) / 3.0; }
  double area() const { return norm(cross(b - a, c - a)) / 2; }
  /// Of the pyramid over it, whose tip is where it is seen from.
  double volume() const { return dot(a, cross(b, c)) / 6; }
  /// Sums of products of coordinates: 2 Σ v vᵀ + Σ (v wᵀ + w vᵀ) over its corners.
  Sym3<double> products() const {
    return Sym3<double>::outer_square(a) + Sym3<double>::outer_square(b) + Sym3<double>::outer_square(c) +
           Sym3<double>::outer_square(a + b + c);
  }
};

template <class F>
void for_each_triangle(const Mesh& mesh, const Vec3<double>& from, F&& use) {
  const auto corner = [&](int i) { return mesh.vertices[static_cast<std::size_t>(i)] - from; };
  for (const std::array<int, 3>& face : mesh.faces) {
    use(Triangle{corner(face[0]), corner(face[1]), corner(face[2])});
  }
}

/// Moments from ∫ x xᵀ.
Sym3<double> moments(const Sym3<double>& p) {
  return {p.yy + p.zz, p.xx + p.zz, p.xx + p.yy, -p.xy, -p.xz, -p.yz};
}

/// Whether a volume or an area is one, and not what rounding leaves of none.
bool is_some(double size) {
  return std::isfinite(size) && std::abs(size) > 1e-300;
}

std::optional<MeshProperties> weighed(const Mesh& mesh, MeshInside inside) {
  // the centre of the surface: the tip of all pyramids, and the whole answer for a shell
  double area = 0;
  Vec3<double> center = Vec3<double>::zero();
  for_each_triangle(mesh, Vec3<double>::zero(), [&](const Triangle& t) {
    area += t.area();
    center += t.center() * t.area();
  });
  if (!is_some(area)) {
    return std::nullopt;
  }
  center = center / area;
  const bool shell = inside == MeshInside::shell;
  const auto size_of = [&](const Triangle& t) {
    return shell ? t.area() : inside == MeshInside::legacy ? std::abs(t.volume()) : t.volume();
  };
  MeshProperties out;
  out.center = center;
  if (!shell) {
    double volume = 0;
    Vec3<double> moment = Vec3<double>::zero();
    for_each_triangle(mesh, center, [&](const Triangle& t) {
      volume += size_of(t);
      moment += t.center() * (0.75 * size_of(t));  // a pyramid's centre is at 3/4 of its height
    });
    if (!is_some(volume)) {
      return std::nullopt;
    }
    out.center = center + moment / volume;
  }
  // seen from the centre: overlapping pyramids have another volume there, and that is the one which counts in MuJoCo
  Sym3<double> products = Sym3<double>::zero();
  for_each_triangle(mesh, out.center, [&](const Triangle& t) {
    out.volume += size_of(t);
    products = products + t.products() * (size_of(t) / (shell ? 12 : 20));
  });
  out.central = moments(products);
  return is_some(out.volume) ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<MeshProperties> mesh_properties(const Mesh& mesh, MeshInside inside) {
  if (inside != MeshInside::convex) {
    return weighed(mesh, inside);
  }
  const std::optional<Mesh> hull = convex_hull(mesh.vertices);
  return hull ? weighed(*hull, MeshInside::exact) : std::nullopt;
}

}  // namespace bunraku::io
