// SPDX-License-Identifier: Apache-2.0
// Outputs that another program wrote as one .npz: any file is arrays, or is refused with a reason.
#include "properties/case/files/npy.h"
#include "properties/case/stored/bundle.h"
#include "properties/testing/fuzz/expect.h"
#include "properties/testing/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const backgauge::fuzz::Scratch scratch;
  const std::filesystem::path path = scratch.path() / "outputs.npz";
  std::string error;
  if (!backgauge::write_file(path, {reinterpret_cast<const char*>(data), size}, error)) return 0;
  for (const backgauge::OutputFile& output : backgauge::read_outputs(path, error)) {
    const auto elements = backgauge::element_count(output.tensor.shape);
    BACKGAUGE_FUZZ_EXPECT(elements && static_cast<std::size_t>(*elements) == output.tensor.values.size());
  }
  return 0;
}
