#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/io/detail/mesh.hpp"

#ifdef BUNRAKU_ASSIMP
#include <assimp/IOStream.hpp>
#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#endif

namespace bunraku::io {

namespace fs = std::filesystem;

namespace {

/// The ending in small letters, without the dot.
std::string kind_of_file(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending.empty() ? ending : ending.substr(1);
}

std::optional<std::string> read_bytes(const fs::path& path, std::size_t& bytes_left, std::string& problem) {
  std::error_code error;
  const std::uintmax_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  if (error || size == 0) {
    problem = error ? fmt::format("it cannot be read: {}", error.message()) : "it is no file, or empty";
    return std::nullopt;
  }
  if (size > max_mesh_bytes || size > bytes_left) {
    problem = fmt::format("it has {} bytes, and meshes may have {} each and {} together", size, max_mesh_bytes,
                          8 * max_mesh_bytes);
    return std::nullopt;
  }
  bytes_left -= static_cast<std::size_t>(size);
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (static_cast<std::size_t>(in.gcount()) != text.size()) {
    problem = "it cannot be read to its end";
    return std::nullopt;
  }
  return text;
}

/// MuJoCo's own format: the numbers of vertices, normals, texture coordinates and faces, then all of each.
std::optional<Mesh> read_msh(const std::string& bytes, std::string& problem) {
  std::array<std::int32_t, 4> counts{};
  const std::size_t head = sizeof(counts);
  problem = "it is no mesh of MuJoCo's format";
  if (bytes.size() < head) {
    return std::nullopt;
  }
  std::memcpy(counts.data(), bytes.data(), head);
  const auto [vertices, normals, textures, faces] = counts;
  const auto in_bounds = [](std::int32_t n) { return n >= 0 && static_cast<std::size_t>(n) <= max_mesh_parts; };
  if (!std::all_of(counts.begin(), counts.end(), in_bounds)) {
    return std::nullopt;
  }
  const auto size = [](std::int32_t n, std::size_t each) { return static_cast<std::size_t>(n) * each * 4; };
  const std::size_t faces_at = head + size(vertices, 3) + size(normals, 3) + size(textures, 2);
  if (bytes.size() != faces_at + size(faces, 3)) {
    return std::nullopt;
  }
  Mesh out;
  for (std::int32_t i = 0; i < vertices; ++i) {
    std::array<float, 3> v{};
    std::memcpy(v.data(), bytes.data() + head + size(i, 3), sizeof(v));
    if (!std::all_of(v.begin(), v.end(), [](float x) { return std::isfinite(x); })) {
      return std::nullopt;
    }
    out.vertices.push_back({static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])});
  }
  for (std::int32_t i = 0; i < faces; ++i) {
    std::array<std::int32_t, 3> f{};
    std::memcpy(f.data(), bytes.data() + faces_at + size(i, 3), sizeof(f));
    if (!std::all_of(f.begin(), f.end(), [n = vertices](std::int32_t k) { return k >= 0 && k < n; })) {
      return std::nullopt;
    }
    out.faces.push_back({f[0], f[1], f[2]});
  }
  return out;
}

#ifndef BUNRAKU_ASSIMP

std::optional<Mesh> import_mesh(const std::string& /*bytes*/, const std::string& /*kind*/, std::string& problem) {
  problem = "this build of Bunraku cannot read it: it was made without assimp";
  return std::nullopt;
}

#else

/// Lets a mesh file name no others: materials and textures weigh nothing.
class NoFiles : public Assimp::IOSystem {
 public:
  bool Exists(const char* /*name*/) const override { return false; }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char* /*name*/, const char* /*mode*/) override { return nullptr; }
  void Close(Assimp::IOStream* /*stream*/) override {}
};

/// False where a face names a vertex that there is not, or a number is not finite.
bool append(const aiMesh& from, Mesh& to) {
  const std::size_t first = to.vertices.size();
  if (first + from.mNumVertices > max_mesh_parts || to.faces.size() + from.mNumFaces > max_mesh_parts) {
    return false;
  }
  for (unsigned i = 0; i < from.mNumVertices; ++i) {
    const aiVector3D& v = from.mVertices[i];
    to.vertices.push_back({static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)});
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) {
      return false;
    }
  }
  for (unsigned i = 0; i < from.mNumFaces; ++i) {
    const aiFace& face = from.mFaces[i];
    if (face.mNumIndices != 3) {
      continue;  // points and lines weigh nothing
    }
    std::array<int, 3> corners{};
    for (unsigned k = 0; k < 3; ++k) {
      if (face.mIndices[k] >= from.mNumVertices) {
        return false;
      }
      corners[k] = static_cast<int>(first + face.mIndices[k]);
    }
    to.faces.push_back(corners);
  }
  return true;
}

std::optional<Mesh> import_mesh(const std::string& bytes, const std::string& kind, std::string& problem) {
  Assimp::Importer importer;
  importer.SetIOHandler(new NoFiles);  // which the importer deletes
  const aiScene* scene = importer.ReadFileFromMemory(
      bytes.data(), bytes.size(),
      aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_ValidateDataStructure, kind.c_str());
  if (scene == nullptr || scene->mMeshes == nullptr) {
    problem = fmt::format("it is no mesh: {}", bunraku::detail::printable(importer.GetErrorString(), 100));
    return std::nullopt;
  }
  Mesh out;
  for (unsigned i = 0; i < scene->mNumMeshes; ++i) {
    if (!append(*scene->mMeshes[i], out)) {
      problem = fmt::format("it has a number that is not finite, a corner that is not there, or more than {} triangles",
                            max_mesh_parts);
      return std::nullopt;
    }
  }
  return out;
}

#endif

}  // namespace

std::optional<Mesh> read_mesh(const fs::path& path, std::size_t& bytes_left, std::string& problem) {
  static constexpr std::array<std::string_view, 7> known = {"stl", "obj", "ply", "dae", "gltf", "glb", "msh"};
  const std::string kind = kind_of_file(path);
  if (std::find(known.begin(), known.end(), kind) == known.end()) {
    problem = fmt::format("files of the kind '{}' are not read", bunraku::detail::printable(kind, 20));
    return std::nullopt;
  }
  const auto bytes = read_bytes(path, bytes_left, problem);
  if (!bytes) {
    return std::nullopt;
  }
  return kind == "msh" ? read_msh(*bytes, problem) : import_mesh(*bytes, kind, problem);
}

}  // namespace bunraku::io
