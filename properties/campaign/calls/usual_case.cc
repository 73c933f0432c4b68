// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/usual_case.h"

#include <algorithm>
#include <initializer_list>

namespace backgauge {
namespace {

// The first enumerator in a set, or the first of all if none is.
template <class Enumerator>
Enumerator first_of(std::uint32_t set, std::initializer_list<Enumerator> all) {
  const auto found = std::ranges::find_if(all, [&](Enumerator each) { return (set & BACKGAUGE_BIT(each)) != 0; });
  return found == all.end() ? *all.begin() : *found;
}

}  // namespace

Case usual_case(const Claims& claims, const UsualSize& size) {
  Case c;
  c.op = claims.spec().op;
  c.dtype =
      first_of(claims.dtypes[kEveryDtype], {BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_HALF, BACKGAUGE_BFLOAT16});
  c.B = size.batch;
  c.I = c.H = size.width;
  c.seed = 1;
  set_steps(c, size.steps, size.steps);
  // The set of an attribute that the op does not have is empty.
  c.rnn_mode =
      first_of(claims.rnn_modes[c.dtype], {BACKGAUGE_LSTM, BACKGAUGE_GRU, BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU});
  c.direction = first_of(claims.directions[c.dtype], {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
  c.input_mode = first_of(claims.input_modes[c.dtype], {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT});
  c.use_peephole = first_of(claims.use_peephole[c.dtype], {0, 1}) == 1;
  return c;
}

}  // namespace backgauge
