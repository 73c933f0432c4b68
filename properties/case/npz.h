// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz, a zip archive of .npy files, stored or deflated.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "properties/case/npy.h"

namespace backgauge {

// On output every array under its name, the member's without ".npy"; or false and why in `error`, with path and member.
bool read_npz(const std::filesystem::path& path, std::map<std::string, NpyArray>& arrays, std::string& error);

}  // namespace backgauge
