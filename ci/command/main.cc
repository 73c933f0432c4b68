// SPDX-License-Identifier: Apache-2.0
// The `backgauge` command: the only program that links both the implementations and the judge.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "ci/command/process_start.h"
#include "ci/command/subcommands.h"
#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/candidate.h"
#include "ci/run/implementation/python.h"
#include "ci/run/process/interrupt.h"
#include "ci/version.h"
#include "impl/registry.h"
#include "perf/machine/machine.h"
#include "properties/judge/call/printable.h"

namespace {

// Messages may quote untrusted text.
std::string shown(std::string_view text) {
  return backgauge::printable(text, backgauge::kShownOfReason, backgauge::Newlines::kKept);
}

// The version of this build, and the implementations that it contains.
std::string version_text() {
  const backgauge::Build build = backgauge::this_build();
  return fmt::format("backgauge {}\ncommit {}, {}, {}\nwith {}", backgauge::cli::kVersion, build.commit, build.compiler,
                     build.type, fmt::join(backgauge::all_names(), ", "));
}

void add_python_subcommand(backgauge::cli::CommandLine& line, const std::string& name, const std::string& help,
                           const std::vector<std::string>& libraries) {
  backgauge::cli::Subcommand command = line.subcommand(name, help);
  command.pass_everything_on();
  command.action([command, name, libraries]() -> int {
    backgauge::cli::become_python("backgauge." + name, libraries, command.unknown_options());
  });
}

}  // namespace

int main(int argc, char** argv) {
  // Line by line, so that results are printed even if the process is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace backgauge::cli;
  try {
    mend_process();
  } catch (const CommandError& error) {
    std::fprintf(stderr, "backgauge: %s\n", shown(error.text).c_str());
    return error.exit_code;
  }
  if (argc > 1 && std::string_view(argv[1]) == "worker") serve_as_worker({argv + 2, argv + argc});
  give_large_blocks_back();
  answer_interrupts();
  CommandLine line(
      "backgauge: checks implementations of LSTMBlockCellGrad, BlockLSTMGradV2 and CudnnRNNBackprop, and times them",
      version_text());
#define BACKGAUGE_SUBCOMMAND(name) add_##name(line);
#define BACKGAUGE_PYTHON_SUBCOMMAND(name, help, ...) add_python_subcommand(line, #name, help, {__VA_ARGS__});
#include "ci/command/subcommands.inc"
#undef BACKGAUGE_SUBCOMMAND
#undef BACKGAUGE_PYTHON_SUBCOMMAND
  line.footer(kCaseLineHelp + std::string(" `backgauge SUBCOMMAND --help`\nshows the options."));
  try {
    const int code = line.run(argc, argv);
    return interrupted() ? static_cast<int>(kInterrupted) : code;
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
