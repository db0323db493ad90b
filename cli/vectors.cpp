#include "vectors.hpp"

#include <iterator>

#include <fmt/format.h>
#include <simdjson.h>

#include "bunraku/io/detail/numbers.hpp"
#include "limits.hpp"
#include "lines.hpp"

namespace bunraku::cli {

std::vector<std::vector<double>> read_vectors(const std::string& path, int size) {
  const std::string cure = fmt::format("write one array a line: [{} numbers]", size);
  Lines lines(path, most_kept, cure);
  simdjson::dom::parser parser;
  std::vector<std::vector<double>> out;
  std::string line;
  while (lines.next(line)) {
    if (io::trimmed(line).empty()) {
      continue;
    }
    line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    out.emplace_back();
    try {
      const simdjson::dom::array array = parser.parse(line.data(), line.size(), false);
      for (const simdjson::dom::element element : array) {
        out.back().push_back(element.get_double());
      }
    } catch (const simdjson::simdjson_error& error) {
      throw ModelError(lines.where(), fmt::format("this is not a JSON array of numbers: {}", error.what()), cure);
    }
    if (std::ssize(out.back()) != size) {
      throw ModelError(lines.where(),
                       fmt::format("the vector has {} numbers, the expression acts on {}", out.back().size(), size),
                       cure);
    }
  }
  return out;
}

}  // namespace bunraku::cli
