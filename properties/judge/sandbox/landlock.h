// SPDX-License-Identifier: Apache-2.0
// Landlock limits the files that a process may open and the processes that it may send signals to. This cannot be
// undone, and also holds for the processes that it starts.
#pragma once

#include <string>
#include <vector>

namespace backgauge {

// The version of the kernel's interface; 0 if this kernel has none, or does not let this process use it.
int landlock_version();

// What a process may open. Every other file, and making, removing and renaming of files, is refused with EACCES.
struct Readable {
  std::vector<std::string> places;  // folders with all that is in them, and files; those that do not exist are left out
  std::vector<std::string> devices;  // the same, to be written and controlled as well
};

// Restricts the calling thread and the threads that it starts. Signals to other processes are refused from version 6
// on. Throws std::system_error.
void restrict_files(const Readable& readable);

}  // namespace backgauge
