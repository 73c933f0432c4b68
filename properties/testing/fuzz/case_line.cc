// SPDX-License-Identifier: Apache-2.0
// The case line: any text is a case that its own line gives back, or is refused with a reason.
#include <string_view>

#include "properties/case/draw/inputs.h"
#include "properties/testing/fuzz/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto c = backgauge::parse_case(line, error);
  BACKGAUGE_FUZZ_EXPECT(c.has_value() == error.empty());
  if (!c) return 0;
  const std::string canonical = backgauge::to_string(*c);
  const auto again = backgauge::parse_case(canonical, error);
  BACKGAUGE_FUZZ_EXPECT(again && *again == *c);
  if (c->data == backgauge::DataProfile::kGolden) return 0;  // reads files
  // Small enough to be made many times a second.
  if (c->T > 4 || c->B > 8 || c->I > 16 || c->H > 16 || c->layers > 3) return 0;
  const backgauge::Filled filled = backgauge::fill(*c);
  BACKGAUGE_FUZZ_EXPECT(!filled.error.empty() || filled.checksum == backgauge::checksum_of(filled.problem));
  return 0;
}
