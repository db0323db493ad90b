#include "output.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include "bunraku/error.hpp"

namespace bunraku::cli {

namespace {

constexpr std::size_t memory_limit = std::size_t{64} << 20;

[[noreturn]] void fail() {
  if (errno == EPIPE) {
    throw ReaderGone();
  }
  throw Error("standard output cannot be written: " + std::generic_category().message(errno));
}

void send(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    fail();
  }
}

void flush() {
  if (std::fflush(stdout) != 0) {
    fail();
  }
}

}  // namespace

void print(std::string_view text) {
  send(text);
  flush();
}

WholeOutput::WholeOutput() = default;

WholeOutput::~WholeOutput() {
  if (file_ != nullptr) {
    static_cast<void>(std::fclose(file_));
  }
}

void WholeOutput::write(std::string_view text) {
  memory_ += text;
  if (memory_.size() > memory_limit) {
    spill();
  }
}

void WholeOutput::spill() {
  if (file_ == nullptr) {
    file_ = std::tmpfile();
  }
  if (file_ == nullptr || std::fwrite(memory_.data(), 1, memory_.size(), file_) != memory_.size()) {
    throw Error("a temporary file cannot be written: check the space in the folder for temporary files");
  }
  memory_.clear();
}

void WholeOutput::commit() {
  if (file_ != nullptr) {
    std::array<char, 1 << 16> block{};
    bool readable = std::fseek(file_, 0, SEEK_SET) == 0;
    while (readable) {
      const std::size_t n = std::fread(block.data(), 1, block.size(), file_);
      send({block.data(), n});
      readable = n == block.size();
    }
    if (std::ferror(file_) != 0) {
      throw Error("a temporary file cannot be read back");
    }
  }
  send(memory_);
  flush();
  memory_.clear();
}

}  // namespace bunraku::cli
