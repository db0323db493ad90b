#include "state_lines.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::cli {

const GivenState& LineReader::read(std::string_view line) {
  state_.given = {};
  state_.q.clear();
  state_.v.clear();
  state_.a.clear();
  state_.tau.clear();
  try {
    const simdjson::dom::object object = parser_.parse(line.data(), line.size(), false);
    for (const auto field : object) {
      take(field.key, field.value);
    }
  } catch (const simdjson::simdjson_error& error) {
    throw LineError(fmt::format("this is not a JSON object of number lists: {}", error.what()));
  }
  if (const std::string lacks = missing(users_, state_.given); !lacks.empty()) {
    throw LineError(lacks);
  }
  return state_;
}

void LineReader::take(std::string_view key, const simdjson::dom::element& value) {
  struct Field {
    std::string_view name;
    std::vector<double>& values;
    bool& seen;
    int size;
  };
  Needs& seen = state_.given;
  const std::array<Field, 4> fields = {
      Field{"q", state_.q, seen.q, model_.nq()}, Field{"v", state_.v, seen.v, model_.nv()},
      Field{"a", state_.a, seen.a, model_.nv()}, Field{"tau", state_.tau, seen.tau, model_.nv()}};
  for (const Field& field : fields) {
    if (key != field.name) {
      continue;
    }
    if (field.seen) {
      throw LineError(fmt::format("\"{}\" is there twice", key));
    }
    field.seen = true;
    field.values.clear();
    for (const simdjson::dom::element number : value.get_array()) {
      field.values.push_back(number.get_double());
    }
    if (std::ssize(field.values) != field.size) {
      throw LineError(wrong_length(key, field.values.size(), field.size));
    }
    return;
  }
  throw LineError(fmt::format("\"{}\" is none of q, v, a, tau", key));
}

std::string LineReader::cure() const {
  std::vector<std::string> wanted;
  const auto add = [&](const std::vector<std::string>& users, std::string_view name, int size) {
    if (!users.empty()) {
      wanted.push_back(fmt::format("\"{}\": [{} numbers]", name, size));
    }
  };
  add(users_.q, "q", model_.nq());
  add(users_.v, "v", model_.nv());
  add(users_.a, "a", model_.nv());
  add(users_.tau, "tau", model_.nv());
  if (!users_.a_or_tau.empty()) {
    wanted.push_back(fmt::format("\"a\" or \"tau\": [{} numbers]", model_.nv()));
  }
  return fmt::format("write one object a line: {{{}}}", fmt::join(wanted, ", "));
}

void LineReader::fail_at(const SourceLocation& where, const Error& error) const {
  if (dynamic_cast<const LineError*>(&error) != nullptr) {
    throw ModelError(where, error.what(), cure());
  }
  if (const auto* of_expression = dynamic_cast<const OperatorError*>(&error)) {
    throw ModelError(where, of_expression->problem(), of_expression->cure());
  }
  throw ModelError(where, error.what());
}

}  // namespace bunraku::cli
