// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/judge/compare/verdict_text.h"

namespace backgauge {
namespace {

// In the order of Status.
constexpr std::string_view kWords[] = {"PASSED", "FAILED", "MISTRUSTED", "SKIPPED", "BROKEN"};

// A reason without numbers and without text from the implementation.
std::string without_details(const std::string& reason) {
  constexpr std::string_view kNotRepeatable = "not repeatable: ";
  const std::size_t begin = reason.starts_with(kNotRepeatable) ? kNotRepeatable.size() : 0;
  std::string text = reason.substr(0, reason.find_first_of("([:", begin));
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

std::string_view verdict_word(Status status) { return kWords[static_cast<int>(status)]; }

std::optional<Status> parse_status(std::string_view word) {
  const auto found = std::ranges::find(kWords, word);
  if (found == std::end(kWords)) return std::nullopt;
  return static_cast<Status>(found - std::begin(kWords));
}

std::string failure_of(const Verdict& verdict) {
  if (verdict.status == Status::kBroken) {
    const bool judged = !verdict.reason.starts_with("harness") && !verdict.reason.starts_with(kNotRun);
    return judged ? "BROKEN " + without_details(verdict.reason) : "";
  }
  if (verdict.status != Status::kFailed) return "";
  const auto first = std::ranges::find_if(verdict.tensors, [](const TensorReport& tensor) { return tensor.bad > 0; });
  if (first == verdict.tensors.end()) return without_details(verdict.reason);
  return first->name + (first->unwritten > 0 ? " unwritten" : first->nonfinite > 0 ? " non-finite" : " value");
}

Verdict conclude(std::vector<TensorReport> tensors) {
  Verdict verdict{Status::kPassed, "", std::move(tensors)};
  const auto bad = std::ranges::find_if(verdict.tensors, [](const TensorReport& t) { return t.bad > 0; });
  if (bad != verdict.tensors.end()) {
    verdict.status = Status::kFailed;
    verdict.reason = tensor_text(*bad);
    return verdict;
  }
  const auto vacuous = std::ranges::find_if(verdict.tensors, &TensorReport::vacuous);
  if (vacuous != verdict.tensors.end() || verdict.tensors.empty()) {
    verdict.status = Status::kMistrusted;
    verdict.reason = verdict.tensors.empty() ? "no output was compared" : tensor_text(*vacuous);
    return verdict;
  }
  std::int64_t elements = 0, judged = 0;
  for (const TensorReport& tensor : verdict.tensors) {
    elements += tensor.elements;
    judged += tensor.judged;
  }
  if (judged < elements) {
    const std::string why = "may have any value: intermediate values may overflow or are not finite";
    if (judged > 0) {
      verdict.note = fmt::format("{} of {} elements {}", elements - judged, elements, why);
    } else {
      verdict.status = Status::kSkipped;
      verdict.reason = "all elements " + why;  // without their number, because cases are counted by their reason
    }
  }
  return verdict;
}

}  // namespace backgauge
