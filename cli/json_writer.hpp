/// @file
/// Writes JSON piece by piece into a buffer. Numbers are the shortest text that reads back to the same double, or
/// float.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku::cli {

/// Commas are placed by the writer; nesting is the caller's business.
class JsonWriter {
 public:
  /// Takes text that the writer has no more use for.
  using Sink = std::function<void(std::string_view)>;

  /// Keeps all of the text.
  JsonWriter() = default;
  /// Sends the text to `sink` once there is much of it: the text of a large matrix takes more room than its numbers.
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  /// Starts an object.
  JsonWriter& begin_object() { return open('{'); }
  /// Ends an object.
  JsonWriter& end_object() { return close('}'); }
  /// Starts an array.
  JsonWriter& begin_array() { return open('['); }
  /// Ends an array.
  JsonWriter& end_array() { return close(']'); }
  /// The name of the value that follows.
  JsonWriter& key(std::string_view name) {
    value(name);
    buffer_.push_back(':');
    comma_ = false;
    return *this;
  }
  /// A number. Throws Error for one that is not finite: JSON has none, and no answer should hold one.
  JsonWriter& value(double x) { return number(x); }
  /// A number.
  JsonWriter& value(float x) { return number(x); }
  /// A whole number.
  JsonWriter& value(int x) {
    separate();
    fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), x);
    return *this;
  }
  /// True or false.
  JsonWriter& boolean(bool x) {
    separate();
    buffer_.append(x ? std::string_view("true") : std::string_view("false"));
    return *this;
  }
  /// A string.
  JsonWriter& value(std::string_view text) {
    separate();
    buffer_.push_back('"');
    std::string mended;  // JSON is UTF-8; names are, but a message may quote what is not
    if (bunraku::detail::first_not_utf8(text) < text.size()) {
      mended = bunraku::detail::printable(text, std::string_view::npos);
      text = mended;
    }
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        buffer_.push_back('\\');
        buffer_.push_back(c);
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("\\u{:04x}"), static_cast<int>(c));
      } else {
        buffer_.push_back(c);
      }
    }
    buffer_.push_back('"');
    return *this;
  }
  /// Nothing.
  JsonWriter& null() {
    separate();
    buffer_.append(std::string_view("null"));
    return *this;
  }
  /// An array of numbers.
  JsonWriter& value(std::span<const double> numbers) {
    begin_array();
    for (const double x : numbers) {
      value(x);
    }
    return end_array();
  }
  /// Rows of a matrix whose numbers come column by column.
  JsonWriter& matrix(std::span<const double> columns, std::size_t rows, std::size_t cols) {
    begin_array();
    for (std::size_t i = 0; i < rows; ++i) {
      begin_array();
      for (std::size_t j = 0; j < cols; ++j) {
        value(columns[i + j * rows]);
      }
      end_array();
    }
    return end_array();
  }
  /// Three numbers.
  JsonWriter& value(const Vec3<double>& v) { return begin_array().value(v.x).value(v.y).value(v.z).end_array(); }
  /// Three rows of three numbers.
  JsonWriter& value(const Mat3<double>& m) {
    return begin_array().value(m.row(0)).value(m.row(1)).value(m.row(2)).end_array();
  }
  /// Ends a line.
  JsonWriter& newline() {
    buffer_.push_back('\n');
    comma_ = false;
    return *this;
  }

  /// The text so far.
  std::string_view text() const { return {buffer_.data(), buffer_.size()}; }
  /// Forgets the text so far.
  void clear() {
    buffer_.clear();
    comma_ = false;
  }
  /// Sends what is left of the text to the sink.
  void finish() {
    sink_(text());
    buffer_.clear();
  }

 private:
  template <class T>
  JsonWriter& number(T x) {
    if (!std::isfinite(x)) {
      throw Error("a result is not finite");
    }
    separate();
    std::array<char, 32> text;  // 24 is the most; straight into the buffer would go character by character
    buffer_.append(text.data(), fmt::format_to(text.data(), FMT_COMPILE("{}"), x));
    return *this;
  }
  void separate() {
    if (comma_) {
      buffer_.push_back(',');
    }
    comma_ = true;
  }
  JsonWriter& open(char bracket) {
    separate();
    buffer_.push_back(bracket);
    comma_ = false;
    return *this;
  }
  JsonWriter& close(char bracket) {
    buffer_.push_back(bracket);
    comma_ = true;
    if (sink_ && buffer_.size() > most_held) {
      finish();
    }
    return *this;
  }

  static constexpr std::size_t most_held = std::size_t{1} << 20;

  Sink sink_;
  fmt::memory_buffer buffer_;
  bool comma_ = false;
};

}  // namespace bunraku::cli
