// SPDX-License-Identifier: Apache-2.0
// A problem whose inputs are a user's own: arrays of Python, or files.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"
#include "properties/case/stored/bundle.h"

namespace backgauge::cli {

struct OwnArray {
  std::string dtype;  // f16, bf16, f32, f64; i64 for seq_len_max; the name of another type, which is refused
  Shape shape;
  std::span<const double> values;
};

struct OwnProblem {
  std::string op;  // either of its names
  std::map<std::string, OwnArray> inputs;
  std::map<std::string, std::string>
      attributes;                      // TensorFlow's names and words; those left out have TensorFlow's defaults
  Shape keep_shape{};                  // shape_of_keep(), or empty if there are no masks
  std::vector<std::uint8_t> keep{};    // 1 where an element is kept
  bool independent_roundings = false;  // they are declared: bounds.md, assumption 5
};

// The problem that arrays of files, and "name=value,name=value", describe; its arrays are views of the files.
// "dropout_mask_<gap>" are masks of [T, B, D*H]. Throws std::invalid_argument.
OwnProblem problem_of_files(const std::vector<OutputFile>& files, const std::string& op, const std::string& attributes,
                            bool independent_roundings);

// Masks in one array, mask_shape() each: Claims::mask_count() of them, or Problem::keep.size().
Shape shape_of_keep(const Extents& extents, std::int64_t masks);

// The problem as fill() makes one, with a checksum. Inputs that the op does not read, and those that its forward
// computes, may be left out. Throws std::invalid_argument, which names the tensor, what was expected and what it got.
Filled own_problem(const OwnProblem& given);

// The line of such a problem, data=own, with its checksum.
Case line_of(const Filled& own);

// The table of a gradient op by either of its names. Throws std::invalid_argument, which lists those that there are.
const OpSpec& gradient_named(const std::string& op);

}  // namespace backgauge::cli
