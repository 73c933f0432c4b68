// SPDX-License-Identifier: Apache-2.0
// The judge kills every saboteur of the LSTM ops with one of a few cases, and passes correct variants in all. Faults
// that need concurrent calls, or a call that the contract refuses, are in saboteurs_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "properties/case/draw/inputs.h"
#include "properties/judge/judge.h"
#include "properties/saboteurs/variant.h"

namespace backgauge {
namespace {

using saboteurs::Kind;
using saboteurs::Variant;

// Each case shows faults that the cases above it cannot show. They are judged one after another, so that state kept
// from one call affects the next.
const std::vector<const char*> kCellCases = {
    "lstm_block_cell_grad b5i3h7 peep=1 dt=f32 data=strat:0x1",
    "lstm_block_cell_grad b5i3h7 peep=0 dt=f32 data=strat:0x1",
    "lstm_block_cell_grad b3i2h11 peep=1 dt=f32 data=large:0x2",
    "lstm_block_cell_grad b1i2h3 peep=1 dt=f32 data=strat:0x3",
    "lstm_block_cell_grad b0i2h3 peep=1 dt=f32 data=strat:0x3",
    // Remainders of full vectors.
    "lstm_block_cell_grad b2i1h17 peep=1 dt=f32 data=strat:0x4",
    "lstm_block_cell_grad b2i1h33 peep=1 dt=f32 data=strat:0x5",
    // Non-finite values in one tensor each; values near the limits of half.
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f32 data=nan:0x6",
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f32 data=nan:0x7",
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f32 data=nan:0x8",
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f32 data=nan:0x9",
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f16 data=huge:0xa",
    "lstm_block_cell_grad b3i3h5 peep=1 dt=f16 data=tiny:0xb",
    "lstm_block_cell_grad b17i3h13 peep=1 dt=f16 data=strat:0xc",
};
const std::vector<const char*> kBlockCases = {
    "block_lstm_grad_v2 t5b3i7h5 peep=1 order=ifco seq=3 dt=f32 data=strat:0x1",
    "block_lstm_grad_v2 t5b3i7h5 peep=0 order=ifco seq=5 dt=f32 data=strat:0x2",
    "block_lstm_grad_v2 t5b3i7h5 peep=1 order=ifco seq=5 dt=f32 data=strat:0x3",
    "block_lstm_grad_v2 t3b3i2h5 peep=1 order=ifco seq=2 dt=f32 data=large:0x4",
    // w is square; one example; no step taken; no example.
    "block_lstm_grad_v2 t2b5i9h3 peep=1 order=ifco seq=2 dt=f32 data=strat:0x5",
    "block_lstm_grad_v2 t3b1i5h7 peep=1 order=ifco seq=3 dt=f32 data=strat:0x6",
    "block_lstm_grad_v2 t2b2i3h3 peep=0 order=ifco seq=0 dt=f32 data=strat:0x7",
    "block_lstm_grad_v2 t2b0i3h3 peep=0 order=ifco seq=2 dt=f32 data=strat:0x7",
    // Full vectors and remainders; sums of 32 terms.
    "block_lstm_grad_v2 t2b2i3h8 peep=0 order=ifco seq=2 dt=f32 data=strat:0x8",
    "block_lstm_grad_v2 t2b2i3h13 peep=1 order=ifco seq=2 dt=f32 data=strat:0x9",
    "block_lstm_grad_v2 t1b2i3h17 peep=0 order=ifco seq=1 dt=f32 data=strat:0xa",
    "block_lstm_grad_v2 t1b2i3h33 peep=0 order=ifco seq=1 dt=f32 data=strat:0xb",
    // Non-finite values in one tensor each; values near the limits of half.
    "block_lstm_grad_v2 t2b3i3h5 peep=1 order=ifco seq=2 dt=f32 data=nan:0xc",
    "block_lstm_grad_v2 t2b3i3h5 peep=1 order=ifco seq=2 dt=f32 data=nan:0xd",
    "block_lstm_grad_v2 t2b3i3h5 peep=1 order=ifco seq=2 dt=f32 data=nan:0xe",
    "block_lstm_grad_v2 t2b3i5h5 peep=0 clip=0.5 order=ifco seq=2 dt=f32 data=nan:0x12c330d9",
    "block_lstm_grad_v2 t1b3i3h5 peep=1 order=ifco seq=1 dt=f16 data=huge:0x10",
    "block_lstm_grad_v2 t2b3i3h5 peep=1 order=ifco seq=2 dt=f16 data=tiny:0x11",
    "block_lstm_grad_v2 t5b7i5h7 peep=0 order=ifco seq=5 dt=f16 data=strat:0x12",
};

// Half, with overflow of intermediate values if every operation, or every carried value, is rounded.
const std::vector<const char*> kOverflowingCases = {
    "lstm_block_cell_grad b17i19h23 peep=1 dt=f16 data=huge:0x5b659090",
    "block_lstm_grad_v2 t7b3i2h3 peep=1 order=ifco seq=7 dt=f16 data=large:0xb6cb6e2 chk=5545",
    "block_lstm_grad_v2 t13b2i1h5 peep=0 clip=3 order=ifco seq=13 dt=f16 data=strat:0x5f21e169 chk=de67",
    "block_lstm_grad_v2 t7b11i11h17 peep=1 order=ifco seq=7 dt=f16 data=scales:0x6afc77d2 chk=359c",
    "block_lstm_grad_v2 t7b7i1h23 peep=0 clip=1 order=ifco seq=7 dt=f16 data=large:0x8a9b857c chk=d263",
};

// More rows than a 16-bit index can count.
const std::vector<const char*> kManyRowsOfCell = {"lstm_block_cell_grad b65537i1h1 peep=0 dt=f32 data=strat:0x13"};
const std::vector<const char*> kManyRowsOfBlock = {
    "block_lstm_grad_v2 t1b65537i1h1 peep=0 order=ifco seq=1 dt=f32 data=strat:0x14"};
const std::set<std::string> kNeedManyRows = {"H17.cell", "H17.block", "H18.block"};

// Faults in shared memory, concurrent calls and flags of the processor: saboteurs_test.cc. Sums in half within class S
// show where they are longer.
const std::set<std::string> kNeedMore = {"H1.cell",  "H2.cell",   "I11.cell", "I11.block",
                                         "I17.cell", "I17.block", "J14.block"};

std::vector<Filled> filled(const std::vector<const char*>& lines) {
  std::vector<Filled> all;
  for (const char* line : lines) {
    std::string error;
    const auto parsed = parse_case(line, error);
    EXPECT_TRUE(parsed) << line << ": " << error;
    if (parsed) all.push_back(fill(*parsed));
    EXPECT_EQ(all.back().error, "") << line;
  }
  return all;
}

bool is_killed(const backgauge_implementation& implementation, const std::vector<Filled>& cases) {
  return std::any_of(cases.begin(), cases.end(), [&](const Filled& each) {
    return judge_case(implementation, each.problem, each.facts, {}).status == Status::kFailed;
  });
}

void expect_killed(backgauge_op op, const std::vector<const char*>& lines, const std::vector<const char*>& many_rows) {
  const std::vector<Filled> cases = filled(lines), large = filled(many_rows);
  int judged = 0;
  for (std::size_t n = 0; n < saboteurs::variants().size(); ++n) {
    const Variant& variant = saboteurs::variants()[n];
    if (variant.op != op || variant.kind != Kind::kSaboteur || kNeedMore.contains(variant.id)) continue;
    if (variant.group == "K" && variant.fault != saboteurs::Fault::kK4) continue;
    ++judged;
    EXPECT_TRUE(is_killed(saboteurs::implementation(n), kNeedManyRows.contains(variant.id) ? large : cases))
        << variant.id << " survives: " << variant.what;
  }
  EXPECT_GT(judged, 100);
}

TEST(LstmSaboteurs, OfTheCellAreKilled) { expect_killed(BACKGAUGE_LSTM_BLOCK_CELL_GRAD, kCellCases, kManyRowsOfCell); }

TEST(LstmSaboteurs, OfTheSequenceAreKilled) {
  expect_killed(BACKGAUGE_BLOCK_LSTM_GRAD_V2, kBlockCases, kManyRowsOfBlock);
}

// Bounds of wider numerical contracts may be too wide to conclude anything from a case.
bool is_coarse(const Variant& variant) {
  const Declared& declared = variant.style.declared;
  return declared.accuracy_class != BACKGAUGE_CLASS_A || declared.numerical_contract != BACKGAUGE_FP32_STRICT;
}

TEST(CorrectLstmVariants, Pass) {
  std::vector<Filled> cases = filled(kCellCases);
  for (Filled& each : filled(kBlockCases)) cases.push_back(std::move(each));
  for (Filled& each : filled(kOverflowingCases)) cases.push_back(std::move(each));
  for (std::size_t n = 0; n < saboteurs::variants().size(); ++n) {
    const Variant& variant = saboteurs::variants()[n];
    if (variant.kind != Kind::kCorrect) continue;
    int passed = 0;
    for (const Filled& each : cases) {
      const Verdict verdict = judge_case(saboteurs::implementation(n), each.problem, each.facts, {});
      const bool said_nothing = verdict.status == Status::kMistrusted && is_coarse(variant);
      EXPECT_TRUE(verdict.status == Status::kPassed || verdict.status == Status::kSkipped || said_nothing)
          << variant.id << ": " << verdict.reason;
      passed += verdict.status == Status::kPassed;
    }
    EXPECT_GE(passed, 5) << variant.id;
  }
}

}  // namespace
}  // namespace backgauge
