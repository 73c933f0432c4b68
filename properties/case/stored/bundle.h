// SPDX-License-Identifier: Apache-2.0
// A case as a folder, for programs that are not shared libraries: case.json, and one .npy file for each tensor.
//   case.json           schema "backgauge.case/1": the line, op, dtype, dims, attributes, and every tensor's role, file
//   <input>.npy         in the storage dtype; dropout_mask_<gap>.npy: uint8 [T, B, D * H], 1 where kept
//   want/<output>.npy   float64, the expected values
//   allowed/<output>.npy  float64, the largest |got - want|; 0: exactly zero; inf: not judged
//   want_low/<output>.npy for float64 cases: what of the expected values is lost in want/
// Outputs to be judged are <output>.npy files in a folder, or one .npz file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/files/npy.h"
#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "reference/oracle.h"

namespace backgauge {

// What happens to arrays of the case that lie in the folder already. kKeep: they are a user's own, and are not written;
// a copy in copies/ is listed instead if their bytes are not those that would be written.
enum class Present { kOverwrite, kKeep };

// Writes a filled case and its expected outputs (may be empty), those that ExpectedOutputs::all() has for Declared{}.
// Creates the folder and overwrites its other files. `maker`: the build of the oracle, for read_bundle(). Returns
// false, with the reason in `error`, if that fails.
bool write_bundle(const std::filesystem::path& directory, const Case& c, const Filled& filled,
                  const std::vector<Wanted>& wanted, std::string& error, const std::string& maker = "",
                  Present present = Present::kOverwrite);

struct Bundle {
  Case case_line;
  Problem problem;
  DataFacts facts;
  // The expected outputs, if this build of the oracle has written them and neither they nor case.json were changed
  // since; else empty, and why, unless another build has written them. The digest shows accidents, not forgery.
  std::vector<Wanted> answer{};
  std::string not_the_answer{};
};

// Reads a case. Returns false, with the reason in `error`, if an input violates the contract or has been changed.
bool read_bundle(const std::filesystem::path& directory, Bundle& bundle, std::string& error,
                 const std::string& maker = "");

struct OutputFile {
  Tensor tensor;
  NpyType type;  // in the file
};

// Reads all arrays of a folder or an .npz file, sorted by name. Returns none, with the reason in `error`, on failure.
std::vector<OutputFile> read_outputs(const std::filesystem::path& path, std::string& error);

}  // namespace backgauge
