// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "properties/judge/compare/verdict_text.h"

namespace backgauge {
namespace {

// In the order of Status.
constexpr std::string_view kWords[] = {"PASSED", "FAILED", "MISTRUSTED", "SKIPPED", "BROKEN"};

// 17, -1, 11.5, 2^45
bool is_number(const std::string& word) {
  return word.find_first_not_of("-0123456789.^") == std::string::npos &&
         word.find_first_of("0123456789") != std::string::npos;
}

// A reason without numbers and without text from the implementation. Words with digits in them stay as they are.
std::string without_details(const std::string& reason) {
  constexpr std::string_view kNotRepeatable = "not repeatable: ";
  if (reason.starts_with(kMalformedCall)) return std::string(kMalformedCall);  // what follows describes this one call
  const std::size_t begin = reason.starts_with(kNotRepeatable) ? kNotRepeatable.size() : 0;
  std::istringstream words(reason.substr(0, reason.find_first_of("([:", begin)));
  std::string text;
  for (std::string word; words >> word;) {
    if (!is_number(word)) text += (text.empty() ? "" : " ") + word;
  }
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
  return first->name + (first->added > 0       ? " added"
                        : first->unwritten > 0 ? " unwritten"
                        : first->nonfinite > 0 ? " non-finite"
                                               : " value");
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
  std::int64_t elements = 0, open = 0, unbounded = 0;
  for (const TensorReport& tensor : verdict.tensors) {
    elements += tensor.elements;
    open += tensor.elements - tensor.judged - tensor.unbounded;
    unbounded += tensor.unbounded;
  }
  const std::string why = "may have any value: intermediate values may overflow or are not finite";
  if (open > 0 && open == elements) {
    verdict.status = Status::kSkipped;
    verdict.reason = "all elements " + why;  // without their number, because cases are counted by their reason
    return verdict;
  }
  if (open > 0) verdict.note = fmt::format("{} of {} elements {}", open, elements, why);
  if (unbounded > 0) {
    verdict.note += fmt::format("{}{} of {} elements have no finite bound", open > 0 ? "; " : "", unbounded, elements);
  }
  return verdict;
}

}  // namespace backgauge
