#include "operators/language.hpp"

#include <gtest/gtest.h>

#include "operators/messages.hpp"

namespace bunraku::test {

OperatorError error_of(const std::string& text, const Variables& variables) {
  try {
    const Operator x = parse(text, variables);
    ADD_FAILURE() << text << " is read as " << to_ascii(x);
  } catch (const OperatorError& error) {
    return error;
  }
  return OperatorError("none");
}

void expect_round_trip(const Operator& x, const Variables& variables) {
  for (const std::string& text : {to_ascii(x), to_unicode(x), to_latex(x)}) {
    SCOPED_TRACE(text);
    try {
      const Operator again = parse(text, variables);
      EXPECT_EQ(again, x);
    } catch (const OperatorError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

}  // namespace bunraku::test
