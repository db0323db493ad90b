/// @file
/// Files of NumPy's, made byte by byte by the description of the format, and a program that is run on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "program.hpp"

namespace bunraku::test {

using namespace std::string_literals;

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  std::string out(numbers.size() * sizeof(T), '\0');
  std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

/// A file: its dictionary as it stands there, padded to 64 bytes, and its numbers.
inline std::string file_of(const std::string& dictionary, const std::string& numbers, int version = 1) {
  std::string out = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  const std::size_t start = version == 1 ? 10 : 12;
  const std::size_t length = (start + dictionary.size() + 64) / 64 * 64 - start;
  for (std::size_t i = 0; i < start - 8; ++i) {
    out += static_cast<char>(length >> (8 * i) & 0xFF);
  }
  return out + dictionary + std::string(length - dictionary.size() - 1, ' ') + '\n' + numbers;
}

inline std::string dictionary_of(const std::string& type, const std::string& shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran ? "True" : "False", shape);
}

template <class T = double>
std::string matrix_file(const std::vector<T>& numbers, std::size_t cols) {
  return file_of(dictionary_of(sizeof(T) == 8 ? "<f8" : "<f4", fmt::format("({}, {})", numbers.size() / cols, cols)),
                 bytes_of(numbers));
}

class Npy : public Cli {
 protected:
  /// A hinge about z, with a link of 1 kg at x = 0.5.
  std::string pendulum() const {
    return folder.write(
        "pendulum.urdf",
        "<robot name=\"p\"><link name=\"world\"/><link name=\"arm\"><inertial><origin xyz=\"0.5 0 0\"/><mass "
        "value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link><joint name=\"pin\" "
        "type=\"continuous\"><parent link=\"world\"/><child link=\"arm\"/><axis xyz=\"0 0 1\"/></joint></robot>");
  }
  Result eval(const std::string& model, const std::string& options) const {
    return run(fmt::format("eval '{}' {}", model, options));
  }
  /// What is in the folder for results.
  std::vector<std::string> results() const {
    std::vector<std::string> out;
    if (std::filesystem::exists(folder / "results")) {
      for (const auto& entry : std::filesystem::directory_iterator(folder / "results")) {
        out.push_back(entry.path().filename());
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

}  // namespace bunraku::test
