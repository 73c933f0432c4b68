// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/run_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/params_block.h"

namespace backgauge {

Verdict failed(std::string reason) { return {Status::kFailed, std::move(reason), {}}; }

Verdict broken(const std::string& what) { return {Status::kBroken, "harness: " + what, {}}; }

std::optional<Verdict> verdict_of_failed_run(const RunResult& result) {
  if (!result.violations.empty()) {
    const std::size_t more = result.violations.size() - 1;
    return failed(result.violations.front() + (more > 0 ? fmt::format("; and {} more", more) : ""));
  }
  if (!result.broken.empty()) return Verdict{Status::kBroken, result.broken, {}};
  if (result.status == BACKGAUGE_OK) return std::nullopt;
  const std::string answer =
      fmt::format("{} returned {}: {}", result.function, call_status_word(result.status), result.message);
  // These two describe the machine, not the implementation.
  if (result.status == BACKGAUGE_OUT_OF_MEMORY || result.status == BACKGAUGE_DEVICE_ERROR) return broken(answer);
  return failed(answer);
}

TensorReport report_of(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                       const Problem& problem, const Declared& declared) {
  TensorReport report = compare(wanted, got, unwritten, problem.dtype, declared);
  if (report.bad > 0 && report.name == "params_backprop") {
    const Extents& e = problem.extents;
    report.where = params_block(problem.attributes, rnn_params(problem.attributes, e.I, e.H, e.L), report.worst);
  }
  return report;
}

std::vector<TensorReport> compare_outputs(const std::vector<Output>& outputs, const std::vector<Wanted>& wanted,
                                          const Problem& problem, const Declared& declared) {
  std::vector<TensorReport> reports;
  for (const Output& output : outputs) {
    if (output.raw.name == "reserve_space") continue;
    const auto found = std::ranges::find(wanted, output.raw.name, &Wanted::name);
    if (found == wanted.end()) throw std::logic_error("oracle: no value for " + output.raw.name);
    if (const std::string fault = faulty_bound(*found); !fault.empty()) throw std::logic_error(fault);
    if (found->shape != output.raw.shape) {
      throw std::logic_error(fmt::format("oracle: {} has shape {}, expected {}", found->name, to_string(found->shape),
                                         to_string(output.raw.shape)));
    }
    reports.push_back(report_of(*found, output.values, output.unwritten, problem, declared));
  }
  return reports;
}

std::string first_difference(const std::vector<Output>& first, const std::vector<Output>& second) {
  for (std::size_t k = 0; k < first.size(); ++k) {
    const Output &a = first[k], &b = second[k];
    if (a.values.empty()) continue;
    const std::size_t unit = a.raw.bytes.size() / a.values.size();
    for (std::size_t e = 0; e < a.values.size(); ++e) {
      if (std::memcmp(&a.raw.bytes[e * unit], &b.raw.bytes[e * unit], unit) == 0) continue;
      return fmt::format("{}{}: {:.17g}, then {:.17g}", a.raw.name,
                         index_text(a.raw.shape, static_cast<std::int64_t>(e)), a.values[e], b.values[e]);
    }
  }
  return "";
}

}  // namespace backgauge
