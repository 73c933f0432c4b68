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
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <thread>

#include "impl/cudnn/testing/standin/network.h"
#include "reference/contract/storage.h"

// Of the fake CUDA runtime.
extern "C" bool fake_cuda_is_device(const void* data);
extern "C" void fake_cuda_put(void* stream, const std::function<void()>& work);
extern "C" unsigned long long fake_cuda_device_waits();

using namespace backgauge;
using namespace backgauge::cudnn::standin;

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
  RnnParams params{};
  cudnnDropoutDescriptor_t dropout = nullptr;
  int built_for = 0;  // the batch size of cudnnBuildRNNDynamic
};

namespace {

constexpr std::size_t kAlignment = 256, kStatesBytes = 1000, kWorkspaceBytes = 768;
constexpr int kMostSteps = 65535;

thread_local std::string last_error;

cudnnStatus_t refuse(cudnnStatus_t status, const std::string& why) {
  last_error = why;
  return status;
}
cudnnStatus_t bad(const std::string& why) { return refuse(CUDNN_STATUS_BAD_PARAM, why); }

int setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

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

cudnnStatus_t two_threads() {
  return refuse(CUDNN_STATUS_EXECUTION_FAILED, "stand-in: one handle is in use by two threads at once");
}

// Where a handle begins to enqueue work: "" or what is wrong.
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

Sizes sizes_of(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x) {
  const double dropout = rnn.params.layers > 1 ? static_cast<double>(rnn.dropout->dropout) : 0;
  return {mode_of(rnn.mode), x.T, x.B, rnn.params, dropout};
}

// At the beginning of reserve_space; then masks, then values.
struct ReserveHead {
  std::uint64_t network = 0;  // of which network's forward
  std::uint64_t state = 0;    // kMade, kUsed
};
constexpr std::uint64_t kMade = 0x4d616465, kUsed = 0x55736564;

std::size_t masks_bytes(const Sizes& sizes) { return (static_cast<std::size_t>(sizes.masks()) + 7) / 8 * 8; }

std::size_t reserve_bytes(const cudnnRNNStruct& rnn, const Sizes& sizes) {
  const std::size_t more = setting("FAKE_CUDNN_LARGE") == static_cast<int>(rnn.algorithm) ? 1024 : 0;
  // Not a multiple of any element, as nothing promises one.
  return sizeof(ReserveHead) + masks_bytes(sizes) + static_cast<std::size_t>(sizes.saved()) * sizeof(double) + more + 1;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {  // splitmix64
  std::uint64_t z = hash + value + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t identity(const cudnnRNNStruct& rnn, const Sizes& s) {
  std::uint64_t hash = 0;
  for (const std::int64_t value :
       {std::int64_t{rnn.algorithm}, std::int64_t{rnn.type}, std::int64_t{s.mode}, s.T, s.B, s.params.input_size,
        s.params.hidden_size, s.params.layers, s.params.directions, std::int64_t{s.params.skip_input}}) {
    hash = mix(hash, static_cast<std::uint64_t>(value));
  }
  return mix(hash, static_cast<std::uint64_t>(s.dropout * 0x1p32));
}

// What the memory of the states holds.
struct RandomState {
  std::uint64_t seed = 0, forwards = 0;
};

// A mask depends on the seed, dropout and T, B, H, L, D alone.
void draw_masks(const Sizes& s, const RandomState& random, Saved& saved) {
  std::uint64_t key = mix(random.seed, random.forwards);
  for (const std::int64_t value : {s.T, s.B, s.params.hidden_size, s.params.layers, s.params.directions}) {
    key = mix(key, static_cast<std::uint64_t>(value));
  }
  for (std::size_t k = 0; k < saved.keep.size(); ++k) {
    saved.keep[k] = static_cast<double>(mix(key, k) >> 11) * 0x1p-53 >= s.dropout ? 1 : 0;
  }
}

Values load(cudnnDataType_t type, const void* from, std::int64_t count) {
  Values out(static_cast<std::size_t>(count));
  if (from != nullptr) decode(dtype_of(type), from, out);
  return out;
}
void store(cudnnDataType_t type, const Values& values, void* to) {
  if (to != nullptr) encode(dtype_of(type), values, to);
}

Saved load_saved(const Sizes& s, const void* reserve) {
  Saved saved(s);
  const auto* bytes = static_cast<const std::byte*>(reserve) + sizeof(ReserveHead);
  if (!saved.keep.empty()) std::memcpy(saved.keep.data(), bytes, saved.keep.size());
  if (!saved.values.empty()) {
    std::memcpy(saved.values.data(), bytes + masks_bytes(s), saved.values.size() * sizeof(double));
  }
  return saved;
}
void store_saved(const Sizes& s, std::uint64_t network, std::uint64_t state, const Saved& saved, void* reserve) {
  auto* bytes = static_cast<std::byte*>(reserve);
  const ReserveHead head{network, state};
  std::memcpy(bytes, &head, sizeof head);
  bytes += sizeof head;
  if (!saved.keep.empty()) std::memcpy(bytes, saved.keep.data(), saved.keep.size());
  if (!saved.values.empty()) {
    std::memcpy(bytes + masks_bytes(s), saved.values.data(), saved.values.size() * sizeof(double));
  }
}
bool is_reserve_of(std::uint64_t network, std::uint64_t state, const void* reserve) {
  ReserveHead head;
  std::memcpy(&head, reserve, sizeof head);
  return head.network == network && head.state == state;
}

// NaN in every dtype.
void spoil(void* data, std::size_t bytes) {
  if (data != nullptr) std::memset(data, 0xff, bytes);
}

struct Given {
  const char* name;
  const void* data;
  std::size_t bytes;
  bool may_be_null = false;
};

// "" or why a buffer cannot be what it is given as.
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

// A pass, once all that every pass is given has been checked.
struct Pass {
  cudnnContext& handle;
  cudnnRNNStruct rnn;
  Sizes sizes;
  std::size_t element, weights, reserve;
  std::uint64_t network;

  Pass(cudnnHandle_t h, const cudnnRNNStruct& r, const cudnnRNNDataStruct& x)
      : handle(*h),
        rnn(r),
        sizes(sizes_of(r, x)),
        element(element_bytes(r.type)),
        weights(static_cast<std::size_t>(r.params.size()) * element),
        reserve(reserve_bytes(r, sizes)),
        network(identity(r, sizes)) {}

  std::size_t x_bytes() const { return static_cast<std::size_t>(sizes.inputs()) * element; }
  std::size_t y_bytes() const { return static_cast<std::size_t>(sizes.outputs()) * element; }
  std::size_t h_bytes() const { return static_cast<std::size_t>(sizes.states()) * element; }
  std::size_t c_bytes() const { return sizes.mode == BACKGAUGE_LSTM ? h_bytes() : 0; }
  std::int64_t c_count() const { return sizes.mode == BACKGAUGE_LSTM ? sizes.states() : 0; }

  // "" or what is wrong with the descriptors and the sizes of the spaces.
  std::string fault(const cudnnRNNDataStruct& x, const cudnnRNNDataStruct& y, const cudnnTensorStruct& h,
                    std::size_t weight_bytes, std::size_t workspace_bytes, std::size_t reserve_given) const {
    const auto width = static_cast<std::int64_t>(y.width);
    if (x.type != rnn.type || y.type != rnn.type || h.type != rnn.type) return "data types differ";
    if (x.width != sizes.params.input_size || width != sizes.params.directions * sizes.params.hidden_size ||
        y.T != x.T || y.B != x.B) {
      return "widths or lengths differ";
    }
    if (h.dimensions !=
        std::vector<int>{static_cast<int>(sizes.pseudo_layers()), x.B, static_cast<int>(sizes.params.hidden_size)}) {
      return "hDesc: expected [L * D, B, H]";
    }
    if (sizes.params.skip_input && sizes.params.input_size != sizes.params.hidden_size) return "skip with I != H";
    if (weight_bytes != weights) return "weightSpaceSize";
    if (workspace_bytes < kWorkspaceBytes) return "workSpaceSize";
    if (reserve_given < reserve) return "reserveSpaceSize";
    if (rnn.algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC && rnn.built_for != x.B)
      return "cudnnBuildRNNDynamic: not called";
    return "";
  }

  void put(std::function<void()> work, void* workspace) const {
    if (setting("FAKE_CUDNN_SLOW") == static_cast<int>(rnn.algorithm)) {
      work = [work] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        work();
      };
    }
    fake_cuda_put(handle.stream, [work = std::move(work), workspace] {
      work();
      spoil(workspace, kWorkspaceBytes);
    });
  }
};

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

#define STANDIN extern "C" __attribute__((visibility("default")))

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
  std::snprintf(message, size, "%s", last_error.c_str());
  last_error.clear();
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

STANDIN cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
                                      const std::int32_t device_lengths[], cudnnRNNDataDescriptor_t x_data,
                                      const void* x, cudnnRNNDataDescriptor_t y_data, void* y,
                                      cudnnTensorDescriptor_t h_data, const void* hx, void* hy, cudnnTensorDescriptor_t,
                                      const void* cx, void* cy, std::size_t weight_bytes, const void* weights,
                                      std::size_t workspace_bytes, void* workspace, std::size_t reserve_given,
                                      void* reserve) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (mode != CUDNN_FWD_MODE_TRAINING || device_lengths != nullptr) return bad("stand-in: training, full lengths");
  const Pass pass(handle, *rnn, *x_data);
  std::string fault = pass.fault(*x_data, *y_data, *h_data, weight_bytes, workspace_bytes, reserve_given);
  if (fault.empty()) {
    fault = fault_of({{"x", x, pass.x_bytes()},
                      {"y", y, pass.y_bytes()},
                      {"hx", hx, pass.h_bytes(), true},
                      {"hy", hy, pass.h_bytes(), true},
                      {"cx", cx, pass.c_bytes(), true},
                      {"cy", cy, pass.c_bytes(), true},
                      {"weightSpace", weights, pass.weights},
                      {"workSpace", workspace, kWorkspaceBytes},
                      {"reserveSpace", reserve, pass.reserve}});
  }
  void* const states = rnn->dropout->states;
  if (fault.empty() && pass.sizes.dropout > 0 && states == nullptr) fault = "dropout without states";
  if (!fault.empty()) return bad(fault);
  fault = begin_work(*handle);
  if (!fault.empty()) return refuse(CUDNN_STATUS_EXECUTION_FAILED, fault);
  pass.put(
      [pass = Pass(handle, *rnn, *x_data), x, y, hx, hy, cx, cy, weights, reserve, states] {
        const Sizes& s = pass.sizes;
        const cudnnDataType_t type = pass.rnn.type;
        Saved saved(s);
        if (s.dropout > 0) {
          RandomState random;
          std::memcpy(&random, states, sizeof random);
          draw_masks(s, random, saved);
          ++random.forwards;
          std::memcpy(states, &random, sizeof random);
        }
        const States first{load(type, hx, s.states()), load(type, cx, pass.c_count())};
        Values out;
        States last;
        forward(s, load(type, weights, s.params.size()), load(type, x, s.inputs()), first, saved, out, last);
        store(type, out, y);
        store(type, last.h, hy);
        if (pass.c_count() > 0) store(type, last.c, cy);
        store_saved(s, pass.network, kMade, saved, reserve);
        // All of it is cuDNN's, and whoever reads it reads NaN.
        const std::size_t used = sizeof(ReserveHead) + masks_bytes(s) + saved.values.size() * sizeof(double);
        spoil(static_cast<std::byte*>(reserve) + used, pass.reserve - used);
      },
      workspace);
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                              const std::int32_t device_lengths[], cudnnRNNDataDescriptor_t y_data,
                                              const void* y, const void* dy, cudnnRNNDataDescriptor_t x_data, void* dx,
                                              cudnnTensorDescriptor_t h_data, const void* hx, const void* dhy,
                                              void* dhx, cudnnTensorDescriptor_t, const void* cx, const void* dcy,
                                              void* dcx, std::size_t weight_bytes, const void* weights,
                                              std::size_t workspace_bytes, void* workspace, std::size_t reserve_given,
                                              void* reserve) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (device_lengths != nullptr) return bad("stand-in: full lengths");
  const Pass pass(handle, *rnn, *x_data);
  std::string fault = pass.fault(*x_data, *y_data, *h_data, weight_bytes, workspace_bytes, reserve_given);
  if (fault.empty()) {
    fault = fault_of({{"y", y, pass.y_bytes()},
                      {"dy", dy, pass.y_bytes()},
                      {"dx", dx, pass.x_bytes()},
                      {"hx", hx, pass.h_bytes(), true},
                      {"dhy", dhy, pass.h_bytes(), true},
                      {"dhx", dhx, pass.h_bytes(), true},
                      {"cx", cx, pass.c_bytes(), true},
                      {"dcy", dcy, pass.c_bytes(), true},
                      {"dcx", dcx, pass.c_bytes(), true},
                      {"weightSpace", weights, pass.weights},
                      {"workSpace", workspace, kWorkspaceBytes},
                      {"reserveSpace", reserve, pass.reserve}});
  }
  if (!fault.empty()) return bad(fault);
  fault = begin_work(*handle);
  if (!fault.empty()) return refuse(CUDNN_STATUS_EXECUTION_FAILED, fault);
  pass.put(
      [pass = Pass(handle, *rnn, *x_data), dy, dx, hx, dhy, dhx, cx, dcy, dcx, weights, reserve] {
        const Sizes& s = pass.sizes;
        const cudnnDataType_t type = pass.rnn.type;
        if (!is_reserve_of(pass.network, kMade, reserve)) {
          spoil(reserve, sizeof(ReserveHead));
          spoil(dx, pass.x_bytes());
          spoil(dhx, pass.h_bytes());
          return spoil(dcx, pass.c_bytes());
        }
        Saved saved = load_saved(s, reserve);
        const States first{load(type, hx, s.states()), load(type, cx, pass.c_count())};
        States gradient{load(type, dhy, s.states()), load(type, dcy, pass.c_count())};
        Values x_gradient;
        backward_data(s, load(type, weights, s.params.size()), first, load(type, dy, s.outputs()), saved, x_gradient,
                      gradient);
        store(type, x_gradient, dx);
        store(type, gradient.h, dhx);
        if (pass.c_count() > 0) store(type, gradient.c, dcx);
        store_saved(s, pass.network, kUsed, saved, reserve);
      },
      workspace);
  return CUDNN_STATUS_SUCCESS;
}

STANDIN cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnWgradMode_t mode,
                                                 const std::int32_t device_lengths[], cudnnRNNDataDescriptor_t x_data,
                                                 const void* x, cudnnTensorDescriptor_t h_data, const void* hx,
                                                 cudnnRNNDataDescriptor_t y_data, const void* y,
                                                 std::size_t weight_bytes, void* weight_gradient,
                                                 std::size_t workspace_bytes, void* workspace,
                                                 std::size_t reserve_given, void* reserve) {
  const InUse use(handle);
  if (!use.alone()) return two_threads();
  if (mode != CUDNN_WGRAD_MODE_ADD) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "addGrad");
  if (device_lengths != nullptr) return bad("stand-in: full lengths");
  const Pass pass(handle, *rnn, *x_data);
  std::string fault = pass.fault(*x_data, *y_data, *h_data, weight_bytes, workspace_bytes, reserve_given);
  if (fault.empty()) {
    fault = fault_of({{"x", x, pass.x_bytes()},
                      {"y", y, pass.y_bytes()},
                      {"hx", hx, pass.h_bytes(), true},
                      {"dweightSpace", weight_gradient, pass.weights},
                      {"workSpace", workspace, kWorkspaceBytes},
                      {"reserveSpace", reserve, pass.reserve}});
  }
  if (!fault.empty()) return bad(fault);
  fault = begin_work(*handle);
  if (!fault.empty()) return refuse(CUDNN_STATUS_EXECUTION_FAILED, fault);
  pass.put(
      [pass = Pass(handle, *rnn, *x_data), x, hx, weight_gradient, reserve] {
        const Sizes& s = pass.sizes;
        const cudnnDataType_t type = pass.rnn.type;
        if (!is_reserve_of(pass.network, kUsed, reserve)) return spoil(weight_gradient, pass.weights);
        const States first{load(type, hx, s.states()), {}};
        Values gradient = load(type, weight_gradient, s.params.size());
        backward_weights(s, load(type, x, s.inputs()), first, load_saved(s, reserve), gradient);
        store(type, gradient, weight_gradient);
      },
      workspace);
  return CUDNN_STATUS_SUCCESS;
}
