// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "properties/judge/compare/compare.h"

namespace backgauge {
namespace {

// Five digits, or as many as are needed to show the difference.
std::string got_and_want(double got, double want) {
  for (int digits = 5; digits < 17; digits += 4) {
    const std::string left = fmt::format("{:.{}g}", got, digits), right = fmt::format("{:.{}g}", want, digits);
    if (left != right) return fmt::format("got {} want {}", left, right);
  }
  return fmt::format("got {:.17g} want {:.17g}", got, want);
}

// Results of a closer look at a failure, which are not about single values.
std::string findings_text(const Verdict& verdict) {
  std::string text;
  if (!verdict.note.empty()) text += "  " + verdict.note + "\n";
  if (!verdict.passes_as.empty()) text += "  " + verdict.passes_as + "\n";
  if (!verdict.hint.empty()) text += "  hint: " + verdict.hint + "\n";
  return text;
}

// An element just beyond its limit gets enough digits to show it.
std::string ratio_text(double ratio) { return fmt::format("{:.{}g}", ratio, ratio < 1.1 ? 6 : 2); }

std::string text_of_right(const TensorReport& tensor) {
  if (tensor.vacuous && 2 * tensor.unbounded > tensor.elements) {
    return "its bounds prove nothing (they overflow, and its values do not)";
  }
  if (tensor.elements > 0 && tensor.judged == 0) return "no element was judged";
  if (!tensor.vacuous) return "ok";
  return fmt::format("its bounds prove nothing (median |want| / allowed is {:.2g})", tensor.resolution);
}

}  // namespace

std::string tensor_text(const TensorReport& tensor) {
  std::string text = tensor.name;
  if (tensor.bad == 0) return text + ": " + text_of_right(tensor);
  const bool is_sum = tensor.worst < 0;
  text += (is_sum ? "" : index_text(tensor.shape, tensor.worst)) + ": ";
  if (tensor.added > 0) {
    text += fmt::format("the result was added to what was there before the call, want {:.5g}", tensor.want);
  } else if (tensor.unwritten > 0) {
    text += fmt::format("never written, want {:.5g}", tensor.want);
  } else if (tensor.nonfinite > 0) {
    text += fmt::format("got {:.5g} want {:.5g}", tensor.got, tensor.want);
  } else {
    text += got_and_want(tensor.got, tensor.want) +
            fmt::format(" ratio {} (allowed {:.2g})", ratio_text(tensor.max_ratio), tensor.allowed);
  }
  text += is_sum ? fmt::format("; a sum over {} elements", tensor.bad)
                 : fmt::format("; {} of {} elements wrong", tensor.bad, tensor.elements);
  if (tensor.added > 0) text += fmt::format(", {} added to what was there", tensor.added);
  if (tensor.unwritten > 0) text += fmt::format(", {} never written", tensor.unwritten);
  if (tensor.nonfinite > 0) text += fmt::format(", {} wrongly NaN, infinite or finite", tensor.nonfinite);
  if (!tensor.where.empty()) text += "; " + tensor.where;
  return text;
}

std::string verdict_text(const Verdict& verdict) {
  std::string text;
  std::vector<std::string> right;
  bool said = verdict.reason.empty();
  for (const TensorReport& tensor : verdict.tensors) {
    const bool judged = tensor.judged > 0 || tensor.elements == 0;
    if (tensor.bad == 0 && !tensor.vacuous && judged) {
      right.push_back(tensor.name);
      continue;
    }
    const std::string line = tensor_text(tensor);
    said = said || line == verdict.reason;
    text += "  tensor " + line + "\n";
  }
  if (!said) text = "  " + verdict.reason + "\n" + text;
  if (!right.empty()) text += fmt::format("  {} ok\n", fmt::join(right, ", "));
  return text + findings_text(verdict);
}

std::string brief_text(const Verdict& verdict) {
  std::vector<std::string> bad;
  for (const TensorReport& tensor : verdict.tensors) {
    if (tensor.bad > 0) bad.push_back(tensor_text(tensor));
  }
  const bool by_tensor = !bad.empty() && bad.front() == verdict.reason;
  std::string text = fmt::format("  {}{}\n", by_tensor ? "tensor " : "", verdict.reason);
  if (bad.size() == 2) text += "  1 more output is wrong\n";
  if (bad.size() > 2) text += fmt::format("  {} more outputs are wrong\n", bad.size() - 1);
  return text + findings_text(verdict);
}

}  // namespace backgauge
