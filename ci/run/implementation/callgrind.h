// SPDX-License-Identifier: Apache-2.0
// Workers under Valgrind's tool callgrind, which counts the instructions of their calls where the machine
// itself does not let a process count. It has no AVX-512, so that implementations take their path for AVX2.
#pragma once

#include <filesystem>
#include <string>

#include "properties/judge/worker/worker_process.h"

namespace backgauge::cli {

// A folder for what callgrind writes, removed with everything in it at the end. Throws CommandError(kNotLoaded) if
// valgrind is not on the PATH, or this program was built without the Valgrind header that it needs to read the counts.
class Callgrind {
 public:
  Callgrind();
  ~Callgrind();
  Callgrind(const Callgrind&) = delete;
  Callgrind& operator=(const Callgrind&) = delete;

  // The same worker, under callgrind.
  WorkerProgram around(WorkerProgram worker) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace backgauge::cli
