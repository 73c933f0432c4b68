// SPDX-License-Identifier: Apache-2.0
// Measures how far the results of an implementation repeat bit for bit, whatever it claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/judge/memory/placement.h"
#include "properties/judge/runner/case_session.h"
#include "properties/judge/runner/runner.h"

namespace backgauge {

// The strongest first. Bits are equal if all that is listed up to the enumerator is equal.
enum class Determinism {
  kBitwise,             // the call alone
  kPerThreadCount,      // and the number of threads
  kPerMemoryPlacement,  // and where the tensors lie, and what the workspace held
  kPerProcess,          // and the process
  kRunToRun             // nothing guarantees equal bits
};
std::string_view determinism_word(Determinism determinism);  // bitwise, per thread count, ...

struct Repeats {
  Determinism measured = Determinism::kBitwise;
  std::string difference;  // the one that decided, "w_grad[0,2]: 1, then 2 with 3 threads"; "" if bitwise
  int runs = 0;            // 0: the calls did not succeed, and nothing was measured
};

// Measures one problem, which is legal and claimed and has no random dropout (masks are not queried). For
// CudnnRNNBackprop the forward runs as well; all gradients start from the same forward. Several may be measured with
// the same two processes: all in one, then runner.renew(), then all in the other. The problem outlives it.
class DeterminismMeter {
 public:
  DeterminismMeter(Runner& runner, const Problem& problem, std::uint64_t seed);

  // Ten runs with each of 1, 2, 3, 16 and 33 threads, with two placements and two fills of the workspace.
  void measure();
  // One more run, after another process was started.
  void measure_in_another_process();

  const Repeats& repeats() const { return out_; }

 private:
  using Outputs = std::vector<Output>;

  bool make_forward();
  std::optional<Outputs> answer(const RunOptions& options);
  bool repeat(const RunOptions& options, std::optional<Outputs>& of_threads);
  void note(Determinism level, const Outputs& first, const Outputs& second, const std::string& when);

  Runner& runner_;
  CaseSession session_;
  const Placement placement_;
  std::optional<Outputs> first_;  // of all
  Repeats out_;
};

// The whole measurement of one problem; in a second process too if the runner has processes.
Repeats measure_determinism(Runner& runner, const Problem& problem, std::uint64_t seed);

// True if a claim promises more than was measured.
bool overclaims(backgauge_determinism claimed, Determinism measured);

}  // namespace backgauge
