/// @file
/// What becomes of the numbers that `eval` computes: text, or arrays in files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "quantities.hpp"
#include "workers.hpp"

namespace bunraku::cli {

/// Takes the numbers of all states, and gives them away whole or not at all.
template <class T>
class Answers {
 public:
  Answers() = default;
  virtual ~Answers() = default;
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// Takes the next states: of each request as many numbers a state as its shape has, all of them finite.
  virtual void add(const std::vector<std::vector<T>>& numbers, std::ptrdiff_t states, Workers& workers) = 0;
  /// Gives all of them away.
  virtual void commit() = 0;
};

/// To standard output: an object of JSON for each state, a line each. The requests must stay.
template <class T>
std::unique_ptr<Answers<T>> answers_as_text(const std::vector<Request>& requests);

/// To files `FOLDER/NAME.npy`, one for each request: states × numbers, or × rows × columns. What a file's name should
/// not have in it becomes _. Throws ArgumentError where two requests come to the same name, Error where a file cannot
/// be written.
template <class T>
std::unique_ptr<Answers<T>> answers_as_arrays(const std::vector<Request>& requests, const std::string& folder);

}  // namespace bunraku::cli
