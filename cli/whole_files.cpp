#include "whole_files.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bunraku/error.hpp"

namespace bunraku::cli {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(fmt::format("'{}' {}: {}", path, what, std::generic_category().message(errno)));
}

constexpr mode_t for_all = 0666;  // less what the user's mask takes away

/// A file in a folder that has no name, or -1 where that cannot be.
int open_nameless([[maybe_unused]] const std::string& folder) {
#ifdef O_TMPFILE
  return open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, for_all);  // NOLINT(cppcoreguidelines-pro-type-vararg)
#else
  return -1;
#endif
}

}  // namespace

WholeFiles::WholeFiles(std::string folder) : folder_(std::move(folder)) {
  std::filesystem::path path;
  for (const std::filesystem::path& part : std::filesystem::path(folder_)) {
    path /= part;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored) && mkdir(path.c_str(), 0777) == 0) {
      made_.push_back(path);
    }
  }
  if (std::error_code why; !std::filesystem::is_directory(folder_, why)) {
    take_folders_away();
    errno = why ? why.value() : ENOTDIR;
    fail(folder_, "is no folder to write to");
  }
}

WholeFiles::~WholeFiles() {
  for (const File& file : files_) {
    if (file.descriptor >= 0) {
      close(file.descriptor);
    }
    if (!file.temporary.empty()) {
      static_cast<void>(std::remove(file.temporary.c_str()));
    }
  }
  take_folders_away();
}

void WholeFiles::take_folders_away() {
  for (; !made_.empty(); made_.pop_back()) {
    static_cast<void>(rmdir(made_.back().c_str()));  // unless someone else has put something there
  }
}

std::string WholeFiles::temporary_name(const std::string& path) {
  const std::filesystem::path file(path);
  std::string out = file.parent_path() / fmt::format(".{}.{}", file.filename().string(), getpid());
  static_cast<void>(std::remove(out.c_str()));  // of a program of that number that was killed
  return out;
}

std::size_t WholeFiles::add(const std::string& name) {
  File file{.path = std::filesystem::path(folder_) / name, .temporary = {}};
  if (std::error_code ignored; std::filesystem::is_directory(file.path, ignored)) {
    errno = EISDIR;
    fail(file.path, "cannot be written");
  }
  file.descriptor = open_nameless(folder_);
  if (file.descriptor < 0) {
    const std::string temporary = temporary_name(file.path);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX
    file.descriptor = open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, for_all);
    if (file.descriptor < 0) {
      fail(file.path, "cannot be written");
    }
    file.temporary = temporary;
  }
  files_.push_back(std::move(file));
  return files_.size() - 1;
}

void WholeFiles::write(std::size_t file, std::string_view bytes) {
  const File& to = files_[file];
  while (!bytes.empty()) {
    const ssize_t count = ::write(to.descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      fail(to.path, "cannot be written");
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

void WholeFiles::write_start(std::size_t file, std::string_view bytes) {
  const File& to = files_[file];
  if (lseek(to.descriptor, 0, SEEK_SET) != 0) {
    fail(to.path, "cannot be written");
  }
  write(file, bytes);
  if (lseek(to.descriptor, 0, SEEK_END) < 0) {
    fail(to.path, "cannot be written");
  }
}

void WholeFiles::name(File& file) {
  if (file.temporary.empty()) {  // a name that is taken can only be taken over by one that is there
    const std::string temporary = temporary_name(file.path);
    const std::string nameless = fmt::format("/proc/self/fd/{}", file.descriptor);
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      fail(file.path, "cannot be written");
    }
    file.temporary = temporary;
  }
  const int descriptor = std::exchange(file.descriptor, -1);
  if (close(descriptor) != 0 || std::rename(file.temporary.c_str(), file.path.c_str()) != 0) {
    fail(file.path, "cannot be written");
  }
  file.temporary.clear();
  file.named = true;
}

void WholeFiles::commit() {
  try {
    for (File& file : files_) {
      name(file);
    }
  } catch (...) {
    for (const File& file : files_) {
      if (file.named) {
        static_cast<void>(std::remove(file.path.c_str()));
      }
    }
    throw;
  }
  files_.clear();
  made_.clear();
}

}  // namespace bunraku::cli
