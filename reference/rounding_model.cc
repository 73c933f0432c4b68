// SPDX-License-Identifier: Apache-2.0
#include "reference/rounding_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// How much of a subnormal result may be lost: half of the smallest number if the format always keeps subnormal numbers;
// otherwise they may be flushed to 0.
double lost_below(backgauge_dtype dtype) {
  const DtypeSpec* spec = find_dtype(dtype);
  const FloatFormat format = float_format(dtype);
  return spec != nullptr && spec->keeps_subnormals ? format.least_positive / 2 : format.least_normal;
}

// bounds.md 2.1: an operand in `count` parts of relative roundoff r, of which the products are computed whose sizes are
// not below r^(count - 1) of the whole; with `all`, every one.
OperandParts parts_of(double r, int count, bool all) {
  if (count == 2) return {.roundoff = r, .products = 3, .left_out = r * r, .size = 1 + 2 * r};
  const double left_out = all ? 0 : 2 * r * r * r + r * r * r * r;
  return {.roundoff = r, .products = all ? 9.0 : 6.0, .left_out = left_out, .size = 1 + 2 * r + r * r};
}

// In units of the last place: at most 2u of the value each.
ActivationError activation_error(double absolute, double ulps, double unit_roundoff) {
  return {.absolute = absolute, .relative = 2 * ulps * unit_roundoff};
}

}  // namespace

RoundingModel rounding_model(const Problem& problem, const Declared& declared) {
  const bool narrow = is_narrow(problem.dtype);
  const FloatFormat storage = float_format(problem.dtype);
  const bool every_operation = narrow && declared.accuracy_class == BACKGAUGE_CLASS_B;
  const FloatFormat compute = narrow && !every_operation ? float_format(BACKGAUGE_FLOAT32) : storage;
  RoundingModel model;
  model.unit_roundoff = compute.unit_roundoff;
  model.largest = compute.largest;
  model.least_normal = every_operation ? lost_below(problem.dtype) : compute.least_normal;
  const bool rounds_saved = declared.accuracy_class == BACKGAUGE_CLASS_S;
  if (narrow && (rounds_saved || declared.accuracy_class == BACKGAUGE_CLASS_A_PRIME)) {
    model.rounds_saved = rounds_saved;
    model.carry_roundoff = storage.unit_roundoff;
    model.carry_underflow = lost_below(problem.dtype);
    model.carry_largest = storage.largest;
  }
  switch (declared.numerical_contract) {
    case BACKGAUGE_FP32_TF32: model.operand_roundoff = 0x1p-11; break;
    case BACKGAUGE_BF16_ACC32: model.operand_roundoff = 0x1p-8; break;
    case BACKGAUGE_FP16_ACC32:
      model.operand_roundoff = 0x1p-11;
      model.operand_underflow = lost_below(BACKGAUGE_HALF);
      model.operand_largest = float_format(BACKGAUGE_HALF).largest;
      break;
    case BACKGAUGE_FP32_3XTF32:
      model.parts = parts_of(0x1p-11, 2, false);
      model.operand_roundoff = 0x1p-22;
      model.operand_largest = 0x1.ffcp127;  // the largest number of TF32
      break;
    case BACKGAUGE_FP32_3XBF16:
      model.parts = parts_of(0x1p-8, 2, false);
      model.operand_roundoff = 0x1p-16;
      model.operand_largest = float_format(BACKGAUGE_BFLOAT16).largest;
      break;
    case BACKGAUGE_FP32_6XBF16:
    case BACKGAUGE_FP32_9XBF16:
      model.parts = parts_of(0x1p-8, 3, declared.numerical_contract == BACKGAUGE_FP32_9XBF16);
      model.operand_largest = float_format(BACKGAUGE_BFLOAT16).largest;
      break;
    case BACKGAUGE_FP32_STRICT: break;
  }
  if (problem.dtype == BACKGAUGE_FLOAT64) {
    model.operand_roundoff = model.operand_underflow = 0;
    model.parts = {};
    model.operand_largest = INFINITY;
  }
  model.relu_slope_at_zero = declared.relu_slope_at_zero;
  model.tanh_error = activation_error(declared.tanh_absolute, declared.tanh_ulps, model.unit_roundoff);
  model.sigmoid_error = activation_error(declared.sigmoid_absolute, declared.sigmoid_ulps, model.unit_roundoff);
  if (declared.computes_co()) model.recomputed_co = 2 * storage.unit_roundoff + 4 * model.unit_roundoff;
  return model;
}

RoundingModel exact_and_narrow(const RoundingModel& model) {
  RoundingModel out;
  out.largest = std::sqrt(model.largest);
  out.operand_largest = std::sqrt(model.operand_largest);
  out.carry_largest = std::sqrt(model.carry_largest);
  out.carry_roundoff = std::min(model.carry_roundoff, std::numeric_limits<double>::min());  // 0 only if that is
  out.rounds_saved = model.rounds_saved;
  out.relu_slope_at_zero = model.relu_slope_at_zero;
  return out;
}

double bound_when_stored(double value, double error, backgauge_dtype dtype) {
  if (!std::isfinite(value)) return error;  // 0: exactly this value; infinity: any value
  const double size = std::fabs(value) + error;
  if (size == 0) return 0;
  const FloatFormat storage = float_format(dtype);
  const double out = error + storage.unit_roundoff * size + lost_below(dtype);
  return std::isnan(out) ? INFINITY : out;  // 0 * infinity in between: unbounded
}

}  // namespace backgauge
