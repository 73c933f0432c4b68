// SPDX-License-Identifier: Apache-2.0
// Golden vectors: inputs and outputs that other people's implementations computed. properties/cases/goldens/README.md
// says what the files hold.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/case/inputs.h"

namespace backgauge {

struct Golden {
  std::string name, file;
  std::string regime;                 // how the values were chosen: a word of the README
  std::string producer;               // who computed them
  bool from_forward = false;          // LSTM ops: the saved tensors come from the producer's forward op
  Case case_line;                     // data=golden:<name>, without chk
  backgauge_attributes attributes{};  // with the golden's own seed and seed2
};

struct GoldenData {
  Problem problem;  // as fill() gives it; dropout masks where 0 < dropout < 1
  DataFacts facts;
  std::vector<Tensor> forward;  // CudnnRNNBackprop: output, output_h and, for lstm, output_c
  std::vector<Tensor> outputs;  // all of the op, in the order of its table
};

// $BACKGAUGE_GOLDENS, or else the folder of the source tree, or else the installed one. On output the first that has a
// manifest.json; empty and a text in `error` if none has.
std::filesystem::path golden_directory(std::string& error);

// What manifest.json of a directory lists. Empty and a text in `error` if it cannot be read.
std::vector<Golden> list_goldens(const std::filesystem::path& directory, std::string& error);

// One golden's tensors. On output true, with every shape and type as the contract has them; or false and why in
// `error`.
bool read_golden(const std::filesystem::path& directory, const Golden& golden, GoldenData& data, std::string& error);

// The golden that a case names, out of golden_directory(). The case must otherwise say what the golden says.
bool find_golden(const Case& c, GoldenData& data, std::string& error);

}  // namespace backgauge
