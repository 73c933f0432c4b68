// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/verdict_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <pugixml.hpp>

#include "properties/judge/record/junit.h"

namespace backgauge {
namespace {

TensorReport bad_tensor() {
  TensorReport report;
  report.name = "cs_prev_grad";
  report.shape = {2, 2};
  report.elements = report.judged = 4;
  report.bad = 2;
  report.max_ratio = 1.9e5;
  report.worst = 2;
  report.got = 0.41802;
  report.want = 0.43177;
  report.allowed = 7.1e-8;
  return report;
}

TensorReport good_tensor(const char* name) {
  TensorReport report;
  report.name = name;
  report.shape = {1};
  report.elements = report.judged = 1;
  return report;
}

TEST(VerdictText, SaysWhatIsWrongAndWhatIsRight) {
  const Verdict verdict = conclude({bad_tensor(), good_tensor("dicfo"), good_tensor("wci_grad")});
  EXPECT_EQ(verdict_text(verdict),
            "  tensor cs_prev_grad[1,0]: got 0.41802 want 0.43177 ratio 1.9e+05 (allowed 7.1e-08); "
            "2 of 4 elements wrong\n"
            "  dicfo, wci_grad ok\n");
}

TEST(VerdictText, IsBriefAboutWhatIsWrong) {
  TensorReport other = bad_tensor();
  other.name = "dicfo";
  Verdict verdict = conclude({good_tensor("wci_grad"), bad_tensor(), other, other});
  verdict.hint = "it is 0";
  verdict.passes_as = "FAILED with accuracy_class A; passes with B (--accuracy-class=B)";
  const std::string found = "  FAILED with accuracy_class A; passes with B (--accuracy-class=B)\n  hint: it is 0\n";
  EXPECT_EQ(brief_text(verdict), "  tensor " + verdict.reason + "\n  2 more outputs are wrong\n" + found);
  EXPECT_TRUE(verdict_text(verdict).ends_with("  wci_grad ok\n" + found)) << verdict_text(verdict);
  EXPECT_EQ(brief_text({Status::kFailed, "changed the input x", {}}), "  changed the input x\n");
  EXPECT_EQ(brief_text(conclude({bad_tensor(), other})), "  tensor " + verdict.reason + "\n  1 more output is wrong\n");
  verdict.reason = "second run: " + verdict.reason;
  EXPECT_TRUE(brief_text(verdict).starts_with("  second run: cs_prev_grad[1,0]: got")) << brief_text(verdict);
}

TEST(VerdictText, ShowsDifferencesInLateDigits) {
  TensorReport report = bad_tensor();
  report.got = report.want + 1e-7;
  EXPECT_EQ(tensor_text(report).rfind("cs_prev_grad[1,0]: got 0.4317701 want 0.43177 ratio", 0), 0u)
      << tensor_text(report);
}

TEST(VerdictText, ShowsThatARatioExceedsOne) {
  TensorReport report = bad_tensor();
  report.max_ratio = 1.00234;
  EXPECT_NE(tensor_text(report).find(" ratio 1.00234 ("), std::string::npos) << tensor_text(report);
  report.max_ratio = 1.38;
  EXPECT_NE(tensor_text(report).find(" ratio 1.4 ("), std::string::npos) << tensor_text(report);
}

TEST(VerdictText, NamesNonFiniteUnwrittenAndVacuous) {
  TensorReport report = bad_tensor();
  report.got = std::nan("");
  report.nonfinite = 2;
  EXPECT_EQ(tensor_text(report),
            "cs_prev_grad[1,0]: got nan want 0.43177; 2 of 4 elements wrong, 2 wrongly NaN, infinite or finite");
  report.nonfinite = 0;
  report.unwritten = 2;
  report.where = "layer 0 forward, bR[1] of gate n";
  EXPECT_EQ(tensor_text(report),
            "cs_prev_grad[1,0]: never written, want 0.43177; 2 of 4 elements wrong, 2 never written; "
            "layer 0 forward, bR[1] of gate n");
  TensorReport vacuous = good_tensor("dicfo");
  vacuous.vacuous = true;
  vacuous.resolution = 3;
  EXPECT_EQ(verdict_text(conclude({vacuous})),
            "  tensor dicfo: its bounds prove nothing (median |want| / allowed is 3)\n");
}

TEST(VerdictText, GivesReasonsThatNoTensorHas) {
  EXPECT_EQ(verdict_text({Status::kSkipped, "dtype f16 is not claimed", {}}), "  dtype f16 is not claimed\n");
  EXPECT_EQ(verdict_text({Status::kPassed, "", {}}), "");
}

TEST(Conclude, FailsBeforeItMistrusts) {
  TensorReport vacuous = good_tensor("dicfo");
  vacuous.vacuous = true;
  EXPECT_EQ(conclude({good_tensor("dicfo")}).status, Status::kPassed);
  EXPECT_EQ(conclude({good_tensor("wci_grad"), vacuous}).status, Status::kMistrusted);
  EXPECT_EQ(conclude({vacuous, bad_tensor()}).status, Status::kFailed);
}

TEST(Conclude, CountsWhatMayBeAnythingAndSkipsWhereThatIsAll) {
  TensorReport open = good_tensor("dicfo"), some = bad_tensor();
  open.judged = 0;
  some.bad = 0;
  some.judged = 3;
  const Verdict passed = conclude({good_tensor("wci_grad"), open, some});
  EXPECT_EQ(passed.status, Status::kPassed);
  EXPECT_EQ(passed.note, "2 of 6 elements may have any value: intermediate values may overflow or are not finite");
  EXPECT_EQ(verdict_text(passed),
            "  tensor dicfo: no element was judged\n  wci_grad, cs_prev_grad ok\n  " + passed.note + "\n");
  const Verdict skipped = conclude({open, open});
  EXPECT_EQ(skipped.status, Status::kSkipped);
  EXPECT_EQ(skipped.reason, "all elements may have any value: intermediate values may overflow or are not finite");
  EXPECT_EQ(conclude({open, bad_tensor()}).status, Status::kFailed);
  // Whose bound alone overflows has not overflowed.
  TensorReport unbounded = open;
  unbounded.unbounded = unbounded.elements;
  unbounded.vacuous = true;
  const Verdict mistrusted = conclude({open, unbounded});
  EXPECT_EQ(mistrusted.status, Status::kMistrusted);
  EXPECT_EQ(mistrusted.reason, "dicfo: its bounds prove nothing (they overflow, and its values do not)");
  unbounded = some;
  unbounded.unbounded = 1;
  EXPECT_EQ(conclude({unbounded}).note, "1 of 4 elements have no finite bound");
  TensorReport empty = good_tensor("x_grad");
  empty.elements = empty.judged = 0;
  EXPECT_EQ(conclude({empty}).status, Status::kPassed);
}

Record record(const char* op, Status status) {
  Record r;
  r.id = std::string(op) + " b2 <&\"'>";
  r.op = op;
  r.impl_name = "mine";
  r.verdict = {status, "because\x01", {}};
  r.ms = 250;
  return r;
}

std::string line(const char* dtype, const char* data) {
  return std::string("lstm_block_cell_grad b1i1h1 peep=0 dt=") + dtype + " data=" + data + ":0x1";
}

struct Parsed {
  pugi::xml_document document;
  pugi::xml_node root;

  explicit Parsed(const std::vector<Record>& records, const JunitRun& run = {}) {
    EXPECT_TRUE(document.load_string(junit(records, run).c_str()));
    root = document.child("testsuites");
  }
  pugi::xml_node suite(const char* op) const { return root.find_child_by_attribute("testsuite", "name", op); }
  pugi::xml_node test(const char* op, const char* name) const {
    return suite(op).find_child_by_attribute("testcase", "name", name);
  }
};

std::string property(pugi::xml_node node, const char* name) {
  return node.child("properties").find_child_by_attribute("property", "name", name).attribute("value").value();
}

TEST(Junit, HasOneSuitePerOpAndOneTestPerRecordOfNoCase) {
  const std::vector<Record> records{record("a", Status::kPassed), record("b", Status::kFailed)};
  const Parsed parsed(records);
  EXPECT_EQ(parsed.root.attribute("tests").as_int(), 2);
  EXPECT_EQ(parsed.root.attribute("failures").as_int(), 1);
  EXPECT_STREQ(parsed.root.attribute("time").value(), "0.500000");
  const pugi::xml_node passed = parsed.test("a", records[0].id.c_str());
  EXPECT_STREQ(passed.attribute("time").value(), "0.250000");
  EXPECT_FALSE(passed.child("failure") || passed.child("error") || passed.child("skipped"));
  const pugi::xml_node failure = parsed.suite("b").child("testcase").child("failure");
  EXPECT_STREQ(failure.attribute("type").value(), "FAILED");
  EXPECT_NE(std::string(failure.text().get()).find("because\\x01"), std::string::npos);
  EXPECT_NE(std::string(failure.text().get()).find("repro: " + records[1].repro()), std::string::npos);
}

TEST(Junit, SumsCasesByDtypeAndDataAndWhatIsSkippedByItsReason) {
  std::vector<Record> records;
  const auto add = [&](const char* dtype, const char* data, Status status, const char* reason) {
    Record r = record("lstm_block_cell_grad", status);
    r.id = line(dtype, data);
    r.verdict.reason = reason;
    records.push_back(r);
  };
  for (int k = 0; k < 3; ++k) add("f32", "strat", Status::kPassed, "");
  for (int k = 0; k < 2; ++k) add("f32", "large", Status::kPassed, "");
  add("f32", "large", Status::kFailed, "changed the input x");
  add("f32", "large", Status::kFailed, "changed the input x");
  add("f32", "large", Status::kBroken, "crash: SIGSEGV in run");
  add("f32", "zeros", Status::kBroken, "crash: SIGSEGV in run");
  for (int k = 0; k < 4; ++k) add("f16", "strat", Status::kSkipped, "dtype f16 is not claimed");
  for (int k = 0; k < 2; ++k) add("f16", "strat", Status::kMistrusted, "too wide");
  records[5].verdict.hint = "it is 0";
  const Parsed parsed(records);
  EXPECT_EQ(parsed.root.attribute("tests").as_int(), 5);
  EXPECT_EQ(parsed.root.attribute("failures").as_int(), 1);
  EXPECT_EQ(parsed.root.attribute("errors").as_int(), 1);
  EXPECT_EQ(parsed.root.attribute("skipped").as_int(), 2);
  const auto test = [&](const char* name) { return parsed.test("lstm_block_cell_grad", name); };
  EXPECT_EQ(property(test("f32 data=strat"), "cases"), "3");
  EXPECT_EQ(property(test("f32 data=large"), "cases"), "5");
  const pugi::xml_node failure = test("f32 data=large").child("failure");
  EXPECT_STREQ(failure.attribute("message").value(), "3 of 5 cases: changed the input x (2) BROKEN crash (1)");
  const std::string text = failure.text().get();
  EXPECT_EQ(text.find("changed the input x"), text.rfind("changed the input x")) << text;
  EXPECT_NE(text.find("  hint: it is 0\n"), std::string::npos) << text;
  EXPECT_TRUE(test("f32 data=zeros").child("error"));
  EXPECT_EQ(std::string(test("skipped: dtype f16 is not claimed").child("skipped").attribute("message").value())
                .find("4 cases, the first: "),
            0u);
  EXPECT_STREQ(test("mistrusted").child("skipped").attribute("type").value(), "MISTRUSTED");
}

TEST(Junit, SaysWhatWasJudgedWhereAndWhen) {
  const Parsed parsed({record("a", Status::kPassed)}, {"host", "2020-01-02T03:04:05Z", {{"seed", "7"}}});
  EXPECT_STREQ(parsed.suite("a").attribute("hostname").value(), "host");
  EXPECT_STREQ(parsed.suite("a").attribute("timestamp").value(), "2020-01-02T03:04:05Z");
  EXPECT_EQ(property(parsed.suite("a"), "seed"), "7");
}

}  // namespace
}  // namespace backgauge
