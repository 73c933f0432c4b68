// SPDX-License-Identifier: Apache-2.0
// The plain implementation as one for device memory, where the device is the fake one of properties/device/testing.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "impl/plain/plain.h"

namespace backgauge::testing {

// What a fault does to the call in device memory after `run`.
using AfterRun = void (*)(const backgauge_call& call);

// How `run` computes while its stream is captured into a graph.
enum class Captured { kInTheGraph, kAtOnce };

struct FakeDevice {
  const backgauge_implementation* plain = nullptr;
  bool (*is_device)(const void*) = nullptr;
  bool (*is_captured)(void* stream) = nullptr;
  void (*put)(void* stream, const std::function<void()>& work) = nullptr;
  AfterRun after_run = nullptr;
  Captured captured = Captured::kInTheGraph;
};

inline FakeDevice& fake_device() {
  static FakeDevice device;
  return device;
}

inline bool is_where_it_says(const backgauge_tensor& tensor) {
  if (tensor.data == nullptr || backgauge_elements(&tensor) <= 0) return true;
  const bool scalar = tensor.dtype == BACKGAUGE_INT64;
  return fake_device().is_device(tensor.data) != scalar &&
         tensor.memory_space == (scalar ? BACKGAUGE_HOST : BACKGAUGE_CUDA);
}

// Makes the call one in host memory, which this device's memory is, and hands it on. A call that succeeds must have
// been one in device memory.
template <class Function>
backgauge_status on_host(const backgauge_call* call, backgauge_message* message, Function function) {
  backgauge_call host = *call;
  std::vector<backgauge_tensor> inputs(call->inputs, call->inputs + call->num_inputs);
  std::vector<backgauge_tensor> outputs(call->outputs, call->outputs + call->num_outputs);
  bool in_place =
      call->memory_space == BACKGAUGE_CUDA && (call->workspace_bytes == 0 || fake_device().is_device(call->workspace));
  for (std::vector<backgauge_tensor>* list : {&inputs, &outputs}) {
    for (backgauge_tensor& tensor : *list) {
      in_place = in_place && is_where_it_says(tensor);
      tensor.memory_space = BACKGAUGE_HOST;
    }
  }
  host.inputs = inputs.data();
  host.outputs = outputs.data();
  host.memory_space = BACKGAUGE_HOST;
  host.stream = nullptr;
  const backgauge_status status = function(&host);
  if (status != BACKGAUGE_OK || in_place) return status;
  std::strcpy(message->text, "memory is not where the call says");
  return BACKGAUGE_INTERNAL;
}

inline backgauge_status run_on_fake_device(const backgauge_call* call, backgauge_message* message) {
  const FakeDevice& device = fake_device();
  const backgauge_status status =
      on_host(call, message, [&](const backgauge_call* c) { return device.plain->run(c, message); });
  if (status == BACKGAUGE_OK && device.after_run != nullptr) device.after_run(*call);
  return status;
}

// Puts a run on the stream, with copies of its arguments, as a kernel has them.
inline void put_run(const backgauge_call& call) {
  fake_device().put(call.stream, [copy = call, inputs = std::vector(call.inputs, call.inputs + call.num_inputs),
                                  outputs = std::vector(call.outputs, call.outputs + call.num_outputs)]() mutable {
    copy.inputs = inputs.data();
    copy.outputs = outputs.data();
    backgauge_message ignored{};
    run_on_fake_device(&copy, &ignored);
  });
}

template <class Function>
void find_in(void* library, const char* name, Function& function) {
  if (library != nullptr) function = reinterpret_cast<Function>(dlsym(library, name));
}

inline const backgauge_implementation* plain_on_fake_device(const backgauge_host* host, const char* name,
                                                            AfterRun after_run,
                                                            Captured captured = Captured::kInTheGraph) {
  static backgauge_implementation table;
  const char* runtime = std::getenv("BACKGAUGE_CUDART");
  void* library = runtime == nullptr ? nullptr : dlopen(runtime, RTLD_NOW);
  FakeDevice& device = fake_device();
  device.is_device = [](const void*) { return false; };
  device.is_captured = [](void*) { return false; };
  find_in(library, "fake_cuda_is_device", device.is_device);
  find_in(library, "fake_cuda_is_captured", device.is_captured);
  find_in(library, "fake_cuda_put", device.put);
  device.after_run = after_run;
  device.captured = captured;
  device.plain = plain_entry(host);
  table = *device.plain;
  table.name = name;
  table.description = "plain, in the memory of a fake device";
  table.memory_space = BACKGAUGE_CUDA;
  table.prepare = [](const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
    return on_host(call, message,
                   [&](const backgauge_call* c) { return fake_device().plain->prepare(c, plan, message); });
  };
  table.run = [](const backgauge_call* call, backgauge_message* message) {
    if (!fake_device().is_captured(call->stream) || fake_device().captured == Captured::kAtOnce) {
      return run_on_fake_device(call, message);
    }
    put_run(*call);
    return BACKGAUGE_OK;
  };
  table.forward = [](const backgauge_call* call, backgauge_message* message) {
    return on_host(call, message, [&](const backgauge_call* c) { return fake_device().plain->forward(c, message); });
  };
  table.dropout_mask = [](const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                          backgauge_message* message) {
    return on_host(call, message,
                   [&](const backgauge_call* c) { return fake_device().plain->dropout_mask(c, gap, keep, message); });
  };
  return &table;
}

}  // namespace backgauge::testing

#define BACKGAUGE_PLAIN_ON_FAKE_DEVICE(name, after_run)                                              \
  extern "C" __attribute__((visibility("default"))) const backgauge_implementation* backgauge_entry( \
      const backgauge_host* host) {                                                                  \
    return backgauge::testing::plain_on_fake_device(host, name, after_run);                          \
  }
