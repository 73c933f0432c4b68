// SPDX-License-Identifier: Apache-2.0
// What the handles and descriptors of the stand-in hold, and what all of its functions check.
#pragma once

#include <cudnn.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "reference/contract/backgauge.h"
#include "reference/contract/rnn_params.h"

#define STANDIN extern "C" __attribute__((visibility("default")))

// Of the fake CUDA runtime.
extern "C" bool fake_cuda_is_device(const void* data);
extern "C" void fake_cuda_put(void* stream, const std::function<void()>& work);
extern "C" unsigned long long fake_cuda_device_waits();

struct cudnnContext {
  std::atomic<bool> in_use{false};
  cudaStream_t stream = nullptr;
  cudaStream_t worked_on = nullptr;  // where its last work is, and how often all streams had been waited for before
  unsigned long long waits = 0;
  bool has_worked = false;
};
struct cudnnTensorStruct {
  cudnnDataType_t type{};
  std::vector<int> dimensions, strides;
};
struct cudnnDropoutStruct {
  bool set = false;
  float dropout = 0;
  void* states = nullptr;
};
struct cudnnRNNDataStruct {
  cudnnDataType_t type{};
  int T = 0, B = 0, width = 0;
};
struct cudnnRNNStruct {
  bool set = false;
  cudnnRNNAlgo_t algorithm{};
  cudnnDataType_t type{};
  cudnnRNNMode_t mode{};
  backgauge::RnnParams params{};
  cudnnDropoutDescriptor_t dropout = nullptr;
  int built_for = 0;  // the batch size of cudnnBuildRNNDynamic
};

namespace backgauge::cudnn::standin {

inline constexpr std::size_t kAlignment = 256, kStatesBytes = 1000, kWorkspaceBytes = 768;
inline constexpr int kMostSteps = 65535;

// The status, after `why` was kept for cudnnGetLastErrorString.
cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why);
inline cudnnStatus_t bad(const std::string& why) { return refuse(CUDNN_STATUS_BAD_PARAM, why); }
// The last reason in this thread, which is forgotten.
std::string take_last_error();

// An environment variable that is a number; -1: unset.
int setting(const char* name);

// The handle for the duration of a function.
class InUse {
 public:
  explicit InUse(cudnnHandle_t handle) : handle_(handle), alone_(!handle->in_use.exchange(true)) {}
  ~InUse() {
    if (alone_) handle_->in_use = false;
  }
  bool alone() const { return alone_; }

 private:
  cudnnHandle_t handle_;
  bool alone_;
};

cudnnStatus_t two_threads();

// Where a handle begins to enqueue work: "" or what is wrong.
std::string begin_work(cudnnContext& handle);

backgauge_dtype dtype_of(cudnnDataType_t type);
std::size_t element_bytes(cudnnDataType_t type);
backgauge_rnn_mode mode_of(cudnnRNNMode_t mode);

struct Given {
  const char* name;
  const void* data;
  std::size_t bytes;
  bool may_be_null = false;
};

// "" or why a buffer cannot be what it is given as.
std::string fault_of(std::initializer_list<Given> buffers);

}  // namespace backgauge::cudnn::standin
