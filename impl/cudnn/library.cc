// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/library.h"

#include <cstdlib>
#include <memory>
#include <string_view>

namespace backgauge::cudnn {
namespace {

std::string environment(const char* name, const char* unset) {
  const char* value = std::getenv(name);
  return value == nullptr ? unset : value;
}

Settings read_settings() {
  const std::string math = environment("BACKGAUGE_CUDNN_MATH", "fma");
  const std::string workspace = environment("CUBLAS_WORKSPACE_CONFIG", "");
  Settings out{math == "tensor-op", workspace == ":4096:2" || workspace == ":16:8", ""};
  if (math != "fma" && math != "tensor-op") {
    out.refusal = "BACKGAUGE_CUDNN_MATH: expected fma or tensor-op, got " + math;
  }
  return out;
}

std::string version_text() {
  const std::size_t version = cudnnGetVersion();  // 91900
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100) + " (standard algorithm, float32 " +
         (settings().tensor_op ? "tensor-op" : "fma") +
         ", half tensor-op, CUBLAS_WORKSPACE_CONFIG=" + environment("CUBLAS_WORKSPACE_CONFIG", "unset") + ")";
}

}  // namespace

void check(cudnnStatus_t result, const char* what) {
  if (result == CUDNN_STATUS_SUCCESS) return;
  const auto category = CUDNN_STATUS_CATEGORY(static_cast<int>(result));
  const bool memory = result == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                      result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  const backgauge_status status = memory                                        ? BACKGAUGE_OUT_OF_MEMORY
                                  : category == int{CUDNN_STATUS_NOT_SUPPORTED} ? BACKGAUGE_UNSUPPORTED
                                                                                : BACKGAUGE_DEVICE_ERROR;
  char more[256] = "";
  cudnnGetLastErrorString(more, sizeof more);
  std::string text = std::string(what) + ": " + cudnnGetErrorString(result);
  if (*more != '\0') text += std::string(": ") + more;
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';  // a message is one line
  }
  throw CallError(status, text);
}

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw CallError(result == cudaErrorMemoryAllocation ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_DEVICE_ERROR,
                  std::string(what) + ": " + cudaGetErrorString(result));
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes > 0) check(cudaMalloc(&data_, bytes), "cudaMalloc");
}

cudnnHandle_t thread_handle() {
  thread_local std::unique_ptr<Handle> handle;
  if (handle == nullptr) handle = std::make_unique<Handle>();
  return *handle;
}

const Settings& settings() {
  static const Settings value = read_settings();
  return value;
}

const std::string& library_version() {
  static const std::string text = version_text();
  return text;
}

}  // namespace backgauge::cudnn
