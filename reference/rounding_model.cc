// SPDX-License-Identifier: Apache-2.0
#include "reference/rounding_model.h"

#include <cmath>

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
  if (narrow && declared.accuracy_class == BACKGAUGE_CLASS_A_PRIME) {
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
      model.part_roundoff = 0x1p-11;
      model.operand_roundoff = 0x1p-22;
      model.operand_largest = 0x1.ffcp127;  // the largest number of TF32
      break;
    case BACKGAUGE_FP32_STRICT: break;
  }
  if (problem.dtype == BACKGAUGE_FLOAT64) {
    model.operand_roundoff = model.operand_underflow = model.part_roundoff = 0;
    model.operand_largest = INFINITY;
  }
  model.relu_slope_at_zero = declared.relu_slope_at_zero;
  if (declared.computes_co()) model.recomputed_co = 2 * storage.unit_roundoff + model.activation_relative();
  return model;
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
