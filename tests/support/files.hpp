/// @file
/// Folders and files for tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace bunraku::test {

/// A folder that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device device;
    path_ = std::filesystem::temp_directory_path() / ("bunraku_test_" + std::to_string(device()));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Writes a file, making the folders on the way, and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The whole of a file.
inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// The folder of well-known robots beside the project, if it is there: BUNRAKU_SHARED_MODELS, or ../shared/models.
inline std::filesystem::path shared_models() {
  if (const char* chosen = std::getenv("BUNRAKU_SHARED_MODELS"); chosen != nullptr) {
    return chosen;
  }
  return std::filesystem::path(BUNRAKU_SOURCE_DIR) / ".." / "shared" / "models";
}

}  // namespace bunraku::test
