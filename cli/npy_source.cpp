#include "npy_source.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "npy_matrix.hpp"

namespace bunraku::cli {

namespace {

constexpr std::array<std::string_view, 4> names = {"q", "v", "a", "tau"};

/// The name that an item starts with, or none.
std::string_view item_name(std::string_view item) {
  item = io::trimmed(item);
  const auto found = std::find(names.begin(), names.end(), item.substr(0, item.find('=')));
  return found == names.end() || item.find('=') == std::string_view::npos ? std::string_view() : *found;
}

/// The items of a list: it ends at each comma after which a name follows.
std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t comma = list.find(','); comma != std::string_view::npos; comma = list.find(',', comma + 1)) {
    if (!item_name(list.substr(comma + 1)).empty()) {
      out.push_back(list.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  out.push_back(list.substr(begin));
  return out;
}

}  // namespace

std::vector<NpyInput> parse_npy_inputs(const std::vector<std::string>& lists) {
  std::vector<NpyInput> out;
  for (const std::string& list : lists) {
    for (const std::string_view item : items_of(list)) {
      const std::string_view name = item_name(item);
      const std::string_view file = item.substr(item.find('=') + 1);
      if (name.empty() || file.empty()) {
        throw ArgumentError(fmt::format("--npy: '{}' is not NAME=FILE, with q, v, a or tau for NAME",
                                        bunraku::detail::printable(item)));
      }
      if (std::any_of(out.begin(), out.end(), [&](const NpyInput& other) { return other.name == name; })) {
        throw ArgumentError(fmt::format("--npy: {} is there twice", name));
      }
      out.push_back({std::string(name), std::string(file)});
    }
  }
  return out;
}

namespace {

template <class T>
class ArraySource : public StateSource<T> {
 public:
  ArraySource(const std::vector<NpyInput>& inputs, const Model& model, const Users& users) {
    const auto given = [&](std::string_view name) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const NpyInput& input) { return input.name == name; });
    };
    if (const std::string lacks =
            missing(users, {.q = given("q"), .v = given("v"), .a = given("a"), .tau = given("tau")});
        !lacks.empty()) {
      throw ArgumentError(fmt::format("--npy: {}", lacks));
    }
    for (const NpyInput& input : inputs) {  // those that nothing needs, too: a slip in one may be a slip in all
      arrays_.push_back({input.name, NpyMatrix(input.file, input.name, input.name == "q" ? model.nq() : model.nv())});
      const NpyMatrix& first = arrays_.front().matrix;
      if (const NpyMatrix& last = arrays_.back().matrix; last.rows() != first.rows()) {
        throw ModelError({last.file(), 0},
                         fmt::format("it has {} states, and '{}' has {}", last.rows(), first.file(), first.rows()));
      }
    }
  }

  bool next(StateChunk<T>& chunk, std::ptrdiff_t most, Workers& /*workers*/) override {
    if (mistake_) {
      std::rethrow_exception(mistake_);
    }
    first_ += std::exchange(taken_, 0);
    taken_ = std::min<std::int64_t>(most, *total() - first_);
    chunk.resize(taken_);
    for (Array& array : arrays_) {
      const auto vector = std::find_if(chunk.vectors.begin(), chunk.vectors.end(),
                                       [&](const auto& each) { return each.name == array.name; });
      if (vector->needed) {
        read(array, *vector);
      }
    }
    if (taken_ < chunk.states) {
      chunk.resize(taken_);
      if (taken_ == 0) {
        std::rethrow_exception(mistake_);
      }
    }
    return taken_ > 0;
  }
  void fail(std::ptrdiff_t i, const Error& error) const override {
    throw ArgumentError(fmt::format("--npy: state {}, counted from 0: {}", first_ + i, error.what()));
  }
  std::optional<std::int64_t> total() const override { return arrays_.front().matrix.rows(); }

 private:
  struct Array {
    std::string name;
    NpyMatrix matrix;
  };

  /// Reads so many rows as are taken, or those before the first that T does not hold.
  void read(Array& array, typename StateChunk<T>::Vector& to) {
    if (std::is_same_v<T, double> || array.matrix.type() == npy_type<T>) {
      array.matrix.read(first_, taken_, to.numbers.data());
      return;
    }
    room_.resize(static_cast<std::size_t>(taken_ * to.size));
    array.matrix.read(first_, taken_, room_.data());
    for (std::int64_t i = 0; i < taken_; ++i) {
      try {
        convert<T>(to.name, {room_.data() + i * to.size, static_cast<std::size_t>(to.size)}, to.of(i));
      } catch (const Error& error) {
        try {
          fail(i, error);
        } catch (const Error&) {
          mistake_ = std::current_exception();
        }
        taken_ = i;
      }
    }
  }

  std::vector<Array> arrays_;
  std::int64_t first_ = 0;  // of the states that were taken last
  std::int64_t taken_ = 0;  // so many
  std::vector<double> room_;
  std::exception_ptr mistake_;  // after the states of this chunk
};

}  // namespace

template <class T>
std::unique_ptr<StateSource<T>> source_of_arrays(const std::vector<NpyInput>& inputs, const Model& model,
                                                 const Users& users) {
  return std::make_unique<ArraySource<T>>(inputs, model, users);
}

template std::unique_ptr<StateSource<double>> source_of_arrays(const std::vector<NpyInput>&, const Model&,
                                                               const Users&);
template std::unique_ptr<StateSource<float>> source_of_arrays(const std::vector<NpyInput>&, const Model&, const Users&);

}  // namespace bunraku::cli
