// SPDX-License-Identifier: Apache-2.0
#include "perf/gpu/device_call.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "reference/contract/rnn_params.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge::gpu {
namespace {

const backgauge_op_claims* claims_of(const backgauge_implementation& implementation, backgauge_op op) {
  for (std::int32_t k = 0; k < implementation.num_claims; ++k) {
    if (implementation.claims[k].op == op) return &implementation.claims[k];
  }
  return nullptr;
}

Extents extents_of(const Shape& shape) {
  Extents e;
  e.T = e.S = shape.T;
  e.B = shape.B;
  e.I = shape.I;
  e.H = shape.H;
  e.lstm = shape.mode == BACKGAUGE_LSTM;
  return e;
}

backgauge_attributes attributes_of(const Shape& shape) {
  backgauge_attributes attributes{};
  attributes.rnn_mode = shape.mode;
  attributes.input_mode = BACKGAUGE_LINEAR_INPUT;
  attributes.direction = BACKGAUGE_UNIDIRECTIONAL;
  return attributes;
}

std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

// Values by the tensor's part in the op.
std::vector<double> values_for(const std::string& name, const Shape& shape, std::int64_t count) {
  std::mt19937_64 random(std::hash<std::string>()(name));
  std::normal_distribution<double> normal;
  const bool gate = name == "i" || name == "f" || name == "o";
  const bool state = name == "ci" || name == "co" || name == "h" || name == "h_prev" || name == "input_h";
  const bool weight = name == "w" || name == "params";
  const double scale = 1 / std::sqrt(static_cast<double>(shape.H));
  std::vector<double> values(static_cast<std::size_t>(count));
  // Drawing takes longer than all else: from here on they come again.
  constexpr std::size_t kPeriod = 1'000'003;
  for (std::size_t k = 0; k < values.size(); ++k) {
    double& value = values[k];
    if (k >= kPeriod) {
      value = values[k - kPeriod];
      continue;
    }
    value = normal(random);
    if (gate) value = 1 / (1 + std::exp(-value));
    if (state) value = std::tanh(value);
    if (weight) value *= scale;
  }
  return values;
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

Shape parse_shape(const std::string& text) {
  Shape shape;
  char op[40] = "", dtype[8] = "", mode[8] = "lstm";
  long long T = 0, B = 0, I = 0, H = 0;
  const int read = std::sscanf(text.c_str(), "%39[^:]:%lld,%lld,%lld,%lld:%7[^:]:%7s", op, &T, &B, &I, &H, dtype, mode);
  const OpSpec* spec = find_op(std::string_view(op));
  shape.dtype = static_cast<backgauge_dtype>(enumerator_of(dtype_word, dtype));
  shape.mode = enumerator_of(rnn_mode_word, mode);
  if (read < 6 || spec == nullptr || shape.dtype == 0 || shape.mode == 0 || std::min({T, B, I, H}) < 1) {
    throw std::runtime_error(text + ": expected <op>:<T>,<B>,<I>,<H>:<dtype>[:<mode>]");
  }
  shape.op = spec->op;
  shape.T = T;
  shape.B = B;
  shape.I = I;
  shape.H = H;
  return shape;
}

std::string Shape::text() const {
  std::string out = std::string(find_op(op)->word) + ":" + std::to_string(T) + "," + std::to_string(B) + "," +
                    std::to_string(I) + "," + std::to_string(H) + ":" + std::string(dtype_word(dtype));
  if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) out += ":" + std::string(rnn_mode_word(mode));
  return out;
}

double Shape::flops() const {
  if (op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) return 0;
  const std::int64_t gates = op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? 4 : rnn_gates(mode);
  return 4.0 * static_cast<double>(T * B * gates * H) * static_cast<double>(I + H);
}

double Shape::bytes() const {
  const Extents e = extents_of(*this);
  double elements = 0;
  for (const auto* tensors : {&find_op(op)->inputs, &find_op(op)->outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      const bool is_read = tensors != &find_op(op)->inputs || tensor.rows == nullptr || tensor.rows(e) > 0;
      if (!tensor.is_int64 && tensor.present(e) && is_read) {
        elements += static_cast<double>(element_count(tensor.shape(e)).value_or(0));
      }
    }
  }
  return elements * static_cast<double>(backgauge_dtype_bytes(dtype));
}

const backgauge_implementation& open_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<backgauge_entry_function>(dlsym(library, BACKGAUGE_ENTRY_NAME));
  const backgauge_implementation* table = entry == nullptr ? nullptr : entry(&host());
  if (table != nullptr && table->abi == BACKGAUGE_ABI && table->memory_space == BACKGAUGE_CUDA) return *table;
  if (table != nullptr) throw std::runtime_error(path + ": no table for device memory");
  const auto reason = reinterpret_cast<backgauge_refusal_function>(dlsym(library, BACKGAUGE_REFUSAL_NAME));
  throw std::runtime_error(path + ": " + (entry != nullptr && reason != nullptr ? reason() : "gives no table"));
}

bool claims(const backgauge_implementation& implementation, const Shape& shape) {
  const backgauge_op_claims* claims = claims_of(implementation, shape.op);
  return claims != nullptr && (claims->dtypes & BACKGAUGE_BIT(shape.dtype)) != 0 &&
         (shape.op != BACKGAUGE_CUDNN_RNN_BACKPROP || (claims->rnn_modes & BACKGAUGE_BIT(shape.mode)) != 0);
}

DeviceCall::DeviceCall(const backgauge_implementation& implementation, const Shape& shape, cudaStream_t stream)
    : implementation_(implementation), shape_(shape), stream_(stream), steps_(shape.T) {
  Extents extents = extents_of(shape);
  extents.params_length = rnn_params(attributes_of(shape), shape.I, shape.H, 1).size();
  Tensors made;
  if (shape.op == BACKGAUGE_CUDNN_RNN_BACKPROP) made = forward(extents);
  const OpSpec& op = *find_op(shape.op);
  inputs_.clear();
  add_inputs(op, extents, std::move(made));
  for (const TensorSpec& spec : op.outputs) {
    if (spec.present(extents)) outputs_.push_back(describe(spec, extents));
  }
  c_inputs_ = described(inputs_);
  c_outputs_ = described(outputs_);
  call_ = call_of(shape.op, c_inputs_, c_outputs_);
  ask(call_);
  if (claims_of(implementation, shape.op)->changes_reserve_space != 0) {
    const auto reserve = std::ranges::find(inputs_, "reserve_space", &Tensor::name);
    reserve_before_ = std::make_unique<DeviceMemory>(reserve->memory->bytes());
    check(cudaMemcpyAsync(reserve_before_->data(), reserve->memory->data(), reserve_before_->bytes(),
                          cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync");
  }
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

DeviceCall::Tensor DeviceCall::describe(const TensorSpec& spec, const Extents& extents) const {
  Tensor tensor;
  tensor.name = spec.name;
  const backgauge::Shape dimensions = spec.shape(extents);
  std::ranges::copy(dimensions, tensor.described.shape);
  tensor.described.rank = static_cast<std::int32_t>(dimensions.size());
  tensor.described.dtype = spec.is_int64 ? BACKGAUGE_INT64 : shape_.dtype;
  tensor.described.memory_space = spec.is_int64 ? BACKGAUGE_HOST : BACKGAUGE_CUDA;
  if (!spec.is_int64) tensor.memory = std::make_unique<DeviceMemory>(bytes_of(tensor.described));
  return tensor;
}

// What the forward has made comes first.
void DeviceCall::add_inputs(const OpSpec& op, Extents& extents, Tensors made) {
  for (const TensorSpec& spec : op.inputs) {
    if (!spec.present(extents)) continue;
    if (const auto found = std::ranges::find(made, spec.name, &Tensor::name); found != made.end()) {
      inputs_.push_back(std::move(*found));
      continue;
    }
    Tensor tensor = describe(spec, extents);
    if (tensor.memory != nullptr) {
      std::vector<std::byte> bytes(tensor.memory->bytes());
      encode(shape_.dtype, values_for(tensor.name, shape_, backgauge_elements(&tensor.described)), bytes.data());
      check(cudaMemcpy(tensor.memory->data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    inputs_.push_back(std::move(tensor));
  }
}

std::vector<backgauge_tensor> DeviceCall::described(const Tensors& tensors) {
  std::vector<backgauge_tensor> out;
  for (const Tensor& tensor : tensors) {
    out.push_back(tensor.described);
    out.back().name = tensor.name.c_str();
    if (tensor.memory != nullptr) out.back().data = tensor.memory->data();
  }
  return out;
}

backgauge_call DeviceCall::call_of(backgauge_op op, std::span<const backgauge_tensor> inputs,
                                   std::span<const backgauge_tensor> outputs) const {
  backgauge_call call{};
  call.struct_size = sizeof call;
  call.op = op;
  call.dtype = shape_.dtype;
  call.memory_space = BACKGAUGE_CUDA;
  call.attributes = attributes_of(shape_);
  call.inputs = inputs.data();
  call.outputs = outputs.data();
  call.num_inputs = static_cast<std::int32_t>(inputs.size());
  call.num_outputs = static_cast<std::int32_t>(outputs.size());
  call.num_threads = 1;
  call.stream = stream_;
  return call;
}

backgauge_plan DeviceCall::ask(backgauge_call& call) {
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    if (call.inputs[k].dtype == BACKGAUGE_INT64) const_cast<backgauge_tensor&>(call.inputs[k]).data = &steps_;
  }
  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  backgauge_message message{};
  if (implementation_.prepare != nullptr && implementation_.prepare(&call, &plan, &message) != BACKGAUGE_OK) {
    throw std::runtime_error(std::string("prepare: ") + message.text);
  }
  workspaces_.push_back(std::make_unique<DeviceMemory>(plan.workspace_bytes));
  call.workspace = workspaces_.back()->data();
  call.workspace_bytes = plan.workspace_bytes;
  return plan;
}

DeviceCall::Tensors DeviceCall::forward(Extents& extents) {
  const OpSpec& op = *find_op(BACKGAUGE_CUDNN_RNN);
  add_inputs(op, extents, {});
  Tensors made;
  std::vector<backgauge_tensor> c_inputs = described(inputs_), c_outputs;
  backgauge_call call{};
  // Once to learn how long reserve_space is, once with it.
  for (const bool knows_length : {false, true}) {
    made.clear();
    for (const TensorSpec& spec : op.outputs) {
      if (spec.present(extents)) made.push_back(describe(spec, extents));
    }
    c_outputs = described(made);
    call = call_of(BACKGAUGE_CUDNN_RNN, c_inputs, c_outputs);
    const backgauge_plan plan = ask(call);
    if (!knows_length) extents.reserve_length = plan.reserve_space_length;
  }
  backgauge_message message{};
  if (implementation_.forward(&call, &message) != BACKGAUGE_OK) {
    throw std::runtime_error(std::string("forward: ") + message.text);
  }
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  return made;
}

void DeviceCall::run() {
  backgauge_message message{};
  if (implementation_.run(&call_, &message) != BACKGAUGE_OK) {
    throw std::runtime_error(std::string("run: ") + message.text);
  }
}

void DeviceCall::restore() {
  if (reserve_before_ == nullptr) return;
  const auto reserve = std::ranges::find(inputs_, "reserve_space", &Tensor::name);
  check(cudaMemcpyAsync(reserve->memory->data(), reserve_before_->data(), reserve_before_->bytes(),
                        cudaMemcpyDeviceToDevice, stream_),
        "cudaMemcpyAsync");
}

void DeviceCall::poison_outputs() {
  constexpr int kNan = 0xff;  // in every format
  for (const Tensor& output : outputs_) {
    check(cudaMemsetAsync(output.memory->data(), kNan, output.memory->bytes(), stream_), "cudaMemsetAsync");
  }
}

std::vector<std::byte> DeviceCall::output_bytes() const {
  check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  std::vector<std::byte> out;
  for (const Tensor& output : outputs_) {
    const std::size_t at = out.size();
    out.resize(at + output.memory->bytes());
    check(cudaMemcpy(out.data() + at, output.memory->data(), output.memory->bytes(), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  }
  return out;
}

std::vector<double> DeviceCall::output_values() const {
  const std::vector<std::byte> bytes = output_bytes();
  std::vector<double> values(bytes.size() / backgauge_dtype_bytes(shape_.dtype));
  decode(shape_.dtype, bytes.data(), values);
  return values;
}

}  // namespace backgauge::gpu
