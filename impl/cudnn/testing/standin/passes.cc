// SPDX-License-Identifier: Apache-2.0
// The passes of the stand-in: forward, gradients of data, gradients of weights.
#include <cudnn.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "impl/cudnn/testing/standin/objects.h"
#include "impl/cudnn/testing/standin/reserve.h"

using namespace backgauge;
using namespace backgauge::cudnn::standin;

namespace {

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

// Refuses a pass with a fault or with buffers that cannot be what they are given as; otherwise its work may be
// enqueued.
cudnnStatus_t begin(const Pass& pass, std::string fault, std::initializer_list<Given> buffers) {
  if (fault.empty()) fault = fault_of(buffers);
  if (!fault.empty()) return bad(fault);
  fault = begin_work(pass.handle);
  return fault.empty() ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_EXECUTION_FAILED, fault);
}

}  // namespace

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
  void* const states = rnn->dropout->states;
  if (fault.empty() && pass.sizes.dropout > 0 && states == nullptr) fault = "dropout without states";
  const cudnnStatus_t begun = begin(pass, fault,
                                    {{"x", x, pass.x_bytes()},
                                     {"y", y, pass.y_bytes()},
                                     {"hx", hx, pass.h_bytes(), true},
                                     {"hy", hy, pass.h_bytes(), true},
                                     {"cx", cx, pass.c_bytes(), true},
                                     {"cy", cy, pass.c_bytes(), true},
                                     {"weightSpace", weights, pass.weights},
                                     {"workSpace", workspace, kWorkspaceBytes},
                                     {"reserveSpace", reserve, pass.reserve}});
  if (begun != CUDNN_STATUS_SUCCESS) return begun;
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
        // The rest belongs to cuDNN too: a caller that reads it gets NaN.
        spoil(static_cast<std::byte*>(reserve) + used_bytes(s), pass.reserve - used_bytes(s));
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
  const cudnnStatus_t begun = begin(pass, fault,
                                    {{"y", y, pass.y_bytes()},
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
  if (begun != CUDNN_STATUS_SUCCESS) return begun;
  pass.put(
      [pass = Pass(handle, *rnn, *x_data), dy, dx, hx, dhy, dhx, cx, dcy, dcx, weights, reserve] {
        const Sizes& s = pass.sizes;
        const cudnnDataType_t type = pass.rnn.type;
        if (!is_reserve_of(pass.network, kMade, reserve)) {
          spoil_reserve(reserve);
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
  const cudnnStatus_t begun = begin(pass, fault,
                                    {{"x", x, pass.x_bytes()},
                                     {"y", y, pass.y_bytes()},
                                     {"hx", hx, pass.h_bytes(), true},
                                     {"dweightSpace", weight_gradient, pass.weights},
                                     {"workSpace", workspace, kWorkspaceBytes},
                                     {"reserveSpace", reserve, pass.reserve}});
  if (begun != CUDNN_STATUS_SUCCESS) return begun;
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
