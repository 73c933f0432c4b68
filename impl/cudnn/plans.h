// SPDX-License-Identifier: Apache-2.0
// How the calls of a shape are made: the same in prepare, forward, run and dropout_mask, for as long as the process
// lives.
#pragma once

#include "impl/cudnn/session.h"
#include "impl/cudnn/settings.h"

namespace backgauge::cudnn {

struct Plan {
  NetworkShape shape;  // with its algorithm
  NetworkSizes sizes;  // of weights whose layout has been checked
  bool graph;          // of the backward
};

// The settings' one way; in cudnn-best the fastest, which is measured when the shape is first seen: with forward and
// backward on a stream and in memory of its own, which it gives back. The shape's own algorithm is ignored. Throws
// CallError where cuDNN does not take the shape in any of the ways.
Plan plan_of(const NetworkShape& shape);

// Sizes of a shape in its own algorithm. Throws CallError.
NetworkSizes checked_sizes(const NetworkShape& shape);

}  // namespace backgauge::cudnn
