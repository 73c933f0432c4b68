// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/testing/standin/objects.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace backgauge::cudnn::standin {

namespace {

thread_local std::string last_error;

}  // namespace

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why) {
  last_error = why;
  return status;
}

std::string take_last_error() { return std::exchange(last_error, {}); }

int setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

cudnnStatus_t two_threads() {
  return refuse(CUDNN_STATUS_EXECUTION_FAILED, "stand-in: one handle is in use by two threads at once");
}

std::string begin_work(cudnnContext& handle) {
  const unsigned long long waits = fake_cuda_device_waits();
  if (handle.has_worked && handle.worked_on != handle.stream && handle.waits == waits) {
    return "stand-in: one handle has work on two streams, which share its memory";
  }
  handle.worked_on = handle.stream;
  handle.waits = waits;
  handle.has_worked = true;
  return "";
}

backgauge_dtype dtype_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF: return BACKGAUGE_HALF;
    case CUDNN_DATA_BFLOAT16: return BACKGAUGE_BFLOAT16;
    case CUDNN_DATA_FLOAT: return BACKGAUGE_FLOAT32;
    default: return BACKGAUGE_FLOAT64;
  }
}
std::size_t element_bytes(cudnnDataType_t type) { return backgauge_dtype_bytes(dtype_of(type)); }

backgauge_rnn_mode mode_of(cudnnRNNMode_t mode) {
  switch (mode) {
    case CUDNN_RNN_RELU: return BACKGAUGE_RNN_RELU;
    case CUDNN_RNN_TANH: return BACKGAUGE_RNN_TANH;
    case CUDNN_LSTM: return BACKGAUGE_LSTM;
    default: return BACKGAUGE_GRU;
  }
}

std::string fault_of(std::initializer_list<Given> buffers) {
  for (const Given& given : buffers) {
    if (given.data == nullptr) {
      if (given.bytes > 0 && !given.may_be_null) return std::string(given.name) + " == NULL";
      continue;
    }
    const auto* begin = static_cast<const std::byte*>(given.data);
    if (reinterpret_cast<std::uintptr_t>(begin) % kAlignment != 0) return std::string(given.name) + " is not aligned";
    if (given.bytes == 0) continue;
    if (!fake_cuda_is_device(begin) || !fake_cuda_is_device(begin + given.bytes - 1)) {
      return std::string(given.name) + " is not device memory of that size";
    }
  }
  return "";
}

}  // namespace backgauge::cudnn::standin
