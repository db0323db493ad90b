/// @file
/// XML as the readers see it: typed access with messages that name file and line, and a record of what was used, so
/// that nothing is dropped in silence.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/spatial/vec3.hpp"

namespace tinyxml2 {
class XMLAttribute;
class XMLDocument;
class XMLElement;
}  // namespace tinyxml2

namespace bunraku::io {

class Lenient;
class XmlDocument;

/// Which numbers an attribute may hold.
enum class Finite {
  required,  ///< inf and nan are errors.
  or_inf,    ///< inf is fine, nan is an error (limits).
};

/// An element of a document: a light handle. Asking for an attribute or a child marks it as used.
class XmlElement {
 public:
  XmlElement() = default;
  /// For XmlDocument.
  XmlElement(XmlDocument* document, const tinyxml2::XMLElement* element) : document_(document), element_(element) {}

  /// False for the handle of nothing, such as a missing child.
  explicit operator bool() const { return element_ != nullptr; }
  /// The tag.
  std::string_view name() const;
  /// File and line.
  SourceLocation where() const;
  /// The document it belongs to.
  XmlDocument& document() const { return *document_; }
  /// `<tag name="…">`, or `<tag>` without a name: for messages.
  std::string description() const;

  /// The attribute, or nothing.
  std::optional<std::string_view> attribute(const char* name) const;
  /// Whether the attribute is there; does not count as using it.
  bool has(const char* name) const;
  /// Whether the attribute is there without a value; does not count as using it.
  bool has_blank(const char* name) const;
  /// The attribute; without it an error is reported and the empty string returned.
  std::string_view required(const char* name) const;
  /// The attribute as one number, or the default. Errors are reported, and the default returned.
  double number(const char* name, double otherwise, Finite finite = Finite::required) const;
  /// The attribute as one number; without it an error is reported and 0 returned.
  double required_number(const char* name) const;
  /// The attribute as one of the given words, or the default; an error lists the words.
  std::string_view word(const char* name, std::string_view otherwise, std::span<const std::string_view> allowed) const;
  /// The attribute as a yes or no: true, false, 1, 0.
  bool flag(const char* name, bool otherwise) const;
  /// The attribute as three numbers, or the default.
  Vec3<double> vector(const char* name, const Vec3<double>& otherwise) const;
  /// The attribute as at least `least` and at most `most` numbers; nothing when absent or wrong (then reported).
  std::optional<std::vector<double>> numbers(const char* name, std::size_t least, std::size_t most,
                                             Finite finite = Finite::required) const;

  /// The text between the tags, trimmed; counts as used. Comments in it are passed over.
  std::string_view text() const;
  /// The text as one number; wrong or missing text is reported, and the default returned.
  double text_number(double otherwise, Finite finite = Finite::required) const;
  /// The text as at least `least` and at most `most` numbers; nothing when wrong (then reported).
  std::optional<std::vector<double>> text_numbers(std::size_t least, std::size_t most,
                                                  Finite finite = Finite::required) const;

  /// The first child with that tag. A second one is reported, as an error unless the document lets the first win: use
  /// children() where several are allowed.
  XmlElement child(const char* tag) const;
  /// All children with that tag, in order; they count as used.
  std::vector<XmlElement> children(const char* tag) const;
  /// All children in order, whatever their tags; they do not count as used until mark_used() is called on them.
  std::vector<XmlElement> children() const;
  /// Counts the element itself as used (not its attributes or children).
  void mark_used() const;
  /// Counts the element with all its attributes and all below as used.
  void mark_all_used() const;
  /// All attributes as (name, value); does not count as using them.
  std::vector<std::pair<std::string_view, std::string_view>> attributes() const;

  /// Reports an error or a warning at this element's line.
  void error(std::string text, std::string cure = {}) const;
  /// Reports a warning at this element's line.
  void warning(std::string text, std::string cure = {}) const;

  /// The same for all handles of one element, and for no other: a key for tables.
  const void* identity() const { return element_; }
  /// Two handles of one element.
  friend bool operator==(const XmlElement& a, const XmlElement& b) { return a.element_ == b.element_; }

 private:
  std::optional<std::vector<double>> parse(std::string_view text, const std::string& what, std::size_t least,
                                           std::size_t most, Finite finite) const;

  XmlDocument* document_ = nullptr;
  const tinyxml2::XMLElement* element_ = nullptr;
};

/// A parsed file. Stays where it is made: elements point to it.
class XmlDocument {
 public:
  /// Parses `text`; `file` is its name in messages. Throws ModelError with the line when it is not well-formed UTF-8
  /// XML with one root. Problems found later are added to `problems`, which must outlive the document.
  XmlDocument(std::string_view text, std::string file, std::vector<Problem>& problems);
  ~XmlDocument();
  XmlDocument(const XmlDocument&) = delete;
  XmlDocument& operator=(const XmlDocument&) = delete;

  /// The root element; counts as used.
  XmlElement root();
  /// The name in messages.
  const std::string& file() const { return file_; }
  /// Adds a problem, max_problems at the most.
  void report(Severity severity, SourceLocation where, std::string text, std::string cure);
  /// Reports each kind of element, attribute and text that nobody asked for, once, with its first line.
  void report_unused();
  /// From now on an attribute that should hold numbers and is empty is as good as absent, and listed as not used.
  void ignore_blank_numbers() { blank_numbers_ignored_ = true; }
  /// From now on a second element where one is wanted is a warning: other readers of the format take the first.
  void let_the_first_win() { first_wins_ = true; }
  /// `; did you mean …?` for an unknown name, from the known ones. Empty after the first few: each costs a search.
  std::string suggestion(std::string_view name, const std::vector<std::string>& known);

 private:
  friend class XmlElement;
  friend class Lenient;
  using Asked = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;  // names asked for, by tag
  static void remember(Asked& asked, const char* tag, std::string_view name);

  std::string file_;
  std::vector<Problem>& problems_;
  std::unique_ptr<tinyxml2::XMLDocument> document_;
  std::unordered_set<const void*> used_;
  int suggestions_ = 0;
  bool blank_numbers_ignored_ = false;
  bool first_wins_ = false;
  Lenient* lenient_ = nullptr;      // the innermost one
  std::deque<std::string> joined_;  // texts in several pieces
  Asked asked_attributes_;
  Asked asked_children_;
};

/// While it lives, what is wrong in a document is a warning: for what does not bear on the result, such as looks.
class Lenient {
 public:
  /// `consequence` ends each message: what happens to the part that is wrong.
  Lenient(XmlDocument& document, const char* consequence)
      : document_(document), around_(document.lenient_), consequence_(consequence) {
    document_.lenient_ = this;
  }
  ~Lenient() { document_.lenient_ = around_; }
  Lenient(const Lenient&) = delete;
  Lenient& operator=(const Lenient&) = delete;

  /// How many errors have become warnings.
  int count() const { return count_; }

 private:
  friend class XmlDocument;
  XmlDocument& document_;
  Lenient* around_;
  const char* consequence_;
  int count_ = 0;
};

}  // namespace bunraku::io
