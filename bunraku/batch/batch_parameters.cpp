/// Parameters that differ from state to state: see kernels/fold.hpp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/batch/detail/batch_data.hpp"
#include "bunraku/error.hpp"

namespace bunraku {

namespace {

/// The largest of each body's numbers over all states, for what D must be above to be certainly positive.
template <class T>
std::vector<kernels::BodyBound> bounds_of(const Model& model, const BatchParameters<T>& p, std::ptrdiff_t states) {
  std::vector<kernels::BodyBound> out = kernels::bounds_of(model);
  const auto number = [](const StateRows<const T>& rows, std::ptrdiff_t i, std::ptrdiff_t j) {
    return static_cast<double>(rows.row(i)[j * rows.column_stride()]);
  };
  for (std::size_t b = 0; b < out.size(); ++b) {
    const Body& body = model.bodies()[b];
    const auto k = static_cast<std::ptrdiff_t>(b);
    for (std::ptrdiff_t i = 0; i < states; ++i) {
      if (p.inertial.data() != nullptr) {
        const auto pi = [&](int j) { return std::abs(number(p.inertial, i, 10 * k + j)); };
        out[b].mass = std::max(out[b].mass, pi(0));
        out[b].moment = std::max(out[b].moment, 0.5 * (pi(4) + pi(7) + pi(9)));
      }
      if (p.placement.data() != nullptr) {
        const auto x = [&](int j) { return number(p.placement, i, 7 * k + j); };
        out[b].arm = std::max(out[b].arm, std::hypot(x(4), x(5), x(6)));
      }
      for (int j = 0; p.armature.data() != nullptr && j < body.nv; ++j) {
        double& most = out[b].armature[static_cast<std::size_t>(j)];
        most = std::max(most, number(p.armature, i, body.v_index + j));
      }
    }
  }
  return out;
}

}  // namespace

template <class T>
void BasicBatch<T>::set_parameters(const BatchParameters<T>& p) {
  detail::BatchData<T>& d = *data_;
  const std::ptrdiff_t n = d.model.nv();
  const std::ptrdiff_t bodies = std::ssize(d.model.bodies());
  std::ptrdiff_t states = 0;
  const auto given = [&](const StateRows<const T>& rows, std::ptrdiff_t cols, std::string_view name) {
    if (rows.data() == nullptr) {
      return false;
    }
    states = states == 0 ? rows.rows() : states;
    d.check(rows, states, cols, name);
    return true;
  };
  kernels::Varied varied;
  varied.inertial = given(p.inertial, 10 * bodies, "inertial");
  varied.placement = given(p.placement, 7 * bodies, "placement");
  varied.armature = given(p.armature, n, "armature");
  varied.damping = given(p.damping, n, "damping");
  varied.friction = given(p.friction, n, "friction");
  varied.stiffness = given(p.stiffness, n, "stiffness");
  varied.gravity = given(p.gravity, 3, "gravity");
  if (states == 0) {
    throw ArgumentError("the parameters are of no state: give rows for at least one, or call clear_parameters()");
  }
  const kernels::TreeOptions options{.any_placement = varied.placement,
                                     .any_armature = varied.armature,
                                     .any_stiffness = varied.stiffness,
                                     .any_inertia = varied.inertial};
  auto tree = std::make_shared<const kernels::Tree>(d.model, options);
  std::vector<detail::BatchWorker<T>> workers = d.make_workers(tree, d.executor->workers());
  kernels::BlockSweeps<T>& sweeps = *workers.front().block;
  const std::size_t block_numbers = sweeps.folded_size(varied);
  const std::ptrdiff_t blocks = (states + d.lanes - 1) / d.lanes;
  std::vector<T> folded(block_numbers * static_cast<std::size_t>(blocks));
  for (std::ptrdiff_t b = 0; b < blocks; ++b) {
    const std::ptrdiff_t first = b * d.lanes;
    const detail::BatchBlock block{first, nullptr, static_cast<int>(std::min<std::ptrdiff_t>(d.lanes, states - first))};
    const kernels::VariedRows<T> rows{block.of(p.inertial), block.of(p.placement), block.of(p.armature),
                                      block.of(p.damping),  block.of(p.friction),  block.of(p.stiffness),
                                      block.of(p.gravity)};
    const kernels::BlockStatus status =
        sweeps.fold(varied, rows, folded.data() + static_cast<std::size_t>(b) * block_numbers);
    for (int i = 0; i < block.count; ++i) {
      const kernels::LaneBits bit = kernels::LaneBits{1} << i;
      if ((status.not_finite & bit) != 0) {
        throw ArgumentError(fmt::format("a parameter of state {} is not a finite number", first + i));
      }
      if ((status.not_normalized & bit) != 0) {
        throw ArgumentError(fmt::format("a quaternion in the placements of state {} is not of unit norm", first + i));
      }
    }
  }
  const std::vector<double> doubts = kernels::doubts_of<T>(*tree, bounds_of(d.model, p, states));
  for (const detail::BatchWorker<T>& worker : workers) {
    worker.block->set_doubts(doubts.data());
    worker.single->set_doubts(doubts.data());
  }
  d.tree = std::move(tree);
  d.workers = std::move(workers);
  d.varied = varied;
  d.parameter_states = states;
  d.folded = std::move(folded);
  d.block_numbers = block_numbers;
  d.passive = d.options.passive == PassiveForces::included &&
              (d.model_passive || varied.damping || varied.friction || varied.stiffness);
}

template <class T>
void BasicBatch<T>::clear_parameters() {
  detail::BatchData<T>& d = *data_;
  if (d.parameter_states == 0) {
    return;
  }
  auto tree = std::make_shared<const kernels::Tree>(d.model);
  d.workers = d.make_workers(tree, d.executor->workers());
  d.tree = std::move(tree);
  d.varied = {};
  d.parameter_states = 0;
  d.folded.clear();
  d.passive = d.model_passive;
}

template void BasicBatch<double>::set_parameters(const BatchParameters<double>&);
template void BasicBatch<float>::set_parameters(const BatchParameters<float>&);
template void BasicBatch<double>::clear_parameters();
template void BasicBatch<float>::clear_parameters();

}  // namespace bunraku
