// SPDX-License-Identifier: Apache-2.0
// Every built-in implementation refuses what the contract refuses: with the right status, with a message, and before it
// writes anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <span>

#include "impl/registry.h"
#include "reference/contract/claims.h"
#include "reference/contract/malformed.h"

namespace backgauge {
namespace {

struct Subject {
  std::string implementation;
  const OpSpec* op;
  backgauge_dtype dtype;
};

// The dtypes that a table claims for an op; for CudnnRNN, those of its gradient. None for these two if it does not draw
// dropout masks: then it refuses the legal calls that the malformed ones are made from.
std::uint32_t claimed_dtypes(const std::string& name, const OpSpec& op) {
  std::string error;
  const backgauge_implementation& table = *open_implementation(name, error);
  const auto gradient = op.op == BACKGAUGE_CUDNN_RNN ? BACKGAUGE_CUDNN_RNN_BACKPROP : op.op;
  if (op.traits.draws_masks && table.dropout_mask == nullptr) return 0;
  for (const backgauge_op_claims& claims : std::span(table.claims, static_cast<std::size_t>(table.num_claims))) {
    if (claims.op == gradient) return read_claims(claims, error)->dtypes[kEveryDtype];
  }
  return 0;
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  std::vector<std::string> names = registry_names();
  std::ranges::copy(foreign_names(), std::back_inserter(names));
  for (const std::string& name : names) {
    for (const OpSpec& op : op_specs()) {
      for (const backgauge_dtype dtype : kFloatDtypes) {
        if ((claimed_dtypes(name, op) & BACKGAUGE_BIT(dtype)) != 0) all.push_back({name, &op, dtype});
      }
    }
  }
  return all;
}

std::string name_of(const Subject& s) {
  return s.implementation + "_" + std::string(s.op->word) + "_" + std::string(dtype_word(s.dtype));
}

// For GoogleTest, which would print the bytes of the pointer.
void PrintTo(const Subject& subject, std::ostream* out) { *out << name_of(subject); }

class Refusal : public ::testing::TestWithParam<Subject> {
 protected:
  Refusal() {
    std::string error;
    table_ = open_implementation(GetParam().implementation, error);
  }

  backgauge_status execute(const backgauge_call& call, backgauge_message& message) const {
    message.text[0] = '\0';
    const bool forward = GetParam().op->op == BACKGAUGE_CUDNN_RNN;
    return forward ? table_->forward(&call, &message) : table_->run(&call, &message);
  }

  const backgauge_implementation* table_;
};

TEST_P(Refusal, OfEveryMalformedCall) {
  const std::vector<MalformedCall> calls = malformed_calls(GetParam().op->op, GetParam().dtype);
  ASSERT_GE(calls.size(), 360u);
  for (const MalformedCall& malformed : calls) {
    const auto call = malformed.make(table_->prepare);
    backgauge_message message;
    EXPECT_EQ(execute(call->call, message), BACKGAUGE_INVALID_ARGUMENT) << malformed.description;
    EXPECT_STRNE(message.text, "") << malformed.description;
    EXPECT_TRUE(call->untouched()) << malformed.description;
  }
}

// An implementation that refuses everything must not pass.
TEST_P(Refusal, NotOfTheLegalCalls) {
  for (const CallSetup& setup : base_setups(GetParam().op->op, GetParam().dtype)) {
    OwnedCall call(setup, table_->prepare);
    backgauge_message message;
    EXPECT_EQ(execute(call.call, message), BACKGAUGE_OK) << message.text;
    EXPECT_FALSE(call.untouched());
  }
}

TEST_P(Refusal, OfNoCallAtAllAndOfTheWrongFunction) {
  const CallSetup setup = base_setups(GetParam().op->op, GetParam().dtype).front();
  OwnedCall call(setup, table_->prepare);
  backgauge_message message;
  EXPECT_EQ(table_->run(nullptr, &message), BACKGAUGE_INVALID_ARGUMENT);
  if (table_->forward != nullptr) {
    EXPECT_EQ(table_->forward(nullptr, nullptr), BACKGAUGE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(table_->prepare(nullptr, &call.plan, &message), BACKGAUGE_INVALID_ARGUMENT);
  EXPECT_EQ(table_->prepare(&call.call, nullptr, &message), BACKGAUGE_INVALID_ARGUMENT);
  const bool forward = GetParam().op->op == BACKGAUGE_CUDNN_RNN;
  const auto other = forward ? table_->run : table_->forward;
  if (other != nullptr) {
    EXPECT_EQ(other(&call.call, &message), BACKGAUGE_INVALID_ARGUMENT);
  }
  EXPECT_TRUE(call.untouched());
}

TEST_P(Refusal, OfAWorkspaceThatIsTooSmallOrMisaligned) {
  for (const CallSetup& setup : base_setups(GetParam().op->op, GetParam().dtype)) {
    OwnedCall call(setup, table_->prepare);
    if (call.plan.workspace_bytes == 0) continue;  // nothing to get wrong
    backgauge_message message;
    call.call.workspace_bytes = call.plan.workspace_bytes - 1;
    EXPECT_EQ(execute(call.call, message), BACKGAUGE_INVALID_ARGUMENT);
    EXPECT_NE(std::string(message.text).find("workspace"), std::string::npos) << message.text;
    call.call.workspace_bytes = call.plan.workspace_bytes;
    if (call.plan.workspace_alignment > 1) {
      call.call.workspace = static_cast<char*>(call.call.workspace) + 1;
      EXPECT_EQ(execute(call.call, message), BACKGAUGE_INVALID_ARGUMENT);
    }
    EXPECT_TRUE(call.untouched());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Refusal, ::testing::ValuesIn(subjects()), [](const auto& instance) {
  std::string name = name_of(instance.param);
  std::ranges::replace(name, '-', '_');  // GoogleTest takes no other names
  return name;
});

}  // namespace
}  // namespace backgauge
