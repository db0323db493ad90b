/// The convex hull of points, by Quickhull: Barber, Dobkin and Huhdanpaa, ACM Transactions on Mathematical Software 22
/// (1996).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "bunraku/io/detail/mesh.hpp"

namespace bunraku::io {

namespace {

class Quickhull {
 public:
  explicit Quickhull(const std::vector<Vec3<double>>& points) : points_(points) {}

  std::optional<Mesh> run() {
    if (!start()) {
      return std::nullopt;
    }
    for (std::size_t f = 0; f < faces_.size(); ++f) {  // faces are added while it runs
      while (faces_[f].alive && !faces_[f].outside.empty()) {
        if (!raise(f)) {
          return std::nullopt;
        }
      }
    }
    Mesh out;
    out.vertices = points_;
    for (const Face& face : faces_) {
      if (face.alive) {
        out.faces.push_back(face.corners);
      }
    }
    return out;
  }

 private:
  struct Face {
    std::array<int, 3> corners;
    Vec3<double> normal;  // of unit length
    double offset = 0;
    std::vector<int> outside = {};  // points above it, and above no face before it
    bool alive = true;
  };

  const Vec3<double>& at(int i) const { return points_[static_cast<std::size_t>(i)]; }
  double height(const Face& face, int point) const { return dot(face.normal, at(point)) - face.offset; }
  static std::uint64_t edge(int from, int to) {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  }

  /// False where an edge has a second face on the same side: rounding has spoilt the surface.
  bool add_face(int a, int b, int c) {
    Face face{.corners = {a, b, c}, .normal = cross(at(b) - at(a), at(c) - at(a))};
    const double length = norm(face.normal);
    face.normal = length > 0 ? face.normal / length : Vec3<double>::zero();
    face.offset = dot(face.normal, at(a));
    const std::size_t index = faces_.size();
    faces_.push_back(std::move(face));
    return edges_.emplace(edge(a, b), index).second && edges_.emplace(edge(b, c), index).second &&
           edges_.emplace(edge(c, a), index).second;
  }

  /// Gives a point to the first of the faces, from `first` on, that it is above.
  void assign(int point, std::size_t first) {
    for (std::size_t f = first; f < faces_.size(); ++f) {
      if (height(faces_[f], point) > slack_) {
        faces_[f].outside.push_back(point);
        return;
      }
    }
  }

  /// A first tetrahedron, as large as is easily found.
  bool start() {
    if (points_.size() < 4 || points_.size() > max_mesh_parts) {
      return false;
    }
    const auto count = static_cast<int>(points_.size());
    const auto farthest = [&](const auto& distance) {
      int best = 0;
      double most = -1;
      for (int i = 0; i < count; ++i) {
        if (const double d = distance(i); d > most) {
          most = d;
          best = i;
        }
      }
      return std::pair(best, most);
    };
    const int a = farthest([&](int i) { return std::abs(at(i).x - at(0).x); }).first;
    const auto [b, length] = farthest([&](int i) { return norm(at(i) - at(a)); });
    const Vec3<double> ab = at(b) - at(a);
    const auto [c, area] = farthest([&](int i) { return norm(cross(ab, at(i) - at(a))); });
    const Vec3<double> normal = cross(ab, at(c) - at(a));
    const auto [d, volume] = farthest([&](int i) { return std::abs(dot(normal, at(i) - at(a))); });
    double size = 0;
    for (const Vec3<double>& p : points_) {
      size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    }
    constexpr double rounding = 1e-12;
    slack_ = rounding * size;
    if (!std::isfinite(size) || !(length > slack_) || !(area > slack_ * length) || !(volume > slack_ * area)) {
      return false;
    }
    const bool below = dot(normal, at(d) - at(a)) < 0;  // then abc is seen counterclockwise from outside
    const int first = below ? b : c;
    const int second = below ? c : b;
    const bool sound =
        add_face(a, first, second) && add_face(a, second, d) && add_face(second, first, d) && add_face(first, a, d);
    for (int i = 0; i < count; ++i) {
      assign(i, 0);
    }
    return sound;
  }

  /// Takes the highest point above face f into the hull: all faces that it sees go, and it is joined to their rim.
  bool raise(std::size_t f) {
    const std::vector<int>& above = faces_[f].outside;
    const int tip = *std::max_element(above.begin(), above.end(),
                                      [&](int i, int j) { return height(faces_[f], i) < height(faces_[f], j); });
    std::vector<std::size_t> visible = {f};
    std::vector<std::pair<int, int>> rim;
    faces_[f].alive = false;
    for (std::size_t k = 0; k < visible.size(); ++k) {
      const std::array<int, 3> corners = faces_[visible[k]].corners;
      for (std::size_t i = 0; i < 3; ++i) {
        const int from = corners[i];
        const int to = corners[(i + 1) % 3];
        const auto other = edges_.find(edge(to, from));
        if (other == edges_.end()) {
          continue;  // between two faces that are both seen
        }
        Face& beyond = faces_[other->second];
        if (!beyond.alive) {
          continue;
        }
        if (height(beyond, tip) > slack_) {
          beyond.alive = false;
          visible.push_back(other->second);
        } else {
          rim.emplace_back(from, to);
        }
      }
    }
    for (const std::size_t seen : visible) {
      const std::array<int, 3>& c = faces_[seen].corners;
      edges_.erase(edge(c[0], c[1]));
      edges_.erase(edge(c[1], c[2]));
      edges_.erase(edge(c[2], c[0]));
    }
    const std::size_t first = faces_.size();
    for (const auto& [from, to] : rim) {
      if (!add_face(from, to, tip)) {
        return false;
      }
    }
    for (const std::size_t seen : visible) {
      for (const int point : std::exchange(faces_[seen].outside, {})) {
        if (point != tip) {
          assign(point, first);
        }
      }
    }
    return true;
  }

  const std::vector<Vec3<double>>& points_;
  double slack_ = 0;  // heights below it are none
  std::vector<Face> faces_;
  std::unordered_map<std::uint64_t, std::size_t> edges_;  // the face on the left of each directed edge
};

}  // namespace

std::optional<Mesh> convex_hull(const std::vector<Vec3<double>>& points) {
  return Quickhull(points).run();
}

}  // namespace bunraku::io
