#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/io/detail/sdf.hpp"

namespace bunraku::io::sdf {

namespace fs = std::filesystem;

namespace {

/// `1.9` as a number that can be compared, or nothing.
std::optional<int> parse_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto digits = [](std::string_view part) -> std::optional<int> {
    if (part.empty() || part.size() > 3 || part.find_first_not_of("0123456789") != std::string_view::npos) {
      return std::nullopt;
    }
    int value = 0;
    for (const char c : part) {
      value = 10 * value + (c - '0');
    }
    return value;
  };
  const auto major = digits(text.substr(0, dot));
  const auto minor = digits(text.substr(dot + 1));
  return major && minor ? std::optional(version_number(*major, *minor)) : std::nullopt;
}

/// The SDF file that a model.config names: the one of the newest version.
std::string configured_file(const fs::path& config, const SourceLocation& where) {
  std::vector<Problem> ignored;  // authors, descriptions and the like are of no interest
  XmlDocument document(read_file(config, where), config.string(), ignored);
  std::string best;
  int best_version = -1;
  for (const XmlElement& sdf : document.root().children("sdf")) {
    const int version = parse_version(trimmed(sdf.attribute("version").value_or(""))).value_or(0);
    if (version > best_version && !sdf.text().empty()) {
      best_version = version;
      best = sdf.text();
    }
  }
  if (best.empty()) {
    throw ModelError(document.root().where(), "the model.config names no SDF file",
                     "add <sdf version=\"1.9\">model.sdf</sdf>");
  }
  return best;
}

}  // namespace

int Sources::read_version(const XmlElement& root) {
  const std::string_view text = trimmed(root.required("version"));
  if (text.empty()) {
    return version_number(1, 7);
  }
  const auto version = parse_version(text);
  if (!version) {
    root.error(fmt::format("'version' of <sdf> is '{}'", text.substr(0, 20)), "write it as 1.9");
    return version_number(1, 7);
  }
  if (*version < version_number(1, 7)) {
    root.warning(fmt::format("this is SDF {}: frames had other rules before 1.7, and it is read by those of 1.7", text),
                 "convert the file with `gz sdf -p`");
  }
  return *version;
}

fs::path Sources::model_file(const XmlElement& uri, const Source& from) const {
  const SourceLocation where = uri.where();
  fs::path found = context_.paths.find_to_read(uri.text(), where, from.folder);
  std::error_code error;
  if (!fs::is_directory(found, error)) {
    return found;
  }
  const fs::path folder = fs::absolute(found, error);
  const fs::path config = folder / "model.config";
  const std::string file = fs::exists(config, error) ? configured_file(config, where) : "model.sdf";
  return context_.paths.find_to_read((folder / file).string(), where);
}

std::string Sources::key(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path.string() : real.string();
}

const Source& Sources::include(const XmlElement& element, const Source& from, const std::vector<const Source*>& open) {
  const XmlElement uri = element.child("uri");
  if (!uri || uri.text().empty()) {
    throw ModelError(element.where(), "<include> has no <uri>", "add <uri>the model's file or folder</uri>");
  }
  const SourceLocation where = uri.where();
  const fs::path path = model_file(uri, from);
  std::string own_key = key(path);
  if (std::any_of(open.begin(), open.end(), [&](const Source* s) { return s->key == own_key; })) {
    throw ModelError(where, fmt::format("'{}' includes itself", path.string()), "remove the <include>");
  }
  if (open.size() > max_include_depth) {
    throw ModelError(where, fmt::format("files include one another more than {} deep", max_include_depth),
                     "nest fewer files");
  }
  if (++includes_ > max_files) {
    throw ModelError(where, fmt::format("the model includes more than {} files", max_files), "include fewer files");
  }
  std::unique_ptr<Source>& source = sources_[own_key];
  if (source == nullptr) {
    const std::string text = read_file(path, where);
    auto fresh = std::make_unique<Source>();
    fresh->owned = std::make_unique<XmlDocument>(text, path.string(), context_.problems);
    fresh->document = fresh->owned.get();
    fresh->folder = path.parent_path();
    fresh->bytes = text.size();
    fresh->key = std::move(own_key);
    const XmlElement root = fresh->document->root();
    if (root.name() != "sdf") {
      throw ModelError(
          where, fmt::format("'{}' is no SDF file: it starts with <{}>", path.string(), root.name().substr(0, 40)),
          "include a file with an <sdf> in it");
    }
    fresh->version = read_version(root);
    source = std::move(fresh);
  }
  bytes_ += source->bytes;  // each time: one long file included often is as much work as many files
  if (bytes_ > max_file_bytes) {
    throw ModelError(where, fmt::format("the included files have more than {} bytes together", max_file_bytes),
                     "include fewer files");
  }
  return *source;
}

void Sources::report_unused() {
  for (const auto& [key, source] : sources_) {
    source->document->report_unused();
  }
}

}  // namespace bunraku::io::sdf
