#include "lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.hpp"
#include "limits.hpp"

namespace bunraku::cli {

namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;

int open_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg): POSIX
  if (file >= 0) {
    return file;
  }
  if (errno == ENOENT) {
    throw ModelError({path, 0}, fmt::format("there is no readable file '{}'", path), "check the path");
  }
  throw ModelError({path, 0}, fmt::format("'{}' cannot be read: {}", path, system_reason()));
}

std::string size_text(std::uint64_t bytes) {
  return bytes >= (std::uint64_t{1} << 30) ? fmt::format("{} GiB", bytes >> 30) : fmt::format("{} MiB", bytes >> 20);
}

}  // namespace

Lines::Lines(const std::string& path, std::uint64_t most_bytes, std::string cure)
    : name_(path == "-" ? "<standard input>" : path),
      cure_(std::move(cure)),
      most_bytes_(most_bytes),
      file_(path == "-" ? STDIN_FILENO : open_file(path)),
      block_(block_size) {}

Lines::~Lines() {
  if (file_ != STDIN_FILENO) {
    close(file_);
  }
}

SourceLocation Lines::where() const {
  return {name_, line()};
}

int Lines::line() const {
  return static_cast<int>(std::min<std::int64_t>(number_, std::numeric_limits<int>::max()));
}

bool Lines::fill() {
  ssize_t count = 0;
  do {
    count = read(file_, block_.data(), block_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    throw ModelError(where(), fmt::format("it cannot be read further: {}", system_reason()));
  }
  begin_ = 0;
  end_ = static_cast<std::size_t>(count);
  read_ += end_;
  if (read_ > most_bytes_) {
    throw ModelError(where(), fmt::format("more than {} came before the end", size_text(most_bytes_)),
                     "split it into several files" + (cure_.empty() ? "" : "; " + cure_));
  }
  return count > 0;
}

bool Lines::next(std::string& line) {
  line.clear();
  if (begin_ == end_ && !fill()) {
    return false;
  }
  ++number_;
  bool complete = false;
  do {
    const char* const from = block_.data() + begin_;
    const void* const found = std::memchr(from, '\n', end_ - begin_);
    complete = found != nullptr;
    const std::size_t count =
        complete ? static_cast<std::size_t>(static_cast<const char*>(found) - from) : end_ - begin_;
    line.append(from, count);
    begin_ += count + (complete ? 1 : 0);
    if (line.size() > longest_line) {
      throw ModelError(where(), fmt::format("the line has more than {}", size_text(longest_line)), cure_);
    }
  } while (!complete && fill());
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (number_ == 1 && line.starts_with(byte_order_mark)) {
    line.erase(0, byte_order_mark.size());
  }
  return true;
}

}  // namespace bunraku::cli
