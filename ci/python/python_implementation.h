// SPDX-License-Identifier: Apache-2.0
// An implementation whose functions are written in Python, as a table of the contract.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "perf/call/timed_parts.h"
#include "reference/contract/backgauge.h"

namespace backgauge::python {

// What a file implements: an object with the attributes
//   name, version, description   texts of the table
//   functions                    list of objects with
//     op                         TensorFlow's name; "CudnnRNN" for a training forward
//     parameters                 names of the tensors and attributes that the function takes
//     claims                     dict of claims in words (words.h): {"dtypes": ["f32"], ...}
//     compute(dtype, arguments, outputs)  fills the arrays `outputs`, a dict by name
//     compute_nothing(dtype, arguments, outputs)  the same, around a function that does nothing
//     staged                     whether the benchmark times a part of compute() alone:
//     prepare(dtype, arguments, outputs)  an object with run(), which is timed, and finish(), which fills `outputs`
//     prepare_nothing(dtype, arguments, outputs)  the same, of a run() that does nothing
//     refuses                    whether it is given malformed calls, as far as arguments can say them
//     refuse(arguments)          calls it with such arguments, and raises as it does
//     on_device                  None, or what makes arrays of device memory (on_device.h), in which it then computes
//     reserve_space_length       None, or a function of the sizes and attributes: elements of reserve_space
// The table lives as long as the process, and there is one. The caller holds the GIL. Throws std::invalid_argument with
// one line, nanobind::python_error.
const backgauge_implementation& make_table(nanobind::object description);

// The parts of the calls of the table that has been made, for `bench` to time.
TimedParts& timed_parts();

}  // namespace backgauge::python
