// SPDX-License-Identifier: Apache-2.0
#include "ci/python/saved_problem.h"

#include <filesystem>

#include "ci/run/judge/judged_folder.h"
#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/refuse.h"
#include "properties/case/stored/bundle.h"
#include "properties/judge/compare/expected_outputs.h"

namespace backgauge::python {

void save_problem(const std::string& folder, const Filled& filled, const std::map<std::string, UserArray>& outputs) {
  const std::vector<Wanted> wanted = ExpectedOutputs(filled.facts).all(filled.problem, Declared{});
  std::string error;
  if (!write_bundle(folder, cli::line_of(filled), filled, wanted, error, cli::oracle_build())) {
    cli::refuse("save: {}", error);
  }
  const std::filesystem::path place = std::filesystem::path(folder) / "outputs";
  std::error_code trouble;
  std::filesystem::remove_all(place, trouble);  // those of an earlier failure
  std::filesystem::create_directories(place, trouble);
  for (const GivenTensor& output : outputs_of(outputs)) {
    const NpyArray array{npy_type(output.dtype), output.shape, output.values};
    if (!write_npy(place / (output.name + ".npy"), array, error)) cli::refuse("save: {}", error);
  }
}

}  // namespace backgauge::python
