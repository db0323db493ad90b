// Which closures meet in primary members, and whether step D is cheaper group by group.
#include <algorithm>
#include <numeric>

#include "bunraku/dynamics/detail/closed_data.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;

namespace {

/// Blocks must be this much cheaper: they take more calls for the same number of multiplications.
constexpr double gain = 0.2;

/// The member that stands for all that closures join to this one.
int stands_for(std::vector<int>& joined, int member) {
  while (joined[index(member)] != member) {
    member = joined[index(member)] = joined[index(joined[index(member)])];
  }
  return member;
}

/// Groups closures by the primary members in which they meet.
template <class T>
void make_groups(ClosedData<T>& d) {
  ClosedBlocks<T>& B = d.blocks;
  const auto primary = [&](const ClosedEnd<T>& end) { return d.member(end.member).role == Role::primary; };
  B.joined.resize(d.members.size());
  std::iota(B.joined.begin(), B.joined.end(), 0);
  for (const auto& c : d.closures) {
    if (c->present && !c->within() && c->a.link >= 0 && c->b.link >= 0 && primary(c->a) && primary(c->b)) {
      B.joined[index(stands_for(B.joined, c->a.member))] = stands_for(B.joined, c->b.member);
    }
  }
  B.groups.clear();
  B.group_of.assign(d.closures.size() + d.members.size(), -1);
  for (std::size_t i = 0; i < d.closures.size(); ++i) {
    ClosedClosure<T>& c = *d.closures[i];
    if (!c.present) {
      continue;
    }
    int of = -1;
    for_each_side(c, [&](const ClosedEnd<T>& end, ClosureColumns<T>&) {
      of = of < 0 && primary(end) ? stands_for(B.joined, end.member) : of;
    });
    int group = of < 0 ? -1 : B.group_of[d.closures.size() + index(of)];
    if (group < 0) {
      group = static_cast<int>(B.groups.size());
      B.groups.emplace_back().primary = of >= 0;
      if (of >= 0) {
        B.group_of[d.closures.size() + index(of)] = group;
      }
    }
    B.group_of[i] = group;
    B.groups[index(group)].count += 1;
    B.groups[index(group)].rows += c.rows;
  }
}

/// Where closures, rows and coordinates are in the order of groups.
template <class T>
void place_groups(ClosedData<T>& d) {
  ClosedBlocks<T>& B = d.blocks;
  B.secondary.assign(d.members.size(), -1);
  B.every.assign(d.members.size(), 0);
  B.unknowns = B.coordinates = 0;
  for (std::size_t i = 0; i < d.members.size(); ++i) {
    const ClosedMember<T>& m = *d.members[i];
    if (m.present) {
      const int n = static_cast<int>(m.torque.size());
      B.every[i] = B.coordinates;
      B.coordinates += n;
      if (m.role == Role::secondary && m.touched) {
        B.secondary[i] = B.unknowns;
        B.unknowns += n;
      }
    }
  }
  B.closures.clear();
  B.row.assign(d.closures.size(), 0);
  B.seen.clear();
  B.marked.assign(index(B.unknowns), 0);
  int row = 0;
  std::size_t place = 0;
  for (std::size_t g = 0; g < B.groups.size(); ++g) {
    ClosedGroup& group = B.groups[g];
    group.first = static_cast<int>(B.closures.size());
    group.row = row;
    group.at = place;
    group.first_seen = static_cast<int>(B.seen.size());
    for (std::size_t i = 0; i < d.closures.size(); ++i) {
      ClosedClosure<T>& c = *d.closures[i];
      if (!c.present || B.group_of[i] != static_cast<int>(g)) {
        continue;
      }
      B.closures.push_back(static_cast<int>(i));
      B.row[i] = row;
      row += c.rows;
      for_each_side(c, [&](const ClosedEnd<T>& end, ClosureColumns<T>& columns) {
        const int first = B.secondary[index(end.member)];
        for (std::size_t k = 0; first >= 0 && k < columns.coordinates.size(); ++k) {
          const int unknown = first + columns.coordinates[k];
          if (B.marked[index(unknown)] == 0) {
            B.marked[index(unknown)] = 1;
            B.seen.push_back(unknown);
          }
        }
      });
    }
    group.seen = static_cast<int>(B.seen.size()) - group.first_seen;
    std::for_each(B.seen.begin() + group.first_seen, B.seen.end(), [&](int unknown) { B.marked[index(unknown)] = 0; });
    place += index(group.rows) * index(group.rows);
  }
  B.L.resize(place);
}

/// Multiplications of step D with one Λ and by blocks. What only numbers show, arms near a singularity, is not counted.
template <class T>
void count_work(ClosedData<T>& d) {
  ClosedBlocks<T>& B = d.blocks;
  const auto cube = [](double n) { return n * n * n / 6; };
  const double m = d.rows;
  const double n = B.unknowns;
  double weak = 0;
  B.dense_work = cube(m);
  B.block_work = cube(n);
  double shared = 0;  // of products over secondary coordinates, which all closures on a member share
  for (const ClosedGroup& group : B.groups) {
    const double rows = group.rows;
    const double seen = group.seen;
    double moved = 0;
    for (int i = group.first; i < group.first + group.count; ++i) {
      for_each_side(*d.closures[index(B.closures[index(i)])], [&](const ClosedEnd<T>& end, ClosureColumns<T>& columns) {
        moved += B.secondary[index(end.member)] < 0 ? static_cast<double>(columns.coordinates.size()) : 0.0;
      });
    }
    shared = std::max(shared, seen);
    weak += std::max(0.0, rows - moved);
    B.block_work += cube(rows) + rows * rows * seen / 2 + rows * seen * seen / 2 + rows * seen;
  }
  B.dense_work += m * m * shared / 2;
  B.block_work += cube(weak) + weak * n * n / 2 + weak * weak * n / 2;
}

}  // namespace

template <class T>
void ClosedData<T>::plan_blocks() {
  ClosedBlocks<T>& B = blocks;
  make_groups(*this);
  place_groups(*this);
  count_work(*this);
  B.chosen = B.wanted == StepD::blocks || (B.wanted == StepD::automatic && B.block_work < gain * B.dense_work);
  B.factored = false;
  if (!B.chosen) {
    return;
  }
  const auto m = static_cast<std::size_t>(rows);
  const std::size_t n = index(B.unknowns);
  B.factor.resize(B.L.size());
  B.weak_of.resize(m);
  for (std::vector<T>* each : {&B.values, &B.z, &B.mu, &B.ordered, &B.kept_right, &B.kept_size}) {
    each->resize(m);
  }
  for (std::vector<T>* each : {&B.b, &B.x, &B.kept}) {
    each->resize(m * n);
  }
  B.S.resize(n * n);
  B.y.resize(n);
  B.weighted.resize(index(B.coordinates));
}

template void ClosedData<double>::plan_blocks();
template void ClosedData<float>::plan_blocks();

}  // namespace bunraku::detail
