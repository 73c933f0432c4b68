// SPDX-License-Identifier: Apache-2.0
// The `backgauge` command: the one place that knows implementations and the judge.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "ci/command/process_start.h"
#include "ci/options/command.h"
#include "ci/run/candidate.h"
#include "ci/version.h"
#include "properties/judge/call/printable.h"

namespace {

// What it quotes may come from anywhere.
std::string shown(std::string_view text) {
  return backgauge::printable(text, backgauge::kShownOfReason, backgauge::Newlines::kKept);
}

// CLI11 takes "--timeout=" for "--timeout": without its value, or with the next word as one.
void refuse_empty_values(std::span<char*> arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--") || argument.find('=') != argument.size() - 1) continue;
    throw backgauge::cli::CommandError{backgauge::cli::kUsage, std::string(argument) + ": expected a value, got none"};
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Whatever ends the process, what was judged before has been said.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace backgauge::cli;
  try {
    mend_process();
  } catch (const CommandError& error) {
    std::fprintf(stderr, "backgauge: %s\n", shown(error.text).c_str());
    return error.exit_code;
  }
  if (argc > 1 && std::string_view(argv[1]) == "worker") serve_as_worker({argv + 2, argv + argc});
  CLI::App app{"backgauge: verifies implementations of LSTMBlockCellGrad, BlockLSTMGradV2 and CudnnRNNBackprop"};
  app.set_version_flag("--version", std::string("backgauge ") + kVersion);
  app.option_defaults()->always_capture_default()->disable_flag_override();
  app.require_subcommand(0, 1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "backgauge: " + shown(error.what()) + "\nRun with --help for more information.\n";
  });
  Action chosen;
  add_verify(app, chosen);
  add_repro(app, chosen);
  add_merge(app, chosen);
  add_list(app, chosen);
  add_oracle(app, chosen);
  add_judge(app, chosen);
  add_self(app, chosen);
  add_bench(app, chosen);
  add_report(app, chosen);
  add_compare(app, chosen);
  try {
    refuse_empty_values({argv, argv + argc});
    app.parse(argc, argv);
    if (chosen) return chosen();
    std::fprintf(stderr, "backgauge: expected a subcommand\n\n%s", app.help().c_str());
    return kUsage;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kUsage;
  } catch (const CommandError& error) {
    std::fprintf(stderr, "backgauge: %s\n", shown(error.text).c_str());
    return error.exit_code;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "backgauge: out of memory\n");
    return kSelfCheck;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backgauge: internal error: %s\n", shown(error.what()).c_str());
    return kSelfCheck;
  }
}
