// SPDX-License-Identifier: Apache-2.0
// The mustpass lists never change. That their lines give the same inputs is tested in
// properties/case/draw/inputs_test.cc.
#include "ci/conform/mustpass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ci/conform/conformance.h"
#include "ci/conform/sha256.h"
#include "ci/options/command_error.h"
#include "properties/campaign/settings/size_conditions.h"
#include "properties/case/draw/inputs.h"

namespace backgauge::cli {
namespace {

TEST(Sha256, IsThatOfTheStandard) {  // FIPS 180-4, examples
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Mustpass, VersionsKeepTheirDigests) {
  ASSERT_EQ(mustpass_releases().size(), 1u);
  EXPECT_EQ(mustpass_releases()[0].version, "1.0");
  EXPECT_EQ(mustpass_releases()[0].digest, "5b51d746b9e2238f4c8aa9bd658aeefa4fed3a83d4ec0b21ec08d432b567f6ad");
}

TEST(Mustpass, ListsAreThoseOfTheirVersion) {
  for (const MustpassRelease& release : mustpass_releases()) {
    const std::vector<MustpassList> lists = mustpass_lists(std::string(release.version));  // throws if they are not
    std::size_t expected = 0;
    for (const OpSpec& spec : op_specs()) {
      if (spec.traits.gradient) continue;  // a forward
      for (const backgauge_dtype dtype : kFloatDtypes) expected += (spec.dtypes & BACKGAUGE_BIT(dtype)) != 0;
    }
    EXPECT_EQ(lists.size(), expected);
  }
}

TEST(Mustpass, ListsHoldTheLinesOfTheirOpAndDtype) {
  for (const MustpassRelease& release : mustpass_releases()) {
    for (const MustpassList& list : mustpass_lists(std::string(release.version))) {
      EXPECT_EQ(list.file, mustpass_file_name(list.op, list.dtype));
      for (const Case& c : list.cases) {
        EXPECT_EQ(c.op, list.op);
        EXPECT_EQ(c.dtype, list.dtype);
      }
    }
  }
}

// The gradient of an LSTM takes the saved co (semantics.md, 1.3), so lists that are passed with tanh(cs) prove too
// little.
TEST(Mustpass, SavedCoIsNotAlwaysTheHyperbolicTangentOfCs) {
  for (const MustpassRelease& release : mustpass_releases()) {
    for (const MustpassList& list : mustpass_lists(std::string(release.version))) {
      if (!traits_of(list.op).takes_saved) continue;
      for (const bool peephole : {false, true}) {
        EXPECT_TRUE(std::ranges::any_of(list.cases, [&](const Case& c) {
          return c.data == DataProfile::kStratified && c.use_peephole == peephole && !fill(c).facts.consistent_saved;
        })) << list.file;
      }
    }
  }
}

// Kernels are chosen by sizes, and a kernel for aligned or large ones must not conform unseen.
TEST(Mustpass, ListsMeetPairsOfConditionsOnSizes) {
  for (const MustpassList& list : mustpass_lists(std::string(mustpass_releases().back().version))) {
    SizeCombinations missing = legal_size_combinations(list.op, {list.dtype}, 2);
    const std::int64_t legal = missing.size();
    for (const Case& c : list.cases) {
      if (c.data != DataProfile::kMalformed) missing.erase(conditions_met(c), 2);
    }
    // In bfloat16, class B proves nothing of sums of 40 terms and more (ci/run/plan/redraw.cc): 12 % are not met.
    const std::int64_t share = list.dtype == BACKGAUGE_BFLOAT16 ? 7 : 10;
    EXPECT_LT(missing.size() * share, legal) << list.file << ": " << missing.size() << " of " << legal << ", not "
                                             << backgauge::text_of(list.op, missing.first());
    const auto has = [&](const std::function<bool(const Case&)>& is) {
      return std::ranges::any_of(list.cases, [&](const Case& c) { return !conditions_met(c).empty() && is(c); });
    };
    const bool has_steps = traits_of(list.op).has_steps;
    EXPECT_TRUE(has([&](const Case& c) {
      return (c.T > 1 || !has_steps) && c.B % 8 == 0 && c.I % 8 == 0 && c.H % 8 == 0 && c.H >= 64;
    })) << list.file;
    EXPECT_TRUE(!has_steps || has([](const Case& c) { return c.T * c.B >= 1024 && c.H >= 64; })) << list.file;
  }
}

std::string refusal(const std::string& text) {
  try {
    parse_mustpass_list("list", "list.txt", text);
  } catch (const CommandError& error) {
    return error.text;
  }
  return "accepted";
}

TEST(Mustpass, ListsOfAnotherKindAreRefused) {
  EXPECT_NE(refusal("lstm_block_cell_grad b1i1h1 peep=0 dt=f32 data=strat:0x1\n").find("list:1: a line without chk"),
            std::string::npos);
  EXPECT_NE(refusal("# nothing\n").find("no case"), std::string::npos);
  const std::string renamed = refusal("lstm_block_cell_grad b1i1h1 dt=f32 data=malformed:0x3  # another call\n");
  EXPECT_NE(renamed.find("and \"another call\" in the list"), std::string::npos) << renamed;
}

MustpassList two_lines() {
  MustpassList list{.op = kFirstOp, .dtype = BACKGAUGE_FLOAT32, .file = "list.txt", .text = "", .sha256 = ""};
  list.lines = {"first", "second"};
  return list;
}

Record record(const std::string& id, Status status) {
  Record out;
  out.id = id;
  out.op = "lstm_block_cell_grad";
  TensorReport tensor;
  tensor.name = "dicfo";
  tensor.elements = tensor.judged = 1;
  tensor.max_ratio = status == Status::kFailed ? 2 : 0.5;
  tensor.bad = status == Status::kFailed ? 1 : 0;
  out.verdict = {status, status == Status::kPassed ? "" : "a reason", {tensor}};
  return out;
}

bool conforms(const std::vector<Record>& records) { return conformance_of({two_lines()}, records).conforms(); }

TEST(Conformance, NeedsEveryLineToPass) {
  const Record first = record("first", Status::kPassed), second = record("second", Status::kPassed);
  EXPECT_TRUE(conforms({first, second}));
  for (const Status status : {Status::kFailed, Status::kMistrusted, Status::kSkipped, Status::kBroken}) {
    EXPECT_FALSE(conforms({first, record("second", status)})) << verdict_word(status);
  }
  EXPECT_FALSE(conforms({first}));  // missing
  EXPECT_FALSE(conforms({}));
  EXPECT_FALSE(conforms({first, second, second}));                            // twice
  EXPECT_FALSE(conforms({first, second, record("third", Status::kPassed)}));  // of no line
  EXPECT_FALSE(conformance_of({}, {}).conforms());
}

TEST(Conformance, APassedRecordMustLookLikeOne) {
  const Record first = record("first", Status::kPassed);
  Record second = record("second", Status::kPassed);
  second.verdict.tensors[0].max_ratio = 1.5;
  EXPECT_FALSE(conforms({first, second}));
  second = record("second", Status::kPassed);
  second.verdict.tensors[0].vacuous = true;
  EXPECT_FALSE(conforms({first, second}));
  second = record("second", Status::kPassed);
  second.verdict.tensors.clear();
  EXPECT_FALSE(conforms({first, second}));
}

TEST(Conformance, WaiversAreCountedAndNamed) {
  const Record first = record("first", Status::kPassed);
  Record second = record("second", Status::kFailed);
  second.waived = Waived{"we know", "https://example.org/7", "2099-12-31"};
  const Conformance waived = conformance_of({two_lines()}, {first, second});
  EXPECT_TRUE(waived.conforms());
  EXPECT_EQ(verdict_of(waived), "conforms, with waivers");
  ASSERT_EQ(waived.waivers.size(), 1u);
  EXPECT_EQ(waived.waivers[0].kind, "lstm_block_cell_grad dicfo value");
  Record mistrusted = record("second", Status::kMistrusted);
  mistrusted.waived = second.waived;
  EXPECT_FALSE(conforms({first, mistrusted}));
  Record both = record("first", Status::kFailed);
  both.waived = second.waived;
  EXPECT_FALSE(conforms({both, second}));  // nothing passed
}

}  // namespace
}  // namespace backgauge::cli
