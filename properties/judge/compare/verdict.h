// SPDX-License-Identifier: Apache-2.0
// The verdict on one case. properties/judge/README.md explains the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

enum class Status { kPassed, kFailed, kMistrusted, kSkipped, kBroken };
std::string_view verdict_word(Status status);  // PASSED FAILED MISTRUSTED SKIPPED BROKEN
std::optional<Status> parse_status(std::string_view word);

// One output of one case.
struct TensorReport {
  std::string name;
  Shape shape;
  std::int64_t elements = 0;
  std::int64_t judged = 0;     // elements with a finite bound, or whose non-finite value is determined
  std::int64_t unbounded = 0;  // elements of finite values that are not judged, because their bound is infinite
  std::int64_t bad = 0;        // elements outside their bound, wrongly (non-)finite or unwritten
  std::int64_t nonfinite = 0;  // of these: wrongly finite or non-finite
  std::int64_t unwritten = 0;  // of these: never written
  std::int64_t added = 0;      // of these: added to what was there before the call (additions.h)
  double max_ratio = 0;        // largest |got - want| / allowed over judged finite elements; may be inf, never NaN
  double resolution = 0;       // median |want| / allowed over elements that are not determined (compare.h); 0 if none
  bool vacuous = false;        // the resolution is so low that agreement proves nothing
  // Flat index of the worst element; -1 if no element was judged, or if a sum over `bad` elements is wrong.
  std::int64_t worst = -1;
  double got = 0, want = 0, allowed = 0;  // of the worst element or the sum
  // If bad: which sum is wrong, or for params_backprop the block of the worst element, "layer 0 forward, R of gate f".
  std::string where;
};

// The reason of a BROKEN verdict begins with this if the call was not made, because earlier ones did not return.
constexpr std::string_view kNotRun = "not run";

// And so does the reason of a verdict on a malformed call that was not refused as it must be.
constexpr std::string_view kMalformedCall = "malformed call";

struct Verdict {
  Status status = Status::kBroken;    // so that a case that was never judged does not pass
  std::string reason = "not judged";  // "" if PASSED
  std::vector<TensorReport> tensors;
  std::string note{};  // how elements were judged that were not judged one by one; also if PASSED
  // For failures that were examined: which error gives such values (properties/explain/hint.h), and with which other
  // claim the same outputs pass. "" if there is none.
  std::string hint{};
  std::string passes_as{};
};

// The note begins with this where the adjoint identity was judged instead of elements.
inline constexpr std::string_view kMasksUnavailable = "masks not available";

// The note begins with this where masks come from a generator with state, as claimed, and each call was judged with the
// mask that it reports.
inline constexpr std::string_view kMasksWithState = "masks depend on earlier calls, as claimed";

// The kind of a failure; two failures with the same kind count as the same. The first bad tensor and what is wrong with
// it ("w_grad value", "dicfo unwritten", "h_grad non-finite"), or the reason without its numbers ("wrote past the end
// of dicfo", "not repeatable: x_grad"). "" if the implementation did not fail.
std::string failure_of(const Verdict& verdict);

// The verdict for the reports of all outputs of a case, if nothing else is wrong with it:
//   FAILED      an element of an output is bad
//   MISTRUSTED  an output is vacuous, or there is no output
//   SKIPPED     no element was judged, because each may have any value: reference/arithmetic/bounds.md 3.10, 3.11
//   PASSED      otherwise; the note counts the elements that may have any value, and those without a finite bound
Verdict conclude(std::vector<TensorReport> tensors);

}  // namespace backgauge
