// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <pugixml.hpp>

#include "properties/judge/junit.h"

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

TEST(Report, SaysWhatIsWrongAndWhatIsRight) {
  const Verdict verdict = conclude({bad_tensor(), good_tensor("dicfo"), good_tensor("wci_grad")});
  EXPECT_EQ(verdict_text(verdict),
            "  tensor cs_prev_grad[1,0]: got 0.41802 want 0.43177 ratio 1.9e+05 (allowed 7.1e-08); "
            "2 of 4 elements wrong\n"
            "  dicfo, wci_grad ok\n");
}

TEST(Report, ShowsDifferencesInLateDigits) {
  TensorReport report = bad_tensor();
  report.got = report.want + 1e-7;
  EXPECT_EQ(tensor_text(report).rfind("cs_prev_grad[1,0]: got 0.4317701 want 0.43177 ratio", 0), 0u)
      << tensor_text(report);
}

TEST(Report, NamesNonFiniteUnwrittenAndVacuous) {
  TensorReport report = bad_tensor();
  report.got = std::nan("");
  report.nonfinite = 2;
  EXPECT_EQ(tensor_text(report),
            "cs_prev_grad[1,0]: got nan want 0.43177; 2 of 4 elements wrong, 2 of the wrong kind (NaN, inf, finite)");
  report.nonfinite = 0;
  report.unwritten = 2;
  report.where = "layer 0 forward, bR[1] of gate n";
  EXPECT_EQ(tensor_text(report),
            "cs_prev_grad[1,0]: never written, want 0.43177; 2 of 4 elements wrong, 2 never written; "
            "layer 0 forward, bR[1] of gate n");
  TensorReport vacuous = good_tensor("dicfo");
  vacuous.vacuous = true;
  vacuous.resolution = 3;
  EXPECT_EQ(verdict_text(conclude({vacuous})), "  tensor dicfo: its bound says nothing (median want / allowed 3)\n");
}

TEST(Report, GivesReasonsThatNoTensorHas) {
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
  EXPECT_EQ(passed.note, "2 of 6 elements may be anything: values on the way to them may overflow, or are not finite");
  EXPECT_EQ(verdict_text(passed),
            "  tensor dicfo: no element was judged\n  wci_grad, cs_prev_grad ok\n  " + passed.note + "\n");
  const Verdict skipped = conclude({open, open});
  EXPECT_EQ(skipped.status, Status::kSkipped);
  EXPECT_EQ(skipped.reason,
            "all 2 elements may be anything: values on the way to them may overflow, or are not finite");
  EXPECT_EQ(conclude({open, bad_tensor()}).status, Status::kFailed);
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

TEST(Junit, HasOneSuitePerOpAndOneCasePerRecord) {
  const std::vector<Record> records{record("a", Status::kPassed), record("b", Status::kFailed),
                                    record("a", Status::kBroken), record("a", Status::kSkipped),
                                    record("b", Status::kMistrusted)};
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit(records).c_str()));
  const pugi::xml_node root = document.child("testsuites");
  EXPECT_EQ(root.attribute("tests").as_int(), 5);
  EXPECT_EQ(root.attribute("failures").as_int(), 1);
  EXPECT_EQ(root.attribute("errors").as_int(), 1);
  EXPECT_EQ(root.attribute("skipped").as_int(), 2);
  EXPECT_STREQ(root.attribute("time").value(), "1.250000");
  const pugi::xml_node a = root.find_child_by_attribute("testsuite", "name", "a");
  const pugi::xml_node b = root.find_child_by_attribute("testsuite", "name", "b");
  EXPECT_EQ(a.attribute("tests").as_int(), 3);
  EXPECT_EQ(b.attribute("skipped").as_int(), 1);
  const pugi::xml_node passed = a.child("testcase");
  EXPECT_STREQ(passed.attribute("name").value(), records[0].id.c_str());
  EXPECT_STREQ(passed.attribute("time").value(), "0.250000");
  EXPECT_STREQ(passed.child("properties").child("property").attribute("value").value(), records[0].repro().c_str());
  EXPECT_FALSE(passed.child("failure") || passed.child("error") || passed.child("skipped"));
  const pugi::xml_node failure = b.child("testcase").child("failure");
  EXPECT_STREQ(failure.attribute("message").value(), "because\\x01");
  EXPECT_NE(std::string(failure.text().get()).find("repro: " + records[1].repro()), std::string::npos);
  EXPECT_TRUE(passed.next_sibling().child("error"));
  EXPECT_STREQ(b.child("testcase").next_sibling().child("skipped").attribute("type").value(), "MISTRUSTED");
}

}  // namespace
}  // namespace backgauge
