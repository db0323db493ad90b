/// @file
/// The files that an MJCF model is made of, seen as one tree.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bunraku/io/detail/readers.hpp"

namespace bunraku::io {

/// The main file and those that it includes. Nothing is read twice.
class MjcfFiles {
 public:
  MjcfFiles(XmlDocument& main, const ReaderContext& context);

  /// The children of an element in order, with what it includes in the place of each `<include>`.
  std::vector<XmlElement> children(const XmlElement& parent);
  /// Warns of all that nobody asked for, in every file.
  void report_unused();

 private:
  struct Included {
    std::unique_ptr<XmlDocument> document;
    std::filesystem::path folder;
    int depth = 0;
  };

  void splice(const XmlElement& parent, std::vector<XmlElement>& out);
  XmlElement open(const XmlElement& include);
  std::filesystem::path locate(std::string_view name, const XmlElement& include) const;
  const Included* owner(const XmlElement& element) const;

  XmlDocument& main_;
  const ReaderContext& context_;
  std::vector<std::unique_ptr<Included>> included_;
  std::map<const XmlDocument*, const Included*> by_document_;
  std::map<const void*, XmlElement> roots_;  // by the <include> that stands for it; nothing where it was wrong
  std::set<std::filesystem::path> seen_;
  std::size_t bytes_ = 0;
};

}  // namespace bunraku::io
