// SPDX-License-Identifier: Apache-2.0
// One case with one implementation: what is claimed of it, and its calls in their order. These are the forward, if the
// op takes the outputs of one; its dropout masks; and the gradient.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "properties/case/line/filled.h"
#include "properties/judge/compare/verdict.h"
#include "properties/judge/runner/runner.h"
#include "reference/contract/claims.h"

namespace backgauge {

// The outputs of all calls of a case, those of the forward first, without reserve_space.
struct CaseOutputs {
  // The verdict on the first call that failed, after which no more are made; or on elements that were never written.
  std::optional<Verdict> failure;
  // Results depend on dropout masks that are not available: what the implementation says. The gradient was not run.
  std::optional<std::string> masks_unavailable;
  std::vector<Output> outputs;  // of the failed call, too
};

class CaseSession {
 public:
  // The runner and the problem, which is legal, outlive the session.
  CaseSession(Runner& runner, const Problem& problem, const DataFacts& facts = {});

  // Why the case is not run: what is not claimed, or what cannot be judged of it. "" if it is run.
  const std::string& unclaimed() const { return unclaimed_; }

  // The claims on the op, if it is claimed. What follows is for claimed ops only.
  const std::optional<Claims>& claims() const { return claims_; }
  Declared declared() const;
  bool repeats() const;        // equal calls must give equal bits
  bool changes_masks() const;  // equal calls may draw different dropout masks, as claimed

  Runner& runner() const { return runner_; }
  bool has_forward() const { return traits_of(problem_.op).forward.has_value(); }
  bool draws_masks() const;  // correct results depend on random dropout masks

  // With the dropout masks that dropout_masks() has reported.
  const Problem& problem() const { return with_masks_ ? *with_masks_ : problem_; }
  // Throws std::bad_optional_access if there is none.
  const Problem& forward_problem();

  // The forward. Its outputs become inputs of the calls below, until the next one.
  RunResult forward(const RunOptions& options);
  // The same; the inputs of other calls stay as they are.
  RunResult repeat_forward(const RunOptions& options);
  // What the forward has made: the outputs in the dtype of the problem, reserve_space among them.
  const std::vector<RawTensor>& made() const { return made_; }
  void forget_forward() { made_.clear(); }

  // The masks of the last forward. OK without masks if none are drawn; unavailable() if the implementation has no
  // function for it.
  DropoutMasks dropout_masks(const RunOptions& options);

  // The gradient. It may change reserve_space if that is claimed.
  RunResult gradient(const RunOptions& options);
  RunOptions gradient_options(RunOptions options) const;

  // All of these, one after the other.
  CaseOutputs run_all(const RunOptions& options);

 private:
  Runner& runner_;
  const Problem& problem_;
  const std::optional<Claims> claims_;
  const std::string unclaimed_;
  std::optional<Problem> with_masks_, forward_problem_;
  std::vector<RawTensor> made_;
};

}  // namespace backgauge
