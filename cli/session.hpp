/// @file
/// What the lines of a session are about: a model at a state that can be changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// A system, the vectors of its state, and the names that expressions may use.
class Session {
 public:
  /// A system at a state; where both a and tau are given, a counts.
  Session(System system, std::vector<std::string> nodes, Variables variables, Order order, GivenState state);

  /// The model at its state.
  const System& system() const { return system_; }
  /// The nodes of B.
  const std::vector<std::string>& nodes() const { return nodes_; }
  /// Names beside the symbols.
  const Variables& variables() const { return variables_; }
  /// Of matrices.
  Order order() const { return order_; }

  /// Whether it is one of q, v, a, tau.
  static bool is_vector(std::string_view name);
  /// Whether a text gives a vector: numbers, with brackets or without, or a word for some.
  bool gives_vector(std::string_view text) const;
  /// Sets q, v, a or tau to numbers, or to what a word stands for: `neutral` for q, `zero` for the others, `random` for
  /// all, and for q the name of a reference configuration. a and tau follow from each other: setting one forgets the
  /// other. What it is now. Throws ArgumentError; the state stays then.
  std::string set(std::string_view name, std::string_view text);
  /// `q = 0.1 0.2`, or that it has no value.
  std::string shown(std::string_view name) const;
  /// The nodes of B from now on. Throws ArgumentError.
  void set_nodes(std::vector<std::string> names);

 private:
  std::vector<double>& vector(std::string_view name);
  std::vector<double> read(std::string_view name, std::string_view text);
  void apply();

  System system_;
  std::vector<std::string> nodes_;
  Variables variables_;
  Order order_;
  GivenState state_;
  std::uint64_t seed_ = 1;  // each random vector is another
};

}  // namespace bunraku::cli
