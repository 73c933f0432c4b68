// SPDX-License-Identifier: Apache-2.0
// Every legal call is accepted and every malformed one refused, with a message that names the changed field.
#include "reference/contract/malformed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reference/contract/op_spec.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/validate.h"

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

std::string subject(const std::string& message) { return message.substr(0, message.find(':')); }

bool is_tensor(backgauge_op op, std::string_view name) {
  const OpSpec& spec = *find_op(op);
  const auto has = [name](const auto& list) { return std::ranges::find(list, name, &TensorSpec::name) != list.end(); };
  return has(spec.inputs) || has(spec.outputs);
}

TEST(Malformed, ItsBasesAreLegal) {
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    for (const CallSetup& setup : base_setups(op, dtype)) {
      const OwnedCall legal(setup);
      const Validation validation = validate(legal.call, OwnedCall::kReserveLength);
      ASSERT_EQ(validation.refusal, "");
      EXPECT_EQ(validate_shapes(legal.call).refusal, "");
      const Extents& got = validation.extents;
      const Extents& wanted = setup.extents;
      EXPECT_EQ(got.B, wanted.B);
      EXPECT_EQ(got.I, wanted.I);
      EXPECT_EQ(got.H, wanted.H);
      EXPECT_EQ(got.peephole, wanted.peephole);
      EXPECT_EQ(got.lstm, wanted.lstm);
      const bool cell = op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD, block = op == BACKGAUGE_BLOCK_LSTM_GRAD_V2;
      EXPECT_EQ(got.T, cell ? 0 : wanted.T);
      EXPECT_EQ(got.S, block ? wanted.S : 0);
      if (find_op(op)->traits.has_modes) {
        EXPECT_EQ(got.L, wanted.L);
        EXPECT_EQ(got.D, wanted.D);
        EXPECT_EQ(got.params_length, rnn_params(setup.attributes, wanted.I, wanted.H, wanted.L).size());
        EXPECT_EQ(got.reserve_length, OwnedCall::kReserveLength);
      }
    }
  }
}

TEST(Malformed, IsRefused) {
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    const std::vector<MalformedCall> calls = malformed_calls(op, dtype);
    EXPECT_GE(calls.size(), 360u);
    std::set<std::string> descriptions;
    for (const MalformedCall& malformed : calls) {
      EXPECT_TRUE(descriptions.insert(malformed.description).second) << malformed.description;
      const auto call = malformed.make();
      const std::string message = refusal(*call);
      ASSERT_NE(message, "") << malformed.description;
      EXPECT_NE(message.find(": expected "), std::string::npos) << message;
      EXPECT_NE(message.find(", got "), std::string::npos) << message;
      EXPECT_LT(message.size(), std::size_t{BACKGAUGE_MESSAGE_BYTES}) << message;
      EXPECT_TRUE(call->untouched()) << malformed.description;
      if (malformed.damage == Damage::kShape || malformed.damage == Damage::kValue) {
        EXPECT_TRUE(is_tensor(op, subject(message))) << malformed.description << "\n" << message;
      }
      if (malformed.damage == Damage::kList) {
        EXPECT_TRUE(subject(message) == "inputs" || subject(message) == "outputs") << message;
      }
    }
  }
}

// A change to one tensor must be reported for that tensor, not for one that it no longer fits.
TEST(Malformed, TheDamagedTensorIsBlamed) {
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    for (const MalformedCall& malformed : malformed_calls(op, dtype)) {
      const bool own =
          malformed.damage == Damage::kDescription ||
          (malformed.damage == Damage::kShape && (malformed.description.find(": rank") != std::string::npos ||
                                                  malformed.description.find(": more elements") != std::string::npos ||
                                                  malformed.description.find(" = -") != std::string::npos));
      if (!own) continue;
      const std::string message = refusal(*malformed.make());
      EXPECT_NE(malformed.description.find(": " + subject(message) + ": "), std::string::npos)
          << malformed.description << "\n"
          << message;
    }
  }
}

// Counts the other tensors that imply a size: a dimension has it as a factor or term, or a length depends on it.
std::ptrdiff_t others_that_say(const OpSpec& op, const Extents& extents, char letter, std::string_view name) {
  const auto says = [&](const TensorSpec& spec) {
    if (spec.name == name || !spec.present(extents)) return false;
    return std::ranges::any_of(spec.dimensions, [&](std::string_view dimension) {
      return dimension == "params_length" ? std::string_view("IHL").find(letter) != std::string_view::npos
                                          : dimension.find(letter) != dimension.npos && dimension != "reserve_length";
    });
  };
  return std::ranges::count_if(op.inputs, says) + std::ranges::count_if(op.outputs, says);
}

// A tensor with a wrong dimension is named if two others imply each of the sizes in it; if only one does, either of
// the two may be wrong.
TEST(Malformed, TheTensorThatContradictsTheOthersIsBlamed) {
  int determined = 0, open = 0;
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    for (const MalformedCall& malformed : malformed_calls(op, dtype)) {
      const std::size_t at = malformed.description.find(": dimension ");
      if (malformed.damage != Damage::kShape || at == std::string::npos) continue;
      const std::size_t begin = malformed.description.rfind(": ", at - 1) + 2;
      const std::string damaged = malformed.description.substr(begin, at - begin);
      const auto call = malformed.make();
      const std::string message = refusal(*call);
      const OpSpec& spec = *find_op(op);
      const TensorSpec& tensor = [&]() -> const TensorSpec& {
        const auto input = std::ranges::find(spec.inputs, damaged, &TensorSpec::name);
        return input != spec.inputs.end() ? *input : *std::ranges::find(spec.outputs, damaged, &TensorSpec::name);
      }();
      const std::size_t dimension = malformed.description[at + std::string_view(": dimension ").size()] - '0';
      bool told = true;
      for (const char letter : tensor.dimensions[dimension]) {
        if (std::string_view("TBIHL").find(letter) == std::string_view::npos) continue;
        told = told && others_that_say(spec, malformed.setup.extents, letter, damaged) >= 2;
      }
      ++(told ? determined : open);
      if (told) {
        EXPECT_EQ(subject(message), damaged) << malformed.description << "\n" << message;
      } else {
        EXPECT_TRUE(is_tensor(op, subject(message))) << message;
      }
      // An expectation that comes from other tensors names them.
      if (message.find("expected shape") != std::string::npos && subject(message) != "reserve_space") {
        EXPECT_NE(message.find(" from "), std::string::npos) << malformed.description << "\n" << message;
      }
    }
  }
  EXPECT_GT(determined, 10 * open);
}

TEST(Malformed, PrepareSeesTheSameShapes) {
  for (const auto& [op, dtype] : ops_and_dtypes()) {
    for (const MalformedCall& malformed : malformed_calls(op, dtype)) {
      const auto call = malformed.make();
      for (auto* list : {&call->inputs, &call->outputs}) {
        for (backgauge_tensor& tensor : *list) {
          if (tensor.data != &call->seq_len_max()) tensor.data = nullptr;
        }
      }
      const std::string message = validate_shapes(call->call).refusal;
      const auto mentions = [&](const char* word) { return malformed.description.find(word) != std::string::npos; };
      const bool of_memory = malformed.damage == Damage::kMemory && !mentions(": seq_len_max: ");
      const bool of_reserve_space = malformed.damage == Damage::kShape && mentions(": reserve_space: ");
      EXPECT_EQ(message.empty(), of_memory || of_reserve_space) << malformed.description << "\n" << message;
    }
  }
}

}  // namespace
}  // namespace backgauge
