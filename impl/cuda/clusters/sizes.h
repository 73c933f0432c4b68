// SPDX-License-Identifier: Apache-2.0
// The division of a recurrence among clusters.
#pragma once

#include "impl/cuda/device/kernel.h"

namespace backgauge::cuda {

// Of B rows and H hidden units, over `steps` steps.
struct RecurrenceSizes {
  std::int64_t steps, B, H;
};

struct ClusterSizes : RecurrenceSizes {
  // Units are divided in these, tiles of products on tensor cores.
  static constexpr int kGranule = 16;

  int blocks, rows;     // of a cluster
  int units;            // hidden units of a block; the last blocks may have less or none
  unsigned reciprocal;  // of `units`, in units of 2^-20

  ClusterSizes(const RecurrenceSizes& sizes, int blocks_of_each, int rows_of_each)
      : RecurrenceSizes(sizes),
        blocks(blocks_of_each),
        rows(rows_of_each),
        units(kGranule * static_cast<int>(blocks_for(sizes.H, std::int64_t{blocks_of_each} * kGranule))),
        reciprocal((1u << kReciprocalBits) / static_cast<unsigned>(units) + 1) {}

  // unit / units. The reciprocal is too large by at most 1, the quotient by at most unit * 2^-20: less than 1 / units,
  // by which a quotient may exceed its whole number at most without reaching the next.
  BACKGAUGE_BOTH int block_of(int unit) const {
    return static_cast<int>(static_cast<unsigned>(unit) * reciprocal >> kReciprocalBits);
  }

 private:
  static constexpr int kReciprocalBits = 20;
};

}  // namespace backgauge::cuda
