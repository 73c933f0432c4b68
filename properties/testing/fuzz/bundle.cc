// SPDX-License-Identifier: Apache-2.0
// A case folder and a manifest of goldens whose JSON may hold anything: what is read is a problem that the contract
// accepts, or it is refused with a reason.
#include "properties/case/stored/bundle.h"

#include "properties/case/draw/inputs.h"
#include "properties/case/stored/golden.h"
#include "properties/testing/fuzz/expect.h"
#include "properties/testing/fuzz/scratch.h"

namespace {

// A whole folder, of which case.json is then replaced.
class Folder : public backgauge::fuzz::Scratch {
 public:
  Folder() {
    std::string error;
    const auto c = backgauge::parse_case(
        "cudnn_rnn_backprop t2b1i1h1 mode=gru dir=uni layers=2 drop=0.5 dt=f32 data=strat:0x1", error);
    BACKGAUGE_FUZZ_EXPECT(c.has_value());
    backgauge::Filled filled = backgauge::fill(*c);
    backgauge::draw_dropout_masks(*c, filled.problem);
    BACKGAUGE_FUZZ_EXPECT(backgauge::write_bundle(path(), *c, filled, {}, error));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string error;
  if (!backgauge::write_file(folder.path() / "case.json", bytes, error)) return 0;
  backgauge::Bundle bundle;
  if (backgauge::read_bundle(folder.path(), bundle, error)) {
    BACKGAUGE_FUZZ_EXPECT(backgauge::checksum_of(bundle.problem) == bundle.case_line.checksum);
  } else {
    BACKGAUGE_FUZZ_EXPECT(!error.empty());
  }
  error.clear();
  if (!backgauge::write_file(folder.path() / "manifest.json", bytes, error)) return 0;
  for (const backgauge::Golden& golden : backgauge::list_goldens(folder.path(), error)) {
    backgauge::GoldenData read;
    backgauge::read_golden(folder.path(), golden, read, error);
  }
  return 0;
}
