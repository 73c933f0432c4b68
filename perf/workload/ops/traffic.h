// SPDX-License-Identifier: Apache-2.0
// How many elements a call has, reads and writes.
#pragma once

#include "properties/case/line/case.h"

namespace backgauge {

inline double bytes_of_an_element(const Case& c) { return static_cast<double>(backgauge_dtype_bytes(c.dtype)); }

// The elements of all tensors that the call has; of the leading `rows` rows of each.
template <class Rows>
double elements(const std::vector<TensorSpec>& tensors, const Extents& e, const Rows& rows) {
  double out = 0;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.present(e)) out += static_cast<double>(elements_in_rows(tensor.shape(e), rows(tensor)));
  }
  return out;
}

inline std::int64_t all_rows(const TensorSpec&) { return kAll; }

// The bytes that are read and written according to the op's table. reserve_space is not counted, because its layout is
// private to an implementation.
inline double minimal_bytes(const Case& c, const Extents& e) {
  const auto rows_read = [&e](const TensorSpec& input) {
    return input.is_int64 || input.role == Role::kReserve ? 0 : input.rows(e);
  };
  const OpSpec& op = spec_of(c.op);
  return (elements(op.inputs, e, rows_read) + elements(op.outputs, e, all_rows)) * bytes_of_an_element(c);
}

}  // namespace backgauge
