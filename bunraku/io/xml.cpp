#include "bunraku/io/detail/xml.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <tinyxml2.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/io/detail/xml_scan.hpp"

namespace bunraku::io {

namespace {

/// Enough of a value to recognise it, without line breaks and without megabytes.
std::string shown(std::string_view value) {
  return bunraku::detail::printable(value, 60);
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
  XmlDocument::remember(document_->asked_attributes_, element_->Name(), name);
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

bool XmlElement::has_blank(const char* name) const {
  const tinyxml2::XMLAttribute* found = element_->FindAttribute(name);
  return found != nullptr && trimmed(found->Value()).empty();
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
  if (document_->blank_numbers_ignored_ && has_blank(name)) {
    return std::nullopt;
  }
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
  error(fmt::format("'{}' of {} is '{}'{}", name, description(), shown(*value), document_->suggestion(*value, known)),
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
  std::string_view whole;
  bool several = false;
  for (const auto* node = element_->FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToText() == nullptr) {
      continue;
    }
    document_->used_.insert(node);
    if (whole.empty()) {
      whole = node->Value();
    } else {  // a comment stands between them
      if (!several) {
        document_->joined_.emplace_back(whole);
      }
      several = true;
      document_->joined_.back() += node->Value();
    }
  }
  return trimmed(several ? std::string_view(document_->joined_.back()) : whole);
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
  if (all.size() > 1 && document_->first_wins_) {
    all[1].warning(fmt::format("{} has a second <{}>: the first is used", description(), tag), "keep one of them");
    std::for_each(all.begin() + 1, all.end(), [](const XmlElement& other) { other.mark_all_used(); });
  } else if (all.size() > 1) {
    all[1].error(fmt::format("{} has a second <{}>", description(), tag), "keep one of them");
  }
  return all.empty() ? XmlElement() : all.front();
}

std::vector<XmlElement> XmlElement::children(const char* tag) const {
  XmlDocument::remember(document_->asked_children_, element_->Name(), tag);
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
    XmlDocument::remember(document_->asked_children_, parent->Name(), element_->Name());
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

XmlDocument::XmlDocument(std::string_view text, std::string file, std::vector<Problem>& problems)
    : file_(std::move(file)), problems_(problems), document_(std::make_unique<tinyxml2::XMLDocument>()) {
  scan_xml(text, file_);
  const tinyxml2::XMLError code = document_->Parse(text.data(), text.size());
  if (code != tinyxml2::XML_SUCCESS || document_->RootElement() == nullptr) {
    throw ModelError({file_, std::max(1, document_->ErrorLineNum())}, "this is not well-formed XML",
                     "correct it; an XML editor shows the place");
  }
  used_.insert(document_->RootElement());
}

XmlDocument::~XmlDocument() = default;

void XmlDocument::remember(Asked& asked, const char* tag, std::string_view name) {
  auto at = asked.find(std::string_view(tag));
  if (at == asked.end()) {
    at = asked.emplace(tag, std::set<std::string, std::less<>>()).first;
  }
  if (!at->second.contains(name)) {
    at->second.emplace(name);
  }
}

XmlElement XmlDocument::root() {
  return {this, document_->RootElement()};
}

void XmlDocument::report(Severity severity, SourceLocation where, std::string text, std::string cure) {
  if (lenient_ != nullptr && severity == Severity::error) {
    severity = Severity::warning;
    text += fmt::format(": {}", lenient_->consequence_);
    ++lenient_->count_;
  }
  detail::add_problem(problems_, {severity, std::move(where), std::move(text), std::move(cure)});
}

namespace {

/// Things that nobody asked for, each kind once.
class Findings {
 public:
  /// Counts one; `suggestion` is asked for the first of a kind alone, since it costs a search.
  template <class F>
  void add(std::string key, int line, F&& suggestion) {
    if (const auto at = seen_.find(key); at != seen_.end()) {
      ++findings_[at->second].count;
    } else if (findings_.size() < max_problems) {
      seen_.emplace(key, findings_.size());
      findings_.push_back({line, 1, std::move(key) + " is not used" + suggestion()});
    }
  }
  void report(XmlDocument& document) {
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.line < b.line; });
    for (Finding& f : findings_) {
      if (f.count > 1) {
        f.text += fmt::format(" ({} places, this is the first)", f.count);
      }
      document.report(Severity::warning, {document.file(), f.line}, std::move(f.text), {});
    }
  }

 private:
  struct Finding {
    int line;
    int count;
    std::string text;
  };
  std::vector<Finding> findings_;
  std::map<std::string, std::size_t> seen_;
};

}  // namespace

std::string XmlDocument::suggestion(std::string_view name, const std::vector<std::string>& known) {
  constexpr int most = 20;  // each costs a search, and nobody reads on
  return ++suggestions_ > most ? std::string() : bunraku::detail::did_you_mean(name, known);
}

void XmlDocument::report_unused() {
  Findings findings;
  const auto suggest = [&](std::string_view name, const auto& asked, const char* tag) {
    const auto at = asked.find(tag);
    return at == asked.end() ? std::string() : suggestion(name, {at->second.begin(), at->second.end()});
  };
  std::vector<const tinyxml2::XMLElement*> open = {document_->RootElement()};
  while (!open.empty()) {
    const tinyxml2::XMLElement* element = open.back();
    open.pop_back();
    for (const auto* a = element->FirstAttribute(); a != nullptr; a = a->Next()) {
      if (!used_.contains(a)) {
        const bool blank = trimmed(a->Value()).empty();
        findings.add(fmt::format("attribute '{}' of <{}>{}", shown(a->Name()), shown(element->Name()),
                                 blank ? ", which is empty," : ""),
                     a->GetLineNum(),
                     [&] { return blank ? std::string() : suggest(a->Name(), asked_attributes_, element->Name()); });
      }
    }
    for (const auto* node = element->FirstChild(); node != nullptr; node = node->NextSibling()) {
      if (const auto* e = node->ToElement(); e != nullptr && used_.contains(e)) {
        open.push_back(e);
      } else if (e != nullptr) {
        findings.add(fmt::format("<{}> in <{}>", shown(e->Name()), shown(element->Name())), e->GetLineNum(),
                     [&] { return suggest(e->Name(), asked_children_, element->Name()); });
      } else if (node->ToText() != nullptr && !used_.contains(node) && !trimmed(node->Value()).empty()) {
        findings.add(fmt::format("the text in <{}>", shown(element->Name())), node->GetLineNum(),
                     [] { return std::string(); });
      }
    }
  }
  findings.report(*this);
}

}  // namespace bunraku::io
