// SPDX-License-Identifier: Apache-2.0
// Writes wrong outputs that look plausible at a glance.
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "properties/saboteurs/hostile/misbehaviour.h"
#include "reference/contract/dtypes.h"

namespace backgauge::saboteurs {
namespace {

backgauge_status zeros(Call call, Message message) {
  return with_elements(call, message, [](double) { return 0.0; });
}

// Malformed calls are refused, so that nothing else gives it away.
backgauge_status writes_nothing(Call call, Message message) {
  const std::vector<std::vector<unsigned char>> before = outputs_of(*call);
  return after_right(call, message, [&] { give(*call, before); });
}

backgauge_status writes_all_but_one(Call call, Message message) {
  const std::vector<std::vector<unsigned char>> before = outputs_of(*call);
  std::size_t k = 0;
  return with_outputs(call, message, [&](const backgauge_tensor& tensor, unsigned char* bytes) {
    const std::size_t unit = backgauge_dtype_bytes(tensor.dtype), last = bytes_of(tensor) - unit;
    std::memcpy(bytes + last, before[k++].data() + last, unit);
  });
}

backgauge_status nan_everywhere(Call call, Message message) {
  return with_elements(call, message, [](double) { return std::numeric_limits<double>::quiet_NaN(); });
}

backgauge_status nan_in_one_element(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_OK || call->num_outputs == 0) return status;
  const backgauge_tensor& last = call->outputs[call->num_outputs - 1];
  const std::int64_t elements = backgauge_elements(&last);
  if (elements > 0) set_element(last, elements / 2, std::numeric_limits<double>::quiet_NaN());
  return status;
}

// Small enough to look like rounding, and too large to be rounding.
backgauge_status noise(Call call, Message message) {
  static std::atomic<std::uint64_t> state{1};
  return with_elements(call, message, [&](double value) {
    const double unit = float_format(static_cast<backgauge_dtype>(call->dtype)).unit_roundoff;
    const std::uint64_t random = state.fetch_add(0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    const double share = static_cast<double>(random >> 11) * 0x1p-52 - 1;  // -1 .. 1
    return value * (1 + 256 * unit * share);
  });
}

backgauge_status wrong_with_threads(Call call, Message message) {
  return after_right(call, message, [=] {
    if (call->num_threads > 1) spoil(*call);
  });
}

// Like an implementation that tunes itself by the clock when it is loaded: every element has one of two last bits,
// drawn once per process. Only for float32, where that is within the allowed error.
backgauge_status bits_of_the_process(Call call, Message message) {
  static const auto drawn = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  if (call->dtype != BACKGAUGE_FLOAT32) return right(call, message);
  return with_outputs(call, message, [](const backgauge_tensor& tensor, unsigned char* bytes) {
    for (std::int64_t k = 0; k < backgauge_elements(&tensor); ++k) {
      float value;
      std::memcpy(&value, bytes + k * 4, sizeof value);
      const bool up = ((drawn ^ static_cast<std::uint64_t>(k)) * 0x9e3779b97f4a7c15u >> 63) != 0;
      if (up && std::isnormal(value)) value = std::nextafter(value, 0.0f);
      std::memcpy(bytes + k * 4, &value, sizeof value);
    }
  });
}

// Two threads add to the same element without synchronisation.
backgauge_status races(Call call, Message message) {
  return with_outputs(call, message, [](const backgauge_tensor& tensor, unsigned char*) {
    const double sum = element(tensor, 0);
    std::atomic<double> shared{0};
    const auto add_half = [&] {
      for (int turn = 0; turn < 64; ++turn) {
        const double seen = shared.load(std::memory_order_relaxed);
        if (turn % 8 == 0) std::this_thread::yield();
        shared.store(seen + sum / 128, std::memory_order_relaxed);
      }
    };
    std::thread other(add_half);
    add_half();
    other.join();
    set_element(tensor, 0, shared.load());
  });
}

backgauge_status reads_the_expected_result(Call call, Message message) {
  return with_outputs(call, message, [](const backgauge_tensor& tensor, unsigned char*) { take_from_memory(tensor); });
}

backgauge_status refuses(Call, Message message) {
  std::strcpy(message->text, "not today");
  return BACKGAUGE_INVALID_ARGUMENT;
}

backgauge_status accepts_malformed_calls(Call call, Message message) {
  const backgauge_status status = right(call, message);
  return status == BACKGAUGE_INVALID_ARGUMENT ? BACKGAUGE_OK : status;
}

backgauge_status writes_when_it_refuses(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (status != BACKGAUGE_INVALID_ARGUMENT) return status;
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    if (call->outputs != nullptr && call->outputs[k].data != nullptr) {
      *static_cast<unsigned char*>(call->outputs[k].data) ^= 1u;
    }
  }
  return status;
}

backgauge_status throws(Call call, Message message) {
  right(call, message);
  throw std::runtime_error("thrown through C");
}

backgauge_status keeps_every_element(Call call, std::int32_t gap, std::uint8_t* keep, Message message) {
  const backgauge_status status = correct().dropout_mask(call, gap, keep, message);
  const backgauge_tensor* output = backgauge_find(call->inputs, call->num_inputs, "output");
  if (status == BACKGAUGE_OK && output != nullptr && keep != nullptr) {
    std::memset(keep, 1, static_cast<std::size_t>(backgauge_elements(output)));
  }
  return status;
}

}  // namespace

std::vector<Misbehaviour> value_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"zeros", "every output is zero", kCases, kFailed, "elements wrong", zeros},
      {"writes_nothing", "returns OK and leaves the outputs unchanged", kCases, kFailed, "never written",
       writes_nothing},
      {"writes_all_but_one", "leaves the last element of each output unchanged", kCases, kFailed, "1 never written",
       writes_all_but_one},
      {"nan_everywhere", "every output is NaN, for which every comparison is false", kCases, kFailed, "nan",
       nan_everywhere},
      {"nan_in_one_element", "one NaN among correct values", kCases, kFailed, "nan", nan_in_one_element},
      {"noise", "noise of 256 units of roundoff on every element", kCases, kFailed, "", noise},
      {"wrong_with_threads", "correct with one thread, wrong with two", kCases, kFailed, "not repeatable",
       wrong_with_threads},
      {"bits_of_the_process", "different last bits in every process", kRepeated, kFailed, "in another process",
       bits_of_the_process},
      {"races", "two threads add to one element without synchronisation", kCases, kFailed, "", races},
      {"reads_the_expected_result", "searches the memory for the expected outputs, and computes none", kCases, kFailed,
       "elements wrong", reads_the_expected_result},
      {"refuses", "refuses every call", kCases, kFailed, "returned invalid_argument: not today", refuses},
      {"accepts_malformed_calls", "returns OK for calls that must be refused", kMalformed, kFailed, "",
       accepts_malformed_calls},
      {"writes_when_it_refuses", "writes to the outputs before it refuses", kMalformed, kFailed, "",
       writes_when_it_refuses},
      {"throws", "throws through the C table", kCases, kFailed, "threw an exception", throws},
      {"keeps_every_element", "reports a dropout mask that drops nothing", kCases, kFailed, "dropout mask of gap",
       nullptr, nullptr, keeps_every_element},
  };
}

}  // namespace backgauge::saboteurs
