/// @file
/// Names in an MJCF model: those that are made up, and those that are mistyped.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bunraku/error.hpp"

namespace bunraku::io {

/// Names of one kind, so that made-up ones differ from all others.
class UniqueNames {
 public:
  /// Takes a name that the file gives.
  void reserve(std::string_view name) { taken_.emplace(name); }
  /// `wish`, or `wish_2`, `wish_3` and so on where it is taken.
  std::string make(const std::string& wish) {
    if (taken_.insert(wish).second) {
      return wish;
    }
    for (int& number = tried_[wish];;) {
      number = number == 0 ? 2 : number + 1;
      std::string name = wish + "_" + std::to_string(number);
      if (taken_.insert(name).second) {
        return name;
      }
    }
  }
  /// Whether the file gives the name, or it was made.
  bool contains(std::string_view name) const { return taken_.contains(std::string(name)); }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> tried_;
};

/// `; did you mean 'x'?` for the first mistyped names: each costs a walk over all names.
class Suggestions {
 public:
  /// Compares the name with the keys of a table.
  template <class Table>
  std::string operator()(std::string_view name, const Table& table) {
    constexpr std::size_t longest = 200;  // no name that a person wrote
    constexpr std::size_t most = 10000;
    if (name.size() > longest || --left_ < 0) {
      return {};
    }
    std::vector<std::string> known;
    for (auto at = table.begin(); at != table.end() && known.size() < most; ++at) {
      if (at->first.size() <= longest) {
        known.push_back(at->first);
      }
    }
    return bunraku::detail::did_you_mean(name, known);
  }

 private:
  int left_ = 20;
};

}  // namespace bunraku::io
