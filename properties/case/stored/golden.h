// SPDX-License-Identifier: Apache-2.0
// Golden vectors: inputs and outputs computed by other implementations. properties/cases/goldens/README.md describes
// the files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "reference/contract/claims.h"

namespace backgauge {

struct Golden {
  std::string name, file;
  std::string regime;                 // how the values were chosen: a word of the README
  std::string producer;               // the implementation that computed them
  std::string group;                  // of vectors that one program recorded: a word of the README
  bool from_forward = false;          // LSTM ops: the saved tensors come from the producer's forward op
  Declared declared;                  // where the producer rounds, and what is special of it
  Case case_line;                     // data=golden:<name>, without chk
  backgauge_attributes attributes{};  // with the golden's own seed and seed2
};

struct GoldenData {
  Problem problem;  // as from fill(); with dropout masks if 0 < dropout < 1
  DataFacts facts;
  Declared declared;            // of the golden
  std::vector<Tensor> forward;  // CudnnRNNBackprop: output, output_h and, for lstm, output_c
  std::vector<Tensor> outputs;  // all outputs of the op, in the order of its table
};

// $BACKGAUGE_GOLDENS if set, or else the first that has a manifest.json of the folder of the source tree and the
// installed one. Empty, with the reason in `error`, if there is no manifest.json.
std::filesystem::path golden_directory(std::string& error);

// The goldens listed in manifest.json. Empty, with the reason in `error`, if it cannot be read.
std::vector<Golden> list_goldens(const std::filesystem::path& directory, std::string& error);

// Reads the tensors of a golden. Returns false, with the reason in `error`, on failure, or if a shape or type violates
// the contract.
bool read_golden(const std::filesystem::path& directory, const Golden& golden, GoldenData& data, std::string& error);

// Reads the golden that a case names from golden_directory(). All other words of the case must agree with the golden.
bool find_golden(const Case& c, GoldenData& data, std::string& error);

}  // namespace backgauge
