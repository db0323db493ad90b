#include "bunraku/batch/status.hpp"

#include <utility>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku {

std::string_view to_string(StateStatus status) {
  switch (status) {
    case StateStatus::ok:
      return "ok";
    case StateStatus::not_finite:
      return "not finite";
    case StateStatus::not_normalized:
      return "not normalized";
    case StateStatus::singular:
      return "singular";
    case StateStatus::refused:
      break;
  }
  return "refused";
}

void BatchReport::begin(std::ptrdiff_t states) {
  status_.assign(static_cast<std::size_t>(states), StateStatus::ok);
  failed_ = 0;
  first_failed_ = -1;
}

void BatchReport::add(std::ptrdiff_t state, StateStatus status, std::string reason) {
  status_[static_cast<std::size_t>(state)] = status;
  ++failed_;
  if (first_failed_ < 0 || state < first_failed_) {
    first_failed_ = state;
    reason_ = std::move(reason);
  }
}

const BatchReport& BatchReport::or_throw() const {
  if (failed_ > 0) {
    const std::string others =
        failed_ == 1 ? std::string() : fmt::format("; {} states of {} were not computed", failed_, status_.size());
    const std::string text = fmt::format("state {}: {}{}", first_failed_, reason_, others);
    if (status_[static_cast<std::size_t>(first_failed_)] == StateStatus::singular) {
      throw SingularError(text);
    }
    throw Error(text);
  }
  return *this;
}

}  // namespace bunraku
