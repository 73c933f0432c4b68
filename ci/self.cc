// SPDX-License-Identifier: Apache-2.0
// backgauge self: proves the checker. Wrong implementations must be caught, right ones must pass.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "ci/command.h"
#include "ci/interrupt.h"
#include "ci/progress.h"
#include "ci/proof/proof.h"
#include "ci/version.h"
#include "ci/words.h"

namespace backgauge::cli {
namespace {

struct Options {
  bool full = false, json = false;
  std::string ops, only, readme;
  std::uint64_t seed = 1;
  int workers = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 64u));
};

// Replaces what stands between the two marks of a Markdown file.
void replace_section(const std::filesystem::path& path, const std::string& section) {
  constexpr std::string_view kBegin = "<!-- proof: written by backgauge self --full --readme -->\n",
                             kEnd = "<!-- end of proof -->";
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    throw CommandError{kUsage, path.string() + ": expected the marks of the proof"};
  }
  text.replace(begin + kBegin.size(), end - begin - kBegin.size(), section);
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw CommandError{kUsage, path.string() + ": cannot be written"};
}

int self(const Options& options) {
  const InterruptGuard guard;
  if (!options.json)
    fmt::print("backgauge {}: proof, {} form, seed {}\n\n", kVersion, options.full ? "full" : "short", options.seed);
  Proof proof;
  {
    Progress progress(0);
    proof = prove({.full = options.full,
                   .seed = options.seed,
                   .workers = options.workers,
                   .ops = parse_ops(options.ops),
                   .only = options.only,
                   .progress = [&progress](const std::string& phase, std::size_t done, std::size_t total) {
                     progress.show_phase(phase, done, total);
                   }});
  }
  fmt::print("{}", options.json ? proof_json(proof) : proof_text(proof));
  if (proof.interrupted) return kInterrupted;
  if (!options.readme.empty()) replace_section(options.readme, proof_markdown(proof));
  return proof.holds() ? kGood : kSelfCheck;
}

}  // namespace

void add_self(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("self", "prove the checker: wrong implementations caught, right ones passed");
  command->add_flag("--full", options->full, "everything: laws, every scale, all correct implementations (minutes)");
  command->add_flag("--json", options->json, "the whole result as JSON");
  command->add_option("--ops", options->ops, "ops, comma-separated (default: all)")->envname("BACKGAUGE_OPS");
  command->add_option("--only", options->only, "saboteurs whose id begins so");
  command->add_option("--seed", options->seed, "seed of the tier")->check(whole_number())->envname("BACKGAUGE_SEED");
  command->add_option("--readme", options->readme, "write the tables between the marks of this Markdown file");
  command->add_option("-j,--jobs", options->workers, "cases judged at once")
      ->check(CLI::Range(1, 1024))
      ->envname("BACKGAUGE_JOBS");
  command->callback([options, &chosen] { chosen = [options] { return self(*options); }; });
}

}  // namespace backgauge::cli
