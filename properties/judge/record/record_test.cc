// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/record/record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>
#include <vector>

#include "properties/judge/record/junit.h"

namespace backgauge {
namespace {

TensorReport tensor() {
  TensorReport report;
  report.name = "cs_prev_grad";
  report.shape = {2, 2};
  report.elements = report.judged = 4;
  report.bad = 2;
  report.max_ratio = std::numeric_limits<double>::infinity();
  report.resolution = 12345.678901234567;
  report.worst = 2;
  report.got = std::numeric_limits<double>::quiet_NaN();
  report.want = 0.1;
  report.allowed = 5e-324;
  report.where = "layer 0 forward, bR[1] of gate n";
  return report;
}

Record record() {
  Record r;
  r.id = "lstm_block_cell_grad b2i1h2 peep=1 dt=f32 data=strat:0x1";
  r.op = "lstm_block_cell_grad";
  r.impl_name = "mine";
  r.impl_version = "0.3";
  r.verdict = {Status::kFailed, "a \"quoted\"\nreason", {tensor()}};
  r.ms = 3.25;
  return r;
}

TEST(Record, HasAFixedForm) {
  Record r = record();
  r.verdict.tensors[0].where = "";
  EXPECT_EQ(
      to_json(r),
      R"({"schema":"backgauge.record/1","id":"lstm_block_cell_grad b2i1h2 peep=1 dt=f32 data=strat:0x1",)"
      R"("op":"lstm_block_cell_grad","impl":{"name":"mine","version":"0.3"},"status":"FAILED",)"
      R"("reason":"a \"quoted\"\nreason","kind":"cs_prev_grad value","tensors":{"cs_prev_grad":{"shape":[2,2],"n":4,"judged":4,"bad":2,)"
      R"("nonfinite":0,"unwritten":0,"max_ratio":"inf","resolution":12345.678901234567,"vacuous":false,)"
      R"("worst":[1,0],"got":"nan","want":0.1,"allowed":5e-324}},"ms":3.25})");
}

TEST(Record, KeepsTheNote) {
  Record r = record();
  EXPECT_EQ(to_json(r).find("note"), std::string::npos);
  r.verdict = {Status::kPassed, "", {}, "masks not available"};
  EXPECT_NE(to_json(r).find(R"("status":"PASSED","note":"masks not available","tensors")"), std::string::npos)
      << to_json(r);
  std::string error;
  const std::optional<Record> back = parse_record(to_json(r), error);
  ASSERT_TRUE(back) << error;
  EXPECT_EQ(back->verdict.note, "masks not available");
  const std::string xml = junit(std::vector{r}, {});
  EXPECT_NE(xml.find(R"(<property name="note" value="masks not available" />)"), std::string::npos) << xml;
}

TEST(Record, ComesBackAsItWas) {
  Record r = record();
  r.verdict.hint = "it is 0";
  r.verdict.passes_as = "passes as class B";
  for (const Status status :
       {Status::kPassed, Status::kFailed, Status::kMistrusted, Status::kSkipped, Status::kBroken}) {
    r.verdict.status = status;
    r.flaky = status == Status::kFailed;
    r.shrunk_from = status == Status::kFailed ? "lstm_block_cell_grad b31i17h9" : "";
    std::string error;
    const std::optional<Record> back = parse_record(to_json(r), error);
    ASSERT_TRUE(back) << error;
    EXPECT_EQ(to_json(*back), to_json(r));
    EXPECT_EQ(back->verdict.status, status);
    EXPECT_EQ(back->verdict.reason, r.verdict.reason);
    EXPECT_EQ(back->flaky, r.flaky);
    EXPECT_EQ(back->shrunk_from, r.shrunk_from);
    const TensorReport& report = back->verdict.tensors.at(0);
    EXPECT_EQ(report.name, "cs_prev_grad");
    EXPECT_EQ(report.worst, 2);
    EXPECT_TRUE(std::isnan(report.got));
    EXPECT_EQ(report.max_ratio, std::numeric_limits<double>::infinity());
    EXPECT_EQ(report.allowed, 5e-324);
    EXPECT_EQ(report.where, tensor().where);
  }
}

TEST(Record, KeepsTheOrderOfTensorsAndEmptyOnes) {
  Record r = record();
  TensorReport empty;
  empty.name = "a_comes_last";
  empty.shape = {0, 3};
  r.verdict.tensors.push_back(empty);
  std::string error;
  const std::optional<Record> back = parse_record(to_json(r), error);
  ASSERT_TRUE(back) << error;
  ASSERT_EQ(back->verdict.tensors.size(), 2u);
  EXPECT_EQ(back->verdict.tensors[1].name, "a_comes_last");
  EXPECT_EQ(back->verdict.tensors[1].worst, -1);
}

TEST(Record, RefusesWhatIsNoRecord) {
  const std::string good = to_json(record());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  for (const std::string& line :
       {std::string("{"), std::string("[]"), std::string(""), good.substr(0, good.size() / 2),
        replaced("record/1", "record/2"), replaced("FAILED", "FINE"), replaced("\"inf\"", "\"much\""),
        replaced("[1,0]", "[1]"), replaced("[1,0]", "[1,-1]"), replaced("\"bad\":2", "\"bad\":\"2\""),
        replaced("\"bad\":2", "\"bad\":2.5"), replaced("\"bad\":2", "\"bad\":3e126"),
        replaced("\"bad\":2", "\"bad\":18446744073709551615")}) {
    std::string error;
    EXPECT_FALSE(parse_record(line, error)) << line;
    EXPECT_NE(error, "") << line;
  }
}

TEST(Record, SurvivesReasonsThatAreNoUtf8) {
  Record r = record();
  r.verdict.reason = "bytes \xff\xfe";
  std::string error;
  EXPECT_TRUE(parse_record(to_json(r), error)) << error;
}

TEST(RecordWriter, AppendsWholeLines) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / ("backgauge_record_test_" + std::to_string(getpid()) + ".jsonl");
  std::filesystem::remove(path);
  const auto contents = [&] {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  {
    RecordWriter writer(path);
    writer.append(record());
    EXPECT_EQ(parse_records(contents()).records.size(), 1u);  // before the writer ends
  }
  RecordWriter(path).append(record());
  const Records read = parse_records(contents());
  EXPECT_EQ(read.records.size(), 2u);
  EXPECT_FALSE(read.torn);
  EXPECT_EQ(read.error, "");
  std::filesystem::remove(path);
  EXPECT_THROW(RecordWriter("/nonexistent/records"), std::system_error);
}

TEST(Records, TornAndBrokenLinesShow) {
  const std::string line = to_json(record());
  EXPECT_TRUE(parse_records("").records.empty());
  const Records torn = parse_records(line + "\n" + line.substr(0, 40));
  EXPECT_EQ(torn.records.size(), 1u);
  EXPECT_TRUE(torn.torn);
  EXPECT_EQ(torn.error, "");
  const Records broken = parse_records(line + "\nnonsense\n" + line + "\n");
  EXPECT_EQ(broken.records.size(), 1u);
  EXPECT_EQ(broken.error.rfind("line 2: ", 0), 0u);
}

}  // namespace
}  // namespace backgauge
