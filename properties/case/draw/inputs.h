// SPDX-License-Identifier: Apache-2.0
// The inputs of a case. Every value is a function of (seed, tensor name, index), with the same bits on any compiler.
#pragma once

#include <cstdint>

#include "properties/case/draw/crew.h"
#include "properties/case/line/case.h"
#include "properties/case/line/filled.h"

namespace backgauge {

// Throws Stopped where the crew is told to stop.
Filled fill(const Case& c, const Crew& crew = Crew());

// Draws masks for a problem with 0 < dropout < 1 that has none yet, for programs that do not draw
// masks themselves. Does nothing for other problems.
void draw_dropout_masks(const Case& c, Problem& problem);

// A checksum of the shapes and elements of the inputs, in the order of the table and as stored in memory. Throws
// Stopped.
std::uint16_t checksum_of(const Problem& problem, const Crew& crew = Crew());

// A tensor of more than 2^24 elements holds only those that are read: `values` ends with them, and the rest of its
// memory is mapped as zeros and never allocated. So a call may span more than 2^31 elements on any machine.

}  // namespace backgauge
