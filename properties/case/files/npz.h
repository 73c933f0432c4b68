// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz, a zip archive of .npy files, stored or deflated.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "properties/case/files/npy.h"

namespace backgauge {

// Reads every array, named like its member without ".npy". Returns false, and sets `error` to path, member and reason.
bool read_npz(const std::filesystem::path& path, std::map<std::string, NpyArray>& arrays, std::string& error);

}  // namespace backgauge
