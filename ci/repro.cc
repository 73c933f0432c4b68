// SPDX-License-Identifier: Apache-2.0
// backgauge repro: one case line judged and told in full.
#include <fmt/format.h>

#include <memory>

#include "ci/command.h"
#include "ci/judging.h"
#include "ci/last_words.h"
#include "ci/summary.h"
#include "ci/words.h"
#include "properties/judge/report.h"

namespace backgauge::cli {
namespace {

struct Options {
  std::string impl = "cpu", line;
  int threads = 1;
  bool strict = false;
};

int repro(const Options& options) {
  const backgauge_implementation& implementation = load_implementation(options.impl);
  const Case c = parse_case_or_throw(options.line);
  fmt::print("{}\n", to_string(c));
  install_last_words();
  Summary summary;
  const Record record = judge_line(implementation, c, options.threads);
  summary.add(c, record);
  fmt::print("{} {} {}\n{}", implementation.name, implementation.version, status_word(record.verdict.status),
             verdict_text(record.verdict));
  for (const TensorReport& tensor : record.verdict.tensors) {
    fmt::print("  {}\n", tensor_line(tensor));
  }
  return summary.exit_code(options.strict, true);
}

}  // namespace

void add_repro(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("repro", "judge one case line and tell all about it");
  command->add_option("case", options->line, "the case line, in quotes")->required();
  add_implementation_options(*command, options->impl, options->threads, options->strict);
  command->callback([options, &chosen] { chosen = [options] { return repro(*options); }; });
}

}  // namespace backgauge::cli
