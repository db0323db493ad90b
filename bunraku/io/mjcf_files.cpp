#include "bunraku/io/detail/mjcf_files.hpp"

#include <system_error>

#include <fmt/format.h>

namespace bunraku::io {

namespace fs = std::filesystem;

namespace {

/// All files of a model together: a chain of large files must not fill the memory.
constexpr std::size_t max_total_bytes = 4 * max_file_bytes;

/// One name for one file, however it is written.
fs::path unique_path(const fs::path& path) {
  std::error_code error;
  fs::path out = fs::weakly_canonical(path, error);
  return error ? path : out;
}

}  // namespace

MjcfFiles::MjcfFiles(XmlDocument& main, const ReaderContext& context) : main_(main), context_(context) {
  main_.ignore_blank_numbers();
  seen_.insert(unique_path(main.file()));
}

std::vector<XmlElement> MjcfFiles::children(const XmlElement& parent) {
  std::vector<XmlElement> out;
  splice(parent, out);
  return out;
}

void MjcfFiles::splice(const XmlElement& parent, std::vector<XmlElement>& out) {
  for (const XmlElement& child : parent.children()) {
    if (child.name() != "include") {
      out.push_back(child);
    } else if (const XmlElement root = open(child)) {
      splice(root, out);  // open() bounds the depth
    }
  }
}

XmlElement MjcfFiles::open(const XmlElement& include) {
  const auto [at, fresh] = roots_.emplace(include.identity(), XmlElement());
  if (!fresh) {
    return at->second;
  }
  include.mark_used();
  const std::string_view name = include.required("file");
  if (name.empty()) {
    return {};
  }
  const Included* from = owner(include);
  const int depth = from == nullptr ? 1 : from->depth + 1;
  if (depth > max_include_depth || included_.size() >= static_cast<std::size_t>(max_files)) {
    throw ModelError(include.where(), fmt::format("'{}' is one included file too many", name),
                     fmt::format("include at most {} files, at most {} deep", max_files, max_include_depth));
  }
  const fs::path path = locate(name, include);
  if (!seen_.insert(unique_path(path)).second) {
    throw ModelError(include.where(), fmt::format("'{}' is included a second time", name),
                     "a file can be part of a model once: remove this <include>");
  }
  const std::string text = read_file(path, include.where());
  bytes_ += text.size();
  if (bytes_ > max_total_bytes) {
    throw ModelError(include.where(), fmt::format("the included files have more than {} bytes", max_total_bytes),
                     "keep meshes and other data in files of their own");
  }
  auto included = std::make_unique<Included>();
  included->document = std::make_unique<XmlDocument>(text, path.string(), context_.problems);
  included->document->ignore_blank_numbers();
  included->folder = path.parent_path();
  included->depth = depth;
  const XmlElement root = included->document->root();
  root.attribute("model");  // the including file names the model
  if (root.children().empty()) {
    include.error(fmt::format("'{}' has no elements to include", name), "remove this <include>");
  }
  by_document_.emplace(included->document.get(), included.get());
  included_.push_back(std::move(included));
  roots_[include.identity()] = root;
  return root;
}

fs::path MjcfFiles::locate(std::string_view name, const XmlElement& include) const {
  // names start at the main file's folder; where there is nothing of that name, at the including file's own
  const Included* from = owner(include);
  const bool in_main = from == nullptr || !context_.paths.find(name).empty();
  return context_.paths.find_to_read(name, include.where(), in_main ? fs::path() : from->folder);
}

const MjcfFiles::Included* MjcfFiles::owner(const XmlElement& element) const {
  const auto at = by_document_.find(&element.document());
  return at == by_document_.end() ? nullptr : at->second;
}

void MjcfFiles::report_unused() {
  main_.report_unused();
  for (const auto& included : included_) {
    included->document->report_unused();
  }
}

}  // namespace bunraku::io
