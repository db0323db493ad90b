/// @file
/// Computes quantities at many states, chunk by chunk.
#pragma once

#include <vector>

#include "answers.hpp"
#include "quantities.hpp"
#include "state_source.hpp"
#include "workers.hpp"

namespace bunraku::cli {

/// What is computed.
struct EvalTask {
  const Model& model;                               ///< Of the states.
  const std::vector<Request>& wanted;               ///< The quantities, their shapes known.
  const Users& users;                               ///< What of a state they need.
  PassiveForces passive = PassiveForces::included;  ///< Whether damping, friction and springs act.
  OffClosures off = OffClosures::refuse;            ///< What becomes of states that open closures.
};

/// Takes all states, computes all quantities and gives the answers away. They depend neither on the number of workers
/// nor on how the states fall into chunks. The first state that is wrong, or at which a quantity has no finite value,
/// ends it as one state by itself would, and with the same message.
template <class T>
void evaluate(const EvalTask& what, StateSource<T>& source, Answers<T>& answers, Workers& workers);

}  // namespace bunraku::cli
