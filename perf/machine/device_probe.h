// SPDX-License-Identifier: Apache-2.0
// The limits of the device, measured at the start of a run that times something in its memory. Shares of a limit of
// such times refer to them.
#pragma once

#include <string>

#include "properties/device/facts.h"
#include "reference/contract/backgauge.h"

namespace backgauge {

// 0: not known.
struct DeviceLimits {
  // GFLOP/s of large products of matrices, as cuBLASLt computes them; 32 bits as float32 and as TF32.
  double f16 = 0, bf16 = 0, tf32 = 0, f32 = 0, f64 = 0;
  std::string products_version;  // of cuBLASLt
  std::string products_missing;  // why no product was measured, or ""

  // GB/s of a copy, whose bytes read and written count, in the second level and beyond it.
  double copy_l2 = 0, copy_memory = 0;

  double launch_us = 0;  // from one small piece of work of a stream to the next

  // Of the arithmetic that a dtype means if nothing else is claimed: 32 bits are float32.
  double products(backgauge_dtype dtype) const;

  // Of the level that holds `bytes`.
  double copy(double bytes, const device::Facts& facts) const;
};

// The best of several short trials each; less than a second in all. What the device cannot do, or has no memory for, is
// not known.
DeviceLimits probe_device(const device::Facts& facts);

}  // namespace backgauge
