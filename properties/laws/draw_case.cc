// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/draw_case.h"

#include <vector>

#include "properties/laws/ops/entry.h"

namespace backgauge {
namespace {

using Dims = std::vector<std::int64_t>;

// Different primes and a few equal ones, so that a transposition or a wrong stride shows; 9 and 17 are past the widths
// of vectors.
const Dims kSteps = {1, 2, 3, 5}, kBatches = {1, 2, 3, 5, 7}, kInputs = {1, 2, 3, 5, 9}, kHidden = {1, 2, 3, 5, 9, 17};
// The products of the block and of a stacked net have 16 * B * (I + H) * H operations per step: 5 to 20 million here.
const Dims kWideSteps = {3, 5}, kWideBatches = {17, 33}, kWideInputs = {13, 40}, kWideHidden = {64, 70};

DataProfile draw_data(CaseDraw& draw, const Case& c) {
  if (draw.once_in(2)) return DataProfile::kStratified;
  // semantics.md 8: the result of a relu for NaN is not defined. Large states saturate the modes whose state is
  // bounded.
  const bool relu = c.rnn_mode == BACKGAUGE_RNN_RELU;
  const bool bounded = !relu && c.rnn_mode != BACKGAUGE_LSTM;
  std::vector<DataProfile> profiles = {DataProfile::kSaturated, DataProfile::kLinear, DataProfile::kZeros,
                                       DataProfile::kTiny,      DataProfile::kHuge,   DataProfile::kScales,
                                       DataProfile::kConstant};
  if (!bounded) profiles.push_back(DataProfile::kLarge);
  if (!relu) profiles.insert(profiles.end(), {DataProfile::kNan, DataProfile::kInf});
  return draw.one_of(profiles);
}

std::vector<backgauge_dtype> dtypes_of(const OpSpec& op) {
  std::vector<backgauge_dtype> out;
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if ((op.dtypes & BACKGAUGE_BIT(dtype)) != 0) out.push_back(dtype);
  }
  return out;
}

}  // namespace

Case draw_case(backgauge_op op, Sizes sizes, std::uint64_t seed) {
  const OpSpec& spec = spec_of(op);
  CaseDraw draw(seed);
  Case c;
  c.op = op;
  const bool wide = sizes == Sizes::kWide && draw.once_in(16);
  const law_ops::Entry& entry = law_ops::entry_of(op);
  entry.draw_mode(draw, c);
  c.dtype = draw.one_of(dtypes_of(spec));
  c.data = draw_data(draw, c);
  c.T = draw.one_of(wide ? kWideSteps : must_be_short(c.data) ? Dims{1, 2} : kSteps);
  c.B = draw.one_of(wide ? kWideBatches : kBatches);
  c.I = draw.one_of(wide ? kWideInputs : kInputs);
  c.H = draw.one_of(wide ? kWideHidden : kHidden);
  if (draw.once_in(24)) c.B = 0;
  if (draw.once_in(24)) c.I = 0;
  if (draw.once_in(24) && spec.traits.least_steps == 0) c.T = 0;
  entry.draw_settings(draw, c);
  // Small seeds make short case lines; seed 0 is reserved for shrunk cases.
  c.seed = 1 + static_cast<std::uint64_t>(draw.below((1 << 16) - 1));
  return c;
}

}  // namespace backgauge
