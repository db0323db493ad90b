#include "state_source.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "limits.hpp"
#include "lines.hpp"
#include "state_lines.hpp"

namespace bunraku::cli {

template <class T>
void convert(std::string_view name, std::span<const double> from, std::span<T> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<T>(from[i]);
    if (std::isinf(to[i]) && !std::isinf(from[i])) {
      throw ArgumentError(
          fmt::format("{}[{}] is {}, beyond the range of --precision float: use double", name, i, from[i]));
    }
  }
}

namespace {

template <class T>
void convert(const GivenState& from, StateChunk<T>& to, std::ptrdiff_t i) {
  for (typename StateChunk<T>::Vector& vector : to.vectors) {
    if (vector.needed) {
      bunraku::cli::convert<T>(vector.name, from.*vector.given, vector.of(i));
    }
  }
}

template <class T>
class OptionSource : public StateSource<T> {
 public:
  OptionSource(const StateArguments& arguments, const Model& model) : state_(arguments.one(model)) {}

  bool next(StateChunk<T>& chunk, std::ptrdiff_t /*most*/, Workers& /*workers*/) override {
    if (std::exchange(taken_, true)) {
      return false;
    }
    chunk.resize(1);
    convert(state_, chunk, 0);
    return true;
  }
  void fail(std::ptrdiff_t /*i*/, const Error& /*error*/) const override { throw; }  // it has no place

 private:
  GivenState state_;
  bool taken_ = false;
};

template <class T>
class LineSource : public StateSource<T> {
 public:
  LineSource(const std::string& path, const Model& model, const Users& users)
      : model_(model), users_(users), lines_(path, most_streamed, LineReader(model, users).cure()) {}

  bool next(StateChunk<T>& chunk, std::ptrdiff_t most, Workers& workers) override {
    if (mistake_) {
      std::rethrow_exception(mistake_);
    }
    read(most);
    chunk.resize(std::ssize(places_));
    parse(chunk, workers);
    if (chunk.states == 0 && mistake_) {
      std::rethrow_exception(mistake_);
    }
    return chunk.states > 0;
  }
  void fail(std::ptrdiff_t i, const Error& error) const override {
    readers_.front().fail_at({lines_.where().file, places_[static_cast<std::size_t>(i)].line}, error);
  }

 private:
  /// Where a line is in the text, and in the file.
  struct Place {
    std::size_t begin;
    std::size_t size;
    int line;
  };

  /// Takes lines into the text. What is wrong with reading concerns what comes after them.
  void read(std::ptrdiff_t most) {
    constexpr std::size_t most_text = std::size_t{8} << 20;
    text_.clear();
    places_.clear();
    try {
      while (!ended_ && std::ssize(places_) < most && text_.size() < most_text) {
        ended_ = !lines_.next(line_);
        if (!io::trimmed(line_).empty()) {
          places_.push_back({text_.size(), line_.size(), lines_.line()});
          text_ += line_;
        }
      }
    } catch (const ModelError&) {
      mistake_ = std::current_exception();
    }
    text_.append(LineReader::padding, ' ');
  }

  /// Turns lines into numbers, and keeps those before the first line that is wrong.
  void parse(StateChunk<T>& chunk, Workers& workers) {
    const std::ptrdiff_t parts = workers.parts_of(chunk.states);
    while (std::ssize(readers_) < std::max(workers.count(), 1)) {
      readers_.emplace_back(model_, users_);
    }
    const auto take = [&](std::ptrdiff_t i, LineReader& reader) {
      const Place& place = places_[static_cast<std::size_t>(i)];
      convert(reader.read(std::string_view(text_).substr(place.begin, place.size)), chunk, i);
    };
    FirstFailure failure(chunk.states);
    workers.run(chunk.states, parts, [&](std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t, int worker) {
      for (std::ptrdiff_t i = begin; i < end && i < failure.first(); ++i) {
        try {
          take(i, readers_[static_cast<std::size_t>(worker)]);
        } catch (const Error&) {
          failure.add(i);
        }
      }
    });
    if (failure.first() == chunk.states) {
      return;
    }
    try {  // again, to say what
      take(failure.first(), readers_.front());
    } catch (const Error& error) {
      try {
        fail(failure.first(), error);
      } catch (const ModelError&) {
        mistake_ = std::current_exception();
      }
    }
    chunk.resize(failure.first());
  }

  const Model& model_;
  const Users& users_;
  Lines lines_;
  std::deque<LineReader> readers_;  // one for each worker
  std::string line_;
  std::string text_;  // of the lines of a chunk, one after the other
  std::vector<Place> places_;
  std::exception_ptr mistake_;  // after the states of this chunk
  bool ended_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<StateSource<T>> source_of_options(const StateArguments& arguments, const Model& model) {
  return std::make_unique<OptionSource<T>>(arguments, model);
}

template <class T>
std::unique_ptr<StateSource<T>> source_of_lines(const std::string& path, const Model& model, const Users& users) {
  return std::make_unique<LineSource<T>>(path, model, users);
}

template void convert(std::string_view, std::span<const double>, std::span<double>);
template void convert(std::string_view, std::span<const double>, std::span<float>);
template std::unique_ptr<StateSource<double>> source_of_options(const StateArguments&, const Model&);
template std::unique_ptr<StateSource<float>> source_of_options(const StateArguments&, const Model&);
template std::unique_ptr<StateSource<double>> source_of_lines(const std::string&, const Model&, const Users&);
template std::unique_ptr<StateSource<float>> source_of_lines(const std::string&, const Model&, const Users&);

}  // namespace bunraku::cli
