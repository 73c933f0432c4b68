// SPDX-License-Identifier: Apache-2.0
// Implementations by name: the one list of those built in, and shared libraries by path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge {

// Every name of the list, in its order; also of what this build is without.
std::vector<std::string> all_names();

// Built-in implementations of this project, which are expected to pass, in the order of the list.
std::vector<std::string> registry_names();

// Baselines, and libraries of other projects that the build found. They are judged and timed like any plug-in.
std::vector<std::string> foreign_names();

// Implementations of this project that need a device, if they were built. They cannot be opened without one.
std::vector<std::string> device_names();

// Whether a name is among all_names().
bool is_built_in(std::string_view name);

// On input a name from one of the lists, or the path of a shared library: anything that contains '/' or ends in ".so".
// On output the table, or nullptr and in `error` one line with the name and the reason. A library stays loaded until
// the process ends.
const backgauge_implementation* open_implementation(std::string_view name_or_path, std::string& error);

// The shared library from which open_implementation() takes it; "" for what is linked into this program.
std::string file_of(std::string_view name_or_path);

// What is wrong with a table, or "". If the ABI differs, nothing else is checked.
std::string table_refusal(const backgauge_implementation* table);

}  // namespace backgauge
