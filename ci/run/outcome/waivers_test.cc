// SPDX-License-Identifier: Apache-2.0
#include "ci/run/outcome/waivers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ci/options/command_error.h"
#include "ci/run/outcome/failures.h"
#include "ci/run/outcome/summary.h"
#include "properties/judge/record/junit.h"

namespace backgauge::cli {
namespace {

constexpr const char* kLine = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37";
constexpr const char* kWaiver =
    "[[waiver]]\nkind = 'lstm_block_cell_grad dicfo value'\nimpl = 'mine'\nreason = 'the driver rounds'\n"
    "url = 'https://example.org/7'\nexpires = 2027-03-31\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string file_of(const std::string& text) {
  // CTest runs each test in a process, two of them at once.
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("backgauge_" + std::to_string(getpid()) + "_waivers_test.toml");
  std::ofstream(path) << text;
  return path.string();
}

Record failure() {
  Record record;
  record.id = std::string(kLine) + " chk=5b1c";
  record.op = "lstm_block_cell_grad";
  record.impl_name = "mine";
  TensorReport tensor;
  tensor.name = "dicfo";
  tensor.bad = tensor.elements = tensor.judged = 1;
  record.verdict = {Status::kFailed, "", {tensor}};
  return record;
}

bool waived(const std::string& text, Record record = failure(), const std::string& today = "2027-01-01") {
  Waivers(file_of(text), today).apply(record);
  return record.waived.has_value();
}

TEST(Waivers, CoverAKindOrCases) {
  EXPECT_TRUE(waived(kWaiver));
  const auto with_case = [](const std::string& pattern) {
    return replaced(kWaiver, "kind = 'lstm_block_cell_grad dicfo value'", "case = '" + pattern + "'");
  };
  EXPECT_TRUE(waived(with_case(kLine)));
  EXPECT_TRUE(waived(with_case(std::string(kLine) + " chk=5b1c")));
  EXPECT_TRUE(waived(with_case("lstm_block_cell_grad * dt=f32 *")));
  EXPECT_FALSE(waived(with_case("lstm_block_cell_grad * dt=f16 *")));
  EXPECT_FALSE(waived(replaced(kWaiver, "dicfo value", "dicfo unwritten")));
  EXPECT_FALSE(waived(replaced(kWaiver, "'mine'", "'other'")));
  EXPECT_FALSE(waived(replaced(kWaiver, "impl", "case = '* dt=f16 *'\nimpl")));  // both must match
}

TEST(Waivers, HoldUpToTheirLastDay) {
  EXPECT_TRUE(waived(kWaiver, failure(), "2027-03-30"));
  EXPECT_TRUE(waived(kWaiver, failure(), "2027-03-31"));
  EXPECT_FALSE(waived(kWaiver, failure(), "2027-04-01"));
  EXPECT_FALSE(waived(kWaiver, failure(), "2028-01-01"));
}

TEST(Waivers, AnOldMarkDoesNotOutliveItsWaiver) {
  Record record = failure();
  record.waived = Waived{"then", "https://example.org", "2030-01-01"};
  Waivers("", "2027-01-01").apply(record);
  EXPECT_FALSE(record.waived);
}

TEST(Waivers, OnlyCoverFailuresOfTheImplementation) {
  const std::string all = replaced(kWaiver, "kind = 'lstm_block_cell_grad dicfo value'", "case = '*'");
  for (const Verdict& verdict :
       {Verdict{Status::kBroken, "harness: out of memory", {}}, Verdict{Status::kBroken, "not run: earlier hangs", {}},
        Verdict{Status::kMistrusted, "too wide", {}}, Verdict{Status::kPassed, "", {}},
        Verdict{Status::kSkipped, "not claimed", {}}}) {
    Record record = failure();
    record.verdict = verdict;
    EXPECT_FALSE(waived(all, record)) << verdict.reason;
  }
  Record crash = failure();
  crash.verdict = {Status::kBroken, "crash: SIGSEGV", {}};
  EXPECT_TRUE(waived(all, crash));
}

TEST(Waivers, SayWhichExpiredAndWhichAreUnused) {
  Waivers waivers(file_of(replaced(kWaiver, "2027-03-31", "2026-12-31") + replaced(kWaiver, "'mine'", "'other'")),
                  "2027-01-01");
  Record record = failure();
  waivers.apply(record);
  const std::vector<std::string> remarks = waivers.remarks(true);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_NE(remarks[0].find(":1: the waiver expired on 2026-12-31; 1 failure covered by it"), std::string::npos)
      << remarks[0];
  EXPECT_NE(remarks[1].find(":7: the waiver is not used"), std::string::npos) << remarks[1];
  EXPECT_EQ(waivers.remarks(false).size(), 1u);
}

TEST(Waivers, RefuseWhatIsNone) {
  const auto refusal = [](const std::string& text) {
    try {
      Waivers(file_of(text), "2027-01-01");
    } catch (const CommandError& error) {
      EXPECT_EQ(error.exit_code, kUsage);
      return error.text;
    }
    return std::string("accepted");
  };
  const auto expect = [&](const std::string& text, const std::string& words) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text);
  };
  expect("x = [", "test.toml:1: ");
  expect("waivers = 1", ":1: waivers: expected only [[waiver]]");
  expect(replaced(kWaiver, "reason", "because"), ":4: because: not a key of a waiver; expected case, kind");
  expect(replaced(kWaiver, "reason = 'the driver rounds'\n", ""), ":1: a waiver without reason");
  expect(replaced(kWaiver, "url = 'https://example.org/7'\n", ""), "without url");
  expect(replaced(kWaiver, "impl = 'mine'\n", ""), "without impl");
  expect(replaced(kWaiver, "expires = 2027-03-31\n", ""), "without expires");
  expect(replaced(kWaiver, "kind = 'lstm_block_cell_grad dicfo value'\n", ""), "without case or kind");
  expect(replaced(kWaiver, "2027-03-31", "'2027-03-31'"), "expires: expected a date without quotes");
  expect(replaced(kWaiver, "2027-03-31", "2027-02-30"), "test.toml:6: ");
  expect(replaced(kWaiver, "'mine'", "''"), "impl: expected text");
  EXPECT_THROW(Waivers("/nonexistent/waivers.toml", "2027-01-01"), CommandError);
}

// A waived failure is neither passed nor failed, wherever it is counted.
TEST(Waivers, AreCountedApart) {
  Record record = failure(), passed = failure();
  passed.verdict = {Status::kPassed, "", {}};
  Waivers(file_of(kWaiver), "2027-01-01").apply(record);
  std::string error;
  const Case c = parse_case(kLine, error).value();
  Summary summary;
  summary.add(c, record);
  EXPECT_EQ(summary.exit_code(false, true), kInconclusive);  // nothing passed
  summary.add(c, passed);
  EXPECT_EQ(summary.failed(), 0u);
  EXPECT_EQ(summary.exit_code(true, true), kGood);
  const std::string text = summary.text({});
  EXPECT_NE(text.find("1 passed, 0 failed, 1 waived, 0 mistrusted"), std::string::npos) << text;
  EXPECT_NE(text.find(" 1/2 "), std::string::npos) << text;
  EXPECT_NE(text.find("WAIVED 1 failure until 2027-03-31: lstm_block_cell_grad dicfo value: the driver rounds"),
            std::string::npos)
      << text;
  FailureKinds kinds;
  kinds.add(0, record);
  EXPECT_TRUE(kinds.in_order().empty());
  const std::string xml = junit(std::vector{record, passed}, {});
  EXPECT_NE(xml.find(R"(failures="0" errors="0" skipped="1")"), std::string::npos) << xml;
  EXPECT_NE(xml.find(R"(type="WAIVED")"), std::string::npos) << xml;
  const std::optional<Record> back = parse_record(to_json(record), error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(back->waived->url, "https://example.org/7");
  EXPECT_EQ(shown_word(*back), "WAIVED");
  Summary checked;
  checked.add(c, passed);
  checked.add_checks({record});
  EXPECT_EQ(checked.exit_code(false, true), kGood);
}

}  // namespace
}  // namespace backgauge::cli
