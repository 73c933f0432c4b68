// SPDX-License-Identifier: Apache-2.0
// Cases that walk through one dimension, and shapes that are there for a reason of their own.
#pragma once

#include <vector>

#include "properties/campaign/draws.h"
#include "properties/case/case.h"

namespace backgauge {

// What is added to the widths of vectors, warps and tiles: H and I 1..33 and around 48, 64, 128 and 256, B 1..18 and
// around 32 and 64, T 1..9 and around 32; every other dimension small. `thorough`: widths above 33 with every setting
// of mode or peephole; otherwise these take turns there.
std::vector<Case> size_sweeps(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws);

// One of everything, nothing of one thing, and dims that coincide: what hides a transposition or a wrong stride
// everywhere else exposes a wrong branch on it.
std::vector<Case> edge_shapes(backgauge_op op, backgauge_dtype dtype, Draws& draws);

// T * B around 65535, 65536 and 65537, where grids of launches and 16-bit counters end, with H = I = 1. `thorough`:
// not only as batch rows but as steps too, where a case takes seconds.
std::vector<Case> sixteen_bit_limits(backgauge_op op, backgauge_dtype dtype, bool thorough, Draws& draws);

// Tensors of more than 2^31 bytes, and of more than 2^31 elements, most of which nobody reads, so that they take
// addresses and hardly any memory (case/inputs.h): the weights of the cell, which count for their shape only, and steps
// behind seq_len_max. None for CudnnRNNBackprop, which reads all it is given.
std::vector<Case> index_limits(backgauge_op op, backgauge_dtype dtype, Draws& draws);

}  // namespace backgauge
