// SPDX-License-Identifier: Apache-2.0
// Implementations by name: the one list of those built in, and shared libraries by path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/backgauge.h"

namespace backgauge {

// The built-in ones of the project, which are held to be right, in the order of the list.
std::vector<std::string> registry_names();

// Baselines, and other projects' libraries as far as the build found them: judged and timed like any plug-in.
std::vector<std::string> foreign_names();

// Those of the project that need a device, as far as the build has them. A machine without one cannot open them.
std::vector<std::string> device_names();

// Whether a name is of one of these lists, or of a foreign one that this build is without.
bool is_built_in(std::string_view name);

// On input a name of one of the lists, or the path of a shared library: anything with a '/' in it or ".so" at its end.
// On output the table, or nullptr and in `error` one line that says what was given and what is wrong with it. What has
// been opened stays loaded until the process ends.
const backgauge_implementation* open_implementation(std::string_view name_or_path, std::string& error);

// What is wrong with a table, or "". One of another ABI is looked at no further.
std::string table_refusal(const backgauge_implementation* table);

}  // namespace backgauge
