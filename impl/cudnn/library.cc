// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/library.h"

#include <string>

namespace backgauge::cudnn {
void check(cudnnStatus_t result, const char* what) {
  if (result == CUDNN_STATUS_SUCCESS) return;
  const auto category = CUDNN_STATUS_CATEGORY(static_cast<int>(result));
  const bool memory = result == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                      result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  const backgauge_status status = memory                                        ? BACKGAUGE_OUT_OF_MEMORY
                                  : category == int{CUDNN_STATUS_NOT_SUPPORTED} ? BACKGAUGE_UNSUPPORTED
                                  // What we passed is wrong, and not the machine.
                                  : category == int{CUDNN_STATUS_BAD_PARAM} ? BACKGAUGE_INTERNAL
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

}  // namespace backgauge::cudnn
