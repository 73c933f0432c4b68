// SPDX-License-Identifier: Apache-2.0
// The package `backgauge` of reports/ and an interpreter that has what it needs: for subcommands that are written in
// Python, and for implementations that are.
#pragma once

#include <string>
#include <vector>

#include "properties/judge/worker/worker_process.h"

namespace backgauge::cli {

// The interpreter for these libraries: BACKGAUGE_PYTHON, else the first of /usr/bin/python3 and python3 that has all of
// them and is 3.11 or later. Throws CommandError with kNotLoaded, naming what to install.
std::string find_python(std::vector<std::string> libraries);

// Replaces this process by `python3 -m <module> <arguments>`, which decides output and exit code. The package
// is the installed one next to this program, else that of the sources it was built from. BACKGAUGE_COMMAND holds the
// path of this program for the module. Throws as find_python(), and if there is no package.
[[noreturn]] void become_python(const std::string& module, const std::vector<std::string>& libraries,
                                const std::vector<std::string>& arguments);

// Whether the name of an implementation is that of a Python file.
bool is_python_file(const std::string& name);

// The worker for such a file: `python -m backgauge.worker`. The interpreter is `chosen`; "": BACKGAUGE_PYTHON, else the
// first of python3 and /usr/bin/python3 with NumPy for which the native module was built. Libraries that NumPy uses are
// limited to `threads` threads, because their pools do not follow num_threads. Throws CommandError with kNotLoaded.
WorkerProgram python_worker(const std::string& chosen, int threads = 1);

}  // namespace backgauge::cli
