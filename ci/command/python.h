// SPDX-License-Identifier: Apache-2.0
// Runs subcommands written in Python: the package `backgauge` of reports/, with an interpreter that has its libraries.
#pragma once

#include <string>
#include <vector>

namespace backgauge::cli {

// Replaces this process by `python3 -m <module> <arguments>`, which decides output and exit code. The interpreter is
// BACKGAUGE_PYTHON, else the first of /usr/bin/python3 and python3 that has all of `libraries`. The package is the
// installed one next to this program, else that of the sources it was built from. BACKGAUGE_COMMAND holds the path of
// this program for the module. Throws CommandError with kNotLoaded, naming what to install, if there is no interpreter
// or no package.
[[noreturn]] void become_python(const std::string& module, const std::vector<std::string>& libraries,
                                const std::vector<std::string>& arguments);

}  // namespace backgauge::cli
