// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/cost_model.h"

#include "reference/contract/rnn_params.h"
#include "reference/contract/size_product.h"

namespace backgauge {
namespace {

double stacked_flops(const Case& c) {
  const Extents e = extents_of(c);
  const RnnParams layout = rnn_params(attributes_of(c), e.I, e.H, e.L);
  double flops = 0;
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    flops += size_product({4, e.T, e.B, e.D, layout.gates, e.H, layout.matrix_input(layer) + e.H});
  }
  return flops;
}

// The elements that are read and written according to the op's table. reserve_space is not counted, because its layout
// is private to an implementation.
double minimal_bytes(const Case& c) {
  const Extents e = extents_of(c);
  const OpSpec& spec = *find_op(c.op);
  double elements = 0;
  for (const TensorSpec& input : spec.inputs) {
    if (input.is_int64 || !input.present(e) || input.name == "reserve_space") continue;
    elements += static_cast<double>(elements_in_rows(input.shape(e), input.rows(e)));
  }
  for (const TensorSpec& output : spec.outputs) {
    if (output.present(e)) elements += static_cast<double>(elements_in_rows(output.shape(e), kAll));
  }
  return elements * static_cast<double>(backgauge_dtype_bytes(c.dtype));
}

double cell_bytes(const Case& c) {
  const double elements =
      c.use_peephole ? size_product({14, c.B, c.H}) + size_product({6, c.H}) : size_product({13, c.B, c.H});
  return elements * static_cast<double>(backgauge_dtype_bytes(c.dtype));
}

}  // namespace

Work work_of(const Case& c) {
  const OpTraits& op = traits_of(c.op);
  if (!op.has_steps) return {0, cell_bytes(c), LimitedBy::kBandwidth};
  const double flops = op.is_stacked ? stacked_flops(c) : size_product({16, steps_taken(c), c.B, c.H, c.I + c.H});
  return {flops, minimal_bytes(c), LimitedBy::kArithmetic};
}

double memory_of_a_launch(const Case& c) {
  const Extents e = extents_of(c);
  const OpSpec& spec = *find_op(c.op);
  double bytes = 0;
  for (const std::vector<TensorSpec>* tensors : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (!tensor.present(e)) continue;
      const double arrival = tensors == &spec.inputs ? sizeof(double) : 0;
      bytes += static_cast<double>(elements_in_rows(tensor.shape(e), kAll)) *
               (arrival + static_cast<double>(backgauge_dtype_bytes(c.dtype)));
    }
  }
  return bytes;
}

double memory_of_a_judged_case(const Case& c) {
  const Extents e = extents_of(c);
  const OpSpec& spec = *find_op(c.op);
  const auto dtype_bytes = static_cast<double>(backgauge_dtype_bytes(c.dtype));
  double bytes = 0;
  for (const std::vector<TensorSpec>* tensors : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (!tensor.present(e)) continue;
      constexpr double kDouble = 8, kWanted = 24;
      bytes += static_cast<double>(elements_in_rows(tensor.shape(e), kAll)) * (kDouble + 2 * dtype_bytes);
      if (tensors == &spec.outputs) bytes += static_cast<double>(elements_in_rows(tensor.shape(e), kAll)) * kWanted;
    }
  }
  return bytes;
}

}  // namespace backgauge
