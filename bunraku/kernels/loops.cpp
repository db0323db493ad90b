#include "bunraku/kernels/loops.hpp"

#include <algorithm>

namespace bunraku::kernels {

int tie_loop(const Closure& closure, std::span<const int> parents, std::span<const BodyPlace> places,
             std::vector<std::array<int, 2>>& ties) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto link_of = [&](int body) { return body == world ? -1 : places[at(body)].link; };
  const bool hinges = closure.kind == ClosureKind::hinges;
  int a = link_of(hinges ? closure.hinge_a : closure.a.body);
  int b = link_of(hinges ? closure.hinge_b : closure.b.body);
  if (hinges && b < 0) {  // a hinge that is held still
    return a;
  }
  if (hinges) {
    ties.push_back({a, b});  // which takes in what is between, as with mimics
    return a;
  }
  std::vector<int> loop;
  const bool relative = closure.kind != ClosureKind::rows;
  while (relative ? a != b : a >= 0 || b >= 0) {  // the later of two links carries none of the other's path
    const int later = std::max(a, b);
    loop.push_back(later);
    const int up = parents[at(later)];
    a = a == later ? up : a;
    b = b == later ? up : b;
  }
  for (std::size_t i = 1; i < loop.size(); ++i) {
    ties.push_back({loop[i - 1], loop[i]});
  }
  return loop.empty() ? -1 : loop.front();
}

}  // namespace bunraku::kernels
