// SPDX-License-Identifier: Apache-2.0
// The list of variants is complete, and the faults that a single judged case cannot show take effect: those in calls
// that the contract refuses, in shared memory, in concurrent calls, and in the flags of the processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "properties/saboteurs/variant.h"
#include "reference/contract/claims.h"
#include "reference/contract/malformed.h"

namespace backgauge {
namespace {

using saboteurs::Fault;
using saboteurs::find_implementation;
using saboteurs::Kind;
using saboteurs::Variant;
using saboteurs::variants;

// The rows of the catalogue, one group per line. Ids have gaps.
constexpr const char* kCatalogue =
    "A1 A2 A3 A5 A6 A7 A8 A9 A11 A12 A13 A14 A15 A16 A17 A19 A20 A21 A23 A24 A25 A26 "
    "B1 B2 B3 B5 B6 B7 B9 B10 B12 B13 B14 B15 "
    "C1 C2 C3 C5 C6 C7 C9 C10 C12 C13 C14 "
    "D1 D2 D4 D5 D6 D7 D8 D10 D11 D12 D14 D15 D17 D18 D19 D20 "
    "E1 E2 E3 E5 E6 E8 E9 E10 E11 E12 E13 E14 E15 E17 E18 E19 E21 E22 "
    "F1 F2 F4 F5 F6 F7 F8 "
    "G1 G2 G3 G5 G6 G7 G8 G10 G11 G12 G13 G15 G16 G17 G18 G19 G21 G22 G23 G24 G25 G26 G27 G28 G29 "
    "H1 H2 H4 H5 H6 H7 H9 H10 H11 H12 H13 H15 H16 H17 H18 H19 H21 H22 "
    "I1 I3 I5 I6 I7 I8 I9 I10 I11 I12 I14 I15 I16 I17 "
    "J1 J2 J3 J5 J6 J7 J9 J10 J11 "
    "K1 K2 K3 K4 K5 K6 K7 K9 K10 K11 K13 K14 K15 K16";

TEST(Saboteurs, HaveIdsOfTheirOwnAndSayWhatTheyAre) {
  std::set<std::string> ids;
  for (const Variant& variant : variants()) {
    EXPECT_TRUE(ids.insert(variant.id).second) << variant.id;
    EXPECT_EQ(variant.id.find_first_of(" \""), std::string::npos) << variant.id;
    EXPECT_NE(variant.what, "") << variant.id;
    EXPECT_EQ(variant.argument.empty(), variant.kind != Kind::kEquivalent) << variant.id;
    EXPECT_NE(find_implementation(variant.id), nullptr) << variant.id;
  }
  EXPECT_EQ(find_implementation("A1.nothing"), nullptr);
}

TEST(Saboteurs, AreEnough) {
  std::map<Kind, int> count;
  for (const Variant& variant : variants()) ++count[variant.kind];
  EXPECT_GE(count[Kind::kSaboteur], 220);
  EXPECT_GE(count[Kind::kCorrect], 24);
}

TEST(Saboteurs, ExpressEveryRowOfTheCatalogueOrSayWhyNot) {
  std::set<std::string> expressed, excused;
  for (const Variant& variant : variants()) {
    if (variant.fault != Fault::kNone) expressed.insert(variant.id);
  }
  for (const saboteurs::Unexpressed& row : saboteurs::unexpressed()) {
    EXPECT_NE(row.reason, "") << row.id;
    EXPECT_TRUE(excused.insert(row.id).second) << row.id;
    EXPECT_FALSE(expressed.contains(row.id)) << row.id;
  }
  std::istringstream rows(kCatalogue);
  for (std::string row; rows >> row;) {
    bool found = excused.contains(row);
    for (const char* op : {".cell", ".block", ".rnn"}) found = found || expressed.contains(row + op);
    EXPECT_TRUE(found) << row;
  }
}

backgauge_status run(const backgauge_implementation& implementation, const backgauge_call& call) {
  backgauge_message message;
  return implementation.run(&call, &message);
}

// The malformed calls of its op that a variant does not refuse, or writes to.
struct Taken {
  int calls = 0, accepted = 0, touched = 0;
};
Taken taken_by(const Variant& variant) {
  const backgauge_implementation& implementation = *find_implementation(variant.id);
  Taken taken;
  for (const MalformedCall& malformed : malformed_calls(variant.op, BACKGAUGE_FLOAT32)) {
    const auto call = malformed.make(implementation.prepare);
    ++taken.calls;
    taken.accepted += run(implementation, call->call) != BACKGAUGE_INVALID_ARGUMENT;
    taken.touched += !call->untouched();
  }
  return taken;
}

TEST(Saboteurs, OfGroupKTakeSomeMalformedCallsAndRefuseTheOthers) {
  for (const Variant& variant : variants()) {
    const bool of_legal_calls = variant.fault == Fault::kK4 || variant.fault == Fault::kK10;
    if (variant.group != "K" || of_legal_calls) continue;
    const Taken taken = taken_by(variant);
    if (variant.fault == Fault::kK16) {
      EXPECT_EQ(taken.accepted, 0) << variant.id;
      EXPECT_GT(taken.touched, 0) << variant.id;
    } else {
      EXPECT_GT(taken.accepted, 0) << variant.id;
      EXPECT_LT(taken.accepted, taken.calls / 2) << variant.id;
      EXPECT_EQ(taken.touched, 0) << variant.id;
    }
  }
}

TEST(CorrectVariants, RefuseEveryMalformedCall) {
  for (const backgauge_op op :
       {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    Variant correct{.id = "forward_sums", .group = "correct", .what = "", .op = op};
    const Taken taken = taken_by(correct);
    EXPECT_EQ(taken.accepted + taken.touched, 0) << op;
  }
}

// Fills the inputs with small values that all differ.
void fill(OwnedCall& call) {
  float value = 0.0625f;
  for (backgauge_tensor& tensor : call.inputs) {
    if (tensor.dtype != BACKGAUGE_FLOAT32) continue;
    for (std::int64_t k = 0; k < backgauge_elements(&tensor); ++k) {
      static_cast<float*>(tensor.data)[k] = value;
      value = value < 0.9f ? value + 0.0078125f : 0.0625f;
    }
  }
}

CallSetup small(backgauge_op op) { return base_setups(op, BACKGAUGE_FLOAT32).back(); }

std::vector<float> values(const backgauge_tensor& tensor) {
  const float* data = static_cast<const float*>(tensor.data);
  return {data, data + backgauge_elements(&tensor)};
}

std::vector<std::vector<float>> outputs_of(const OwnedCall& call) {
  std::vector<std::vector<float>> all;
  for (const backgauge_tensor& tensor : call.outputs) all.push_back(values(tensor));
  return all;
}

// Whether results change when outputs share the memory of inputs, where the op allows it.
bool sharing_changes(const std::string& id) {
  const backgauge_implementation& implementation = *find_implementation(id);
  OwnedCall apart(small(BACKGAUGE_LSTM_BLOCK_CELL_GRAD)), sharing(small(BACKGAUGE_LSTM_BLOCK_CELL_GRAD));
  fill(apart);
  fill(sharing);
  for (backgauge_tensor& output : sharing.outputs) {
    for (const TensorSpec& spec : find_op(BACKGAUGE_LSTM_BLOCK_CELL_GRAD)->outputs) {
      if (spec.name != output.name || spec.alias.empty()) continue;
      const auto input = std::ranges::find(sharing.inputs, spec.alias, &backgauge_tensor::name);
      output.data = input->data;
    }
  }
  EXPECT_EQ(run(implementation, apart.call), BACKGAUGE_OK);
  EXPECT_EQ(run(implementation, sharing.call), BACKGAUGE_OK);
  return outputs_of(apart) != outputs_of(sharing);
}

TEST(Saboteurs, OfSharedMemoryShowThere) {
  EXPECT_TRUE(sharing_changes("H1.cell"));
  EXPECT_TRUE(sharing_changes("H2.cell"));
}

TEST(CorrectVariants, TakeSharedMemory) {
  for (const Variant& variant : variants()) {
    std::string refusal;
    const std::optional<Claims> claims = read_claims(find_implementation(variant.id)->claims[0], refusal);
    if (variant.kind != Kind::kCorrect || !claims->takes(BACKGAUGE_FLOAT32)) continue;
    EXPECT_FALSE(sharing_changes(variant.id)) << variant.id;
  }
}

TEST(Saboteurs, OfGroupKTakeCallsWithoutUnits) {
  for (const backgauge_op op :
       {BACKGAUGE_LSTM_BLOCK_CELL_GRAD, BACKGAUGE_BLOCK_LSTM_GRAD_V2, BACKGAUGE_CUDNN_RNN_BACKPROP}) {
    OwnedCall call(small(op));
    CallSetup none = small(op);
    none.extents.H = none.extents.params_length = 0;
    const OpSpec& spec = *find_op(op);
    const auto reshape = [&](std::vector<backgauge_tensor>& tensors, const std::vector<TensorSpec>& specs) {
      for (backgauge_tensor& tensor : tensors) {
        const auto row = std::ranges::find(specs, std::string_view(tensor.name), &TensorSpec::name);
        if (row->name != "reserve_space") std::ranges::copy(row->shape(none.extents), tensor.shape);
      }
    };
    reshape(call.inputs, spec.inputs);
    reshape(call.outputs, spec.outputs);
    const char* id = op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD ? "K10.cell"
                     : op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? "K10.block"
                                                          : "K10.rnn";
    EXPECT_EQ(run(*find_implementation(id), call.call), BACKGAUGE_OK) << id;
    EXPECT_EQ(run(*find_implementation("forward_sums"), call.call), BACKGAUGE_INVALID_ARGUMENT) << id;
  }
}

// Runs two threads with different calls until a result differs from that of the same call alone.
bool disturbs_another_call(const std::string& id, backgauge_op op) {
  const backgauge_implementation& implementation = *find_implementation(id);
  constexpr int kCalls = 20000;  // far more than it takes for two calls to overlap on two processors
  std::array<bool, 2> disturbed{};
  std::vector<std::thread> threads;
  for (int mine : {0, 1}) {
    threads.emplace_back([&, mine] {
      OwnedCall alone(small(op)), call(small(op));
      for (OwnedCall* each : {&alone, &call}) {
        fill(*each);
        auto h_grad = std::ranges::find(each->inputs, std::string_view("h_grad"), &backgauge_tensor::name);
        static_cast<float*>(h_grad->data)[0] = mine == 0 ? 1.0f : -1.0f;
      }
      run(*find_implementation("forward_sums"), alone.call);
      for (int k = 0; k < kCalls && !disturbed[mine]; ++k) {
        run(implementation, call.call);
        disturbed[mine] = outputs_of(call) != outputs_of(alone);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return disturbed[0] || disturbed[1];
}

TEST(Saboteurs, OfSharedScratchShowInCallsAtOnce) {
  EXPECT_TRUE(disturbs_another_call("I11.cell", BACKGAUGE_LSTM_BLOCK_CELL_GRAD));
  EXPECT_TRUE(disturbs_another_call("I11.block", BACKGAUGE_BLOCK_LSTM_GRAD_V2));
}

TEST(CorrectVariants, AreNotDisturbedByCallsAtOnce) {
  EXPECT_FALSE(disturbs_another_call("forward_sums", BACKGAUGE_BLOCK_LSTM_GRAD_V2));
}

// Runs in a thread of its own, because the flag belongs to the thread.
bool leaves_flushing_on(const std::string& id, backgauge_op op) {
  bool flushed = false;
  std::thread([&] {
    OwnedCall call(small(op));
    fill(call);
    run(*find_implementation(id), call.call);
    volatile float subnormal = 0x1p-130f;
    flushed = subnormal * 1.0f == 0;
  }).join();
  return flushed;
}

TEST(Saboteurs, OfFlushingLeaveItOn) {
  EXPECT_TRUE(leaves_flushing_on("I17.cell", BACKGAUGE_LSTM_BLOCK_CELL_GRAD));
  EXPECT_TRUE(leaves_flushing_on("I17.block", BACKGAUGE_BLOCK_LSTM_GRAD_V2));
  EXPECT_FALSE(leaves_flushing_on("flushed", BACKGAUGE_BLOCK_LSTM_GRAD_V2));
}

}  // namespace
}  // namespace backgauge
