// SPDX-License-Identifier: Apache-2.0
// From results of runs to verdicts.
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

// What is wrong with a run of a legal, claimed problem, its values aside: violations, no answer, or a status other than
// OK.
std::optional<Verdict> verdict_of_failed_run(const RunResult& result);

// The report of one output, in words where it lies too. As compare() asks for it.
TensorReport report_of(const Wanted& wanted, std::span<const double> got, std::span<const std::uint8_t> unwritten,
                       const Problem& problem, const Declared& declared);

// The reports of all outputs but reserve_space. Throws std::logic_error where the oracle has no value or no usable
// bound for one: what is not compared must not pass.
std::vector<TensorReport> compare_outputs(const std::vector<Output>& outputs, const std::vector<Wanted>& wanted,
                                          const Problem& problem, const Declared& declared);

// The first element of two runs that differs in its bits: "x_grad[0,2,1]: 0.25, then 0.25000003"; "" if none does.
std::string first_difference(const std::vector<Output>& first, const std::vector<Output>& second);

// What is wrong with a dropout mask: a value other than 0 and 1, or a share of kept elements that a mask with this
// probability has less than once in 10^12. "" if nothing.
std::string implausible_mask(const std::vector<std::uint8_t>& keep, double dropout);

}  // namespace backgauge
