#include "errors.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/operators/language/operator.hpp"

namespace bunraku::cli {

namespace {

std::string model_error_text(const ModelError& error) {
  // without an error among them, strictness made the warnings count
  const bool any_error = error.problems().front().severity == Severity::error;
  std::string out;
  for (const Problem& problem : error.problems()) {
    if (!any_error || problem.severity == Severity::error) {
      out += error_text(to_string(problem), problem.cure);
    }
  }
  return out;
}

std::string operator_error_text(const OperatorError& error) {
  std::string shown = error.what();  // the problem, its place, and the cure in a line of its own
  if (!error.cure().empty() && shown.ends_with("\n" + error.cure())) {
    shown.resize(shown.size() - error.cure().size() - 1);
  }
  return error_text(shown, error.cure());
}

}  // namespace

std::string error_text(const std::string& problem, const std::string& cure) {
  return fmt::format("error: {}\n{}{}{}", problem, cure.empty() ? "" : "  ", cure, cure.empty() ? "" : "\n");
}

std::string system_reason() {
  return std::generic_category().message(errno);
}

void print_to_stderr(const std::string& text) {
  static_cast<void>(std::fputs(text.c_str(), stderr));
}

std::string error_text(const std::exception& error) {
  if (const auto* model_error = dynamic_cast<const ModelError*>(&error)) {
    return model_error_text(*model_error);
  }
  if (const auto* operator_error = dynamic_cast<const OperatorError*>(&error)) {
    return operator_error_text(*operator_error);
  }
  return error_text(error.what(), {});
}

}  // namespace bunraku::cli
