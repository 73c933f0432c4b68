// SPDX-License-Identifier: Apache-2.0
// What several subcommands take from their command line: lists of ops, implementations, case lines.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "ci/options/cli_fwd.h"
#include "properties/case/case.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cli {

// "block_lstm_grad_v2,CudnnRNNBackprop" -> ops, by either of their names; "" -> all gradient ops. Throws
// CommandError(kUsage) on an unknown one.
std::vector<backgauge_op> parse_ops(const std::string& list);

// For options that count: digits only, and not more than 64 bits of them (CLI11 itself takes -1 for 2^64 - 1).
CLI::Validator whole_number();

// A number of bytes below 2^63, with K, M, G or T for powers of 1024: turned into digits.
CLI::Validator memory_size();

// For options that measure: a finite number within the limits. (CLI11's own Range takes nan: it is not outside.)
CLI::Validator number_from(double least, double most);

// An option that takes 90s, 5m or 2h.
CLI::Option* add_duration(CLI::App& command, const std::string& name, std::chrono::seconds& duration,
                          const std::string& description);

// --impl, --threads and --strict.
void add_implementation_options(CLI::App& command, std::string& impl, int& threads, bool& strict);

// --add-regression, with or without a file.
void add_regression_option(CLI::App& command, std::string& file);

// "1 case", "2 cases"
std::string counted(std::size_t count, const std::string& noun);

// As a word for a shell.
std::string shell_quoted(const std::string& word);

// A case line; throws CommandError(kUsage) with what is wrong with it.
Case parse_case_or_throw(const std::string& line);

inline constexpr std::string_view kSaboteurPrefix = "saboteur:", kHostilePrefix = "hostile:";

// A built-in implementation, the path of a shared library, saboteur:ID or hostile:ID, in this process: candidate.h has
// others. Throws CommandError(kNotLoaded).
const backgauge_implementation& load_implementation(const std::string& name);

}  // namespace backgauge::cli
