// SPDX-License-Identifier: Apache-2.0
// One .npy: any bytes are an array that its own bytes give back, or are refused with a reason.
#include "properties/case/files/npy.h"

#include <cstring>

#include "properties/testing/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  backgauge::NpyArray array, again;
  std::string error;
  const bool read = backgauge::parse_npy({reinterpret_cast<const char*>(data), size}, array, error);
  BACKGAUGE_FUZZ_EXPECT(read == error.empty());
  if (!read) return 0;
  BACKGAUGE_FUZZ_EXPECT(backgauge::parse_npy(backgauge::format_npy(array), again, error));
  BACKGAUGE_FUZZ_EXPECT(again.type == array.type && again.shape == array.shape);
  BACKGAUGE_FUZZ_EXPECT(again.values.size() == array.values.size());
  for (std::size_t k = 0; k < array.values.size(); ++k) {
    const double one = array.values[k], other = again.values[k];
    BACKGAUGE_FUZZ_EXPECT(one == other || (one != one && other != other));
  }
  return 0;
}
