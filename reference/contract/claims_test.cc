// SPDX-License-Identifier: Apache-2.0
#include "reference/contract/claims.h"

#include <gtest/gtest.h>

#include <set>

namespace backgauge {
namespace {

constexpr int kHalfAndFloat = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);

// A table with the fewest claims about BlockLSTMGradV2.
std::vector<backgauge_claim> fewest() {
  return {{"dtypes", kHalfAndFloat, 0, 0},
          {"use_peephole", BACKGAUGE_BIT(1), 0, 0},
          {"accuracy_class", BACKGAUGE_CLASS_B, 0, 0},
          {"numerical_contract", BACKGAUGE_FP32_STRICT, 0, 0},
          {"determinism", BACKGAUGE_BITWISE, 0, 0}};
}

std::optional<Claims> read(const std::vector<backgauge_claim>& claims, std::string& refusal,
                           std::int32_t op = BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
  return read_claims({op, static_cast<std::int32_t>(claims.size()), claims.data()}, refusal);
}

std::string refusal_of(const std::vector<backgauge_claim>& claims, std::int32_t op = BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
  std::string refusal;
  const bool accepted = read(claims, refusal, op).has_value();
  EXPECT_EQ(accepted, refusal.empty());
  return refusal;
}

Claims read(const std::vector<backgauge_claim>& claims) {
  std::string refusal;
  const std::optional<Claims> out = read(claims, refusal);
  EXPECT_EQ(refusal, "");
  return out.value_or(Claims());
}

TEST(Claims, WhatATableLeavesOutIsAsUsual) {
  Claims expected(BACKGAUGE_BLOCK_LSTM_GRAD_V2);
  expected.use_peephole = BACKGAUGE_BIT(1);
  expected.accuracy_class = BACKGAUGE_CLASS_B;
  EXPECT_EQ(read(fewest()), expected);
  EXPECT_TRUE(expected.takes(BACKGAUGE_HALF));
  EXPECT_FALSE(expected.takes(BACKGAUGE_FLOAT64));
  EXPECT_FALSE(expected.takes(-1));
}

TEST(Claims, ADtypeMayHaveAClaimOfItsOwn) {
  for (const bool first : {true, false}) {
    std::vector<backgauge_claim> claims = fewest();
    claims.insert(first ? claims.begin() : claims.end(),
                  {"numerical_contract", BACKGAUGE_FP16_ACC32, BACKGAUGE_HALF, 0});
    const Claims table = read(claims);
    EXPECT_EQ(declared(table, BACKGAUGE_HALF),
              (Declared{.accuracy_class = BACKGAUGE_CLASS_B, .numerical_contract = BACKGAUGE_FP16_ACC32}));
    EXPECT_EQ(declared(table, BACKGAUGE_FLOAT32).numerical_contract, BACKGAUGE_FP32_STRICT);
    EXPECT_EQ(stated_text(*find_property("numerical_contract"), table), "f16:fp16_acc32,f32:fp32_strict");
  }
  Claims net(BACKGAUGE_CUDNN_RNN_BACKPROP);
  net.accuracy_class = BACKGAUGE_CLASS_B;
  net.accuracy_class.set(BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_A_PRIME);
  EXPECT_EQ(stated_text(*find_property("accuracy_class"), net), "f16:B,bf16:A'");
  net.dtypes = BACKGAUGE_BIT(BACKGAUGE_BFLOAT16);
  EXPECT_EQ(stated_text(*find_property("accuracy_class"), net), "A'");
  net.dtypes = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  EXPECT_EQ(stated_text(*find_property("accuracy_class"), net), "");
  net.rnn_modes.set(BACKGAUGE_FLOAT32, BACKGAUGE_BIT(BACKGAUGE_LSTM) | BACKGAUGE_BIT(BACKGAUGE_GRU));
  EXPECT_EQ(stated_text(*find_property("rnn_modes"), net), "lstm,gru");
}

TEST(Claims, EachCanBeTheOneForAllDtypesOrForEach) {
  std::vector<backgauge_claim> claims = fewest();
  claims[2].dtype = BACKGAUGE_HALF;
  EXPECT_EQ(read(claims).accuracy_class[BACKGAUGE_HALF], BACKGAUGE_CLASS_B);
  claims[3].dtype = BACKGAUGE_HALF;
  EXPECT_EQ(refusal_of(claims).substr(0, 41), "numerical_contract is missing: expected o");
}

TEST(Claims, FloatAloneNeedsNoAccuracyClass) {
  std::vector<backgauge_claim> claims = fewest();
  claims[0].value = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.erase(claims.begin() + 2);
  EXPECT_EQ(refusal_of(claims), "");
  claims[0].value = kHalfAndFloat;
  EXPECT_EQ(refusal_of(claims), "accuracy_class is missing: expected one of A (1), A' (2), S (3), B (4)");
}

TEST(Claims, SayWhatIsWrongWithThem) {
  EXPECT_EQ(refusal_of({}), "claims: expected at least one");
  EXPECT_EQ(refusal_of(fewest(), 0), "op 0, expected a gradient op");
  EXPECT_EQ(refusal_of(fewest(), BACKGAUGE_CUDNN_RNN), "op 4, expected a gradient op");
  const auto with = [](const char* property, double value, std::int32_t dtype = 0, std::int32_t reserved = 0) {
    std::vector<backgauge_claim> claims = fewest();
    std::erase_if(claims, [&](const backgauge_claim& claim) {
      return property != nullptr && std::string_view(claim.property) == property;
    });
    claims.push_back({property, value, dtype, reserved});
    return refusal_of(claims);
  };
  EXPECT_EQ(with(nullptr, 1), "property: expected a name, got NULL");
  EXPECT_EQ(
      with("slope", 1),
      "\"slope\" is not a property that this backgauge knows; known are dtypes, use_peephole, least_T, "
      "greatest_T, multiple_of_T, least_B, greatest_B, multiple_of_B, least_I, greatest_I, multiple_of_I, least_H, "
      "greatest_H, multiple_of_H, accuracy_class, numerical_contract, tanh_absolute, tanh_ulps, sigmoid_absolute, "
      "sigmoid_ulps, recomputes_co, recomputes_forward, determinism");
  EXPECT_EQ(with("rnn_modes", 2), "rnn_modes: BlockLSTMGradV2 does not have this property");
  EXPECT_EQ(with("determinism", 1, 0, 7), "determinism: reserved: expected 0, got 7");
  EXPECT_EQ(with("determinism", 1, BACKGAUGE_FLOAT64),
            "determinism: dtype: expected 0 or one of f16 (1), f32 (2), got 3");
  EXPECT_EQ(with("dtypes", kHalfAndFloat, BACKGAUGE_HALF), "dtypes: dtype: expected 0, got 1");
  for (const double set : {0., 1., 2. + 8, -2., 0.5, 1e300}) {
    EXPECT_EQ(with("dtypes", set).substr(0, 47), "dtypes: expected a set of f16 (1), f32 (2), got") << set;
  }
  EXPECT_EQ(with("use_peephole", 4), "use_peephole: expected a set of 0, 1, got 4");
  EXPECT_EQ(with("accuracy_class", 5), "accuracy_class: expected one of A (1), A' (2), S (3), B (4), got 5");
  EXPECT_EQ(with("accuracy_class", 0), "accuracy_class: expected one of A (1), A' (2), S (3), B (4), got 0");
  EXPECT_EQ(with("tanh_absolute", -1), "tanh_absolute: expected a number of at least 0, such as 2^-17, got -1");
  EXPECT_EQ(with("recomputes_co", 2), "recomputes_co: expected 0 or 1, got 2");
  EXPECT_EQ(with("least_H", -1), "least_H: expected a whole number from 0 to 2^53, got -1");
  EXPECT_EQ(with("multiple_of_H", 0), "multiple_of_H: expected a whole number from 1 to 2^53, got 0");
  std::vector<backgauge_claim> claims = fewest();
  claims.push_back({"determinism", BACKGAUGE_BITWISE, 0, 0});
  EXPECT_EQ(refusal_of(claims), "determinism: claimed twice for all dtypes");
  claims.back() = {"determinism", BACKGAUGE_BITWISE, BACKGAUGE_HALF, 0};
  EXPECT_EQ(refusal_of(claims), "");
  claims.push_back(claims.back());
  EXPECT_EQ(refusal_of(claims), "determinism: claimed twice for f16");
  for (std::size_t k = 0; k < fewest().size(); ++k) {
    claims = fewest();
    const std::string name = claims[k].property;
    claims.erase(claims.begin() + static_cast<std::ptrdiff_t>(k));
    const std::string refusal = refusal_of(claims);
    EXPECT_EQ(refusal.substr(0, name.size() + 12), name + " is missing:");
  }
}

TEST(Claims, LimitsSayWhichSizeTheyExclude) {
  Claims claims(BACKGAUGE_CUDNN_RNN_BACKPROP);
  const backgauge_attributes attributes{0, BACKGAUGE_GRU, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_UNIDIRECTIONAL, 0, 0, 0.5f,
                                        0};
  const Extents extents{.T = 3, .B = 4, .I = 5, .H = 7, .L = 2};
  const auto why = [&] { return unclaimed_call(claims, BACKGAUGE_HALF, attributes, extents); };
  EXPECT_EQ(why(), "");
  claims.dropout = false;
  EXPECT_EQ(why(), "dropout between 0 and 1 is not claimed");
  claims.greatest_layers.set(BACKGAUGE_HALF, 1);
  claims.dropout = true;
  EXPECT_EQ(why(), "layers = 2 is not claimed: at most 1");
  EXPECT_EQ(unclaimed_call(claims, BACKGAUGE_FLOAT32, attributes, extents), "");
  claims.multiple_of_H = 8;
  EXPECT_EQ(why(), "H = 7 is not claimed: multiples of 8");
  claims.least_B = 5;
  EXPECT_EQ(why(), "B = 4 is not claimed: at least 5");
  claims.rnn_modes = BACKGAUGE_BIT(BACKGAUGE_LSTM);
  EXPECT_EQ(why(), "rnn_mode gru is not claimed");
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  EXPECT_EQ(why(), "dtype f16 is not claimed");
}

TEST(Claims, ArraysAreReadAgain) {
  for (const backgauge_op op : gradient_ops()) {
    for (const Property* property : properties_of(spec_of(op))) {
      for (const backgauge_dtype dtype : kFloatDtypes) {
        if ((spec_of(op).dtypes & BACKGAUGE_BIT(dtype)) == 0) continue;
        Claims claims(op);
        const double usual = property->get(claims, dtype);
        for (double value = 0; value < 16; ++value) {
          if (value == usual || !property->allows(spec_of(op), value)) continue;
          property->name == "dtypes" ? property->set_all(claims, value) : property->set(claims, dtype, value);
          const ClaimArrays arrays({claims});
          std::string refusal;
          const std::optional<Claims> again = read_claims(*arrays.data(), refusal);
          ASSERT_TRUE(again) << property->name << ": " << refusal;
          for (const Property* other : properties_of(spec_of(op))) {
            EXPECT_EQ(stated(*other, *again), stated(*other, claims)) << property->name << " " << other->name;
          }
        }
      }
    }
  }
}

TEST(Properties, HaveNamesOfTheirOwnAndSentences) {
  std::set<std::string_view> names;
  for (const Property& property : properties()) {
    EXPECT_TRUE(names.insert(property.name).second) << property.name;
    EXPECT_NE(property.documentation, "") << property.name;
    EXPECT_EQ(find_property(property.name), &property);
    const bool of_some =
        std::ranges::any_of(gradient_ops(), [&](backgauge_op op) { return property.is_of(traits_of(op)); });
    EXPECT_TRUE(of_some) << property.name;
  }
  EXPECT_EQ(find_property("slope"), nullptr);
}

TEST(Properties, ReadTheirWords) {
  EXPECT_EQ(find_property("accuracy_class")->parse("A'"), BACKGAUGE_CLASS_A_PRIME);
  EXPECT_EQ(find_property("accuracy_class")->parse("C"), std::nullopt);
  EXPECT_EQ(find_property("accuracy_class")->parse("?"), std::nullopt);
  EXPECT_EQ(find_property("recomputes_co")->parse("1"), 1);
  EXPECT_EQ(find_property("least_H")->parse("12"), std::nullopt);
  const Property& error = *find_property("tanh_absolute");
  EXPECT_EQ(error.parse("2^-17"), 0x1p-17);
  EXPECT_EQ(error.parse("7.5e-06"), 7.5e-06);
  EXPECT_EQ(error.parse("0"), 0);
  for (const char* wrong : {"", "2^", "2^x", "-1", "nan", "inf", "1 ", "2^-17x", "A"}) {
    EXPECT_EQ(error.parse(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(error.words_of(0x1p-17), std::vector<std::string>{"2^-17"});
  EXPECT_EQ(error.words_of(64), std::vector<std::string>{"2^6"});
  EXPECT_EQ(error.words_of(0), std::vector<std::string>{"0"});
  EXPECT_EQ(find_property("numerical_contract")->parse("fp32_tf32"), BACKGAUGE_FP32_TF32);
}

}  // namespace
}  // namespace backgauge
