// SPDX-License-Identifier: Apache-2.0
// JSON that is legal for most programs, and refused here: too deep, or with a duplicate key.
#include "properties/case/files/json_text.h"

#include <gtest/gtest.h>

namespace backgauge {
namespace {

using Json = nlohmann::ordered_json;

std::string problem_of(const std::string& text) {
  try {
    parse_json<Json>(text);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string nested(int depth, char open, char close) { return std::string(depth, open) + std::string(depth, close); }

TEST(JsonText, KeepsTheOrderOfTheKeys) {
  EXPECT_EQ(parse_json<Json>(R"({"b": [1, {"a": 2.5}], "a": null})").dump(), R"({"b":[1,{"a":2.5}],"a":null})");
}

TEST(JsonText, RefusesAKeyThatIsThereTwice) {
  EXPECT_NE(problem_of(R"({"a": 1, "b": 2, "a": 1})").find("a duplicate key: \"a\""), std::string::npos);
  EXPECT_NE(problem_of(R"([{"x": {"a": 1, "\u0061": 1}}])").find("a duplicate key"), std::string::npos);
  EXPECT_EQ(problem_of(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]})"), "");
}

TEST(JsonText, RefusesWhatIsNestedTooDeep) {
  EXPECT_EQ(problem_of(nested(kDeepestJson, '[', ']')), "");
  for (const int depth : {kDeepestJson + 1, 100'000, 5'000'000}) {
    EXPECT_EQ(problem_of(nested(depth, '[', ']')), "JSON nested more than 64 deep") << depth;
    EXPECT_EQ(problem_of(std::string(depth, '[')), "JSON nested more than 64 deep") << depth;
  }
  std::string objects = "1";
  for (int depth = 0; depth < 1000; ++depth) objects = R"({"a":)" + objects + "}";
  EXPECT_EQ(problem_of(objects), "JSON nested more than 64 deep");
}

TEST(JsonText, SaysWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul", "[] []"}) EXPECT_NE(problem_of(text), "") << text;
}

}  // namespace
}  // namespace backgauge
