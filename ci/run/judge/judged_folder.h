// SPDX-License-Identifier: Apache-2.0
// Judges outputs that a program has written for a case in a folder of `backgauge oracle`.
#pragma once

#include <filesystem>
#include <string>

#include "properties/case/line/case.h"
#include "properties/judge/record/record.h"
#include "reference/oracle.h"

namespace backgauge::cli {

// The build that computes expected outputs: the commit, or, with changes since, a digest of the program. What another
// build has left in a folder is computed again.
std::string oracle_build();

struct JudgedFolder {
  Case case_line;
  Record record;
  std::string remark;  // why the expected outputs in the folder were not used; "" if they were, or if there were none
};

// `outputs`: a folder of <tensor>.npy, or an .npz. Throws CommandError(kUsage) for a folder that cannot be read.
// Outputs that are missing or cannot be read are FAILED; if it is the only case (--dir), they are a
// CommandError(kUsage) too.
JudgedFolder judge_folder(const std::filesystem::path& folder, const std::filesystem::path& outputs,
                          const Claims& claims, bool only);

}  // namespace backgauge::cli
