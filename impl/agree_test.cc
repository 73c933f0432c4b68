// SPDX-License-Identifier: Apache-2.0
// Compares the built-in implementations with each other, which proves nothing but finds a wrong index in one of them;
// and each with itself: threads, sharing of memory, reserve_space.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "impl/registry.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/owned_call.h"
#include "reference/contract/sanitized.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

using Bytes = std::vector<unsigned char>;
using Results = std::map<std::string, Bytes>;

const backgauge_implementation& implementation(const std::string& name) {
  std::string error;
  return *open_implementation(name, error);
}

std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

Bytes contents(const backgauge_tensor& tensor) {
  const auto* data = static_cast<const unsigned char*>(tensor.data);
  return Bytes(data, data + bytes_of(tensor));
}

std::vector<double> values(backgauge_dtype dtype, const Bytes& bytes) {
  std::vector<double> result(bytes.size() / backgauge_dtype_bytes(dtype));
  decode(dtype, bytes.data(), result);
  return result;
}

// Fills inputs with values in (-1, 1) that depend only on the tensor's name.
void fill_inputs(OwnedCall& call) {
  for (const backgauge_tensor& tensor : call.inputs) {
    if (tensor.dtype == BACKGAUGE_INT64) continue;
    const std::string_view name = tensor.name;
    std::seed_seq seed(name.begin(), name.end());
    std::mt19937 random(seed);
    std::vector<double> numbers(static_cast<std::size_t>(backgauge_elements(&tensor)));
    for (double& number : numbers) number = static_cast<double>(random()) * 0x1p-31 - 1;
    encode(static_cast<backgauge_dtype>(tensor.dtype), numbers, tensor.data);
  }
}

Results outputs_of(const OwnedCall& call) {
  Results results;
  for (const backgauge_tensor& tensor : call.outputs) results[tensor.name] = contents(tensor);
  return results;
}

// Runs the op (for CudnnRNNBackprop after its forward op), and checks that no input changes.
Results run(const backgauge_implementation& table, const CallSetup& setup, int threads) {
  const auto execute = [&](OwnedCall& call, auto function) {
    std::vector<Bytes> before;
    for (const backgauge_tensor& tensor : call.inputs) before.push_back(contents(tensor));
    backgauge_message message{};
    EXPECT_EQ(function(&call.call, &message), BACKGAUGE_OK) << message.text;
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(contents(call.inputs[k]), before[k]) << "changed " << call.inputs[k].name;
    }
  };
  // The workspace size depends on the number of threads, so prepare must be called with that number.
  static thread_local int threads_now;
  static thread_local PrepareFunction prepare_now;
  threads_now = threads;
  prepare_now = table.prepare;
  const PrepareFunction prepare = [](const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
    backgauge_call with_threads = *call;
    with_threads.num_threads = threads_now;
    return prepare_now(&with_threads, plan, message);
  };
  OwnedCall call(setup, prepare);
  call.call.num_threads = threads;
  fill_inputs(call);
  if (setup.op != BACKGAUGE_CUDNN_RNN_BACKPROP) {
    execute(call, table.run);
    return outputs_of(call);
  }
  CallSetup forward_setup = setup;
  forward_setup.op = BACKGAUGE_CUDNN_RNN;
  OwnedCall forward(forward_setup, prepare);
  forward.call.num_threads = threads;
  fill_inputs(forward);
  execute(forward, table.forward);
  Results results = outputs_of(forward);
  for (const backgauge_tensor& tensor : call.inputs) {
    const auto found = results.find(tensor.name);
    if (found != results.end() && !found->second.empty()) {
      std::memcpy(tensor.data, found->second.data(), found->second.size());
    }
  }
  execute(call, table.run);
  results.merge(outputs_of(call));
  const std::int64_t gap = setup.extents.T * setup.extents.B * setup.extents.D * setup.extents.H;
  for (std::int32_t k = 0; k + 1 < setup.extents.L; ++k) {
    Bytes& keep = results["keep" + std::to_string(k)];
    keep.assign(static_cast<std::size_t>(gap) + 1, 9);
    backgauge_message message{};
    EXPECT_EQ(table.dropout_mask(&call.call, k, keep.data(), &message), BACKGAUGE_OK) << message.text;
    EXPECT_EQ(keep.back(), 9);
  }
  return results;
}

CallSetup cell(std::int64_t B, std::int64_t I, std::int64_t H, bool peephole, backgauge_dtype dtype) {
  CallSetup setup{BACKGAUGE_LSTM_BLOCK_CELL_GRAD, dtype, {}, {.B = B, .I = I, .H = H, .peephole = peephole}};
  setup.attributes.use_peephole = peephole ? 1 : 0;
  return setup;
}

CallSetup block(std::int64_t T, std::int64_t S, std::int64_t B, std::int64_t I, std::int64_t H, bool peephole,
                backgauge_dtype dtype) {
  CallSetup setup = cell(B, I, H, peephole, dtype);
  setup.op = BACKGAUGE_BLOCK_LSTM_GRAD_V2;
  setup.extents.T = T;
  setup.extents.S = S;
  return setup;
}

CallSetup rnn(std::int64_t T, std::int64_t B, std::int64_t I, std::int64_t H, std::int64_t L, backgauge_rnn_mode mode,
              bool bidirectional, float dropout, backgauge_dtype dtype) {
  CallSetup setup{BACKGAUGE_CUDNN_RNN_BACKPROP, dtype, {}, {.T = T, .B = B, .I = I, .H = H, .L = L}};
  setup.extents.D = bidirectional ? 2 : 1;
  setup.extents.lstm = mode == BACKGAUGE_LSTM;
  setup.attributes.rnn_mode = mode;
  setup.attributes.input_mode = BACKGAUGE_AUTO_SELECT;
  setup.attributes.direction = bidirectional ? BACKGAUGE_BIDIRECTIONAL : BACKGAUGE_UNIDIRECTIONAL;
  setup.attributes.dropout = dropout;
  setup.attributes.seed = 5;
  setup.attributes.seed2 = -7;
  return setup;
}

std::vector<CallSetup> setups() {
  std::vector<CallSetup> all;
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
    for (const bool peephole : {false, true}) {
      for (const auto& [B, I, H] : {std::array{1, 1, 1}, {3, 2, 7}, {0, 3, 5}, {70, 0, 3}, {2, 1, 1030}}) {
        all.push_back(cell(B, I, H, peephole, dtype));
      }
      for (const auto& [T, S, B, I, H] : {std::array{1, 1, 1, 1, 1},
                                          {5, 5, 3, 4, 7},
                                          {5, 3, 2, 9, 3},
                                          {4, 0, 2, 3, 5},
                                          {0, 0, 2, 3, 5},
                                          {3, 3, 0, 2, 4},
                                          {3, 2, 4, 0, 6},
                                          {9, 9, 33, 40, 70},
                                          {2, 2, 13, 120, 17}}) {
        all.push_back(block(T, S, B, I, H, peephole, dtype));
      }
    }
  }
  for (const backgauge_dtype dtype : kFloatDtypes) {
    for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
      for (const bool bidirectional : {false, true}) {
        all.push_back(rnn(1, 1, 1, 1, 1, mode, bidirectional, 0, dtype));
        all.push_back(rnn(4, 3, 5, 2, 3, mode, bidirectional, 0.5f, dtype));
        all.push_back(rnn(3, 2, 4, 4, 2, mode, bidirectional, 1, dtype));  // I = H: skip_input
        all.push_back(rnn(2, 0, 3, 4, 2, mode, bidirectional, 0.25f, dtype));
        all.push_back(rnn(2, 3, 0, 4, 2, mode, bidirectional, 0, dtype));
        all.push_back(rnn(3, 14, 20, 70, 1, mode, bidirectional, 0, dtype));
      }
    }
  }
  // More bytes than an L3 of 32 MiB, in rows that are not full lines: for non-temporal stores.
  all.push_back(cell(1303, 1, 515, false, BACKGAUGE_FLOAT32));
  all.push_back(cell(1303, 1, 515, true, BACKGAUGE_FLOAT32));
  all.push_back(cell(2605, 1, 515, true, BACKGAUGE_HALF));
  return all;
}

// A wrong index causes an error as large as the values. Rounding errors are far below this fraction of the largest
// value of a tensor: some 2^10 of them in a chain, each at most the unit roundoff.
double far_above_roundings(backgauge_dtype dtype) {
  const double roundoff = float_format(dtype).unit_roundoff;
  return dtype == BACKGAUGE_HALF ? 4 * roundoff : 1024 * roundoff;  // half: computed in float, rounded once
}

void expect_close(const CallSetup& setup, const std::string& name, const Bytes& got, const Bytes& want) {
  if (name.starts_with("keep")) {
    EXPECT_EQ(got, want) << name;
    return;
  }
  const std::vector<double> a = values(setup.dtype, got), b = values(setup.dtype, want);
  ASSERT_EQ(a.size(), b.size());
  double largest = 0, distance = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_TRUE(std::isfinite(a[k]) && std::isfinite(b[k])) << name << " " << k;
    largest = std::max(largest, std::fabs(b[k]));
    distance = std::max(distance, std::fabs(a[k] - b[k]));
  }
  EXPECT_LE(distance, far_above_roundings(setup.dtype) * largest) << name << " of largest value " << largest;
}

template <class Filter>
void expect_agreement_with_plain(const std::string& implementation_name, Filter takes) {
  for (const CallSetup& setup : setups()) {
    if (!takes(setup)) continue;
    const Extents& e = setup.extents;
    SCOPED_TRACE(std::string(find_op(setup.op)->word) + " " + std::string(dtype_word(setup.dtype)) + " mode " +
                 std::to_string(setup.attributes.rnn_mode) + " T,S,B,I,H,L,D,peephole " +
                 to_string({e.T, e.S, e.B, e.I, e.H, e.L, e.D, e.peephole}));
    const Results plain = run(implementation("plain"), setup, 1);
    const Results other = run(implementation(implementation_name), setup, 1);
    for (const auto& [name, want] : plain) {
      if (name != "reserve_space") expect_close(setup, name, other.at(name), want);
    }
  }
}

TEST(Agree, CpuWithPlain) {
  expect_agreement_with_plain("cpu", [](const CallSetup&) { return true; });
}

// Their dropout masks are the same. Not in half, where operands of products are half; the judge covers that.
TEST(Agree, CudaOnHostWithPlain) {
  expect_agreement_with_plain("cuda-on-host", [](const CallSetup& setup) { return setup.dtype != BACKGAUGE_HALF; });
}

// Not in half, where it rounds after every operation; the judge covers that.
TEST(Agree, EigenWithPlain) {
  expect_agreement_with_plain("eigen", [](const CallSetup& setup) {
    return setup.op != BACKGAUGE_CUDNN_RNN_BACKPROP && setup.dtype == BACKGAUGE_FLOAT32;
  });
}

// Large enough for seven threads (kWorkPerThread); 16 and 33 are more than some have shares for.
TEST(Agree, CpuWithItselfOnAnyNumberOfThreads) {
  std::vector<CallSetup> large = {cell(300, 1, 400, false, BACKGAUGE_FLOAT32), cell(300, 1, 400, true, BACKGAUGE_HALF)};
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
    large.push_back(block(9, 9, 33, 40, 70, true, dtype));
    large.push_back(block(40, 39, 1, 100, 130, false, dtype));
  }
  for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
    large.push_back(rnn(9, 33, 70, 70, 2, mode, true, 0.5f, BACKGAUGE_FLOAT32));
    large.push_back(rnn(9, 33, 75, 70, 2, mode, true, 0.5f, BACKGAUGE_FLOAT64));
  }
  large.push_back(rnn(9, 33, 75, 70, 2, BACKGAUGE_GRU, true, 0.5f, BACKGAUGE_HALF));
  // Sanitizers check memory, not bits, and their builds take a hundred times as long.
  const std::vector<int> numbers = kSanitized ? std::vector{7} : std::vector{2, 3, 7, 16, 33};
  for (const CallSetup& setup : large) {
    const Results alone = run(implementation("cpu"), setup, 1);
    for (const int threads : numbers) {
      const Results together = run(implementation("cpu"), setup, threads);
      for (const auto& [name, want] : alone) {
        EXPECT_EQ(together.at(name), want) << find_op(setup.op)->word << " " << name << " on " << threads;
      }
    }
  }
}

// Nothing outlives a call, so concurrent calls share nothing, whatever their ops and numbers of threads.
TEST(Agree, CallsFromSeveralThreadsDoNotMeet) {
  const std::vector<CallSetup> different = {cell(150, 1, 200, true, BACKGAUGE_FLOAT32),
                                            block(5, 4, 33, 40, 70, true, BACKGAUGE_FLOAT32),
                                            rnn(5, 33, 40, 70, 2, BACKGAUGE_LSTM, true, 0.5f, BACKGAUGE_FLOAT32),
                                            rnn(5, 33, 40, 70, 2, BACKGAUGE_GRU, false, 0, BACKGAUGE_HALF)};
  for (const std::string& name : registry_names()) {
    const backgauge_implementation& table = implementation(name);
    std::vector<Results> alone, together(different.size());
    for (const CallSetup& setup : different) alone.push_back(run(table, setup, 2));
    {
      std::vector<std::jthread> callers;
      for (std::size_t k = 0; k < different.size(); ++k) {
        callers.emplace_back([&, k] { together[k] = run(table, different[k], 2); });
      }
    }
    for (std::size_t k = 0; k < different.size(); ++k) EXPECT_EQ(together[k], alone[k]) << name << " " << k;
  }
}

TEST(Agree, OutputsOnTheMemoryOfInputsWithOutputsApart) {
  for (const std::string& name : registry_names()) {
    const backgauge_implementation& table = implementation(name);
    for (const bool peephole : {false, true}) {
      const CallSetup setup = cell(5, 2, 600, peephole, BACKGAUGE_FLOAT32);
      const Results apart = run(table, setup, 1);
      OwnedCall call(setup, table.prepare);
      fill_inputs(call);
      for (backgauge_tensor& output : call.outputs) {
        for (const TensorSpec& spec : find_op(setup.op)->outputs) {
          if (spec.name != output.name || spec.alias.empty()) continue;
          output.data = backgauge_find(call.call.inputs, call.call.num_inputs, std::string(spec.alias).c_str())->data;
        }
      }
      backgauge_message message{};
      ASSERT_EQ(table.run(&call.call, &message), BACKGAUGE_OK) << message.text;
      for (const auto& [tensor, want] : outputs_of(call)) EXPECT_EQ(apart.at(tensor), want) << name << " " << tensor;
    }
  }
}

TEST(Agree, DropoutMasksFollowSeedsAndGap) {
  CallSetup setup = rnn(7, 10, 3, 11, 3, BACKGAUGE_RNN_TANH, true, 0.25f, BACKGAUGE_FLOAT32);
  for (const std::string& name : registry_names()) {
    const auto masks = [&](std::int64_t seed, std::int64_t seed2) {
      setup.attributes.seed = seed;
      setup.attributes.seed2 = seed2;
      return run(implementation(name), setup, 1);
    };
    const Results first = masks(5, 7);
    for (const char* gap : {"keep0", "keep1"}) {
      const Bytes& keep = first.at(gap);
      const auto dropped = std::count(keep.begin(), keep.end() - 1, 0),
                 kept = std::count(keep.begin(), keep.end() - 1, 1);
      const double count = static_cast<double>(keep.size() - 1);
      EXPECT_EQ(static_cast<double>(dropped + kept), count);
      EXPECT_NEAR(static_cast<double>(kept), 0.75 * count, 5 * std::sqrt(count * 0.75 * 0.25));  // standard deviations
    }
    EXPECT_NE(first.at("keep0"), first.at("keep1"));
    EXPECT_NE(masks(6, 7).at("keep0"), first.at("keep0"));
    EXPECT_NE(masks(5, 8).at("keep0"), first.at("keep0"));
    // semantics.md 3.6: a negative seed2 takes the place of seed.
    EXPECT_EQ(masks(5, -7).at("keep0"), masks(6, -7).at("keep0"));
  }
}

}  // namespace
}  // namespace backgauge
