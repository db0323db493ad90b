/// The inertia of meshes, against closed forms and against numbers of MuJoCo 4.0.0.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mjcf_text.hpp"
#include "sdf_text.hpp"
#include "support/files.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Triangles {
  std::vector<Vec3<double>> vertices;
  std::vector<std::array<int, 3>> faces;
};

/// A box with corners a and b, its triangles turned outward.
void add_box(Triangles& to, const Vec3<double>& a, const Vec3<double>& b) {
  const int first = static_cast<int>(to.vertices.size());
  for (const double x : {a.x, b.x}) {
    for (const double y : {a.y, b.y}) {
      for (const double z : {a.z, b.z}) {
        to.vertices.push_back({x, y, z});
      }
    }
  }
  const std::array<std::array<int, 3>, 12> faces = {{{0, 1, 3},
                                                     {0, 3, 2},
                                                     {4, 6, 7},
                                                     {4, 7, 5},
                                                     {0, 4, 5},
                                                     {0, 5, 1},
                                                     {2, 3, 7},
                                                     {2, 7, 6},
                                                     {0, 2, 6},
                                                     {0, 6, 4},
                                                     {1, 5, 7},
                                                     {1, 7, 3}}};
  for (const std::array<int, 3>& f : faces) {
    to.faces.push_back({f[0] + first, f[1] + first, f[2] + first});
  }
}

Triangles box(const Vec3<double>& a, const Vec3<double>& b) {
  Triangles out;
  add_box(out, a, b);
  return out;
}

/// As attributes of `<mesh>`.
std::string vertices(const Triangles& t) {
  std::string out = "vertex='";
  for (const Vec3<double>& v : t.vertices) {
    out += fmt::format("{} {} {} ", v.x, v.y, v.z);
  }
  return out + "' ";
}
std::string faces(const Triangles& t) {
  std::string out = "face='";
  for (const auto& f : t.faces) {
    out += fmt::format("{} {} {} ", f[0], f[1], f[2]);
  }
  return out + "' ";
}

std::string with_mesh(const std::string& mesh, const std::string& geom = "") {
  return in_world("<body name='b'><freejoint/><geom name='g' type='mesh' mesh='m' " + geom + "/></body>",
                  "<asset><mesh name='m' " + mesh + "/></asset>");
}

/// A full box of density 1000.
void expect_box(const Model& model, const Vec3<double>& a, const Vec3<double>& b) {
  const Vec3<double> s = b - a;
  const double mass = 1000 * std::abs(s.x * s.y * s.z);
  expect_inertia(model, "b", mass, (a + b) * 0.5,
                 {mass * (s.y * s.y + s.z * s.z) / 12, mass * (s.x * s.x + s.z * s.z) / 12,
                  mass * (s.x * s.x + s.y * s.y) / 12, 0, 0, 0});
}

TEST(MeshInertia, of_a_box) {
  const Triangles t = box({0, 0, 0}, {1, 2, 3});
  for (const char* inside : {"", "inertia='legacy'", "inertia='exact'", "inertia='convex'"}) {
    SCOPED_TRACE(inside);
    expect_box(read(with_mesh(vertices(t) + faces(t) + inside)), {0, 0, 0}, {1, 2, 3});
    expect_box(read(with_mesh(vertices(t) + inside)), {0, 0, 0}, {1, 2, 3});  // the hull
  }
  // seen from refpos in the axes of refquat, then scaled: numbers of MuJoCo
  expect_box(read(with_mesh(vertices(t) + faces(t) + "inertia='exact' scale='2 1 -1'")), {0, 0, -3}, {2, 2, 0});
  expect_box(read(with_mesh(vertices(t) + faces(t) + "inertia='exact' scale='2 1 1' refpos='1 0 0' refquat='1 0 0 1'")),
             {0, 0, 0}, {4, 1, 3});
  expect_inertia(read(with_mesh(vertices(t) + faces(t), "mass='2' pos='1 0 0'")), "b", 2, {1.5, 1, 1.5},
                 {13.0 / 6, 5.0 / 3, 5.0 / 6, 0, 0, 0});
}

TEST(MeshInertia, of_a_tetrahedron) {
  // 0, a e_x, b e_y, c e_z: V = abc/6, centre (a, b, c)/4, ∫(x − x̄)² = 3Va²/80, ∫(x − x̄)(y − ȳ) = −Vab/80
  const double a = 1, b = 2, c = 3, mass = 1000 * a * b * c / 6;
  const Triangles t{{{0, 0, 0}, {a, 0, 0}, {0, b, 0}, {0, 0, c}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  const double k = 3 * mass / 80;
  for (const char* inside : {"inertia='legacy'", "inertia='exact'", "inertia='convex'"}) {
    expect_inertia(
        read(with_mesh(vertices(t) + faces(t) + inside)), "b", mass, {a / 4, b / 4, c / 4},
        {k * (b * b + c * c), k * (a * a + c * c), k * (a * a + b * b), k / 3 * a * b, k / 3 * a * c, k / 3 * b * c});
  }
}

TEST(MeshInertia, of_a_hollow_box) {
  // a cube of side 2: the mean of x² is 1 on two faces and 1/3 on four, hence 5/9; a moment is that of y² + z²
  const Triangles t = box({-1, -1, -1}, {1, 1, 1});
  const double mass = 24;
  const double moment = mass * 10 / 9;
  expect_inertia(read(with_mesh(vertices(t) + faces(t) + "inertia='shell'", "density='1'")), "b", mass, {0, 0, 0},
                 {moment, moment, moment, 0, 0, 0});
}

TEST(MeshInertia, of_what_is_not_convex_is_MuJoCos) {
  Triangles t = box({0, 0, 0}, {3, 1, 1});
  add_box(t, {5, 4, 0}, {6, 6, 2});
  struct Case {
    const char* inside;
    double mass;
    Vec3<double> center;
    std::array<double, 6> central;
  };
  const std::vector<Case> cases = {
      {"legacy",
       16343.53741496599,
       {3.66853741, 3.02091837, 0.77789116},
       {61306.14249654, 53479.30488112, 107666.30349217, -48995.22773006, -5894.70190587, -6515.93786847}},
      {"exact",
       7000,
       {3.78571429, 3.07142857, 0.78571429},
       {38309.52380952, 32023.80952181, 66309.52381152, -30857.14285602, -3428.57143865, -3857.14284827}},
      {"convex",
       27000,
       {3.5462963, 2.92746914, 0.80401235},
       {73020.859054, 65821.69495811, 125483.42335415, -50053.16358008, -5607.48457381, -6166.19083815}},
      {"shell",
       30000,
       {3.63333333, 2.9, 0.76666667},
       {173400, 147666.66665011, 297000.00001656, -134399.99999078, -14933.33341636, -16799.99992639}}};
  for (const Case& wanted : cases) {
    SCOPED_TRACE(wanted.inside);
    const Model model = read(with_mesh(vertices(t) + faces(t) + fmt::format("inertia='{}'", wanted.inside)));
    const RigidInertia<double>& inertia = body(model, "b").inertia;
    const Sym3<double> c = inertia.central();
    EXPECT_NEAR(inertia.mass, wanted.mass, 1e-9 * wanted.mass);
    EXPECT_LT(norm(inertia.center() - wanted.center), 2e-8);  // as many digits as were printed
    const std::array<double, 6> central = {c.xx, c.yy, c.zz, c.xy, c.xz, c.yz};
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(central[i], wanted.central[i], 1e-8 * wanted.central[2]);  // MuJoCo's axes are good to 1e-8
    }
  }
}

TEST(MeshInertia, of_a_hull_with_points_inside_and_on_its_faces) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  Triangles t = box({0, 0, 0}, {1, 2, 3});
  for (int i = 0; i < 3000; ++i) {
    Vec3<double> v{unit(random), 2 * unit(random), 3 * unit(random)};
    if (i % 3 == 0) {
      v.x = i % 2;  // on a face
    }
    t.vertices.push_back(v);
  }
  expect_box(read(with_mesh(vertices(t))), {0, 0, 0}, {1, 2, 3});
}

TEST(MeshInertia, of_a_ball_of_many_points) {
  // points of a sphere all belong to its hull: the volume misses that of the ball by O(1/n)
  Triangles t;
  constexpr int count = 4000;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2.0 * i + 1) / count;
    const double r = std::sqrt(1 - z * z);
    const double angle = i * pi * (3 - std::sqrt(5.0));
    t.vertices.push_back({r * std::cos(angle), r * std::sin(angle), z});
  }
  const Model model = read(with_mesh(vertices(t)));
  const RigidInertia<double>& inertia = body(model, "b").inertia;
  const double mass = 4000 * pi / 3;
  EXPECT_NEAR(inertia.mass, mass, 5e-3 * mass);
  EXPECT_LT(inertia.mass, mass);
  EXPECT_NEAR(inertia.central().xx, 0.4 * inertia.mass, 5e-3 * mass);
}

TEST(MeshInertia, that_cannot_be_known_is_a_warning) {
  Triangles t = box({0, 0, 0}, {1, 2, 3});
  for (auto& f : t.faces) {
    std::swap(f[0], f[1]);
  }
  const Model turned = read(with_mesh(vertices(t) + faces(t) + "inertia='exact'"));
  expect_box(turned, {0, 0, 0}, {1, 2, 3});
  EXPECT_THAT(warnings(turned), Contains(HasSubstr("is turned inside out")));
  EXPECT_THAT(warnings(read(with_mesh("vertex='0 0 0 1 0 0 0 1 0 1 1 0'"))),
              Contains(HasSubstr("whose mesh is 'm': it has no volume")));
  EXPECT_THAT(warnings(read(with_mesh("vertex='0 0 0 1 0 0 0 1 0 1 1 0' inertia='convex'"))),
              Contains(HasSubstr("it has no convex hull")));
  EXPECT_THAT(warnings(read(with_mesh("builtin='sphere'"))), Contains(HasSubstr("it is made by MuJoCo itself")));
  EXPECT_THAT(errors(with_mesh(vertices(t) + "face='0 1 8'")),
              ElementsAre(HasSubstr("names the vertex 8, but there are 8")));
}

// ---------------------------------------------------------------------------------------------------------------
// Files

std::string as_obj(const Triangles& t) {
  std::string out = "mtllib nowhere.mtl\n";
  for (const Vec3<double>& v : t.vertices) {
    out += fmt::format("v {} {} {}\n", v.x, v.y, v.z);
  }
  for (const auto& f : t.faces) {
    out += fmt::format("f {} {} {}\n", f[0] + 1, f[1] + 1, f[2] + 1);
  }
  return out;
}

std::string as_binary_stl(const Triangles& t) {
  std::string out(80, ' ');
  const auto add = [&](const auto& value) {
    std::array<char, sizeof(value)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(value));
    out.append(bytes.data(), bytes.size());
  };
  add(static_cast<std::uint32_t>(t.faces.size()));
  for (const auto& f : t.faces) {
    for (const float zero : {0.F, 0.F, 0.F}) {  // the normal, which nobody needs
      add(zero);
    }
    for (const int i : f) {
      const Vec3<double>& v = t.vertices[static_cast<std::size_t>(i)];
      add(static_cast<float>(v.x));
      add(static_cast<float>(v.y));
      add(static_cast<float>(v.z));
    }
    add(std::uint16_t{0});
  }
  return out;
}

std::string as_text_stl(const Triangles& t) {
  std::string out = "solid box\n";
  for (const auto& f : t.faces) {
    out += "facet normal 0 0 0\nouter loop\n";
    for (const int i : f) {
      const Vec3<double>& v = t.vertices[static_cast<std::size_t>(i)];
      out += fmt::format("vertex {} {} {}\n", v.x, v.y, v.z);
    }
    out += "endloop\nendfacet\n";
  }
  return out + "endsolid box\n";
}

std::string as_msh(const Triangles& t, std::int32_t normals) {
  std::string out;
  const auto add = [&](const auto& value) {
    std::array<char, sizeof(value)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(value));
    out.append(bytes.data(), bytes.size());
  };
  for (const std::int32_t count :
       {static_cast<std::int32_t>(t.vertices.size()), normals, 2, static_cast<std::int32_t>(t.faces.size())}) {
    add(count);
  }
  for (const Vec3<double>& v : t.vertices) {
    add(std::array<float, 3>{static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)});
  }
  out.append(static_cast<std::size_t>(normals) * 12 + 2 * 8, '\0');
  for (const std::array<int, 3>& f : t.faces) {
    add(f);
  }
  return out;
}

bool can_read_meshes(const Model& model) {
  const std::vector<std::string> all = warnings(model);
  return std::none_of(all.begin(), all.end(),
                      [](const std::string& w) { return w.find("without assimp") != std::string::npos; });
}

TEST(MeshFiles, are_read_where_the_inertia_is_asked_for) {
  const TemporaryFolder folder;
  const Triangles t = box({0, 0, 0}, {1, 2, 3});
  folder.write("meshes/a.obj", as_obj(t));
  folder.write("meshes/b.STL", as_binary_stl(t));
  folder.write("meshes/c.stl", as_text_stl(t));
  folder.write("meshes/d.stl", "not a mesh");
  folder.write("meshes/e.msh", as_msh(t, 8));
  for (const char* file : {"e.msh", "a.obj", "b.STL", "c.stl"}) {
    SCOPED_TRACE(file);
    const std::string text = with_mesh(fmt::format("file='{}' scale='1 1 0.5' inertia='exact'", file));
    const Model model =
        load(folder.write("m.xml", "<mujoco><compiler meshdir='meshes'/>" + text.substr(std::strlen("<mujoco>"))));
    if (!can_read_meshes(model)) {
      GTEST_SKIP() << "this build reads no meshes";
    }
    expect_box(model, {0, 0, 0}, {1, 2, 1.5});
    EXPECT_THAT(warnings(model), IsEmpty());
  }
  // a body that states its inertia needs no mesh
  EXPECT_THAT(warnings(load(folder.write(
                  "n.xml", in_world("<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom type='mesh' "
                                    "mesh='d'/></body>",
                                    "<compiler meshdir='meshes'/><asset><mesh file='d.stl'/></asset>")))),
              IsEmpty());
}

TEST(MeshFiles, that_are_broken_are_no_meshes) {
  const TemporaryFolder folder;
  const Triangles t = box({0, 0, 0}, {1, 2, 3});
  std::string many = as_binary_stl(t);
  many[83] = '\x7f';  // two thousand million triangles
  Triangles wild = t;
  wild.vertices[0].x = std::numeric_limits<double>::quiet_NaN();
  std::filesystem::create_directories(folder / "folder.stl");
  folder.write("many.stl", many);
  folder.write("short.stl", as_binary_stl(t).substr(0, 200));
  folder.write("wild.stl", as_binary_stl(wild));
  folder.write("empty.stl", "");
  folder.write("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999\n");
  folder.write("other.off", "x");
  folder.write("short.msh", as_msh(t, 8).substr(0, 100));
  Triangles bad = t;
  bad.faces[0][0] = 8;
  folder.write("far.msh", as_msh(bad, 0));
  std::error_code error;
  folder.write("large.stl", "solid");
  std::filesystem::resize_file(folder / "large.stl", 5'000'000'000, error);  // takes no space
  for (const char* file : {"many.stl", "short.stl", "wild.stl", "empty.stl", "far.obj", "other.off", "short.msh",
                           "far.msh", "large.stl", "folder.stl"}) {
    SCOPED_TRACE(file);
    const Model model = load(folder.write("m.xml", with_mesh(fmt::format("file='{}'", file))));
    EXPECT_THAT(warnings(model), Contains(HasSubstr("the inertia of <geom name=\"g\"> in body 'b' is not known")));
    EXPECT_EQ(body(model, "b").inertia.mass, 0);
  }
}

TEST(MeshFiles, that_are_damaged_do_no_harm) {
  const TemporaryFolder folder;
  const Triangles t = box({0, 0, 0}, {1, 2, 3});
  std::mt19937 random(7);
  for (const auto& [name, text] : {std::pair<std::string, std::string>("m.stl", as_binary_stl(t)),
                                   std::pair<std::string, std::string>("m.stl", as_text_stl(t)),
                                   std::pair<std::string, std::string>("m.msh", as_msh(t, 8)),
                                   std::pair<std::string, std::string>("m.obj", as_obj(t))}) {
    for (int i = 0; i < 100; ++i) {
      std::string damaged = text;
      for (int k = 0; k < 4; ++k) {
        damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
      }
      folder.write(name, damaged.substr(0, 1 + random() % damaged.size()));
      const Model model = load(folder.write("m.xml", with_mesh("file='" + name + "'")));
      EXPECT_TRUE(std::isfinite(model.mass()));
    }
  }
}

}  // namespace
}  // namespace bunraku::test::mjcf

namespace bunraku::test::sdf {
namespace {

using testing::HasSubstr;

std::string automatic(const std::string& inertial, const std::string& collisions) {
  return in_model("<link name='a'><inertial auto='true'>" + inertial + "</inertial>" + collisions + "</link>");
}

std::string collision(const std::string& name, const std::string& shape, const std::string& rest = "") {
  return fmt::format("<collision name='{}'><geometry>{}</geometry>{}</collision>", name, shape, rest);
}

TEST(SdfAutomaticInertia, is_that_of_the_collisions) {
  const std::string cube = "<box><size>1 1 1</size></box>";
  const RigidInertia<double> one = read(automatic("", collision("c", cube))).body(0).inertia;
  EXPECT_DOUBLE_EQ(one.mass, 1000) << "water";
  EXPECT_NEAR(one.central().xx, 1000.0 / 6, 1e-12);
  // two cubes at distance 4 along x, of 2 and 6 kg
  const RigidInertia<double> two =
      read(automatic("<density>2</density>",
                     collision("c", cube) + collision("d", cube, "<density>6</density><pose>4 0 0 0 0 0</pose>")))
          .body(0)
          .inertia;
  EXPECT_DOUBLE_EQ(two.mass, 8);
  expect_near(two.center(), {3, 0, 0});
  EXPECT_NEAR(two.central().xx, 8.0 / 6, 1e-12);
  EXPECT_NEAR(two.central().yy, 8.0 / 6 + 2 * 9 + 6 * 1, 1e-12);
  // scaled to the mass that is given
  const RigidInertia<double> scaled = read(automatic("<mass>3</mass>", collision("c", cube))).body(0).inertia;
  EXPECT_DOUBLE_EQ(scaled.mass, 3);
  EXPECT_NEAR(scaled.central().xx, 0.5, 1e-12);
  // the others: a cylinder, a ball, a capsule of no length, an ellipsoid
  const auto of = [](const std::string& shape) { return read(automatic("", collision("c", shape))).body(0).inertia; };
  EXPECT_NEAR(of("<cylinder><radius>1</radius><length>2</length></cylinder>").mass, 2000 * pi, 1e-9);
  EXPECT_NEAR(of("<sphere><radius>1</radius></sphere>").mass, 4000 * pi / 3, 1e-9);
  EXPECT_NEAR(of("<capsule><radius>1</radius><length>3</length></capsule>").mass, 3000 * pi + 4000 * pi / 3, 1e-9);
  EXPECT_NEAR(of("<ellipsoid><radii>1 2 3</radii></ellipsoid>").central().zz, 8000 * pi * (1 + 4) / 5, 1e-8);
}

TEST(SdfAutomaticInertia, is_refused_where_it_is_not_known) {
  EXPECT_THAT(errors(automatic("", "")), testing::ElementsAre(HasSubstr("which have no mass")));
  EXPECT_THAT(errors(automatic("", collision("c", "<mesh><uri>nowhere.stl</uri></mesh>"))),
              testing::Contains(HasSubstr("whose mesh is 'nowhere.stl': its file is not found")));
  EXPECT_THAT(errors(automatic("", collision("c", "<box><size>1 1</size></box>"))), testing::Not(testing::IsEmpty()));
}

TEST(SdfAutomaticInertia, of_a_mesh_is_exact) {
  const TemporaryFolder folder;
  folder.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  try {
    const Model model = load(
        folder.write("m.sdf", automatic("", collision("c", "<mesh><uri>m.obj</uri><scale>-1 1 1</scale></mesh>"))));
    EXPECT_NEAR(model.mass(), 1000, 1e-9);
    expect_near(model.body(0).inertia.center(), {-0.25, 0.5, 0.75});
  } catch (const ModelError& error) {
    if (std::string(error.what()).find("without assimp") == std::string::npos) {
      throw;
    }
    GTEST_SKIP() << "this build reads no meshes";
  }
}

}  // namespace
}  // namespace bunraku::test::sdf
