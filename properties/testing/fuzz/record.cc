// SPDX-License-Identifier: Apache-2.0
// Records: any text is records that their own lines give back, or is refused with a reason.
#include "properties/judge/record/record.h"

#include "properties/testing/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const backgauge::Records read = backgauge::parse_records({reinterpret_cast<const char*>(data), size});
  for (const backgauge::Record& record : read.records) {
    const std::string line = backgauge::to_json(record);
    std::string error;
    const auto again = backgauge::parse_record(line, error);
    BACKGAUGE_FUZZ_EXPECT(again.has_value());
    BACKGAUGE_FUZZ_EXPECT(backgauge::to_json(*again) == line);
  }
  return 0;
}
