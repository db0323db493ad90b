/// Feeds text to the reader of loops and flexible links, beside a robot that has the names that it may mention.
#include "bunraku/io/detail/readers.hpp"
#include "drive.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bunraku;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ModelBuilder builder;
  for (const char* name : {"a", "b", "c"}) {
    BodySpec body{.name = name};
    body.inertia.mass = 1;
    builder.add(body);
  }
  const LoadOptions options;
  const io::PathResolver paths({}, options);
  std::vector<Problem> problems;
  try {
    io::read_loops(text, "loops.yaml", builder, {options, paths, problems});
    for (Problem& problem : problems) {
      builder.report(std::move(problem));
    }
    static_cast<void>(builder.build());
  } catch (const ModelError& error) {
    fuzz::require(!error.problems().empty());
    return 0;
  }
  fuzz::use(builder.build());
  return 0;
}
