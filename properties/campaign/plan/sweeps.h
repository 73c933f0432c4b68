// SPDX-License-Identifier: Apache-2.0
// Cases that step through one dimension, and shapes each chosen for a particular reason.
#pragma once

#include <vector>

#include "properties/campaign/settings/draws.h"
#include "properties/case/line/case.h"

namespace backgauge {

// Sizes below, at and above the widths of vectors, warps and tiles: H and I 1..33 and around 48, 64, 128 and 256,
// B 1..18 and around 32 and 64, T 1..9 and around 32; every other dimension is small. `thorough`: widths above 33 with
// every mode or peephole setting; otherwise these take turns.
std::vector<Case> size_sweeps(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws);

// All sizes 1, one size 0, and sizes that coincide. Coinciding sizes hide a transposition or a wrong stride, but expose
// a wrong branch that depends on them.
std::vector<Case> edge_shapes(backgauge_op op, backgauge_dtype dtype, Draws& draws);

// T * B around 65535, 65536 and 65537, where launch grids and 16-bit counters end, with H = I = 1. `thorough`: with
// every mode or peephole setting, and as steps as well as batch rows; a case with that many steps takes seconds.
std::vector<Case> sixteen_bit_limits(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws);

// Tensors of more than 2^31 bytes, and of more than 2^31 elements, most of which are never read, so that they take
// address space and hardly any memory (case/draw/inputs.h): the weights of the cell, of which only the shape matters,
// and steps from seq_len_max on. None for CudnnRNNBackprop, which reads all its inputs.
std::vector<Case> index_limits(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
