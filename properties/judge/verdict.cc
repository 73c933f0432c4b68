// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/judge/report.h"

namespace backgauge {
namespace {

constexpr Status kStatuses[] = {Status::kPassed, Status::kFailed, Status::kMistrusted, Status::kSkipped,
                                Status::kBroken};

}  // namespace

std::string_view status_word(Status status) {
  switch (status) {
    case Status::kPassed: return "PASSED";
    case Status::kFailed: return "FAILED";
    case Status::kMistrusted: return "MISTRUSTED";
    case Status::kSkipped: return "SKIPPED";
    case Status::kBroken: return "BROKEN";
  }
  return "BROKEN";
}

std::optional<Status> parse_status(std::string_view word) {
  for (const Status status : kStatuses) {
    if (status_word(status) == word) return status;
  }
  return std::nullopt;
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
    const std::string why = "may be anything: values on the way to them may overflow, or are not finite";
    if (judged > 0) {
      verdict.note = fmt::format("{} of {} elements {}", elements - judged, elements, why);
    } else {
      verdict.status = Status::kSkipped;
      verdict.reason = fmt::format("all {} elements {}", elements, why);
    }
  }
  return verdict;
}

}  // namespace backgauge
