// SPDX-License-Identifier: Apache-2.0
// Compares the tables with the signatures of reference/semantics.md 1.1, 2.1 and 3.1, which are repeated here.
#include "reference/contract/op_spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/contract/call.h"

namespace backgauge {
namespace {

constexpr Extents kExtents = {
    .T = 11, .B = 3, .I = 5, .H = 7, .L = 2, .D = 2, .S = 4, .params_length = 101, .reserve_length = 103};

Extents with(bool peephole, bool lstm, std::int64_t S = kExtents.S) {
  Extents extents = kExtents;
  extents.peephole = peephole;
  extents.lstm = lstm;
  extents.S = S;
  return extents;
}

std::string names(const std::vector<TensorSpec>& specs, const Extents& extents) {
  std::string text;
  for (const TensorSpec& spec : specs) {
    if (spec.present(extents)) text += (text.empty() ? "" : " ") + std::string(spec.name);
  }
  return text;
}

std::map<std::string, std::string> shapes(const std::vector<TensorSpec>& specs) {
  std::map<std::string, std::string> result;
  for (const TensorSpec& spec : specs) result[std::string(spec.name)] = to_string(spec.shape(kExtents));
  return result;
}

std::map<std::string, std::int64_t> rows(const std::vector<TensorSpec>& specs, const Extents& extents) {
  std::map<std::string, std::int64_t> result;
  for (const TensorSpec& spec : specs) result[std::string(spec.name)] = spec.rows(extents);
  return result;
}

const OpSpec& cell() { return *find_op(BACKGAUGE_LSTM_BLOCK_CELL_GRAD); }
const OpSpec& block() { return *find_op(BACKGAUGE_BLOCK_LSTM_GRAD_V2); }
const OpSpec& backprop() { return *find_op(BACKGAUGE_CUDNN_RNN_BACKPROP); }
const OpSpec& forward() { return *find_op(BACKGAUGE_CUDNN_RNN); }

TEST(OpSpec, TensorsStandInTheOrderOfTheSignatures) {
  const Extents any = with(false, false);
  EXPECT_EQ(names(cell().inputs, any), "x cs_prev h_prev w wci wcf wco b i cs f o ci co cs_grad h_grad");
  EXPECT_EQ(names(cell().outputs, any), "cs_prev_grad dicfo wci_grad wcf_grad wco_grad");
  EXPECT_EQ(names(block().inputs, any), "seq_len_max x cs_prev h_prev w wci wcf wco b i cs f o ci co h cs_grad h_grad");
  EXPECT_EQ(names(block().outputs, any), "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad");
  EXPECT_EQ(names(backprop().inputs, with(false, true)),
            "input input_h input_c params output output_h output_c output_backprop output_h_backprop "
            "output_c_backprop reserve_space");
  EXPECT_EQ(names(backprop().outputs, with(false, true)),
            "input_backprop input_h_backprop input_c_backprop params_backprop");
  EXPECT_EQ(names(forward().inputs, with(false, true)), "input input_h input_c params");
  EXPECT_EQ(names(forward().outputs, with(false, true)), "output output_h output_c reserve_space");
}

TEST(OpSpec, CellStatesAreAbsentWithoutAnLstm) {
  EXPECT_EQ(names(backprop().inputs, with(false, false)),
            "input input_h params output output_h output_backprop output_h_backprop reserve_space");
  EXPECT_EQ(names(backprop().outputs, with(false, false)), "input_backprop input_h_backprop params_backprop");
  EXPECT_EQ(names(forward().inputs, with(false, false)), "input input_h params");
  EXPECT_EQ(names(forward().outputs, with(false, false)), "output output_h reserve_space");
}

TEST(OpSpec, ShapesOfTheCell) {
  auto wanted = std::map<std::string, std::string>{{"x", "[3, 5]"}, {"w", "[12, 28]"}, {"b", "[28]"},
                                                   {"wci", "[7]"},  {"wcf", "[7]"},    {"wco", "[7]"}};
  for (const char* name : {"cs_prev", "h_prev", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"}) {
    wanted[name] = "[3, 7]";
  }
  EXPECT_EQ(shapes(cell().inputs), wanted);
  EXPECT_EQ(shapes(cell().outputs), (std::map<std::string, std::string>{{"cs_prev_grad", "[3, 7]"},
                                                                        {"dicfo", "[3, 28]"},
                                                                        {"wci_grad", "[7]"},
                                                                        {"wcf_grad", "[7]"},
                                                                        {"wco_grad", "[7]"}}));
}

TEST(OpSpec, ShapesOfTheBlock) {
  auto wanted = std::map<std::string, std::string>{{"seq_len_max", "[]"}, {"x", "[11, 3, 5]"}, {"cs_prev", "[3, 7]"},
                                                   {"h_prev", "[3, 7]"},  {"w", "[12, 28]"},   {"b", "[28]"},
                                                   {"wci", "[7]"},        {"wcf", "[7]"},      {"wco", "[7]"}};
  for (const char* name : {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"}) wanted[name] = "[11, 3, 7]";
  EXPECT_EQ(shapes(block().inputs), wanted);
  EXPECT_EQ(shapes(block().outputs), (std::map<std::string, std::string>{{"x_grad", "[11, 3, 5]"},
                                                                         {"cs_prev_grad", "[3, 7]"},
                                                                         {"h_prev_grad", "[3, 7]"},
                                                                         {"w_grad", "[12, 28]"},
                                                                         {"wci_grad", "[7]"},
                                                                         {"wcf_grad", "[7]"},
                                                                         {"wco_grad", "[7]"},
                                                                         {"b_grad", "[28]"}}));
}

TEST(OpSpec, ShapesOfTheStackedRnn) {
  std::map<std::string, std::string> wanted = {{"input", "[11, 3, 5]"},
                                               {"params", "[101]"},
                                               {"output", "[11, 3, 14]"},
                                               {"output_backprop", "[11, 3, 14]"},
                                               {"reserve_space", "[103]"}};
  for (const char* name : {"input_h", "input_c", "output_h", "output_c", "output_h_backprop", "output_c_backprop"}) {
    wanted[name] = "[4, 3, 7]";
  }
  EXPECT_EQ(shapes(backprop().inputs), wanted);
  EXPECT_EQ(shapes(backprop().outputs), (std::map<std::string, std::string>{{"input_backprop", "[11, 3, 5]"},
                                                                            {"input_h_backprop", "[4, 3, 7]"},
                                                                            {"input_c_backprop", "[4, 3, 7]"},
                                                                            {"params_backprop", "[101]"}}));
  for (const auto* list : {&forward().inputs, &forward().outputs}) {
    for (const auto& [name, shape] : shapes(*list)) EXPECT_EQ(shape, wanted[name]) << name;
  }
}

TEST(OpSpec, TheCellReadsWhatItsEquationsUse) {
  for (const bool peephole : {false, true}) {
    const std::set<std::string> unread = {"x", "h_prev", "w", "b"};
    const std::set<std::string> peephole_only = {"wci", "wcf", "wco", "cs"};
    for (const auto& [name, read] : rows(cell().inputs, with(peephole, false))) {
      EXPECT_EQ(read, unread.contains(name) || (peephole_only.contains(name) && !peephole) ? 0 : kAll) << name;
    }
    for (const auto& [name, live] : rows(cell().outputs, with(peephole, false))) {
      EXPECT_EQ(live, name.starts_with("wc") && !peephole ? 0 : kAll) << name;
    }
  }
}

TEST(OpSpec, TheBlockReadsTheFirstStepsOnly) {
  for (const bool peephole : {false, true}) {
    const auto read = rows(block().inputs, with(peephole, false));
    for (const char* name : {"x", "i", "f", "o", "ci", "co", "cs_grad", "h_grad"}) EXPECT_EQ(read.at(name), 4) << name;
    EXPECT_EQ(read.at("cs"), peephole ? 4 : 3);
    EXPECT_EQ(read.at("h"), 3);
    EXPECT_EQ(read.at("b"), 0);
    EXPECT_EQ(read.at("w"), kAll);
    EXPECT_EQ(read.at("wco"), peephole ? kAll : 0);
    EXPECT_EQ(read.at("seq_len_max"), kAll);
    for (const auto& [name, live] : rows(block().outputs, with(peephole, false))) {
      EXPECT_EQ(live, name == "x_grad" ? 4 : name.starts_with("wc") && !peephole ? 0 : kAll) << name;
    }
  }
}

TEST(OpSpec, TheBlockReadsNothingWithoutSteps) {
  for (const auto& [name, read] : rows(block().inputs, with(true, false, 0))) {
    if (name != "seq_len_max") {
      EXPECT_LE(read, 0) << name;
    }
  }
  for (const auto& [name, live] : rows(block().outputs, with(true, false, 0))) EXPECT_EQ(live, 0) << name;
}

TEST(OpSpec, EveryTensorHasTheRoleOfWhatItIs) {
  const auto with_role = [](const std::vector<TensorSpec>& specs, Role role) {
    std::string text;
    for (const TensorSpec& spec : specs) {
      if (spec.role == role) text += (text.empty() ? "" : " ") + std::string(spec.name);
    }
    return text;
  };
  EXPECT_EQ(with_role(block().inputs, Role::kLength), "seq_len_max");
  EXPECT_EQ(with_role(block().inputs, Role::kState), "h_prev");
  EXPECT_EQ(with_role(backprop().outputs, Role::kCellState), "input_c_backprop");
  EXPECT_EQ(with_role(block().inputs, Role::kSaved), "i cs f o ci co h");
  EXPECT_EQ(with_role(block().inputs, Role::kUpstream), "h_grad");
  EXPECT_EQ(with_role(cell().inputs, Role::kUpstreamCellState), "cs_grad");
  EXPECT_EQ(with_role(block().outputs, Role::kWeight), "w_grad");
  EXPECT_EQ(with_role(block().outputs, Role::kPeephole), "wci_grad wcf_grad wco_grad");
  EXPECT_EQ(with_role(cell().outputs, Role::kGates), "dicfo");
  EXPECT_EQ(with_role(backprop().inputs, Role::kUpstream), "output_backprop");
  EXPECT_EQ(with_role(backprop().inputs, Role::kUpstreamState), "output_h_backprop");
  EXPECT_EQ(with_role(backprop().inputs, Role::kUpstreamCellState), "output_c_backprop");
  EXPECT_EQ(with_role(backprop().inputs, Role::kForward), "output output_h output_c");
  EXPECT_EQ(with_role(forward().outputs, Role::kForward), "output output_h output_c");
  EXPECT_EQ(with_role(backprop().inputs, Role::kReserve), "reserve_space");
  EXPECT_TRUE(forward().has(Role::kReserve));
  EXPECT_FALSE(block().has(Role::kReserve));
  EXPECT_EQ(backprop().input(Role::kWeight).name, "params");
  EXPECT_EQ(backprop().output(Role::kData).name, "input_backprop");
  EXPECT_THROW(cell().input(Role::kForward), std::logic_error);
}

TEST(OpSpec, GateBlocksAreTheLastDimension) {
  std::string names;
  for (const OpSpec* op : {&cell(), &block(), &backprop()}) {
    for (const auto* list : {&op->inputs, &op->outputs}) {
      for (const TensorSpec& spec : *list) {
        if (spec.has_gate_blocks()) names += " " + std::string(spec.name);
      }
    }
  }
  EXPECT_EQ(names, " w b dicfo w b w_grad b_grad");
}

TEST(OpSpec, SizesAreInTheOrderOfCaseLines) {
  const auto letters = [](const OpSpec& op) {
    std::string out;
    for (const SizeSpec& size : op.sizes()) out += size.letter;
    return out;
  };
  EXPECT_EQ(letters(cell()), "BIH");
  EXPECT_EQ(letters(block()), "TBIHS");
  EXPECT_EQ(letters(backprop()), "TBIHL");
}

TEST(OpSpec, AttributesAllowWhatTheirRowSays) {
  std::map<std::string_view, std::string> expected;
  for (const OpSpec& op : op_specs()) {
    std::string names;
    for (const AttributeSpec& attribute : op.attributes()) {
      names += " " + std::string(attribute.name);
      expected[attribute.name] = attribute.expected();
    }
    EXPECT_EQ(names, op.traits.has_peepholes ? " use_peephole" : " rnn_mode direction input_mode dropout seed seed2");
  }
  EXPECT_EQ(expected["use_peephole"], "0 or 1");
  EXPECT_EQ(expected["rnn_mode"], "1 (relu), 2 (tanh), 3 (lstm) or 4 (gru)");
  EXPECT_EQ(expected["dropout"], "a number from 0 to 1");
  EXPECT_EQ(expected["seed2"], "a whole number from -2147483648 to 2147483647");

  backgauge_attributes a{};
  const auto allows = [&](std::string_view name) {
    return std::ranges::find(attribute_specs(), name, &AttributeSpec::name)->allows(a);
  };
  EXPECT_TRUE(allows("use_peephole"));
  EXPECT_FALSE(allows("rnn_mode"));
  a.rnn_mode = BACKGAUGE_GRU, a.use_peephole = 2;
  EXPECT_TRUE(allows("rnn_mode"));
  EXPECT_FALSE(allows("use_peephole"));
  for (const float wrong : {-0.5f, 1.5f, std::nanf("")}) {
    a.dropout = wrong;
    EXPECT_FALSE(allows("dropout")) << wrong;
  }
  a.dropout = 1, a.seed = INT32_MIN, a.seed2 = std::int64_t{INT32_MAX} + 1;
  EXPECT_TRUE(allows("dropout"));
  EXPECT_TRUE(allows("seed"));
  EXPECT_FALSE(allows("seed2"));
}

TEST(OpSpec, AMaskCoversTheOutputOfALayer) {
  EXPECT_EQ(to_string(mask_shape(kExtents)), "[11, 3, 14]");
  EXPECT_EQ(mask_elements(kExtents), 11 * 3 * 14);
}

TEST(OpSpec, OnlyTheCellSharesMemory) {
  for (const OpSpec& op : op_specs()) {
    for (const TensorSpec& output : op.outputs) {
      const std::string name(output.name);
      std::string wanted;
      if (op.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD && name == "cs_prev_grad") wanted = "cs_grad";
      if (op.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD && name.starts_with("wc")) wanted = name.substr(0, 3);
      EXPECT_EQ(output.alias, wanted) << op.word << " " << name;
    }
  }
}

TEST(OpSpec, OpsAreFoundByNumberAndByWord) {
  ASSERT_EQ(op_specs().size(), 4u);
  EXPECT_EQ(op_specs().back().op, BACKGAUGE_CUDNN_RNN);
  for (const OpSpec& op : op_specs()) {
    EXPECT_EQ(find_op(op.op), &op);
    EXPECT_EQ(find_op(op.word), &op);
    EXPECT_EQ((op.dtypes & BACKGAUGE_BIT(BACKGAUGE_FLOAT64)) != 0, op.traits.has_layers);
    EXPECT_EQ((op.dtypes & BACKGAUGE_BIT(BACKGAUGE_BFLOAT16)) != 0, op.traits.has_layers);
    EXPECT_EQ(op.dtypes & BACKGAUGE_BIT(BACKGAUGE_INT64), 0u);
  }
  for (const std::int32_t unknown : {0, 5, -1, INT32_MAX}) EXPECT_EQ(find_op(unknown), nullptr);
  EXPECT_EQ(find_op("lstm"), nullptr);
}

TEST(OpSpec, NamesAreTerminatedAndUnique) {
  for (const OpSpec& op : op_specs()) {
    std::set<std::string_view> seen;
    for (const auto* list : {&op.inputs, &op.outputs}) {
      for (const TensorSpec& spec : *list) {
        EXPECT_EQ(spec.name.data()[spec.name.size()], '\0');
        EXPECT_TRUE(seen.insert(spec.name).second) << op.word << " " << spec.name;
      }
    }
  }
}

TEST(ElementCount, CountsAndRefusesOverflow) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{3, 0, 5}), 0);
  EXPECT_EQ(element_count(Shape{3, 4, 5}), 60);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 59}), std::int64_t{1} << 59);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 60}), std::nullopt);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(element_count(Shape{0, std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
  EXPECT_EQ(element_count(Shape{3, -1}), std::nullopt);
  EXPECT_EQ(element_count(Shape{INT64_MIN, INT64_MIN}), std::nullopt);
}

TEST(ElementsInRows, AreClampedToTheTensor) {
  EXPECT_EQ(elements_in_rows({4, 3, 2}, 2), 12);
  EXPECT_EQ(elements_in_rows({4, 3, 2}, kAll), 24);
  EXPECT_EQ(elements_in_rows({4, 3, 2}, 0), 0);
  EXPECT_EQ(elements_in_rows({4, 3, 2}, -1), 0);
  EXPECT_EQ(elements_in_rows({4, 0, 2}, kAll), 0);
  EXPECT_EQ(elements_in_rows({}, kAll), 1);
  EXPECT_EQ(elements_in_rows({}, 0), 0);
}

TEST(ToString, Shapes) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{3, 20}), "[3, 20]");
}

TEST(Words, AreFoundBothWays) {
  EXPECT_EQ(dtype_word(BACKGAUGE_HALF), "f16");
  EXPECT_EQ(dtype_word(BACKGAUGE_INT64), "i64");
  EXPECT_EQ(dtype_word(BACKGAUGE_BFLOAT16), "bf16");
  EXPECT_EQ(rnn_mode_word(BACKGAUGE_GRU), "gru");
  EXPECT_EQ(input_mode_word(BACKGAUGE_AUTO_SELECT), "auto");
  EXPECT_EQ(direction_word(BACKGAUGE_BIDIRECTIONAL), "bi");
  EXPECT_EQ(accuracy_class_word(BACKGAUGE_CLASS_A_PRIME), "A'");
  EXPECT_EQ(numerical_contract_word(BACKGAUGE_BF16_ACC32), "bf16_acc32");
  EXPECT_EQ(numerical_contract_word(BACKGAUGE_FP32_3XTF32), "fp32_3xtf32");
  EXPECT_EQ(determinism_word(BACKGAUGE_BITWISE), "bitwise");
  EXPECT_EQ(call_status_word(BACKGAUGE_OK), "ok");
  EXPECT_EQ(call_status_word(BACKGAUGE_INTERNAL), "internal");
  const std::pair<std::string_view (*)(std::int32_t), std::int32_t> all[] = {
      {dtype_word, 5},          {rnn_mode_word, 4},           {input_mode_word, 3},  {direction_word, 2},
      {accuracy_class_word, 4}, {numerical_contract_word, 8}, {determinism_word, 3}, {call_status_word, 5}};
  for (const auto& [word_of, last] : all) {
    for (std::int32_t enumerator = 1; enumerator <= last; ++enumerator) {
      EXPECT_NE(word_of(enumerator), "?");
      EXPECT_EQ(enumerator_of(word_of, word_of(enumerator)), enumerator);
    }
    for (const std::int32_t unknown : {last + 1, -1, INT32_MIN}) EXPECT_EQ(word_of(unknown), "?");
    EXPECT_EQ(enumerator_of(word_of, "?"), 0);
    EXPECT_EQ(enumerator_of(word_of, "bfloat16"), 0);
  }
}

TEST(OpSpec, SetsAreListedInWords) {
  EXPECT_EQ(words_in(accuracy_class_word), "A, A', S, B");
  EXPECT_EQ(words_in(dtype_word, BACKGAUGE_BIT(BACKGAUGE_HALF) | BACKGAUGE_BIT(BACKGAUGE_BFLOAT16)), "f16, bf16");
  EXPECT_EQ(words_in(dtype_word, 0), "");
}

TEST(TypedCall, BindsEveryPresentTensorByName) {
  float values[2] = {};
  std::int64_t seq_len_max = 4;
  backgauge_tensor inputs[2] = {}, outputs[1] = {};
  inputs[0].name = "seq_len_max";
  inputs[0].data = &seq_len_max;
  inputs[1].name = "wco";
  inputs[1].data = &values[0];
  outputs[0].name = "b_grad";
  outputs[0].data = &values[1];
  backgauge_call call{};
  call.inputs = inputs;
  call.num_inputs = 2;
  call.outputs = outputs;
  call.num_outputs = 1;
  call.num_threads = 3;
  call.attributes.use_peephole = 1;
  const auto bound = BlockLstmGradV2Call<float>::bind(call, kExtents);
  EXPECT_EQ(bound.seq_len_max, &seq_len_max);
  EXPECT_EQ(bound.wco, &values[0]);
  EXPECT_EQ(bound.b_grad, &values[1]);
  EXPECT_EQ(bound.x, nullptr);
  EXPECT_EQ(bound.H, 7);
  EXPECT_EQ(bound.num_threads, 3);
  EXPECT_EQ(bound.attributes.use_peephole, 1);
}

}  // namespace
}  // namespace backgauge
