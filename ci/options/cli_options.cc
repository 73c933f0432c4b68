// SPDX-License-Identifier: Apache-2.0
#include "ci/options/cli_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "ci/options/command_error.h"
#include "properties/case/line/regressions.h"
#include "properties/judge/call/printable.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

// A process and some threads each; more would be a mistake on any machine.
constexpr int kMostJobs = 1024;

// Finds a gradient op by the name used in case lines or by TensorFlow's name; nullptr if there is none.
const OpSpec* gradient_op(std::string_view name) {
  const auto found = std::ranges::find_if(
      op_specs(), [&](const OpSpec& spec) { return spec.word == name || spec.tensorflow == name; });
  return found == op_specs().end() || found->traits.gradient ? nullptr : &*found;
}

}  // namespace

std::vector<backgauge_op> parse_ops(const std::string& list) {
  std::vector<backgauge_op> out;
  std::vector<std::string_view> legal;
  for (const OpSpec& spec : op_specs()) {
    if (spec.traits.gradient) continue;
    legal.push_back(spec.word);
    if (list.empty()) out.push_back(spec.op);
  }
  std::size_t begin = 0;
  while (!list.empty() && begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    const OpSpec* spec = gradient_op(word);
    if (spec == nullptr) {
      throw CommandError{kUsage, fmt::format("--ops={}: unknown op \"{}\", expected one or more of {}", list, word,
                                             fmt::join(legal, ", "))};
    }
    if (std::find(out.begin(), out.end(), spec->op) == out.end()) out.push_back(spec->op);
    begin = end + 1;
  }
  return out;
}

Check whole_number() {
  return {[](const std::string& text) {
    return number_in<std::uint64_t>(text) ? std::string() : text + ": expected a whole number";
  }};
}

Check whole_number_or_none() {
  return {[](std::string& text) { return text.empty() ? std::string() : whole_number().refusal(text); }};
}

Check whole_number_between(int least, int most) {
  return {[least, most](const std::string& text) {
            const std::optional<int> number = number_in<int>(text);
            const bool fits = number && *number >= least && *number <= most;
            return fits ? std::string() : fmt::format("{}: expected a whole number from {} to {}", text, least, most);
          },
          fmt::format("{}..{}", least, most)};
}

Check number_from(double least, double most) {
  return {[least, most](const std::string& text) {
    const std::optional<double> number = number_in<double>(text);
    const bool fits = number && *number >= least && *number <= most;
    return fits ? std::string() : fmt::format("{}: expected a number from {:g} to {:g}", text, least, most);
  }};
}

Check one_of(std::vector<std::string> words) {
  std::string shown = fmt::format("{{{}}}", fmt::join(words, ","));
  return {[words = std::move(words)](const std::string& text) {
            const bool known = std::ranges::find(words, text) != words.end();
            return known ? std::string() : fmt::format("\"{}\": expected {}", text, fmt::join(words, " or "));
          },
          std::move(shown)};
}

Check memory_size() {
  return {[](std::string& text) {
            constexpr std::string_view kUnits = "KMGT";
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            const std::optional<std::uint64_t> number = number_in<std::uint64_t>(text.substr(0, digits));
            const std::string unit = text.substr(digits);
            const std::size_t power = unit.empty() ? 0 : kUnits.find(unit[0]) + 1;  // npos + 1 is 0
            const bool known = unit.empty() || (power > 0 && (unit.size() == 1 || unit.substr(1) == "B"));
            const std::size_t shift = 10 * power;
            if (!number || !known || *number >> (63 - shift) != 0) {
              return text + ": expected a number of bytes like 512M or 2G";
            }
            text = std::to_string(*number << shift);
            return std::string();
          },
          "SIZE"};
}

Option add_duration(Subcommand& command, const std::string& name, std::chrono::seconds& duration,
                    const std::string& help) {
  const auto parse = [&duration, name](const std::string& text) {
    const char unit = text.empty() ? '\0' : text.back();
    const std::int64_t seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    const auto number =
        number_in<std::int64_t>(std::string_view(text).substr(0, std::max<std::size_t>(text.size(), 1) - 1));
    constexpr std::int64_t kLongest = 1'000'000;  // hours: above a century
    if (seconds == 0 || !number || *number < 1 || *number > kLongest) {
      throw CommandError{kUsage, fmt::format("{}={}: expected a time like 90s, 5m or 2h", name, text)};
    }
    duration = std::chrono::seconds(*number * seconds);
  };
  return command.option_for(name, parse, help);
}

void add_implementation_options(Subcommand& command, std::string& impl, int& threads) {
  command.option("--impl", impl, "a name from `backgauge list`, or the path of a shared library or of a Python file")
      .envname("BACKGAUGE_IMPL");
  command.option("--threads", threads, "number of threads that the implementation may use")
      .check(whole_number_between(1, 1024))
      .envname("BACKGAUGE_THREADS");
}

void add_implementation_options(Subcommand& command, std::string& impl, int& threads, bool& strict) {
  add_implementation_options(command, impl, threads);
  command.flag("--strict", strict, "exit with code 5 if a case is MISTRUSTED or was not run");
}

void add_jobs_option(Subcommand& command, int& jobs) {
  command.option("-j,--jobs", jobs, "number of cases judged in parallel")
      .check(whole_number_between(1, kMostJobs))
      .envname("BACKGAUGE_JOBS");
}

int one_job_per_core() { return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u)); }

void add_regression_option(Subcommand& command, std::string& file) {
  const auto take = [&file](const std::string& given) {
    std::string error;
    file = given.empty() ? regressions_file(error).string() : given;
    if (file.empty()) throw CommandError{kUsage, "--add-regression: " + error};
  };
  command.option_for("--add-regression", take, "append the shrunk case lines of failures to this file of regressions")
      .value_name("FILE")
      .optional_value();
}

void add_waivers_option(Subcommand& command, std::string& file) {
  command
      .option("--waivers", file,
              "TOML file of known failures with reason and last day: they count as WAIVED, neither passed nor failed")
      .envname("BACKGAUGE_WAIVERS");
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+") ==
      std::string::npos) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Case parse_case_or_throw(const std::string& line) {
  std::string error;
  const std::optional<Case> parsed = parse_case(line, error);
  if (!parsed)
    throw CommandError{
        kUsage, fmt::format("case \"{}\": {}", printable(line, kShownOfMessage), printable(error, kShownOfMessage))};
  return *parsed;
}

}  // namespace backgauge::cli
