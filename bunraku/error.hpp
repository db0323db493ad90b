/// @file
/// Problems and the exceptions that carry them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/export.hpp"

namespace bunraku {

/// Where in a file something stands. `file` is empty for what was built in code, `line` 0 for a whole file.
struct SourceLocation {
  std::string file;  ///< Path as the user gave it.
  int line = 0;      ///< Line, counted from 1.
};

/// How bad a problem is.
enum class Severity {
  warning,  ///< The model can be used; something in it is odd or was not used.
  error,    ///< The model cannot be used.
};

/// One thing that is wrong with a model or its file.
struct Problem {
  Severity severity = Severity::error;  ///< Error or warning.
  SourceLocation where;                 ///< File and line.
  std::string text;                     ///< What is wrong, naming the element.
  std::string cure;                     ///< What to do about it; may be empty.
};

/// `FILE:LINE: text`, or what of it is known.
BUNRAKU_API std::string to_string(const Problem& problem);

/// Base of everything this library throws on purpose.
class BUNRAKU_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// An argument of a call is wrong: its size, its value, a name.
class BUNRAKU_API ArgumentError : public Error {
 public:
  using Error::Error;
  ~ArgumentError() override;
};

/// A hinge moves nothing that has mass, so that the mass matrix has no inverse at this state.
class BUNRAKU_API SingularError : public Error {
 public:
  using Error::Error;
  ~SingularError() override;
};

/// A model or a model file cannot be used. Lists every problem found, not the first alone; what() shows them all.
class BUNRAKU_API ModelError : public Error {
 public:
  /// From at least one problem, errors before warnings.
  explicit ModelError(std::vector<Problem> problems);
  /// From a single problem.
  ModelError(SourceLocation where, std::string text, std::string cure = {});
  ~ModelError() override;

  /// Every problem, errors first.
  const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// No more errors than this, and no more warnings, are listed for one model: after that many nobody reads on.
inline constexpr std::size_t max_problems = 200;

namespace detail {

/// Appends a problem, its text made printable; once there are max_problems of its severity, a last one says that there
/// are more, and the rest are dropped.
BUNRAKU_API void add_problem(std::vector<Problem>& problems, Problem problem);

/// Whether text is empty or white space alone.
BUNRAKU_API bool is_blank(std::string_view text);
/// Whether text is UTF-8 without control characters.
BUNRAKU_API bool is_printable(std::string_view text);
/// The place of the first byte that is not part of well-formed UTF-8, or the size of the text.
BUNRAKU_API std::size_t first_not_utf8(std::string_view text);
/// Text made printable: what is not becomes U+FFFD, the replacement character; cut after `most` bytes or so.
BUNRAKU_API std::string printable(std::string_view text, std::size_t most = 200);

/// The nearest of the known names to a mistyped one, as `; did you mean 'x'?`, or empty where none is near.
BUNRAKU_API std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace detail

}  // namespace bunraku
