// SPDX-License-Identifier: Apache-2.0
// Verdicts from the results of calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/judge/call/run.h"
#include "properties/judge/compare/verdict.h"
#include "reference/oracle.h"

namespace backgauge {

Verdict failed(std::string reason);
Verdict broken(const std::string& what);  // BROKEN("harness: what")

// The verdict on a call of a legal, claimed problem that failed, whatever its values: violations, no answer, or a
// status other than OK. nullopt if it succeeded.
std::optional<Verdict> verdict_of_failed_run(const RunResult& result);

// compare(), with `where` filled in for params_backprop.
TensorReport report_of(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                       const Problem& problem, const Declared& declared);

// The reports of all outputs except reserve_space. Throws std::logic_error if the oracle has no value or no usable
// bound for one, because an output that is not compared must not pass.
std::vector<TensorReport> compare_outputs(const std::vector<Output>& outputs, const std::vector<Wanted>& wanted,
                                          const Problem& problem, const Declared& declared);

// The first element of two runs that differs in its bits: "x_grad[0,2,1]: 0.25, then 0.25000003"; "" if none does.
std::string first_difference(const std::vector<Output>& first, const std::vector<Output>& second);

}  // namespace backgauge
