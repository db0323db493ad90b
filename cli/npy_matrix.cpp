#include "npy_matrix.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bunraku/error.hpp"
#include "errors.hpp"

namespace bunraku::cli {

namespace {

int open_regular(const std::string& file) {
  const int out =
      open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // NOLINT(cppcoreguidelines-pro-type-vararg): POSIX
  if (out < 0 && errno == ENOENT) {
    throw ModelError({file, 0}, fmt::format("there is no readable file '{}'", file), "check the path");
  }
  if (out < 0) {
    throw ModelError({file, 0}, fmt::format("'{}' cannot be read: {}", file, system_reason()));
  }
  return out;
}

}  // namespace

NpyMatrix::NpyMatrix(std::string file, std::string_view name, std::int64_t cols)
    : file_(std::move(file)), descriptor_(open_regular(file_)) {
  try {
    struct stat about{};
    if (fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) {
      throw ModelError({file_, 0}, "this is not a regular file, and arrays are read at any place of it",
                       "write the array to a file first");
    }
    const auto size = static_cast<std::uint64_t>(about.st_size);
    std::string start(std::min<std::uint64_t>(size, npy_prefix), '\0');
    read_bytes(0, start.size(), start.data());
    start.resize(std::min(size, npy_numbers_start(start, file_)));
    read_bytes(0, start.size(), start.data());
    header_ = parse_npy_header(start, size, file_);
    if (header_.shape.size() != 2) {
      throw ModelError({file_, 0},
                       fmt::format("it has the shape {}, and {} wants states × {}", header_.shape_text(), name, cols),
                       npy_cure(file_, fmt::format(".reshape(-1, {})", cols)));
    }
    if (header_.shape[1] != cols) {
      throw ModelError({file_, 0},
                       fmt::format("{} has {} numbers a state, the model wants {}", name, header_.shape[1], cols));
    }
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

NpyMatrix::~NpyMatrix() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

NpyMatrix::NpyMatrix(NpyMatrix&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      header_(std::move(other.header_)),
      room_(std::move(other.room_)) {}

void NpyMatrix::read_bytes(std::uint64_t at, std::size_t count, char* out) const {
  while (count > 0) {
    const ssize_t got = pread(descriptor_, out, count, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      throw ModelError({file_, 0}, got < 0 ? fmt::format("it cannot be read further: {}", system_reason())
                                           : "it has become shorter while it was read");
    }
    at += static_cast<std::uint64_t>(got);
    out += got;
    count -= static_cast<std::size_t>(got);
  }
}

template <class Stored, class T>
void NpyMatrix::read_as(std::int64_t first, std::int64_t count, T* out) {
  const auto n = static_cast<std::size_t>(count);
  const auto columns = static_cast<std::size_t>(cols());
  const auto bytes_at = [&](std::int64_t number) {
    return header_.numbers_at + static_cast<std::uint64_t>(number) * sizeof(Stored);
  };
  if (std::is_same_v<Stored, T> && !header_.fortran_order) {
    return read_bytes(bytes_at(first * cols()), n * columns * sizeof(T), reinterpret_cast<char*>(out));
  }
  room_.resize(n * columns * sizeof(Stored));
  // rows lie one after the other, or columns do
  if (header_.fortran_order) {
    for (std::size_t j = 0; j < columns; ++j) {
      read_bytes(bytes_at(static_cast<std::int64_t>(j) * rows() + first), n * sizeof(Stored),
                 room_.data() + j * n * sizeof(Stored));
    }
  } else {
    read_bytes(bytes_at(first * cols()), room_.size(), room_.data());
  }
  const std::size_t row_stride = header_.fortran_order ? 1 : columns;
  const std::size_t column_stride = header_.fortran_order ? n : 1;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      Stored x = 0;
      std::memcpy(&x, room_.data() + (i * row_stride + j * column_stride) * sizeof(Stored), sizeof(Stored));
      out[i * columns + j] = static_cast<T>(x);
    }
  }
}

template <>
void NpyMatrix::read(std::int64_t first, std::int64_t count, double* out) {
  header_.type == NpyType::float64 ? read_as<double>(first, count, out) : read_as<float>(first, count, out);
}

template <>
void NpyMatrix::read(std::int64_t first, std::int64_t count, float* out) {
  if (header_.type == NpyType::float64) {
    throw ArgumentError("float does not hold what the file has");
  }
  read_as<float>(first, count, out);
}

}  // namespace bunraku::cli
