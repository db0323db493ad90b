#include "papers/trial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/operators/rewriting/simplify.hpp"
#include "papers/references.hpp"

namespace bunraku::cli::papers {

namespace {

/// A statement that is to be tried, and what came of it so far.
struct Trial {
  Outcome outcome;
  Systems systems = Systems::any;
  int count = random_systems;
  bool robots = true;
  std::optional<Operator> left = {};
  std::optional<Operator> right = {};
  std::optional<Reference> reference = {};
  const Procedure* procedure = nullptr;
};

/// Both sides of a row in the same space. Throws OperatorError where they do not fit.
void read_sides(Trial& trial, const Row& row) {
  Operator left = parse(expand(row.left), variables());
  Operator right = parse(expand(row.right), variables());
  if (left.range().kind == SpaceKind::any) {
    left = in_space(left, right.range());
  } else {
    right = in_space(right, left.range());
  }
  static_cast<void>(left - right);
  trial.outcome.statement = fmt::format("{} = {}", to_ascii(left), to_ascii(right));
  trial.left = left;
  trial.right = right;
}

Trial make_trial(const char* id, const Row& row) {
  Trial out{.outcome = {.id = id,
                        .line = row.line,
                        .statement = fmt::format("{} = {}", expand(row.left), expand(row.right)),
                        .source = row.source,
                        .note = row.note,
                        .claim = row.claim,
                        .tolerance = tolerance},
            .systems = row.systems};
  if (row.claim != Claim::ill_typed) {
    read_sides(out, row);
    return out;
  }
  try {
    read_sides(out, row);
    out.outcome.error = "its factors fit, although they should not";
  } catch (const OperatorError& error) {
    out.outcome.note += fmt::format("{}{}", out.outcome.note.empty() ? "" : "; ", error.problem());
  }
  return out;
}

Trial make_trial(const Reference& reference) {
  const Operator left = parse(expand(reference.left), variables());
  return {.outcome = {.id = reference.id,
                      .line = reference.line,
                      .statement = fmt::format("{} = {}", to_ascii(left), reference.words),
                      .source = reference.source,
                      .means = Means::reference,
                      .tolerance = reference.largest},
          .systems = reference.systems,
          .left = left,
          .reference = reference};
}

Trial make_trial(const Procedure& procedure) {
  return {.outcome = {.id = procedure.id,
                      .line = procedure.line,
                      .statement = procedure.words,
                      .source = procedure.source,
                      .means = Means::procedure,
                      .claim = procedure.claim,
                      .tolerance = procedure.largest},
          .systems = procedure.systems,
          .count = procedure.count,
          .robots = procedure.robots,
          .procedure = &procedure};
}

std::vector<Trial> make_trials(const std::string& id) {
  std::vector<Trial> out;
  std::vector<std::string> known;
  const std::vector<Reference> all_references = references();
  for (const Item& item : items()) {
    known.emplace_back(item.id);
    if (!id.empty() && id != item.id) {
      continue;
    }
    for (const Row& row : item.rows) {
      out.push_back(make_trial(item.id, row));
    }
    for (const Reference& reference : all_references) {
      if (std::string_view(reference.id) == item.id) {
        out.push_back(make_trial(reference));
      }
    }
    for (const Procedure& procedure : procedures()) {
      if (std::string_view(procedure.id) == item.id) {
        out.push_back(make_trial(procedure));
      }
    }
  }
  if (out.empty()) {
    throw ArgumentError(
        fmt::format("there is no item '{}'; there are {}", bunraku::detail::printable(id, 40), fmt::join(known, ", ")));
  }
  return out;
}

/// Whether the identities make both sides equal on the papers' systems. That of a misprint is an error of theirs.
void try_to_prove(Trial& trial) {
  Outcome& outcome = trial.outcome;
  if (outcome.means != Means::identity || outcome.claim == Claim::ill_typed) {
    return;
  }
  outcome.proved = prove(*trial.left, *trial.right).has_value();
  if (outcome.proved && outcome.is_false()) {
    outcome.error = "the identities prove it, although it is false";
  }
}

double residual_of(const Trial& trial, Sample& sample) {
  if (trial.procedure != nullptr) {
    return trial.procedure->residual(sample);
  }
  Evaluation left = sample.system().literal(*trial.left);
  const Eigen::MatrixXd probes = sample.probes(left.cols());
  if (trial.reference) {
    return residual(left * probes, trial.reference->right(sample) * probes);
  }
  return residual(left * probes, sample.apply(*trial.right, probes));
}

void try_on(Trial& trial, Sample& sample) {
  Outcome& outcome = trial.outcome;
  if (!outcome.error.empty() || outcome.claim == Claim::ill_typed) {
    return;
  }
  double found = 0;
  try {
    found = residual_of(trial, sample);
  } catch (const Error& error) {
    outcome.error = fmt::format("{}: {}", sample.name(), error.what());
    return;
  }
  if (!std::isfinite(found)) {
    outcome.error = fmt::format("{}: a number is not finite", sample.name());
    return;
  }
  ++outcome.samples;
  if (found > outcome.residual() || outcome.worst.empty()) {
    outcome.worst = sample.name();
  }
  double& largest = sample.robot() ? outcome.robot_residual : outcome.random_residual;
  largest = std::max(largest, found);
}

}  // namespace

bool Outcome::pass() const {
  switch (claim) {
    case Claim::ill_typed:
      return error.empty();
    case Claim::fails:
      return error.empty() && random_residual > refutation;
    default:
      return error.empty() && samples > 0 && residual() <= tolerance;
  }
}

std::vector<Outcome> run(const std::string& id, int samples, const std::vector<Robot>& robots,
                         const Announce& announce) {
  std::vector<Trial> trials = make_trials(id);
  announce("proofs");
  for (Trial& trial : trials) {
    try_to_prove(trial);
  }
  for (const Systems systems : {Systems::any, Systems::serial, Systems::chain4, Systems::revolute4, Systems::slider4,
                                Systems::branch5, Systems::mobile4, Systems::arms, Systems::flexible, Systems::nodal}) {
    for (int i = 0; i < samples; ++i) {
      std::optional<Sample> sample;
      for (Trial& trial : trials) {
        if (trial.systems == systems && i < trial.count) {
          if (!sample) {
            sample = random_sample(systems, i);
            announce(sample->name());
          }
          try_on(trial, *sample);
        }
      }
    }
  }
  for (std::size_t i = 0; i < robots.size(); ++i) {
    announce(robots[i].name);
    Sample sample(robots[i].name, robots[i].model, 77 + i, true);
    for (Trial& trial : trials) {
      const bool fits = trial.systems == Systems::any || (trial.systems == Systems::serial && sample.serial());
      if (fits && trial.robots && !trial.outcome.is_false()) {
        try_on(trial, sample);
      }
    }
  }
  std::vector<Outcome> out;
  out.reserve(trials.size());
  for (Trial& trial : trials) {
    out.push_back(std::move(trial.outcome));
  }
  return out;
}

}  // namespace bunraku::cli::papers
