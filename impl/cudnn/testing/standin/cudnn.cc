// SPDX-License-Identifier: Apache-2.0
// A libcudnn without a device: the functions of the v8 interface that the plug-in calls, on the memory and streams of
// properties/device/testing/fake_cudart.cc. It refuses what cuDNN refuses, and more: a call that cuDNN would take and
// compute wrongly, or that is right by chance.
//   - A size, an address or an order of calls that is not as cuDNN asks for: a status, as soon as the call is made.
//   - A reserve_space that is not what the forward of the same network left there, or that BackwardData has changed
//     already: outputs are NaN, since cuDNN does not notice either.
//   - One handle in two threads at once, or on two streams without waiting for the first.
//   FAKE_CUDNN_SLOW=<n>   calls of algorithm <n> (cudnnRNNAlgo_t) take 20 ms more
//   FAKE_CUDNN_LARGE=<n>  networks of algorithm <n> need 1 KiB more of reserve_space
#include <cudnn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "impl/cudnn/testing/standin/objects.h"
#include "impl/cudnn/testing/standin/reserve.h"

using namespace backgauge;
using namespace backgauge::cudnn::standin;

namespace {

template <class Object>
cudnnStatus_t create(Object** object) {
  *object = new Object;
  return CUDNN_STATUS_SUCCESS;
}
template <class Object>
cudnnStatus_t destroy(Object* object) {
  delete object;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

STANDIN std::size_t cudnnGetVersion() { return 91900; }

STANDIN const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (CUDNN_STATUS_CATEGORY(static_cast<int>(status))) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

STANDIN void cudnnGetLastErrorString(char* message, std::size_t size) {
  std::snprintf(message, size, "%s", take_last_error().c_str());
}

STANDIN cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return create(handle); }
STANDIN cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy(handle); }
STANDIN cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* d) { return create(d); }
STANDIN cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d) { return destroy(d); }
STANDIN cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int rank,
                                                 const int dimensions[], const int strides[]) {
  *d = {type, {dimensions, dimensions + rank}, {strides, strides + rank}};
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t d, int requested, cudnnDataType_t* type,
                                                 int* rank, int dimensions[], int strides[]) {
  *type = d->type;
  *rank = static_cast<int>(d->dimensions.size());
  const auto count = static_cast<std::size_t>(std::min(requested, *rank));
  std::copy_n(d->dimensions.begin(), count, dimensions);
  std::copy_n(d->strides.begin(), count, strides);
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* d) { return create(d); }
STANDIN cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t d) { return destroy(d); }
STANDIN cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, std::size_t* bytes) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  *bytes = kStatesBytes;
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float dropout,
                                                void* states, std::size_t bytes, unsigned long long seed) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (!(dropout >= 0)) return bad("dropout < 0");
  if (states != nullptr) {
    if (bytes < kStatesBytes) return bad("stateSizeInBytes");
    if (const std::string fault = fault_of({{"states", states, kStatesBytes}}); !fault.empty()) return bad(fault);
    if (const std::string fault = begin_work(*handle); !fault.empty())
      return refuse(CUDNN_STATUS_EXECUTION_FAILED, fault);
    fake_cuda_put(handle->stream, [states, seed] {
      const RandomState state{seed, 0};
      std::memcpy(states, &state, sizeof state);
    });
  } else if (bytes > 0) {
    return bad("states == NULL");
  }
  *d = {true, dropout, states};
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t handle, float dropout,
                                                    void* states, std::size_t bytes, unsigned long long) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (states == nullptr || bytes < kStatesBytes) return bad("states");
  if (const std::string fault = fault_of({{"states", states, kStatesBytes}}); !fault.empty()) return bad(fault);
  *d = {true, dropout, states};
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* d) { return create(d); }
STANDIN cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t d) { return destroy(d); }
STANDIN cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t algorithm, cudnnRNNMode_t mode,
                                               cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
                                               cudnnRNNInputMode_t input, cudnnDataType_t type, cudnnDataType_t sums,
                                               cudnnMathType_t, std::int32_t input_size, std::int32_t hidden_size,
                                               std::int32_t projected_size, std::int32_t layers,
                                               cudnnDropoutDescriptor_t dropout, std::uint32_t flags) {
  if (input_size < 1 || hidden_size < 1 || layers < 1) return bad("inputSize < 1 || hiddenSize < 1 || numLayers < 1");
  if (!dropout->set) return bad("dropoutDesc: not set");
  if (projected_size != hidden_size || bias != CUDNN_RNN_DOUBLE_BIAS || flags != CUDNN_RNN_PADDED_IO_DISABLED) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "stand-in: projection, other biases, padding");
  }
  if (sums != (type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "mathPrec");
  }
  if (type == CUDNN_DATA_DOUBLE && algorithm != CUDNN_RNN_ALGO_STANDARD) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "double");
  }
  const RnnParams params{.layers = layers,
                         .directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1,
                         .gates = rnn_gates(mode_of(mode)),
                         .input_size = input_size,
                         .hidden_size = hidden_size,
                         .skip_input = input == CUDNN_SKIP_INPUT};
  *d = {true, algorithm, type, mode, params, dropout, 0};
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t d, int batch_size) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (d->algorithm != CUDNN_RNN_ALGO_PERSIST_DYNAMIC || batch_size < 1) return bad("algo or miniBatch");
  d->built_for = batch_size;
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t d, std::size_t* bytes) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (!d->set) return bad("rnnDesc: not set");
  *bytes = static_cast<std::size_t>(d->params.size()) * element_bytes(d->type);
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t d, cudnnForwardMode_t,
                                                cudnnRNNDataDescriptor_t x, std::size_t* workspace,
                                                std::size_t* reserve) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (!d->set) return bad("rnnDesc: not set");
  // As measured with cuDNN 9.19, with the steps in between cut off.
  const bool gated = d->mode == CUDNN_LSTM || d->mode == CUDNN_GRU;
  const std::int64_t largest = d->algorithm == CUDNN_RNN_ALGO_PERSIST_STATIC           ? (gated ? 1536 : 2048)
                               : d->algorithm == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H ? (gated ? 128 : 256)
                                                                                       : d->params.hidden_size;
  if (d->params.hidden_size > largest) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "hiddenSize");
  if (d->algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC && d->built_for != x->B)
    return bad("cudnnBuildRNNDynamic: not called");
  *workspace = kWorkspaceBytes;
  *reserve = reserve_bytes(*d, sizes_of(*d, *x));
  return CUDNN_STATUS_SUCCESS;
}
STANDIN cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t d, std::int32_t pseudo_layer,
                                              std::size_t, const void* weights, std::int32_t id,
                                              cudnnTensorDescriptor_t matrix, void** matrix_at,
                                              cudnnTensorDescriptor_t bias, void** bias_at) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  const RnnParams& p = d->params;
  const std::int64_t layer = pseudo_layer / p.directions, direction = pseudo_layer % p.directions, gate = id % p.gates;
  const bool recurrent = id >= p.gates;
  const std::int64_t width = recurrent ? p.hidden_size : p.matrix_input(layer);
  const auto place = [&](std::int64_t offset) {
    return static_cast<std::byte*>(const_cast<void*>(weights)) +
           static_cast<std::size_t>(offset) * element_bytes(d->type);
  };
  const int H = static_cast<int>(p.hidden_size), columns = static_cast<int>(width);
  *matrix = {d->type, {1, H, columns}, {H * columns, columns, 1}};
  *matrix_at = width == 0 ? nullptr : place(recurrent ? p.R(layer, direction, gate) : p.W(layer, direction, gate));
  *bias = {d->type, {1, H, 1}, {H, 1, 1}};
  *bias_at = place(recurrent ? p.bR(layer, direction, gate) : p.bW(layer, direction, gate));
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* d) { return create(d); }
STANDIN cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t d) { return destroy(d); }
STANDIN cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t d, cudnnDataType_t type, cudnnRNNDataLayout_t,
                                                int steps, int batch_size, int width, const int lengths[], void*) {
  if (lengths == nullptr) return bad("seqLengthArray == NULL");
  if (steps <= 0 || batch_size <= 0 || width <= 0) return bad("maxSeqLength <= 0 || batchSize <= 0 || vectorSize <= 0");
  if (steps > kMostSteps) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "maxSeqLength");
  for (int b = 0; b < batch_size; ++b) {
    if (lengths[b] != steps) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "stand-in: sequences of different lengths");
  }
  *d = {type, steps, batch_size, width};
  return CUDNN_STATUS_SUCCESS;
}
