/// @file
/// Operator expressions as text: a reader, and printers in ASCII, Unicode and LaTeX that it reads back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

/// Names beside the symbols that a text may use.
using Variables = std::vector<Operator>;

/// Reads an expression: `H*phi*M*~phi*~H`, `H φ M φ∗ H∗` or `H \phi M \phi^{*} H^{*}`, in any mixture.
///
/// Products by `*`, `·` or standing side by side; sums by `+` and `-`; adjoint `~x`, `x∗`, `x^*`, `x†`, `xᵀ`;
/// inverse `inv(x)`, `x⁻¹`, `x^-1`; root `sqrt(x)`, `x^½`, `x^(1/2)`, and `x^(-1/2)`; `dense_inv(x)`, `cross(x)`,
/// `Q(f)`, `unit(i)`, `gather(E, x)`, `spread(E, x)`, `carry(E, x)`, `lyap(r, x)`, `dH(u)`; derivatives `diff(x, i)`,
/// `diff(x, u)`, `dt(x)`; families `psi_{X, A}`; blocks `x[i, j]`, `v[i]`. `I` takes its space from where it stands. At
/// most quadratic in the length, which is limited. Throws OperatorError with the place in the text.
BUNRAKU_API Operator parse(std::string_view text, const Variables& variables = {});

/// An error that names a part of an expression, with the place of that part in the text that the expression was read
/// from; the error itself where it names none or the text has none like it.
BUNRAKU_API OperatorError pointed(const OperatorError& error, std::string_view text, const Variables& variables = {});

/// As typed: `H*phi*M*~phi*~H`.
BUNRAKU_API std::string to_ascii(const Operator& x);
/// As in the papers: `H φ M φ∗ H∗`.
BUNRAKU_API std::string to_unicode(const Operator& x);
/// As typeset: `H \phi M \phi^{*} H^{*}`.
BUNRAKU_API std::string to_latex(const Operator& x);

/// Whether a name is free for a variable: letters, digits, underscores, and not taken.
BUNRAKU_API bool is_free_name(std::string_view name);
/// Whether a variable may have a name: one that is free, or that of a symbol of closures, which it hides. Those symbols
/// came last, when `A` was a variable to many.
BUNRAKU_API bool may_name_variable(std::string_view name);
/// Every name that a text may use in ASCII, for completion: symbols and functions.
BUNRAKU_API std::vector<std::string> known_names();

}  // namespace bunraku
