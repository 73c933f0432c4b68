// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/network.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "impl/cudnn/settings.h"

namespace backgauge::cudnn {
namespace {

int narrow(std::int64_t size, const char* name) {
  if (size > std::numeric_limits<int>::max()) {
    throw CallError(BACKGAUGE_UNSUPPORTED, std::string(name) + ": cuDNN counts in int, got " + std::to_string(size));
  }
  return static_cast<int>(size);
}

cudnnDataType_t data_type(std::int32_t dtype) {
  switch (dtype) {
    case BACKGAUGE_HALF: return CUDNN_DATA_HALF;
    case BACKGAUGE_BFLOAT16: return CUDNN_DATA_BFLOAT16;
    case BACKGAUGE_FLOAT32: return CUDNN_DATA_FLOAT;
    default: return CUDNN_DATA_DOUBLE;
  }
}

cudnnRNNMode_t cell_mode(std::int32_t mode) {
  switch (mode) {
    case BACKGAUGE_RNN_RELU: return CUDNN_RNN_RELU;
    case BACKGAUGE_RNN_TANH: return CUDNN_RNN_TANH;
    case BACKGAUGE_LSTM: return CUDNN_LSTM;
    default: return CUDNN_GRU;
  }
}

// One matrix or bias where cuDNN has it.
struct Place {
  std::vector<int> dimensions;
  std::int64_t offset = -1;  // in elements; -1: cuDNN has none
};

std::string place_text(const Place& place) {
  if (place.offset < 0) return "none";
  std::string text = "[";
  for (const int size : place.dimensions) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "] at " + std::to_string(place.offset);
}

// Elements from `base` to `address`; -1 for NULL.
std::int64_t offset_of(const void* base, const void* address, std::size_t element) {
  if (address == nullptr) return -1;
  const auto bytes = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base);
  return static_cast<std::int64_t>(bytes / element);
}

Place place_of(cudnnTensorDescriptor_t descriptor, const void* base, const void* address, std::size_t element) {
  Place place{{}, offset_of(base, address, element)};
  if (place.offset < 0) return place;
  constexpr int kRank = 3;
  int rank = 0, dimensions[kRank] = {}, strides[kRank] = {};
  cudnnDataType_t type{};
  check(cudnnGetTensorNdDescriptor(descriptor, kRank, &type, &rank, dimensions, strides), "cudnnGetTensorNdDescriptor");
  place.dimensions.assign(dimensions, dimensions + std::min(rank, kRank));
  return place;
}

void expect(const std::string& what, const Place& ours, const Place& theirs) {
  if (ours.offset == theirs.offset && ours.dimensions == theirs.dimensions) return;
  throw CallError(BACKGAUGE_INTERNAL, "layout of params: " + what + " is " + place_text(ours) + " in rnn_params and " +
                                          place_text(theirs) + " in cuDNN");
}

}  // namespace

RnnParams NetworkShape::params() const {
  return {.layers = L,
          .directions = directions(),
          .gates = rnn_gates(mode),
          .input_size = I,
          .hidden_size = H,
          .skip_input = skip};
}

NetworkShape shape_of(const backgauge_call& call, const Extents& e) {
  const backgauge_attributes& a = call.attributes;
  return {.mode = a.rnn_mode,
          .dtype = call.dtype,
          .direction = a.direction,
          .skip = resolves_to_skip(a.input_mode, e.I, e.H),
          .algorithm = CUDNN_RNN_ALGO_STANDARD,
          .math = math_of(call.dtype, settings().math),
          .dropout = e.L > 1 ? a.dropout : 0,
          .T = e.T,
          .B = e.B,
          .I = std::max<std::int64_t>(e.I, 1),
          .H = e.H,
          .L = e.L};
}

cudnnMathType_t math_of(std::int32_t dtype, cudnnMathType_t float32) {
  switch (dtype) {
    case BACKGAUGE_FLOAT32: return float32;
    case BACKGAUGE_FLOAT64: return CUDNN_FMA_MATH;
    default: return CUDNN_TENSOR_OP_MATH;
  }
}

Network::Network(const NetworkShape& shape, cudnnHandle_t handle, void* states, const NetworkVariant& variant)
    : shape_(shape), handle_(handle), states_(states), flags_(variant.flags) {
  const int T = narrow(shape.T, "T"), B = narrow(shape.B, "B"), I = narrow(shape.I, "I"), H = narrow(shape.H, "H"),
            L = narrow(shape.L, "L"), D = static_cast<int>(shape.directions());
  if (shape.dropout > 0) {
    std::size_t bytes = 0;
    check(cudnnDropoutGetStatesSize(handle, &bytes), "cudnnDropoutGetStatesSize");
    check(cudnnRestoreDropoutDescriptor(dropout_, handle, shape.dropout, states, bytes, 0),
          "cudnnRestoreDropoutDescriptor");
  } else {
    // Without dropout there are no states: an address with 0 bytes would be refused.
    check(cudnnSetDropoutDescriptor(dropout_, handle, shape.dropout, nullptr, 0, 0), "cudnnSetDropoutDescriptor");
  }
  describe();
  if (shape.algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC) {
    check(cudnnBuildRNNDynamic(handle, rnn_, B), "cudnnBuildRNNDynamic");
  }
  const cudnnDataType_t type = data_type(shape.dtype);
  // All sequences are of full length, so that packed is dense.
  const std::vector<int> lengths(static_cast<std::size_t>(B), T);
  const auto describe = [&](cudnnRNNDataDescriptor_t data, int width) {
    check(cudnnSetRNNDataDescriptor(data, type, variant.layout, T, B, width, lengths.data(), nullptr),
          "cudnnSetRNNDataDescriptor");
  };
  describe(x_, I);
  describe(y_, narrow(std::int64_t{D} * H, "D * H"));
  const int dimensions[] = {narrow(std::int64_t{L} * D, "L * D"), B, H};
  const int strides[] = {narrow(std::int64_t{B} * H, "B * H"), H, 1};
  check(cudnnSetTensorNdDescriptor(h_, type, 3, dimensions, strides), "cudnnSetTensorNdDescriptor");
}

void Network::describe() {
  const cudnnDataType_t type = data_type(shape_.dtype);
  const cudnnDataType_t sums = shape_.dtype == BACKGAUGE_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const int H = static_cast<int>(shape_.H);
  check(cudnnSetRNNDescriptor_v8(rnn_, shape_.algorithm, cell_mode(shape_.mode), CUDNN_RNN_DOUBLE_BIAS,
                                 shape_.directions() == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                                 shape_.skip ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, type, sums, shape_.math,
                                 static_cast<int>(shape_.I), H, H, static_cast<int>(shape_.L), dropout_, flags_),
        "cudnnSetRNNDescriptor_v8");
}

void Network::draw_masks_anew(std::uint64_t seed) {
  if (shape_.dropout == 0) return;
  std::size_t bytes = 0;
  check(cudnnDropoutGetStatesSize(handle_, &bytes), "cudnnDropoutGetStatesSize");
  check(cudnnSetDropoutDescriptor(dropout_, handle_, shape_.dropout, states_, bytes, seed),
        "cudnnSetDropoutDescriptor");
  // Should the network have taken over what the descriptor was before. Not where that would undo what was built: there
  // no masks are random (algorithms.h).
  if (shape_.algorithm != CUDNN_RNN_ALGO_PERSIST_DYNAMIC) describe();
}

NetworkSizes Network::sizes() const {
  NetworkSizes out{};
  check(cudnnGetRNNWeightSpaceSize(handle_, rnn_, &out.weights), "cudnnGetRNNWeightSpaceSize");
  check(cudnnGetRNNTempSpaceSizes(handle_, rnn_, CUDNN_FWD_MODE_TRAINING, x_, &out.workspace, &out.reserve),
        "cudnnGetRNNTempSpaceSizes");
  if (shape_.dropout > 0) check(cudnnDropoutGetStatesSize(handle_, &out.states), "cudnnDropoutGetStatesSize");
  return out;
}

void Network::check_layout() const {
  const RnnParams params = shape_.params();
  const std::size_t element = shape_.element_bytes(), weights = sizes().weights;
  if (weights != static_cast<std::size_t>(params.size()) * element) {
    throw CallError(BACKGAUGE_INTERNAL,
                    "layout of params: " + std::to_string(static_cast<std::size_t>(params.size()) * element) +
                        " bytes in rnn_params and " + std::to_string(weights) + " in cuDNN");
  }
  // Addresses are asked for, never followed.
  void* const base = reinterpret_cast<void*>(std::uintptr_t{1} << 20);
  const TensorDescriptor matrix, bias;
  const int H = static_cast<int>(shape_.H);
  for (std::int64_t layer = 0; layer < params.layers; ++layer) {
    for (std::int64_t direction = 0; direction < params.directions; ++direction) {
      const auto pseudo_layer = static_cast<std::int32_t>(layer * params.directions + direction);
      for (std::int64_t id = 0; id < 2 * params.gates; ++id) {
        void *matrix_at = nullptr, *bias_at = nullptr;
        check(cudnnGetRNNWeightParams(handle_, rnn_, pseudo_layer, weights, base, static_cast<std::int32_t>(id), matrix,
                                      &matrix_at, bias, &bias_at),
              "cudnnGetRNNWeightParams");
        const bool recurrent = id >= params.gates;
        const std::int64_t gate = id % params.gates;
        const int width = recurrent ? H : static_cast<int>(params.matrix_input(layer));
        const Place no_matrix;
        const Place our_matrix = {{1, H, width},
                                  recurrent ? params.R(layer, direction, gate) : params.W(layer, direction, gate)};
        const Place our_bias = {{1, H, 1}, params.bW(layer, direction, 0) + id * shape_.H};
        const std::string where = " of layer " + std::to_string(layer) + ", direction " + std::to_string(direction) +
                                  ", linear layer " + std::to_string(id);
        expect("the matrix" + where, width == 0 ? no_matrix : our_matrix, place_of(matrix, base, matrix_at, element));
        expect("the bias" + where, our_bias, place_of(bias, base, bias_at, element));
      }
    }
  }
}

}  // namespace backgauge::cudnn
