// SPDX-License-Identifier: Apache-2.0
// backgauge-cudnn-probe [--json=FILE]: measures, on the current device, what cuDNN's documentation does not specify.
// One line per fact, with the number of its question. Exit code 3 if there is no device.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "impl/cudnn/probe/facts.h"
#include "impl/cudnn/settings.h"
#include "impl/device_absence.h"

namespace {

using namespace backgauge::cudnn;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

// {"schema": "backgauge.cudnn-probe/1", "version": ..., "facts": [{"question", "subject", "answer"}, ...]}
std::string to_json(const std::vector<Fact>& facts) {
  std::string out = "{\"schema\": \"backgauge.cudnn-probe/1\", \"version\": " + quoted(version()) + ", \"facts\": [";
  const char* separator = "\n";
  for (const Fact& fact : facts) {
    out += separator + std::string("{\"question\": ") + quoted(fact.question) +
           ", \"subject\": " + quoted(fact.subject) + ", \"answer\": " + quoted(fact.answer) + "}";
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace

namespace backgauge::cudnn {
const bool kTakesTheFastest = false;
}  // namespace backgauge::cudnn

int main(int count, char** arguments) {
  std::string json;
  for (int k = 1; k < count; ++k) {
    constexpr char kJson[] = "--json=";
    if (std::strncmp(arguments[k], kJson, std::strlen(kJson)) != 0) {
      std::fprintf(stderr, "backgauge-cudnn-probe: %s: expected --json=FILE\n", arguments[k]);
      return 2;
    }
    json = arguments[k] + std::strlen(kJson);
  }
  if (const std::string absence = backgauge::device_absence(); !absence.empty()) {
    std::fprintf(stderr, "backgauge-cudnn-probe: %s\n", absence.c_str());
    return 3;
  }
  std::printf("cuDNN %s\n", version().c_str());
  Findings findings;
  for (const auto probe : {probe_layout, probe_reserve, probe_refusals, probe_variants, probe_dropout, probe_repeats}) {
    probe(findings);
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << to_json(findings.facts);
  return file.flush() ? 0 : 2;
}
