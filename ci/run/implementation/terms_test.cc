// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/terms.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace backgauge::cli {
namespace {

Claims cell() { return Claims(BACKGAUGE_LSTM_BLOCK_CELL_GRAD); }

Claims odd_net() {
  Claims claims(BACKGAUGE_CUDNN_RNN_BACKPROP);
  claims.dtypes = BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16) | BACKGAUGE_BIT(BACKGAUGE_FLOAT32);
  claims.accuracy_class = BACKGAUGE_CLASS_B;
  claims.accuracy_class.set(BACKGAUGE_BFLOAT16, BACKGAUGE_CLASS_A_PRIME);
  claims.rnn_modes = BACKGAUGE_BIT(BACKGAUGE_LSTM) | BACKGAUGE_BIT(BACKGAUGE_GRU);
  claims.dropout = false;
  claims.greatest_H.set(BACKGAUGE_HALF, 512);
  claims.multiple_of_H = 8;
  claims.changes_reserve_space = true;
  return claims;
}

TEST(Terms, InWords) {
  EXPECT_EQ(terms_text(cell()), "accuracy class A in f16; numerical contract fp32_strict; determinism bitwise");
  EXPECT_EQ(terms_text(odd_net()),
            "accuracy class B in f16, accuracy class A' in bf16; numerical contract fp32_strict; determinism bitwise; "
            "changes reserve space; not claimed: f64, dropout, rnn_mode relu, rnn_mode tanh, H > 512 in f16, "
            "H not a multiple of 8");
  EXPECT_EQ(terms_lines({cell()}), "terms of lstm_block_cell_grad: " + terms_text(cell()) + "\n");
}

TEST(Terms, AreReadAsTheyWereWritten) {
  const Terms terms{cell(), odd_net()};
  EXPECT_EQ(difference(parse_terms(to_json(terms)), terms), "");
  nlohmann::ordered_json edited = to_json(terms);
  edited[0]["accuracy_class"] = "B";
  EXPECT_THROW(parse_terms(edited), std::invalid_argument);  // its text says class A
  for (const char* wrong : {R"([{"op": "cudnn_rnn"}])", R"([{"op": "lstm_block_cell_grad"}])", "[7]",
                            R"([{"op": "lstm_block_cell_grad", "speed": "high"}])",
                            R"([{"op": "lstm_block_cell_grad", "accuracy_class": "C"}])"}) {
    EXPECT_THROW(parse_terms(nlohmann::ordered_json::parse(wrong)), std::invalid_argument) << wrong;
  }
}

// Each property changes the words, the JSON and the difference: none is forgotten.
TEST(Terms, EveryPropertyCounts) {
  for (const Property& property : properties()) {
    for (const backgauge_op op : gradient_ops()) {
      if (!property.is_of(traits_of(op))) continue;
      const Claims before(op);
      Claims after(op);
      const double usual = property.usual_for(before.spec());
      double other = property.kind == Property::Kind::kSet ? 2 : usual == 0 ? 1 : 0;
      while (other == usual || !property.allows(before.spec(), other)) ++other;
      property.set_all(after, other);
      EXPECT_NE(terms_text(before), terms_text(after)) << property.name;
      EXPECT_NE(to_json(before), to_json(after)) << property.name;
      EXPECT_TRUE(difference(Terms{before}, Terms{after}).starts_with(property.name)) << property.name;
      EXPECT_EQ(difference(parse_terms(to_json(Terms{after})), Terms{after}), "") << property.name;
    }
  }
}

TEST(Terms, AllowancesOfWhatWasJudged) {
  const Terms terms{cell(), odd_net()};
  EXPECT_EQ(allowances(terms, {{"lstm_block_cell_grad", "f16"}}), "");
  EXPECT_EQ(allowances(terms, {{"cudnn_rnn_backprop", "f32"}}), "");
  EXPECT_EQ(allowances(terms, {{"cudnn_rnn_backprop", "f16"}}), "accuracy class B");
  EXPECT_EQ(allowances(terms, {{"cudnn_rnn_backprop", "f16"}, {"cudnn_rnn_backprop", "bf16"}}),
            "accuracy class B, accuracy class A'");
  Claims loose = cell();
  loose.numerical_contract = BACKGAUGE_FP32_TF32;
  loose.recomputes_co = true;
  EXPECT_EQ(allowances({loose}, {{"lstm_block_cell_grad", "f32"}}), "numerical contract fp32_tf32, recomputes co");
}

TEST(Terms, ADifferenceIsNamed) {
  Claims other = cell();
  other.accuracy_class = BACKGAUGE_CLASS_B;
  EXPECT_EQ(difference(Terms{cell()}, Terms{other}), "accuracy_class of lstm_block_cell_grad A, here B");
  EXPECT_EQ(difference(Terms{cell()}, Terms{cell()}), "");
  EXPECT_EQ(difference(Terms{cell()}, {}), "dtypes of lstm_block_cell_grad f16,f32, here not claimed");
}

}  // namespace
}  // namespace backgauge::cli
