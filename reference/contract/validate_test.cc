// SPDX-License-Identifier: Apache-2.0
// Tests which calls are refused, with which words, and which edge cases are legal: semantics.md 6, 8 and 9.
#include "reference/contract/validate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "reference/contract/malformed.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

std::vector<std::pair<backgauge_op, backgauge_dtype>> ops_and_dtypes() {
  std::vector<std::pair<backgauge_op, backgauge_dtype>> result;
  for (const OpSpec& op : op_specs()) {
    for (const auto dtype : kFloatDtypes) {
      if (op.dtypes & BACKGAUGE_BIT(dtype)) result.emplace_back(op.op, dtype);
    }
  }
  return result;
}

std::string refusal(const OwnedCall& call) { return validate(call.call, call.plan.reserve_space_length).refusal; }

std::string refusal(const CallSetup& setup) { return refusal(OwnedCall(setup)); }

CallSetup block_setup(Extents extents, std::int32_t use_peephole = 1) {
  CallSetup setup{BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_FLOAT32, {}, extents};
  setup.attributes.use_peephole = use_peephole;
  return setup;
}

CallSetup rnn_setup(backgauge_op op, backgauge_rnn_mode mode, Extents extents) {
  CallSetup setup{op, BACKGAUGE_FLOAT32, {}, extents};
  setup.attributes.rnn_mode = mode;
  setup.attributes.input_mode = BACKGAUGE_LINEAR_INPUT;
  setup.attributes.direction = extents.D == 2 ? BACKGAUGE_BIDIRECTIONAL : BACKGAUGE_UNIDIRECTIONAL;
  setup.extents.lstm = mode == BACKGAUGE_LSTM;
  return setup;
}

backgauge_tensor& named(OwnedCall& call, std::string_view name) {
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) {
      if (tensor.name != nullptr && tensor.name == name) return tensor;
    }
  }
  throw std::out_of_range(std::string(name));
}

std::string subject(const std::string& message) { return message.substr(0, message.find(':')); }

TEST(Validate, AcceptsEmptyBatchesAndInputs) {
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    for (CallSetup setup : base_setups(op, dtype)) {
      setup.extents.B = 0;
      EXPECT_EQ(refusal(setup), "") << find_op(op)->word;
      setup.extents.B = 3;
      if (setup.attributes.input_mode == BACKGAUGE_SKIP_INPUT) continue;  // I = H >= 1
      setup.extents.I = 0;
      EXPECT_EQ(refusal(setup), "") << find_op(op)->word;
      setup.extents.B = 0;
      EXPECT_EQ(refusal(setup), "") << find_op(op)->word;
    }
  }
}

TEST(Validate, EmptyTensorsNeedNoMemory) {
  OwnedCall call(block_setup({.T = 4, .B = 0, .I = 5, .H = 2, .S = 3}));
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) {
      if (backgauge_elements(&tensor) == 0) tensor.data = nullptr;
    }
  }
  EXPECT_EQ(refusal(call), "");
  named(call, "w").data = nullptr;
  EXPECT_EQ(refusal(call), "w: expected data, got NULL");
}

TEST(Validate, AcceptsSequencesWithoutSteps) {
  EXPECT_EQ(refusal(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 0})), "");
  EXPECT_EQ(refusal(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 4})), "");
  EXPECT_EQ(refusal(block_setup({.T = 0, .B = 3, .I = 5, .H = 2, .S = 0})), "");
  EXPECT_EQ(refusal(block_setup({.T = 0, .B = 3, .I = 5, .H = 2, .S = 1})),
            "seq_len_max: expected 0 <= seq_len_max <= T = 0, got 1");
}

TEST(Validate, RefusesEmptyCells) {
  EXPECT_EQ(refusal(CallSetup{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_HALF, {}, {.B = 3, .I = 5, .H = 0}}),
            "cs_prev: expected H of at least 1, got 0");
  EXPECT_EQ(refusal(block_setup({.T = 4, .B = 3, .I = 5, .H = 0, .S = 3})), "cs_prev: expected H of at least 1, got 0");
  for (const auto op : {BACKGAUGE_CUDNN_RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    EXPECT_EQ(refusal(rnn_setup(op, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 5, .H = 0})),
              "input_h: expected H of at least 1, got 0");
    EXPECT_EQ(refusal(rnn_setup(op, BACKGAUGE_GRU, {.T = 0, .B = 3, .I = 5, .H = 2})),
              "input: expected T of at least 1, got 0");
    EXPECT_EQ(refusal(rnn_setup(op, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 5, .H = 2, .L = 0})),
              "input_h: expected dimension 0 of L * D with L >= 1 and D = 1, got 0");
  }
}

TEST(Validate, StatesMustBeWholeLayers) {
  OwnedCall call(rnn_setup(BACKGAUGE_CUDNN_RNN, BACKGAUGE_LSTM, {.T = 4, .B = 3, .I = 5, .H = 2, .L = 2, .D = 2}));
  named(call, "input_h").shape[0] = 5;
  EXPECT_EQ(refusal(call), "input_h: expected shape [L * D, B, H] = [4, 3, 2], got [5, 3, 2]; L = 2 from input_c");
}

TEST(Validate, NamesShapesAsTheTableDoes) {
  OwnedCall call({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 7}});
  ASSERT_EQ(refusal(call), "");
  named(call, "w").shape[1] = 27;
  EXPECT_EQ(refusal(call), "w: expected shape [I + H, 4 * H] = [12, 28], got [12, 27]; H = 7 from cs_prev");
  named(call, "w").shape[1] = 28;
  for (const std::int64_t length : {29, 30, 31}) {
    named(call, "b").shape[0] = length;
    EXPECT_EQ(refusal(call),
              "b: expected shape [4 * H] = [28], got [" + std::to_string(length) + "]; H = 7 from cs_prev");
  }
  named(call, "b").shape[0] = 28;
  named(call, "wcf").shape[0] = 6;
  EXPECT_EQ(refusal(call), "wcf: expected shape [H] = [7], got [6]; H = 7 from cs_prev");
  named(call, "wcf").shape[0] = 7;
  named(call, "x").rank = 3;
  EXPECT_EQ(refusal(call), "x: expected rank 2 [B, I], got rank 3");
  named(call, "x").rank = 2;
  named(call, "cs").shape[1] = -1;
  EXPECT_EQ(refusal(call), "cs: expected dimensions of 0 to 2^48, got [3, -1]");
  named(call, "cs").shape[1] = (std::int64_t{1} << 48) + 1;
  EXPECT_EQ(refusal(call), "cs: expected dimensions of 0 to 2^48, got [3, 281474976710657]");
  named(call, "cs").shape[0] = std::int64_t{1} << 20;
  named(call, "cs").shape[1] = std::int64_t{1} << 40;
  EXPECT_EQ(refusal(call), "cs: expected fewer than 2^60 elements, got [1048576, 1099511627776]");
}

// If several tensors are wrong in the same way, the correct ones decide the message.
TEST(Validate, SaysWhereSizesCameFrom) {
  OwnedCall call({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 7}});
  named(call, "x").shape[0] = 4;
  EXPECT_EQ(refusal(call), "x: expected shape [B, I] = [3, 5], got [4, 5]; B = 3 from cs_prev");
  named(call, "cs_prev").shape[0] = 4;
  EXPECT_EQ(refusal(call), "x: expected shape [B, I] = [3, 5], got [4, 5]; B = 3 from h_prev");
  named(call, "x").shape[0] = named(call, "cs_prev").shape[0] = 3;
  std::swap(named(call, "i").shape[0], named(call, "i").shape[1]);
  EXPECT_EQ(refusal(call), "i: expected shape [B, H] = [3, 7], got [7, 3]; B = 3 from x, H = 7 from cs_prev");
  OwnedCall block(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}));
  named(block, "x").shape[0] = 2;  // below S, which is not at fault
  EXPECT_EQ(refusal(block), "x: expected shape [T, B, I] = [4, 3, 5], got [2, 3, 5]; T = 4 from i");
}

TEST(Validate, NamesWhatIsWrongWithALists) {
  const CallSetup setup{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 7}};
  const auto message = [&](auto damage) {
    OwnedCall call(setup);
    damage(call);
    call.link();
    return refusal(call);
  };
  EXPECT_EQ(message([](OwnedCall& c) { std::swap(c.inputs[3], c.inputs[4]); }),
            "inputs: expected tensor 3 to be w, got wci");
  EXPECT_EQ(message([](OwnedCall& c) { c.inputs.erase(c.inputs.begin() + 3); }),
            "inputs: expected tensor 3 to be w, got wci; w is missing");
  EXPECT_EQ(message([](OwnedCall& c) { c.inputs[3].name = nullptr; }),
            "inputs: expected tensor 3 to be w, got NULL; w is missing");
  EXPECT_EQ(message([](OwnedCall& c) { c.inputs[3].name = "W"; }),
            "inputs: expected tensor 3 to be w, got W, unknown to LSTMBlockCellGrad; w is missing");
  EXPECT_EQ(message([](OwnedCall& c) { c.inputs[3].name = ""; }),
            "inputs: expected tensor 3 to be w, got an empty name, unknown to LSTMBlockCellGrad; w is missing");
  EXPECT_EQ(message([](OwnedCall& c) { c.inputs.insert(c.inputs.begin() + 3, c.inputs[0]); }),
            "inputs: expected tensor 3 to be w, got x, a duplicate");
  EXPECT_EQ(message([](OwnedCall& c) { c.outputs.pop_back(); }),
            "outputs: expected tensor 4 to be wco_grad, got no more tensors: wco_grad is missing");
  EXPECT_EQ(message([](OwnedCall& c) { c.outputs.push_back(c.outputs[0]); }),
            "outputs: expected no tensor 5, got cs_prev_grad, a duplicate");
  EXPECT_EQ(
      message([](OwnedCall& c) { c.inputs[0].name = "a\nvery long name that would otherwise fill the whole line"; }),
      "inputs: expected tensor 0 to be x, got a?very long name that would otherwise fi..., unknown to "
      "LSTMBlockCellGrad; x is missing");
}

TEST(Validate, CellStatesBelongToTheLstmOnly) {
  OwnedCall call(rnn_setup(BACKGAUGE_CUDNN_RNN, BACKGAUGE_LSTM, {.T = 4, .B = 3, .I = 5, .H = 2}));
  ASSERT_EQ(refusal(call), "");
  call.call.attributes.rnn_mode = BACKGAUGE_GRU;
  EXPECT_EQ(refusal(call), "inputs: expected tensor 2 to be params, got input_c, which this rnn_mode does not have");
}

TEST(Validate, LengthsOfParamsAndReserveSpace) {
  OwnedCall call(rnn_setup(BACKGAUGE_CUDNN_RNN_BACKPROP, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 5, .H = 2}));
  ASSERT_EQ(refusal(call), "");
  EXPECT_EQ(validate(call.call, 8).refusal, "reserve_space: expected shape [reserve_length] = [8], got [7]");
  EXPECT_EQ(validate(call.call, -2).refusal, "reserve_space: expected a length of at least 0 from prepare, got -2");
  named(call, "reserve_space").shape[0] = 0;
  EXPECT_EQ(validate(call.call, 0).refusal, "");
  named(call, "params").shape[0] -= 1;
  EXPECT_EQ(validate(call.call, 0).refusal,
            "params: expected shape [params_length] = [54], got [53]; H = 2 from input_h, L = 1 from input_h, I = 5 "
            "from input");
}

TEST(Validate, AnyLengthOfReserveSpaceButNothingElse) {
  for (const backgauge_op op : {BACKGAUGE_CUDNN_RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    const CallSetup setup = rnn_setup(op, BACKGAUGE_LSTM, {.T = 4, .B = 3, .I = 5, .H = 2, .L = 2});
    OwnedCall call(setup);
    for (const std::int64_t length : {0, 3, 7}) {
      named(call, "reserve_space").shape[0] = length;
      const Validation validation = validate(call.call, kAnyLength);
      EXPECT_EQ(validation.refusal, "");
      EXPECT_EQ(validation.extents.reserve_length, length);
    }
    for (const MalformedCall& malformed : malformed_calls(op, BACKGAUGE_FLOAT32)) {
      const auto made = malformed.make();
      const std::string with_length = refusal(*made), without = validate(made->call, kAnyLength).refusal;
      if (with_length.find("reserve_space: expected shape [reserve_length] = ") == 0) continue;
      EXPECT_EQ(without, with_length) << malformed.description;
    }
  }
}

TEST(Validate, ParamsThatNoMemoryHolds) {
  OwnedCall call(rnn_setup(BACKGAUGE_CUDNN_RNN_BACKPROP, BACKGAUGE_LSTM, {.T = 1, .B = 1, .I = 1, .H = 1}));
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) {
      if (tensor.rank == 3 && tensor.shape[2] == 1) tensor.shape[2] = std::int64_t{1} << 40;
    }
  }
  EXPECT_EQ(refusal(call), "params: expected a length below 2^60, got a length that overflows");
}

TEST(Validate, SkipNeedsAsManyInputsAsUnits) {
  CallSetup setup = rnn_setup(BACKGAUGE_CUDNN_RNN, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 4, .H = 4});
  setup.attributes.input_mode = BACKGAUGE_SKIP_INPUT;
  EXPECT_EQ(refusal(setup), "");
  setup.extents.I = 5;
  EXPECT_EQ(refusal(setup), "input: expected I = H = 4 with skip_input, got I = 5");
}

TEST(Validate, AttributesOfOtherOpsAreIgnored) {
  CallSetup setup = block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3});
  setup.attributes.rnn_mode = 77;
  setup.attributes.seed = INT64_MAX;
  setup.attributes.dropout = -1;
  EXPECT_EQ(refusal(setup), "");
  setup = rnn_setup(BACKGAUGE_CUDNN_RNN, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 4, .H = 4});
  setup.attributes.use_peephole = 77;
  EXPECT_EQ(refusal(setup), "");
}

TEST(Validate, AttributesAtTheirLimitsAreLegal) {
  CallSetup setup = rnn_setup(BACKGAUGE_CUDNN_RNN, BACKGAUGE_GRU, {.T = 4, .B = 3, .I = 4, .H = 4});
  setup.attributes.seed = INT32_MAX;
  setup.attributes.seed2 = INT32_MIN;
  for (const float dropout : {-0.0f, 0.0f, 0.5f, 1.0f}) {
    setup.attributes.dropout = dropout;
    EXPECT_EQ(refusal(setup), "") << dropout;
  }
}

TEST(Validate, AllowedPairsShareMemoryExactly) {
  OwnedCall call({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 2}});
  named(call, "cs_prev_grad").data = named(call, "cs_grad").data;
  for (const std::string name : {"wci", "wcf", "wco"}) named(call, name + "_grad").data = named(call, name).data;
  EXPECT_EQ(refusal(call), "");
  named(call, "wci_grad").data = static_cast<float*>(named(call, "wci").data) + 1;
  EXPECT_EQ(refusal(call), "wci_grad: expected memory apart from wci, got a partial overlap");
  named(call, "wci_grad").data = named(call, "wcf").data;
  EXPECT_EQ(refusal(call), "wci_grad: expected memory apart from wcf, got an overlap");
}

TEST(Validate, NeighboursDoNotOverlap) {
  OwnedCall call({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 2}});
  auto* const base = static_cast<float*>(named(call, "dicfo").data);
  named(call, "wci_grad").data = base + 24;  // dicfo has 3 * 8 elements
  EXPECT_EQ(refusal(call), "");
  named(call, "wci_grad").data = base + 23;
  EXPECT_EQ(refusal(call), "wci_grad: expected memory apart from dicfo, got an overlap");
}

TEST(Validate, InputsMayShareMemory) {
  OwnedCall call({BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_FLOAT32, {}, {.B = 3, .I = 5, .H = 2}});
  named(call, "cs").data = named(call, "cs_prev").data;
  EXPECT_EQ(refusal(call), "");
}

TEST(Validate, ReadsNoValuesButSeqLenMax) {
  // Addresses that cannot be read, far from each other.
  OwnedCall call(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}));
  std::uintptr_t address = 0x10000;
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) {
      if (tensor.data != &call.seq_len_max()) tensor.data = reinterpret_cast<void*>(address += 0x1000);
    }
  }
  EXPECT_EQ(refusal(call), "");
}

TEST(Validate, DeviceCallsKeepSeqLenMaxOnTheHost) {
  OwnedCall call(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}));
  call.call.memory_space = BACKGAUGE_CUDA;
  call.call.stream = &call;
  for (auto* list : {&call.inputs, &call.outputs}) {
    for (backgauge_tensor& tensor : *list) tensor.memory_space = BACKGAUGE_CUDA;
  }
  EXPECT_EQ(refusal(call), "seq_len_max: expected host memory, got memory_space 2");
  named(call, "seq_len_max").memory_space = BACKGAUGE_HOST;
  EXPECT_EQ(refusal(call), "");
}

TEST(Validate, LargerStructsOfLaterVersionsAreTaken) {
  OwnedCall call(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}));
  call.call.struct_size += 8;
  EXPECT_EQ(refusal(call), "");
}

TEST(Validate, NothingOfAShorterStructIsRead) {
  // Exactly as many bytes as it says: a sanitizer sees any read beyond them.
  std::vector<std::uint32_t> bytes = {4};
  backgauge_message message;
  const auto* call = reinterpret_cast<const backgauge_call*>(bytes.data());
  EXPECT_EQ(host().validate(call, 0, &message), BACKGAUGE_INVALID_ARGUMENT);
  EXPECT_EQ(subject(message.text), "struct_size");
}

TEST(Host, AnswersAsValidateDoes) {
  EXPECT_EQ(host().abi, BACKGAUGE_ABI);
  EXPECT_EQ(host().struct_size, sizeof(backgauge_host));
  OwnedCall call(block_setup({.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}));
  backgauge_message message;
  std::memset(&message, 'x', sizeof message);
  EXPECT_EQ(host().validate(&call.call, 0, &message), BACKGAUGE_OK);
  EXPECT_STREQ(message.text, "");
  call.seq_len_max() = 5;
  EXPECT_EQ(host().validate(&call.call, 0, &message), BACKGAUGE_INVALID_ARGUMENT);
  EXPECT_EQ(message.text, refusal(call));
  EXPECT_EQ(host().validate(&call.call, 0, nullptr), BACKGAUGE_INVALID_ARGUMENT);
  EXPECT_EQ(host().validate(nullptr, 0, &message), BACKGAUGE_INVALID_ARGUMENT);
  EXPECT_STREQ(message.text, "call: expected a call, got NULL");
}

}  // namespace
}  // namespace backgauge
