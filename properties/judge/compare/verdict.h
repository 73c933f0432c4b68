// SPDX-License-Identifier: Apache-2.0
// What the judge says of one case. What the words mean: properties/judge/README.md.
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
  std::int64_t bad = 0;        // elements outside their bound, wrongly (non-)finite or unwritten
  std::int64_t nonfinite = 0;  // of these: wrongly finite or non-finite
  std::int64_t unwritten = 0;  // of these: never written
  double max_ratio = 0;        // largest |got - want| / allowed over judged finite elements; may be inf, never NaN
  double resolution = 0;  // median |want| / allowed over elements that are not determined (resolution.h); 0 if none
  bool vacuous = false;   // the bound says nothing: not counted as judged
  // Flat index of the worst element; -1 if no element was judged, or if it is a sum over `bad` elements that is wrong.
  std::int64_t worst = -1;
  double got = 0, want = 0, allowed = 0;  // there
  // If bad: which sum it is, or of params_backprop the block that the element lies in, "layer 0 forward, R of gate f".
  std::string where;
};

// How the reason of a BROKEN verdict begins where the implementation had been given up on before.
constexpr std::string_view kNotRun = "not run";

struct Verdict {
  Status status = Status::kBroken;    // forgetting to judge is red
  std::string reason = "not judged";  // "" if PASSED
  std::vector<TensorReport> tensors;
  std::string note{};  // what was not judged element by element, and how; also if PASSED
  // Of a failure that was looked into: what the wrong values look like (hint.h), and of half the wider accuracy class
  // that the same outputs pass as. "" where there is nothing to say.
  std::string hint{};
  std::string passes_as{};
};

// The note begins with this where the adjoint identity was judged instead of elements.
inline constexpr std::string_view kMasksUnavailable = "masks not available";

// The same where masks come from a generator with state, as claimed, and each call was judged by its own.
inline constexpr std::string_view kMasksWithState = "masks follow from earlier calls, as claimed";

// What makes two failures the same: the first bad tensor and the class of its fault ("w_grad value", "dicfo unwritten",
// "h_grad non-finite"), or what was seen besides values, without its numbers ("wrote past the end of dicfo", "not
// repeatable: x_grad"). "" where the implementation did not fail.
std::string failure_of(const Verdict& verdict);

// The verdict that the reports of all outputs of a case amount to, if nothing else is wrong with it:
//   FAILED      an element of an output is bad
//   MISTRUSTED  an output is vacuous, or there is no output
//   SKIPPED     no element was judged, as each may be anything: reference/arithmetic/bounds.md 3.10, 3.11
//   PASSED      otherwise; the note counts the elements that may be anything
Verdict conclude(std::vector<TensorReport> tensors);

}  // namespace backgauge
