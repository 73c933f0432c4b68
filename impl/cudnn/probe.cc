// SPDX-License-Identifier: Apache-2.0
// backgauge-cudnn-probe [--json=FILE]: measures, on the current device, what cuDNN's documentation does not specify.
// One line per fact, with the number of its question. Exit code 3 if there is no device.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "impl/cudnn/probe/facts.h"
#include "impl/device_absence.h"

int main(int count, char** arguments) {
  using namespace backgauge::cudnn;
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
  std::printf("cuDNN %s\n", library_version().c_str());
  const Facts facts = probe_all([](const Fact& fact) {
    std::printf("%-3s %-58s %s\n", fact.question.c_str(), fact.subject.c_str(), fact.answer.c_str());
    std::fflush(stdout);
  });
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << to_json(facts);
  return file.flush() ? 0 : 2;
}
