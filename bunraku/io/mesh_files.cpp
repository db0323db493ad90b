#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
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

#ifndef BUNRAKU_ASSIMP

std::optional<Mesh> read_mesh(const fs::path& /*path*/, std::size_t& /*bytes_left*/, std::string& problem) {
  problem = "this build of Bunraku cannot read meshes: it was made without assimp";
  return std::nullopt;
}

#else

namespace {

/// Lets a mesh file name no others: materials and textures weigh nothing.
class NoFiles : public Assimp::IOSystem {
 public:
  bool Exists(const char* /*name*/) const override { return false; }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char* /*name*/, const char* /*mode*/) override { return nullptr; }
  void Close(Assimp::IOStream* /*stream*/) override {}
};

/// The ending in small letters, where it is one of those that are read.
std::string kind_of_file(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* known : {".stl", ".obj", ".ply", ".dae", ".gltf", ".glb"}) {
    if (ending == known) {
      return ending.substr(1);
    }
  }
  return {};
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

}  // namespace

std::optional<Mesh> read_mesh(const fs::path& path, std::size_t& bytes_left, std::string& problem) {
  const std::string kind = kind_of_file(path);
  if (kind.empty()) {
    problem =
        fmt::format("files of the kind '{}' are not read", bunraku::detail::printable(path.extension().string(), 20));
    return std::nullopt;
  }
  const auto bytes = read_bytes(path, bytes_left, problem);
  if (!bytes) {
    return std::nullopt;
  }
  Assimp::Importer importer;
  importer.SetIOHandler(new NoFiles);  // which the importer deletes
  const aiScene* scene = importer.ReadFileFromMemory(
      bytes->data(), bytes->size(),
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

}  // namespace bunraku::io
