// SPDX-License-Identifier: Apache-2.0
// A case as a folder, for programs that are no shared library: case.json and one .npy a tensor.
//   case.json           schema "backgauge.case/1": the line, op, dtype, dims, attributes, and every tensor's role, file
//   <input>.npy         in the storage dtype; dropout_mask_<gap>.npy: uint8 [T, B, D * H], 1 where kept
//   want/<output>.npy   float64, what the op must compute
//   allowed/<output>.npy  float64, the largest |got - want|; 0: exactly zero; inf: not judged
// Outputs to judge come back as <output>.npy in a folder, or as one .npz.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/inputs.h"
#include "properties/case/npy.h"
#include "reference/oracle.h"

namespace backgauge {

// On input a filled case and what the oracle wants of it (may be empty). Makes the folder and overwrites its files. On
// output true, or false and why in `error`.
bool write_bundle(const std::filesystem::path& directory, const Case& c, const Filled& filled,
                  const std::vector<Wanted>& wanted, std::string& error);

struct Bundle {
  Case case_line;
  Problem problem;
  DataFacts facts;
};

// On output true, every input as the contract has it and unchanged since it was written; or false and why in `error`.
bool read_bundle(const std::filesystem::path& directory, Bundle& bundle, std::string& error);

struct OutputFile {
  Tensor tensor;
  NpyType type;  // of the file
};

// On input a folder or an .npz. On output what it holds, by name in alphabetical order; empty and why in `error`.
std::vector<OutputFile> read_outputs(const std::filesystem::path& path, std::string& error);

}  // namespace backgauge
