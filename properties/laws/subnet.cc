// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/subnet.h"

namespace backgauge {

RnnParams layout_of(const Problem& problem) {
  const Extents& e = problem.extents;
  return rnn_params(problem.attributes, e.I, e.H, e.L);
}

Selection params_of(const RnnParams& layout, const Subnet& subnet) {
  Selection out{{0}, {}};
  const auto append = [&out](std::int64_t begin, std::int64_t count) {
    const Selection more = range(begin, count);
    out.from.insert(out.from.end(), more.from.begin(), more.from.end());
    out.shape[0] += count;
  };
  const std::int64_t H = layout.hidden_size, end = subnet.first_direction + subnet.directions;
  for (std::int64_t direction = subnet.first_direction; direction < end; ++direction) {
    append(layout.W(subnet.layer, direction, 0), layout.gates * H * (layout.matrix_input(subnet.layer) + H));
  }
  for (std::int64_t direction = subnet.first_direction; direction < end; ++direction) {
    append(layout.bW(subnet.layer, direction, 0), 2 * layout.gates * H);
  }
  return out;
}

Selection states_of(const Problem& net, const Subnet& subnet) {
  const Extents& e = net.extents;
  const std::int64_t first = subnet.layer * e.D + subnet.first_direction;
  return part({e.L * e.D, e.B, e.H}, 0, first, first + subnet.directions);
}

Selection outputs_of(const Problem& net, const Subnet& subnet) {
  const Extents& e = net.extents;
  const std::int64_t first = subnet.first_direction * e.H;
  return part({e.T, e.B, e.D * e.H}, 2, first, first + subnet.directions * e.H);
}

Problem subnet_problem(const Problem& net, const Subnet& subnet) {
  const RnnParams layout = layout_of(net);
  Problem out = net;
  out.attributes.direction = subnet.directions == 2 ? BACKGAUGE_BIDIRECTIONAL : BACKGAUGE_UNIDIRECTIONAL;
  // Not auto_select: it would skip the matrices of a layer that is as wide as its input.
  out.attributes.input_mode = subnet.layer == 0 && layout.skip_input ? BACKGAUGE_SKIP_INPUT : BACKGAUGE_LINEAR_INPUT;
  out.extents.L = 1;
  out.extents.D = subnet.directions;
  out.extents.I = layout.layer_input(subnet.layer);
  const Selection params = params_of(layout, subnet), states = states_of(net, subnet);
  out.extents.params_length = params.shape[0];
  for (const char* name : {"input_h", "input_c", "output_h_backprop", "output_c_backprop"}) {
    if (net.find(name) != nullptr) input(out, name) = select(input(out, name), states);
  }
  input(out, "params") = select(input(out, "params"), params);
  input(out, "output_backprop") = select(input(out, "output_backprop"), outputs_of(net, subnet));
  return out;
}

}  // namespace backgauge
