#include "answers.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "json_writer.hpp"
#include "npy.hpp"
#include "output.hpp"
#include "whole_files.hpp"

namespace bunraku::cli {

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Text

/// Writes what such axes hold; returns what follows.
template <class T>
const T* write_axes(std::span<const std::int64_t> axes, const T* at, JsonWriter& json) {
  if (axes.empty()) {
    json.value(*at);
    return at + 1;
  }
  json.begin_array();
  for (std::int64_t i = 0; i < axes[0]; ++i) {
    at = write_axes(axes.subspan(1), at, json);
  }
  json.end_array();
  return at;
}

template <class T>
void write(const Shape& shape, const T* at, JsonWriter& json) {
  if (!shape.parts.empty()) {
    json.begin_object();
    for (const auto& [name, axes] : shape.parts) {
      json.key(name);
      at = write_axes(std::span(axes), at, json);
    }
    json.end_object();
    return;
  }
  if (!shape.by_key) {
    write_axes(std::span(shape.axes), at, json);
    return;
  }
  json.begin_object();
  for (const std::string& key : shape.keys) {
    json.key(key);
    at = write_axes(std::span(shape.axes), at, json);
  }
  json.end_object();
}

template <class T>
class Text : public Answers<T> {
 public:
  explicit Text(const std::vector<Request>& requests) : requests_(requests) {}

  void add(const std::vector<std::vector<T>>& numbers, std::ptrdiff_t states, Workers& workers) override {
    const std::ptrdiff_t parts = workers.parts_of(states);
    if (parts <= 1) {  // the text of a large matrix takes more room than its numbers: it is sent on piece by piece
      JsonWriter json([&](std::string_view text) { output_.write(text); });
      write_states(numbers, 0, states, json);
      json.finish();
      return;
    }
    texts_.resize(static_cast<std::size_t>(parts));
    workers.run(states, parts, [&](std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t part, int /*worker*/) {
      write_states(numbers, begin, end, texts_[static_cast<std::size_t>(part)]);
    });
    for (JsonWriter& json : texts_) {
      output_.write(json.text());
      json.clear();
    }
  }
  void commit() override { output_.commit(); }

 private:
  void write_states(const std::vector<std::vector<T>>& numbers, std::ptrdiff_t begin, std::ptrdiff_t end,
                    JsonWriter& json) const {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      json.begin_object();
      for (std::size_t r = 0; r < requests_.size(); ++r) {
        const Shape& shape = requests_[r].shape;
        json.key(requests_[r].key);
        write(shape, numbers[r].data() + i * shape.count(), json);
      }
      json.end_object().newline();
    }
  }

  const std::vector<Request>& requests_;
  std::vector<JsonWriter> texts_;  // of the parts of a chunk; kept for their room
  WholeOutput output_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Arrays

/// The name of a request's file.
std::string file_name(const std::string& key) {
  const auto fits = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || c == '.' || c == '-';
  };
  std::string out = key;
  std::replace_if(out.begin(), out.end(), [&](char c) { return !fits(c); }, '_');
  return out + ".npy";
}

template <class T>
class Arrays : public Answers<T> {
 public:
  Arrays(const std::vector<Request>& requests, const std::string& folder) : files_(folder) {
    std::vector<std::string> names;
    for (const Request& request : requests) {
      names.push_back(file_name(request.key));
      if (const auto same = std::find(names.begin(), names.end() - 1, names.back()); same != names.end() - 1) {
        throw ArgumentError(fmt::format("--npy-out: '{}' and '{}' would both be the file '{}': ask for one at a time",
                                        requests[static_cast<std::size_t>(same - names.begin())].key, request.key,
                                        *same));
      }
      NpyHeader header{.type = npy_type<T>, .shape = {0}};
      if (request.shape.by_key) {
        header.shape.push_back(std::ssize(request.shape.keys));
      }
      if (!request.shape.parts.empty()) {
        header.shape.push_back(request.shape.count());
      }
      header.shape.insert(header.shape.end(), request.shape.axes.begin(), request.shape.axes.end());
      files_.write(files_.add(names.back()), npy_header_text(header));
      headers_.push_back(std::move(header));
    }
  }

  void add(const std::vector<std::vector<T>>& numbers, std::ptrdiff_t states, Workers& /*workers*/) override {
    for (std::size_t r = 0; r < headers_.size(); ++r) {
      headers_[r].shape[0] += states;
      files_.write(r, {reinterpret_cast<const char*>(numbers[r].data()), numbers[r].size() * sizeof(T)});
    }
  }
  void commit() override {
    for (std::size_t r = 0; r < headers_.size(); ++r) {
      files_.write_start(r, npy_header_text(headers_[r]));  // now that the number of states is known
    }
    files_.commit();
  }

 private:
  WholeFiles files_;
  std::vector<NpyHeader> headers_;
};

}  // namespace

template <class T>
std::unique_ptr<Answers<T>> answers_as_text(const std::vector<Request>& requests) {
  return std::make_unique<Text<T>>(requests);
}

template <class T>
std::unique_ptr<Answers<T>> answers_as_arrays(const std::vector<Request>& requests, const std::string& folder) {
  return std::make_unique<Arrays<T>>(requests, folder);
}

template std::unique_ptr<Answers<double>> answers_as_text(const std::vector<Request>&);
template std::unique_ptr<Answers<float>> answers_as_text(const std::vector<Request>&);
template std::unique_ptr<Answers<double>> answers_as_arrays(const std::vector<Request>&, const std::string&);
template std::unique_ptr<Answers<float>> answers_as_arrays(const std::vector<Request>&, const std::string&);

}  // namespace bunraku::cli
