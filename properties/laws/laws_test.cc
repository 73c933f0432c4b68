// SPDX-License-Identifier: Apache-2.0
// Every law on every built-in implementation and every op that it applies to: Laws/<Law>.<implementation>_<op>.
//
//   BACKGAUGE_CASE='block_lstm_grad_v2 t2b3i1h1 ...'   only this case, in the tests of its op
//   RC_PARAMS='seed=7 max_success=10000'               other cases, or more
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "impl/registry.h"
#include "properties/case/line/random.h"
#include "properties/laws/case_generator.h"
#include "properties/laws/law.h"

namespace backgauge {
namespace {

// Enough that a fault that shows in one case of 25 is missed once in 450 runs: (24/25)^150.
constexpr int kCases = 150;

// With more inconclusive cases than this, the law would rest on less evidence than its number of cases suggests.
constexpr double kMostThatSayNothing = 0.25;

class LawTest : public testing::Test {
 public:
  LawTest(const Law& law, const backgauge_implementation& implementation, backgauge_op op)
      : law_(law), implementation_(implementation), op_(op) {}

  void TestBody() override {
    if (const char* line = std::getenv("BACKGAUGE_CASE")) {
      check_line(line);
    } else {
      check_random_cases();
    }
  }

 private:
  void check_line(const char* line) {
    std::string error;
    const auto c = parse_case(line, error);
    ASSERT_TRUE(c.has_value()) << error;
    if (c->op != op_) GTEST_SKIP() << "another op";
    if (law_.about(*c) != *c) GTEST_SKIP() << "the law does not apply to this case";
    const Finding finding = check_law(law_, implementation_, *c);
    EXPECT_NE(finding.outcome, Outcome::kBroken) << finding.text;
    std::cout << finding.text;
  }

  void check_random_cases() {
    rc::detail::TestMetadata metadata;
    metadata.id = std::string(law_.name) + "." + implementation_.name + "_" + std::string(find_op(op_)->word);
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    if (std::getenv("RC_PARAMS") == nullptr) {
      params.seed = fnv1a(metadata.id);  // the same cases in every run: a failing test keeps failing
      params.maxSuccess = kCases;
    }
    int held = 0, said_nothing = 0;
    std::string example;
    const auto property = [&] {
      const Case c = *cases(op_, law_.sizes, law_.about).as("case");
      const Finding finding = check_law(law_, implementation_, c);
      if (finding.outcome == Outcome::kBroken) RC_FAIL(finding.text);
      if (finding.outcome == Outcome::kHolds) {
        ++held;
      } else {
        ++said_nothing;
        example = to_string(c) + "\n" + finding.text;
      }
    };
    const auto result = rc::detail::checkTestable(property, metadata, params);
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    ASSERT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
    EXPECT_LE(said_nothing, kMostThatSayNothing * (held + said_nothing)) << "the last inconclusive case:\n" << example;
    RecordProperty("said_nothing", said_nothing);
  }

  const Law law_;
  const backgauge_implementation& implementation_;
  const backgauge_op op_;
};

void register_tests() {
  for (const std::string& name : registry_names()) {
    std::string error;
    const backgauge_implementation* implementation = open_implementation(name, error);
    if (implementation == nullptr) throw std::runtime_error(error);
    for (const Law& law : laws()) {
      for (const OpSpec& op : op_specs()) {
        if (!law.holds_for(op.traits) || !claims_of(*implementation, op.op)) continue;
        testing::RegisterTest(("Laws/" + std::string(law.name)).c_str(), (name + "_" + std::string(op.word)).c_str(),
                              nullptr, nullptr, __FILE__, __LINE__,
                              [=]() -> testing::Test* { return new LawTest(law, *implementation, op.op); });
      }
    }
  }
}

}  // namespace
}  // namespace backgauge

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  backgauge::register_tests();
  return RUN_ALL_TESTS();
}
