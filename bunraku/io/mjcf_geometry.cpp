#include "bunraku/io/detail/mjcf_geometry.hpp"

#include <fmt/format.h>

#include "bunraku/io/detail/solids.hpp"

namespace bunraku::io {

namespace {

/// Reads one geom.
class GeomReader {
 public:
  GeomReader(const Attributes& attributes, const std::string& body, const MjcfAssets& assets, const MjcfShared& shared)
      : attributes_(attributes), element_(attributes.element()), body_(body), assets_(assets), shared_(shared) {}

  MjcfGeom read(const Transform<double>& X_BF, bool weighs) {
    const std::string_view type = attributes_.word("type", "sphere", geom_types);
    const std::string_view mesh = attributes_.text("mesh");
    const bool sized = mesh.empty() && type != "mesh" && type != "hfield" && type != "sdf";
    MjcfGeom geom;
    Geometry shape;
    shape.name = element_.attribute("name").value_or("");
    shape.pose = X_BF * read_placement(type);
    geom.pose = shape.pose;
    bool kept = true;
    if (sized) {
      kept = read_size(type, shape);
    } else {
      kept = read_mesh(type, mesh, shape);
    }
    read_looks(shape);
    const double contype = attributes_.number("contype", 1);
    const double conaffinity = attributes_.number("conaffinity", 1);
    geom.collides = contype != 0 || conaffinity != 0;
    const bool counts = in_groups();
    read_mass(type, weighs && counts, sized, kept, geom);
    if (kept) {
      geom.shape = std::move(shape);
    }
    return geom;
  }

 private:
  /// The pose, and where it comes from a `fromto` the length.
  Transform<double> read_placement(std::string_view type) {
    if (!attributes_.has("fromto")) {
      return read_pose(attributes_, shared_.settings);
    }
    if (type != "capsule" && type != "cylinder" && type != "ellipsoid" && type != "box") {
      element_.error(fmt::format("{} has a fromto but is a {}", element_.description(), type),
                     "fromto is for capsules, cylinders, ellipsoids and boxes");
      return read_pose(attributes_, shared_.settings);
    }
    if (attributes_.vector("pos", Vec3<double>::zero()) != Vec3<double>::zero()) {
      element_.error(fmt::format("{} has both pos and fromto", element_.description()), "keep one of them");
    }
    for (const char* ignored : orientations) {
      attributes_.check(ignored);  // fromto says it all
    }
    double length = 0;
    const auto pose = read_fromto(attributes_, length);
    half_length_ = pose ? length / 2 : 1;  // what is wrong with it was said
    return pose.value_or(Transform<double>::identity());
  }

  bool read_size(std::string_view type, Geometry& shape) {
    const std::vector<double> given = attributes_.partial("size", {0, 0, 0});
    size_ = {given[0], given[1], given[2]};
    if (half_length_) {
      const bool slim = type == "capsule" || type == "cylinder";
      size_ = slim ? Vec3<double>{size_.x, *half_length_, 0} : Vec3<double>{size_.x, size_.x, *half_length_};
    }
    if (type == "plane") {
      shape.type = ShapeType::plane;
      shape.size = {2 * size_.x, 2 * size_.y, 0};
      if (size_.x < 0 || size_.y < 0) {
        element_.error(fmt::format("the size of {}, a plane, is negative", element_.description()),
                       "give half lengths, or 0 for a plane without end");
        return false;
      }
      return true;
    }
    const int wanted = type == "sphere" ? 1 : type == "capsule" || type == "cylinder" ? 2 : 3;
    for (int i = 0; i < wanted; ++i) {
      if (!(size_[i] > 0)) {
        const int numbers = half_length_ ? 1 : wanted;
        element_.error(fmt::format("the size of {}, a {}, {}", element_.description(), type,
                                   attributes_.has("size") ? "is not positive or not complete" : "is missing"),
                       fmt::format("give {} positive number{} in size", numbers, numbers == 1 ? "" : "s"));
        size_ = {1, 1, 1};  // whatever, as long as reading can go on
        return false;
      }
    }
    set_shape(type, shape);
    return true;
  }

  void set_shape(std::string_view type, Geometry& shape) const {
    if (type == "sphere") {
      shape.type = ShapeType::sphere;
      shape.size = {size_.x, 0, 0};
    } else if (type == "ellipsoid") {
      shape.type = ShapeType::ellipsoid;
      shape.size = size_;
    } else if (type == "box") {
      shape.type = ShapeType::box;
      shape.size = size_ * 2.0;
    } else {
      shape.type = type == "capsule" ? ShapeType::capsule : ShapeType::cylinder;
      shape.size = {size_.x, 2 * size_.y, 0};
    }
  }

  bool read_mesh(std::string_view type, std::string_view mesh, Geometry& shape) {
    attributes_.check("size");  // the mesh has its own
    if (type == "hfield" || type == "sdf") {
      element_.warning(fmt::format("the shape of {}, of type {}, is not used", element_.description(), type));
      return false;
    }
    if (mesh.empty()) {
      element_.error(fmt::format("{} is a {} but names no mesh", element_.description(), type), "add mesh=\"…\"");
      return false;
    }
    return assets_.set_mesh(element_, mesh, shape);
  }

  void read_looks(Geometry& shape) {
    if (const std::string_view material = attributes_.text("material"); !material.empty()) {
      assets_.set_material(element_, material, shape);
    }
    constexpr std::array<double, 4> untouched = {0.5, 0.5, 0.5, 1};  // leaves the colour to the material
    if (const auto color = attributes_.look("rgba"); color && (*color != untouched || !shape.color)) {
      shape.color = *color;
    }
  }

  bool in_groups() const {
    const double group = attributes_.number("group", 0);
    return group >= shared_.settings.first_group && group <= shared_.settings.last_group;
  }

  void read_mass(std::string_view type, bool weighs, bool sized, bool kept, MjcfGeom& geom) {
    const auto mass = attributes_.numbers("mass", 1, 1);
    const double density = attributes_.number("density", 1000);
    const bool is_shell = attributes_.flag("shellinertia", false);
    if (!weighs || (mass ? mass->front() == 0 : density == 0)) {
      return;
    }
    if ((mass ? mass->front() : density) < 0) {
      element_.error(fmt::format("the mass or density of {} is negative", element_.description()),
                     "give a mass of zero or more");
      return;
    }
    if (!sized) {
      weigh_mesh(type, mass ? std::optional(mass->front()) : std::nullopt, density, is_shell, geom);
      return;
    }
    if (!kept || type == "plane") {
      return;
    }
    if (is_shell && type == "ellipsoid") {
      element_.warning(
          fmt::format("the inertia of {}, a hollow ellipsoid, is good to a percent", element_.description()));
    }
    const Solid solid = is_shell ? hollow_shape(type, size_) : full_shape(type, size_);
    constexpr double nothing = 1e-14;  // too small to have the mass that is given
    geom.mass = !mass ? density * solid.volume : solid.volume > nothing ? mass->front() : 0;
    const Vec3<double> moments = solid.moments * geom.mass;
    geom.central = Sym3<double>::diagonal(moments.x, moments.y, moments.z);
  }

  void weigh_mesh(std::string_view type, std::optional<double> mass, double density, bool shell, MjcfGeom& geom) {
    const std::string_view name = attributes_.text("mesh");
    std::string problem = type == "hfield" || type == "sdf" ? fmt::format("it is of the type {}", type)
                          : type != "mesh"                  ? fmt::format("it is the {} that fits its mesh", type)
                                                            : std::string();
    const auto mesh = problem.empty() && !name.empty() ? assets_.weigh(name, shell, problem) : std::nullopt;
    if (!mesh) {
      element_.warning(fmt::format("the inertia of {} in body '{}' is not known{}{}", element_.description(), body_,
                                   name.empty() ? "" : fmt::format(", whose mesh is '{}'", name),
                                   problem.empty() ? "" : ": " + problem),
                       "state <inertial> in the body");
      return;
    }
    geom.mass = mass.value_or(density * mesh->volume);
    geom.pose.translation = geom.pose * mesh->center;
    geom.central = mesh->central * (geom.mass / mesh->volume);
  }

  const Attributes& attributes_;
  const XmlElement& element_;
  const std::string& body_;
  const MjcfAssets& assets_;
  const MjcfShared& shared_;
  Vec3<double> size_ = {1, 1, 1};
  std::optional<double> half_length_;
};

}  // namespace

MjcfGeom read_geom(const XmlElement& element, const DefaultClass* inherited, const Transform<double>& X_BF, bool weighs,
                   const std::string& body, const MjcfAssets& assets, const MjcfShared& shared) {
  const Attributes attributes(element, shared.defaults, shared.defaults.named(element, "class", inherited));
  return GeomReader(attributes, body, assets, shared).read(X_BF, weighs);
}

}  // namespace bunraku::io
