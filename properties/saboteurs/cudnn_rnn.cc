// SPDX-License-Identifier: Apache-2.0
// CudnnRNN in training, reference/semantics.md 3.3: layer by layer, direction by direction, step by step. Also the
// dropout masks.
#include <algorithm>
#include <initializer_list>

#include "properties/saboteurs/rnn_cell.h"
#include "properties/saboteurs/state.h"
#include "properties/saboteurs/tensors.h"

namespace backgauge::saboteurs {
namespace {

// The forward pass is correct, so that faults show in the gradient, except for faults that only a forward pass can
// have.
Variant forward_of(const Variant& variant) {
  Variant forward = variant;
  const std::initializer_list<Fault> kept = {Fault::kA12, Fault::kG15, Fault::kG23, Fault::kG28,
                                             Fault::kG29, Fault::kJ9,  Fault::kJ15, Fault::kJ17};
  if (std::find(kept.begin(), kept.end(), variant.fault) == kept.end()) forward.fault = Fault::kNone;
  return forward;
}

// G23: a different key in every call.
std::uint64_t mask_key(const Context& context) {
  const std::uint64_t key = dropout_key(context.call.attributes);
  const bool changes = context.variant.fault == Fault::kG23;
  return changes ? key + static_cast<std::uint64_t>(calls_before(context)) : key;
}

template <class Real>
void reveal(const Context& context, std::int64_t gap, std::uint8_t* keep) {
  const RnnNet net(context);
  Trace<Real> trace(net);
  trace.load(Tensors<Real>(context.variant, context.call).input("reserve_space"));
  const std::int64_t width = net.D * net.H;
  const std::int64_t mask = net.is(Fault::kG28) ? net.mask_of(gap, 0) : gap;
  for (std::int64_t k = 0; k < net.gap_elements(); ++k) keep[k] = trace.keeps(mask, k / width, k % width) ? 1 : 0;
}

}  // namespace

template <class Real>
void cudnn_rnn(const Context& of_variant) {
  const Variant variant = forward_of(of_variant.variant);
  const Context context{variant, of_variant.state, of_variant.call, of_variant.extents};
  const Work<Real> work(variant, context.call.dtype);
  const Tensors<Real> tensors(variant, context.call);
  const RnnNet net(context);
  const std::int64_t T = net.T, B = net.B, H = net.H, D = net.D;
  const auto input = tensors.read("input"), params = tensors.read("params");
  std::vector<Real> output(T * B * D * H);
  std::vector<Real> output_h = tensors.read("input_h"), output_c;  // the states as they advance
  if (net.lstm) output_c = tensors.read("input_c");
  Trace<Real> trace(net);
  trace.draw_masks(mask_key(context));

  for (std::int64_t layer = 0; layer < net.L; ++layer) {
    const std::int64_t width = net.layout.layer_input(layer);
    for (std::int64_t direction = 0; direction < D; ++direction) {
      const std::int64_t pseudo_layer = layer * D + direction;
      const std::vector<Real> x = layer_input(work, net, trace, layer, direction, input);
      const RnnCell<Real> cell(work, net, params, layer, direction);
      for (std::int64_t step = 0; step < T; ++step) {
        const std::int64_t t = direction == 0 ? step : T - 1 - step;
        for (std::int64_t b = 0; b < B; ++b) {
          Real* h = output_h.data() + (pseudo_layer * B + b) * H;
          Real* cs = net.lstm ? output_c.data() + (pseudo_layer * B + b) * H : nullptr;
          cell.step(x.data() + net.row_of(t, b) * width, h, cs,
                    [&](std::int64_t which) { return trace.row(pseudo_layer, t, b, which); });
          const Real* h_new = trace.row(pseudo_layer, t, b, net.h_row());
          std::copy_n(h_new, H, h);
          if (layer + 1 == net.L) std::copy_n(h_new, H, output.data() + (net.row_of(t, b) * D + direction) * H);
        }
      }
    }
  }
  tensors.write("output", output);
  tensors.write("output_h", output_h);
  if (net.lstm) tensors.write("output_c", output_c);
  trace.store(tensors.output("reserve_space"));
}

template void cudnn_rnn<float>(const Context&);
template void cudnn_rnn<double>(const Context&);

void dropout_mask(const Context& context, std::int32_t gap, std::uint8_t* keep) {
  const bool wide = context.call.dtype == BACKGAUGE_FLOAT64 || context.variant.style.wide;
  wide ? reveal<double>(context, gap, keep) : reveal<float>(context, gap, keep);
}

}  // namespace backgauge::saboteurs
