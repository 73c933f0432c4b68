// SPDX-License-Identifier: Apache-2.0
// A check of a whole run that fails is a record, a failure in junit.xml and exit code 1, and survives in the folder.
#include "ci/run/judge/checks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "ci/run/implementation/load_implementation.h"
#include "ci/run/outcome/run_folder.h"
#include "ci/run/outcome/summary.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

Walk failed_walk() {
  Walk walked;
  walked.failure = "other bits than in its first call: dicfo[0]: 1, then 2";
  walked.failed = parse_case_or_throw("lstm_block_cell_grad b3i5h7 dt=f32 data=strat:0x1");
  walked.before = parse_case_or_throw("lstm_block_cell_grad b4i5h7 dt=f32 data=strat:0x2");
  return walked;
}

std::vector<OpDeterminism> measured(Determinism level) {
  return {{.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2,
           .claimed = BACKGAUGE_BITWISE,
           .measured = level,
           .difference = "w_grad[0,2]: 1, then 2 with 7 threads"}};
}

int exit_code(const Checks& checks) {
  Summary summary;
  summary.add_checks(checks.failed());
  return summary.exit_code(false, true);
}

class ChecksTest : public testing::Test {
 protected:
  InProcessRunner runner_{load_implementation("plain")};
  Checks checks_{runner_};
};

TEST_F(ChecksTest, WhatHoldsIsNoRecord) {
  checks_.add(Walk{});
  checks_.add(measured(Determinism::kBitwise));
  checks_.attempt("state walk", [] {});
  EXPECT_TRUE(checks_.failed().empty());
}

TEST_F(ChecksTest, WhatFailsIsARecordOfItsOwn) {
  checks_.add(failed_walk());
  checks_.add(measured(Determinism::kPerThreadCount));
  ASSERT_EQ(checks_.failed().size(), 2u);
  const Record &walk = checks_.failed()[0], &determinism = checks_.failed()[1];
  EXPECT_EQ(walk.id, "check: state walk");
  EXPECT_EQ(walk.verdict.status, Status::kFailed);
  EXPECT_NE(walk.verdict.reason.find("; in lstm_block_cell_grad b3i5h7 "), std::string::npos) << walk.verdict.reason;
  EXPECT_NE(walk.verdict.reason.find("; after lstm_block_cell_grad b4i5h7 "), std::string::npos) << walk.verdict.reason;
  EXPECT_EQ(determinism.id, "check: determinism block_lstm_grad_v2");
  EXPECT_EQ(determinism.op, "block_lstm_grad_v2");
  EXPECT_EQ(determinism.verdict.reason,
            "claims bitwise, measured per thread count: w_grad[0,2]: 1, then 2 with 7 threads");
  EXPECT_EQ(determinism.repro(), "backgauge repro 'check: determinism block_lstm_grad_v2' --impl=plain");
  EXPECT_EQ(exit_code(checks_), kFailed);
}

TEST_F(ChecksTest, TroubleIsTheHarnessesAndCostsNothingElse) {
  checks_.attempt("state walk", [] { throw std::bad_alloc(); });
  ASSERT_EQ(checks_.failed().size(), 1u);
  EXPECT_EQ(checks_.failed()[0].verdict.status, Status::kBroken);
  EXPECT_EQ(checks_.failed()[0].verdict.reason.find("harness: "), 0u);
  EXPECT_EQ(exit_code(checks_), kSelfCheck);
}

TEST_F(ChecksTest, StandInTheFolderBesideTheCases) {
  const fs::path out = fs::path(testing::TempDir()) / ("backgauge_checks_test_" + std::to_string(getpid()));
  checks_.add(failed_walk());
  RunHead head;
  head.plan.cases = 1;
  RunFolder(out.string(), head, false).finish({}, {}, checks_.failed(), "mine");
  std::vector<Record> found;
  EXPECT_TRUE(read_records(out / "records.jsonl", &found).empty());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(to_json(found[0]), to_json(checks_.failed()[0]));
  std::ifstream file(out / "junit.xml");
  const std::string xml{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(xml.find("failures=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"check: state walk\""), std::string::npos) << xml;
  fs::remove_all(out);
}

}  // namespace
}  // namespace backgauge::cli
