/// @file
/// States as lines of JSON.
#pragma once

#include <string>
#include <string_view>

#include <simdjson.h>

#include "bunraku/error.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// A line is not a state.
class LineError : public ArgumentError {
 public:
  using ArgumentError::ArgumentError;
};

/// Reads one line after the other. Readers of one model and the same users may work side by side.
class LineReader {
 public:
  /// So many bytes after a line must be there to be read; what they are does not matter.
  static constexpr std::size_t padding = simdjson::SIMDJSON_PADDING;

  LineReader(const Model& model, const Users& users) : model_(model), users_(users) {}

  /// What the line says, until the next one is read. Throws LineError.
  const GivenState& read(std::string_view line);
  /// What a line should be.
  std::string cure() const;
  /// Throws as ModelError what went wrong with a line or with what was computed from it.
  [[noreturn]] void fail_at(const SourceLocation& where, const Error& error) const;

 private:
  void take(std::string_view key, const simdjson::dom::element& value);

  const Model& model_;
  const Users& users_;
  GivenState state_;
  simdjson::dom::parser parser_;
};

}  // namespace bunraku::cli
