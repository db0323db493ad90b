#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku::cli {

static_assert(std::endian::native == std::endian::little, "numbers of files are taken as they are");

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy writes less than a hundred bytes for an array of plain numbers.
constexpr std::uint64_t longest_header = std::uint64_t{1} << 20;
constexpr std::int64_t most_numbers = std::int64_t{1} << 56;  // their bytes, and ten times as many, can be counted

constexpr std::string_view write_again = "it is damaged, or was not written to its end: write it again";

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    out = out << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// The header: a dictionary as Python writes it, with the keys descr, fortran_order and shape

class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader read() {
    NpyHeader out;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !std::exchange(has_type, true)) {
        out.type = type();
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        out.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        out.shape = shape();
      } else {
        fail(fmt::format("the key '{}' is unknown or there twice", bunraku::detail::printable(key, 40)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) {
      fail("something follows its closing brace");
    }
    if (!has_type || !has_order || !has_shape) {
      fail("it has not all of descr, fortran_order and shape");
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError({file_, 0}, "its header is wrong: " + what, npy_cure(file_));
  }

  void skip_space() {
    const std::size_t at = text_.find_first_not_of(" \t\n\r");
    text_.remove_prefix(std::min(at, text_.size()));
  }
  bool accept(char c) {
    skip_space();
    if (!text_.starts_with(c)) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      fail(fmt::format("'{}' is wanted before '{}'", c, bunraku::detail::printable(text_, 40)));
    }
  }

  std::string_view string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') {
      expect('"');
    }
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) {
      fail("a text in it is never closed");
    }
    const std::string_view out = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return out;
  }

  bool boolean() {
    skip_space();
    const bool out = text_.starts_with("True");
    if (!out && !text_.starts_with("False")) {
      fail("fortran_order is neither True nor False");
    }
    text_.remove_prefix(out ? 4 : 5);
    return out;
  }

  NpyType type() {
    skip_space();
    if (text_.starts_with('[') || text_.starts_with('(')) {
      throw ModelError({file_, 0}, "its numbers are records of several fields, and plain ones are wanted",
                       npy_cure(file_, "['FIELD'].astype('<f8')"));
    }
    const std::string_view name = string();
    if (name == "<f8") {
      return NpyType::float64;
    }
    if (name == "<f4") {
      return NpyType::float32;
    }
    const bool big_endian = name == ">f8" || name == ">f4";
    throw ModelError({file_, 0},
                     fmt::format("its numbers are {}'{}', and little-endian floating-point ones of 8 or 4 bytes, '<f8' "
                                 "or '<f4', are wanted",
                                 big_endian ? "big-endian, " : "", bunraku::detail::printable(name, 40)),
                     npy_cure(file_, ".astype('<f8')"));
  }

  std::int64_t axis() {
    skip_space();
    std::int64_t out = 0;
    std::size_t digits = 0;
    for (; digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9'; ++digits) {
      out = out * 10 + (text_[digits] - '0');
      if (out > most_numbers) {
        fail("an axis of its shape is too long");
      }
    }
    if (digits == 0) {
      fail("its shape is not one of whole numbers from 0 on");
    }
    text_.remove_prefix(digits);
    static_cast<void>(text_.starts_with('L') && accept('L'));  // of Python 2
    return out;
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> out;
    std::int64_t product = 1;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) {
        fail("the axes of its shape are not separated by commas");
      }
      out.push_back(axis());
      // zeros do not count: an axis after them must not be of any length
      if (const std::int64_t n = std::max<std::int64_t>(out.back(), 1); product > most_numbers / n) {
        fail("its shape has too many numbers");
      } else {
        product *= n;
      }
      comma = accept(',');
    }
    if (out.size() == 1 && !comma) {
      fail("its shape is no tuple");
    }
    if (out.size() > 64) {  // as many as NumPy has
      fail("its shape has too many axes");
    }
    return out;
  }

  std::string_view text_;
  const std::string& file_;
};

/// Where the text of the header starts, by the version.
std::size_t text_start(char major) {
  return major == 1 ? 10 : 12;
}

}  // namespace

std::int64_t NpyHeader::count() const {
  std::int64_t out = 1;
  for (const std::int64_t n : shape) {
    out *= n;
  }
  return out;
}

std::string NpyHeader::shape_text() const {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string npy_cure(const std::string& file, std::string_view what) {
  return fmt::format("write it with numpy.save('{}', x{})", file, what);
}

std::uint64_t npy_numbers_start(std::string_view prefix, const std::string& file) {
  if (prefix.starts_with("PK\x03\x04")) {
    throw ModelError({file, 0}, "this is an archive, .npz, and not a .npy file",
                     "take its arrays out: numpy.save('q.npy', numpy.load(FILE)['q'])");
  }
  const std::size_t compared = std::min(prefix.size(), magic.size());
  if (prefix.empty() || prefix.substr(0, compared) != magic.substr(0, compared)) {
    throw ModelError({file, 0}, "this is not a .npy file", npy_cure(file));
  }
  if (prefix.size() < 8) {
    throw ModelError({file, 0}, "it ends within its header", std::string(write_again));
  }
  const char major = prefix[6];
  if (major < 1 || major > 3 || prefix[7] != 0) {
    throw ModelError({file, 0},
                     fmt::format("version {}.{} of the .npy format is not known, only 1.0, 2.0 and 3.0",
                                 static_cast<unsigned char>(major), static_cast<unsigned char>(prefix[7])),
                     npy_cure(file));
  }
  const std::size_t start = text_start(major);
  if (prefix.size() < start) {
    throw ModelError({file, 0}, "it ends within its header", std::string(write_again));
  }
  const std::uint64_t length = little_endian(prefix.substr(8, start - 8));
  if (length > longest_header) {
    throw ModelError({file, 0}, fmt::format("its header of {} bytes is none of an array of numbers", length),
                     npy_cure(file));
  }
  return start + length;
}

NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_size, const std::string& file) {
  const std::uint64_t numbers_at = npy_numbers_start(bytes.substr(0, npy_prefix), file);
  if (bytes.size() < numbers_at) {
    throw ModelError({file, 0}, "it ends within its header", std::string(write_again));
  }
  const std::size_t start = text_start(bytes[6]);
  NpyHeader out = HeaderReader(bytes.substr(start, numbers_at - start), file).read();
  out.numbers_at = numbers_at;
  const std::uint64_t wanted = numbers_at + static_cast<std::uint64_t>(out.count()) * out.bytes();
  if (file_size != wanted) {
    throw ModelError(
        {file, 0},
        fmt::format("it has {} bytes, and {} {} with the shape {} of '{}'", file_size,
                    file_size < wanted ? "would have" : "should end after", wanted, out.shape_text(), out.type_text()),
        std::string(write_again));
  }
  return out;
}

std::string npy_header_text(const NpyHeader& header) {
  constexpr std::size_t longest_axis = 19;
  constexpr std::size_t alignment = 64;
  const std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", header.type_text(),
                                       header.fortran_order ? "True" : "False", header.shape_text());
  const std::size_t first = header.shape.empty() ? 0 : fmt::formatted_size("{}", header.shape[0]);
  const std::size_t whole = text_start(1) + text.size() - first + longest_axis + 1;
  const std::size_t length = (whole + alignment - 1) / alignment * alignment - text_start(1);
  std::string out(magic);
  out += {1, 0, static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  out += text;
  out.append(length - text.size() - 1, ' ');
  return out + '\n';
}

}  // namespace bunraku::cli
