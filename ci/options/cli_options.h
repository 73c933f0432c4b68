// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share: lists of ops, implementations, case lines.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/options/command_line.h"
#include "properties/case/line/case.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

// The last lines of the help of subcommands that take case lines; and of those that print verdicts.
inline constexpr char kCaseLineHelp[] =
    "A case line, such as 'lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37', names one problem with its\n"
    "inputs. `backgauge list --cases` prints those of a tier.";
inline constexpr char kVerdictHelp[] =
    "Verdicts: PASSED; FAILED; MISTRUSTED: the allowed error is too wide to prove anything; SKIPPED: the\n"
    "implementation does not claim the case, or its result is undefined; BROKEN: a call crashed, hung or exited,\n"
    "so there are no outputs to compare.\n"
    "Exit codes: 0 nothing failed; 1 FAILED or BROKEN; 2 wrong usage; 3 the implementation cannot be loaded;\n"
    "5 nothing was proven, or see --strict; 6 the checker or the machine failed; 130 interrupted.";

// "block_lstm_grad_v2,CudnnRNNBackprop" -> ops, by either of their names; "" -> all gradient ops. Throws
// CommandError(kUsage) on an unknown one.
std::vector<backgauge_op> parse_ops(const std::string& list);

// What the help calls the value of --tier.
inline constexpr char kTierSet[] = "{smoke,ci,full}";

// The number that is the whole text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

// For options that count: only digits, and at most 64 bits (CLI11 itself reads -1 as 2^64 - 1).
Check whole_number();
Check whole_number_or_none();  // "" too, for an option with an optional value
Check whole_number_between(int least, int most);

// A number of bytes below 2^63, with K, M, G or T for powers of 1024: turned into digits.
Check memory_size();

// For options that measure: a finite number within the limits. (CLI11's own Range accepts nan.)
Check number_from(double least, double most);

// For options that take one of some words.
Check one_of(std::vector<std::string> words);

// An option that takes 90s, 5m or 2h.
Option add_duration(Subcommand& command, const std::string& name, std::chrono::seconds& duration,
                    const std::string& description);

// --impl and --threads; and --strict.
void add_implementation_options(Subcommand& command, std::string& impl, int& threads);
void add_implementation_options(Subcommand& command, std::string& impl, int& threads, bool& strict);

// -j, --jobs.
void add_jobs_option(Subcommand& command, int& jobs);

// The default of --jobs.
int one_job_per_core();

// --waivers.
void add_waivers_option(Subcommand& command, std::string& file);

// --add-regression, with or without a file.
void add_regression_option(Subcommand& command, std::string& file);

// "1 case", "2 cases"
std::string counted(std::size_t count, const std::string& noun);

// Quotes a word for a shell.
std::string shell_quoted(const std::string& word);

// A case line; throws CommandError(kUsage) with what is wrong with it.
Case parse_case_or_throw(const std::string& line);

}  // namespace backgauge::cli
