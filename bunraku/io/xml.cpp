#include "bunraku/io/detail/xml.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <tinyxml2.h>

#include "bunraku/io/detail/numbers.hpp"

namespace bunraku::io {

namespace {

/// Enough of a value to recognise it, without line breaks and without megabytes.
std::string shown(std::string_view value) {
  constexpr std::size_t most = 60;
  std::string out;
  for (const char c : value.substr(0, most)) {
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return value.size() > most ? out + "…" : out;
}

}  // namespace

std::string_view XmlElement::name() const {
  return element_->Name();
}

SourceLocation XmlElement::where() const {
  return {document_->file_, element_->GetLineNum()};
}

std::string XmlElement::description() const {
  const char* own = element_->Attribute("name");
  return own == nullptr ? fmt::format("<{}>", shown(name()))
                        : fmt::format("<{} name=\"{}\">", shown(name()), shown(own));
}

std::optional<std::string_view> XmlElement::attribute(const char* name) const {
  document_->asked_attributes_[element_->Name()].insert(name);
  const tinyxml2::XMLAttribute* found = element_->FindAttribute(name);
  if (found == nullptr) {
    return std::nullopt;
  }
  document_->used_.insert(found);
  return found->Value();
}

bool XmlElement::has(const char* name) const {
  return element_->FindAttribute(name) != nullptr;
}

std::string_view XmlElement::required(const char* name) const {
  const auto value = attribute(name);
  if (!value || trimmed(*value).empty()) {
    error(fmt::format("{} has no attribute '{}'", description(), name), fmt::format("add {}=\"…\"", name));
    return {};
  }
  return *value;
}

std::optional<std::vector<double>> XmlElement::parse(std::string_view text, const std::string& what, std::size_t least,
                                                     std::size_t most, Finite finite) const {
  std::vector<double> out;
  const std::string wanted = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  std::string_view rest = text;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const auto value = parse_number(word);
    if (!value) {
      error(fmt::format("{} of {}: '{}' is not a number", what, description(), shown(word)),
            "write numbers such as 0.5 or -1e-3, separated by spaces");
      return std::nullopt;
    }
    if (std::isnan(*value) || (std::isinf(*value) && finite == Finite::required)) {
      error(fmt::format("{} of {}: '{}' is not a finite number", what, description(), shown(word)),
            "write a finite number");
      return std::nullopt;
    }
    if (out.size() == most) {
      error(fmt::format("{} of {} has more than the {} numbers wanted", what, description(), wanted));
      return std::nullopt;
    }
    out.push_back(*value);
  }
  if (out.size() < least) {
    error(fmt::format("{} of {} has {} numbers where {} are wanted", what, description(), out.size(), wanted));
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<double>> XmlElement::numbers(const char* name, std::size_t least, std::size_t most,
                                                       Finite finite) const {
  const auto value = attribute(name);
  return value ? parse(*value, fmt::format("'{}'", name), least, most, finite) : std::nullopt;
}

double XmlElement::number(const char* name, double otherwise, Finite finite) const {
  const auto values = numbers(name, 1, 1, finite);
  return values ? values->front() : otherwise;
}

double XmlElement::required_number(const char* name) const {
  return required(name).empty() ? 0 : number(name, 0);
}

std::string_view XmlElement::word(const char* name, std::string_view otherwise,
                                  std::span<const std::string_view> allowed) const {
  const auto value = attribute(name);
  if (!value) {
    return otherwise;
  }
  for (const std::string_view candidate : allowed) {
    if (candidate == *value) {
      return candidate;
    }
  }
  const std::vector<std::string> known(allowed.begin(), allowed.end());
  error(fmt::format("'{}' of {} is '{}'{}", name, description(), shown(*value), detail::did_you_mean(*value, known)),
        fmt::format("use one of: {}", fmt::join(allowed, ", ")));
  return otherwise;
}

bool XmlElement::flag(const char* name, bool otherwise) const {
  static constexpr std::array<std::string_view, 6> words = {"true", "false", "1", "0", "True", "False"};
  const std::string_view value = word(name, otherwise ? "true" : "false", words);
  return value == "true" || value == "1" || value == "True";
}

Vec3<double> XmlElement::vector(const char* name, const Vec3<double>& otherwise) const {
  const auto values = numbers(name, 3, 3);
  return values ? Vec3<double>{(*values)[0], (*values)[1], (*values)[2]} : otherwise;
}

std::string_view XmlElement::text() const {
  const char* text = element_->GetText();
  return text == nullptr ? std::string_view() : trimmed(text);
}

double XmlElement::text_number(double otherwise, Finite finite) const {
  const auto values = text_numbers(1, 1, finite);
  return values ? values->front() : otherwise;
}

std::optional<std::vector<double>> XmlElement::text_numbers(std::size_t least, std::size_t most, Finite finite) const {
  return parse(text(), "the text", least, most, finite);
}

XmlElement XmlElement::child(const char* tag) const {
  const std::vector<XmlElement> all = children(tag);
  if (all.size() > 1) {
    all[1].error(fmt::format("{} has a second <{}>", description(), tag), "keep one of them");
  }
  return all.empty() ? XmlElement() : all.front();
}

std::vector<XmlElement> XmlElement::children(const char* tag) const {
  document_->asked_children_[element_->Name()].insert(tag);
  std::vector<XmlElement> out;
  for (const auto* e = element_->FirstChildElement(tag); e != nullptr; e = e->NextSiblingElement(tag)) {
    document_->used_.insert(e);
    out.emplace_back(document_, e);
  }
  return out;
}

std::vector<XmlElement> XmlElement::children() const {
  std::vector<XmlElement> out;
  for (const auto* e = element_->FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    out.emplace_back(document_, e);
  }
  return out;
}

void XmlElement::mark_used() const {
  if (const auto* parent = element_->Parent() == nullptr ? nullptr : element_->Parent()->ToElement();
      parent != nullptr) {
    document_->asked_children_[parent->Name()].insert(element_->Name());
  }
  document_->used_.insert(element_);
}

void XmlElement::mark_all_used() const {
  mark_used();
  for (const auto* a = element_->FirstAttribute(); a != nullptr; a = a->Next()) {
    document_->used_.insert(a);
  }
  for (const XmlElement& below : children()) {  // the parser bounds the depth
    below.mark_all_used();
  }
}

std::vector<std::pair<std::string_view, std::string_view>> XmlElement::attributes() const {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (const auto* a = element_->FirstAttribute(); a != nullptr; a = a->Next()) {
    out.emplace_back(a->Name(), a->Value());
  }
  return out;
}

void XmlElement::error(std::string text, std::string cure) const {
  document_->report(Severity::error, where(), std::move(text), std::move(cure));
}

void XmlElement::warning(std::string text, std::string cure) const {
  document_->report(Severity::warning, where(), std::move(text), std::move(cure));
}

namespace {

/// What the parser's error code means to a person.
std::string syntax_message(tinyxml2::XMLError code) {
  switch (code) {
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "the file has no XML in it";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "a tag is closed that is not the one open, or never closed";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is not written as name=\"value\"";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "a comment is not closed by -->";
    case tinyxml2::XML_ERROR_PARSING_CDATA:
      return "a CDATA section is not closed by ]]>";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "a declaration <? … ?> is not closed or not at the top";
    case tinyxml2::XML_ERROR_PARSING_UNKNOWN:
      return "a <! … > is not closed";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "there is text where a tag should be, or the file breaks off";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return fmt::format("elements are nested deeper than {}", TINYXML2_MAX_ELEMENT_DEPTH);
    default:
      return "this is not well-formed XML";
  }
}

/// The first line with a byte sequence that is not UTF-8, or 0. Overlong forms and surrogates are let through: they
/// cannot hurt here.
int first_line_not_utf8(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    line += c == '\n' ? 1 : 0;
    const int more = c < 0x80 ? 0 : (c >> 5) == 6 ? 1 : (c >> 4) == 14 ? 2 : (c >> 3) == 30 ? 3 : -1;
    if (more < 0) {
      return line;
    }
    for (int k = 0; k < more; ++k) {
      ++i;
      if (i >= text.size() || (static_cast<unsigned char>(text[i]) >> 6) != 2) {
        return line;
      }
    }
  }
  return 0;
}

int line_of(std::string_view text, std::size_t position) {
  int line = 1;
  for (const char c : text.substr(0, position)) {
    line += c == '\n' ? 1 : 0;
  }
  return line;
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, std::string file, std::vector<Problem>& problems)
    : file_(std::move(file)), problems_(problems), document_(std::make_unique<tinyxml2::XMLDocument>()) {
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw ModelError({file_, line_of(text, nul)}, "this is binary data, not a text file",
                     "give a URDF, MJCF or SDF file in UTF-8");
  }
  if (const int line = first_line_not_utf8(text); line != 0) {
    throw ModelError({file_, line}, "the text is not UTF-8", "save the file in UTF-8");
  }
  const tinyxml2::XMLError code = document_->Parse(text.data(), text.size());
  if (code != tinyxml2::XML_SUCCESS) {
    throw ModelError({file_, std::max(1, document_->ErrorLineNum())}, syntax_message(code),
                     "correct the XML; an XML editor shows the place");
  }
  const tinyxml2::XMLElement* root = document_->RootElement();
  if (root == nullptr) {
    throw ModelError({file_, 1}, "the file has no element", "give a URDF, MJCF or SDF file");
  }
  if (const auto* second = root->NextSiblingElement(); second != nullptr) {
    throw ModelError({file_, second->GetLineNum()},
                     fmt::format("there is a second root element <{}>", shown(second->Name())),
                     "keep one root element");
  }
  used_.insert(root);
}

XmlDocument::~XmlDocument() = default;

XmlElement XmlDocument::root() {
  return {this, document_->RootElement()};
}

void XmlDocument::report(Severity severity, SourceLocation where, std::string text, std::string cure) {
  detail::add_problem(problems_, {severity, std::move(where), std::move(text), std::move(cure)});
}

void XmlDocument::report_unused() {
  struct Finding {
    int line;
    int count;
    std::string text;
    std::string cure;
  };
  std::vector<Finding> findings;
  std::map<std::string, std::size_t> seen;
  const auto add = [&](const std::string& key, int line, const std::string& suggestion) {
    const auto [at, fresh] = seen.emplace(key, findings.size());
    if (fresh) {
      findings.push_back({line, 1, key + " is not used" + suggestion, {}});
    } else {
      ++findings[at->second].count;
    }
  };
  const auto suggest = [](std::string_view name, const auto& asked, const char* tag) {
    const auto at = asked.find(tag);
    return at == asked.end()
               ? std::string()
               : detail::did_you_mean(name, std::vector<std::string>(at->second.begin(), at->second.end()));
  };
  std::vector<const tinyxml2::XMLElement*> open = {document_->RootElement()};
  while (!open.empty()) {
    const tinyxml2::XMLElement* element = open.back();
    open.pop_back();
    for (const auto* a = element->FirstAttribute(); a != nullptr; a = a->Next()) {
      if (!used_.contains(a)) {
        add(fmt::format("attribute '{}' of <{}>", shown(a->Name()), shown(element->Name())), a->GetLineNum(),
            suggest(a->Name(), asked_attributes_, element->Name()));
      }
    }
    for (const auto* e = element->FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
      if (used_.contains(e)) {
        open.push_back(e);
      } else {
        add(fmt::format("<{}> in <{}>", shown(e->Name()), shown(element->Name())), e->GetLineNum(),
            suggest(e->Name(), asked_children_, element->Name()));
      }
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.line < b.line; });
  for (Finding& f : findings) {
    if (f.count > 1) {
      f.text += fmt::format(" ({} places, this is the first)", f.count);
    }
    report(Severity::warning, {file_, f.line}, std::move(f.text), std::move(f.cure));
  }
}

}  // namespace bunraku::io
