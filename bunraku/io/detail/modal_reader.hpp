/// @file
/// Reads modal data line by line: what a line is, and who reads which statement.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bunraku/io/detail/modal.hpp"
#include "bunraku/io/detail/numbers.hpp"

namespace bunraku::io {

/// What a statement is called, how many words follow its key, and in which walk over the file it is read: nodes need
/// what the head says, shapes need the nodes.
struct ModalKey {
  std::string_view name;  ///< The key.
  std::size_t words;      ///< That follow it.
  int walk;               ///< In which it is read.
  std::string_view form;  ///< For messages.
};
/// All of them.
inline constexpr std::array<ModalKey, 23> modal_keys = {{
    {"format", 0, 1, "format: bunraku-modal 1"},
    {"name", 0, 1, "name: NAME"},
    {"units", 0, 1, "units: SI"},
    {"frame", 0, 1, "frame: NODE"},
    {"mass", 0, 1, "mass: m"},
    {"com", 0, 1, "com: x y z"},
    {"inertia", 0, 1, "inertia: xx xy xz yy yz zz"},
    {"J0", 0, 1, "J0: xx xy xz yy yz zz"},
    {"nodes", 0, 1, "nodes: COUNT"},
    {"inboard", 0, 1, "inboard: NODE"},
    {"outboard", 0, 1, "outboard: NODE …"},
    {"modes", 0, 1, "modes: COUNT"},
    {"axis", 0, 1, "axis: x y z"},
    {"expected", 0, 3, "expected: η of each mode"},
    {"node", 1, 2, "node NAME: x y z [m [Jxx Jxy Jxz Jyy Jyz Jzz [cx cy cz]]]"},
    {"mode", 1, 3, "mode I: frequency HZ [ratio ζ]"},
    {"shape", 2, 3, "shape I NODE: rx ry rz tx ty tz"},
    {"S", 1, 3, "S NODE: n×n numbers"},
    {"S1", 1, 3, "S1 I: x y z"},
    {"C0", 1, 3, "C0 I: x y z"},
    {"C1", 2, 3, "C1 I L: x y z"},
    {"J1", 1, 3, "J1 I: nine numbers"},
    {"J2", 2, 3, "J2 I L: nine numbers"},
}};

/// What messages advise where nothing better is known.
inline constexpr const char* modal_cure = "see the section on modal data of docs/formats.md";

/// The statement of that key, or null.
const ModalKey* find_key(std::string_view name);

/// A name or number as messages show it.
std::string quoted(std::string_view text);

/// From xx xy xz yy yz zz.
inline Sym3<double> inertia_from(const double* x) {
  return {x[0], x[3], x[5], x[1], x[2], x[4]};
}

/// A line `key words: rest`.
struct ModalLine {
  int line = 0;                                ///< Its number.
  std::string_view key = {};                   ///< The first word.
  std::array<std::string_view, 2> words = {};  ///< Those that follow.
  std::size_t count = 0;                       ///< Of words, those beyond two counted, too.
  std::string_view rest = {};                  ///< All behind the colon.
  bool has_colon = false;                      ///< Whether there is one.
  std::string_view head = {};                  ///< All before the colon.
};

/// Calls f with every line that is not empty, comments taken off.
template <class F>
void for_each_modal_line(std::string_view text, const F& f) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) {
      continue;
    }
    ModalLine out;
    out.line = number;
    const std::size_t colon = line.find(':');
    out.has_colon = colon != std::string_view::npos;
    out.head = trimmed(line.substr(0, colon));
    out.rest = out.has_colon ? trimmed(line.substr(colon + 1)) : std::string_view{};
    std::string_view head = out.head;
    out.key = next_word(head);
    for (std::string_view word = next_word(head); !word.empty(); word = next_word(head)) {
      if (out.count < out.words.size()) {
        out.words[out.count] = word;
      }
      ++out.count;
    }
    f(out);
  }
}

/// Reads one file.
class ModalReader {
 public:
  /// Of a text, which must live as long.
  ModalReader(std::string_view text, const std::string& file);

  /// All of it. Throws ModelError with every problem.
  ModalFile read(std::vector<Problem>& warnings);

 private:
  void read_format();
  void read_head();
  void read_nodes();
  void read_shapes();
  void read_mode(const ModalLine& line);
  void read_shape(const ModalLine& line);
  void read_shortening(const ModalLine& line);
  void require_head();
  void require_shapes();
  void check_inboard();
  void check_turns();
  FlexibleBody body(const std::vector<PointLump>& lumps) const;

  bool check_form(const ModalLine& line, const ModalKey& key);
  bool numbers(const ModalLine& line, std::initializer_list<std::size_t> sizes, bool measured = false);
  bool number(const ModalLine& line, Stated<double>& out);
  bool vector(const ModalLine& line, Stated<Vec3<double>>& out, bool measured = false);
  bool matrix(const ModalLine& line, Stated<Mat3<double>>& out);
  void inertia(const ModalLine& line, Stated<Sym3<double>>& out);
  bool count(const ModalLine& line, std::size_t most, Stated<std::size_t>& out);
  bool fresh(const ModalLine& line, int first);
  int mode_index(const ModalLine& line, std::string_view word);
  const std::size_t* node_index(const ModalLine& line, std::string_view name);
  [[noreturn]] void give_up();

  std::string_view text_;
  std::vector<Problem> found_;
  ModalProblems problems_;
  ModalTolerances tolerances_;
  ModalData data_;
  Stated<std::size_t> modes_;
  Stated<std::size_t> node_count_;
  Stated<std::string_view> name_;
  Stated<std::string_view> units_;
  Stated<std::string_view> frame_;
  Stated<std::string_view> inboard_;
  Stated<std::vector<std::string_view>> outboard_;
  std::unordered_map<std::string_view, std::size_t> node_names_;
  std::vector<double> values_;  ///< The numbers of the current line.
  int digits_ = 0;              ///< Of the most precise number that is measured.
  int suggestions_ = 0;
};

}  // namespace bunraku::io
