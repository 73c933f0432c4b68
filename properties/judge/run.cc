// SPDX-License-Identifier: Apache-2.0
// A call goes through three states: described (shapes, and seq_len_max, which prepare may read), prepared, placed.
#include "properties/judge/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>

#include "properties/judge/arena.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

constexpr std::string_view kReserveSpace = "reserve_space";

// Outputs of a refused call are only watched for being touched: shapes that make no sense get as many elements at most.
constexpr std::int64_t kWatchedElements = 4096;

struct Described {
  RawTensor raw;
  backgauge_dtype dtype;
};

class Call {
 public:
  Call(const backgauge_implementation& implementation, const Problem& problem, std::span<const RawTensor> raw,
       const RunOptions& options)
      : implementation_(implementation), options_(options), problem_(problem), spec_(find_op(problem.op)) {
    if (spec_ == nullptr) throw std::invalid_argument("the problem's op has no table");
    describe_inputs(raw);
    describe_outputs(0);
    link();
  }

  // Asks prepare, then places everything. False if there is nothing to call.
  bool prepare() {
    result_.refusal = shapes_refusal();
    backgauge_plan plan{};
    plan.struct_size = sizeof plan;
    if (implementation_.prepare != nullptr) {
      const bool refused = !result_.refusal.empty();
      invoke("prepare", [&](backgauge_message& message) { return implementation_.prepare(&call_, &plan, &message); });
      if (result_.status != BACKGAUGE_OK && !refused) return false;
      if (result_.status != BACKGAUGE_OK) plan = {};
    }
    if (plan.workspace_alignment != 0 && !std::has_single_bit(plan.workspace_alignment)) {
      result_.violations.push_back(
          fmt::format("prepare asked for an alignment of {} bytes, no power of two", plan.workspace_alignment));
      return false;
    }
    if (plan.reserve_space_length < 0 || (spec_->is_cudnn() && !element_count({plan.reserve_space_length}))) {
      result_.violations.push_back(
          fmt::format("prepare asked for a reserve_space of {} elements", plan.reserve_space_length));
      return false;
    }
    result_.reserve_length = spec_->is_cudnn() ? plan.reserve_space_length : 0;
    describe_outputs(result_.reserve_length);
    place(plan);
    result_.refusal = validate(call_, result_.reserve_length).refusal;
    return true;
  }

  // Calls a function of the implementation in the arena.
  void invoke_guarded(const char* function, const std::function<backgauge_status(backgauge_message&)>& body) {
    arena_->guarded([&] { invoke(function, body); });
  }

  RunResult finish() {
    if (arena_) {
      collect_outputs();
      for (const Violation& violation : arena_->violations()) result_.violations.push_back(violation.text());
    }
    return std::move(result_);
  }

  std::string shapes_refusal() const { return validate_shapes(call_).refusal; }

  const backgauge_call& c() const { return call_; }
  RunResult& result() { return result_; }

 private:
  void describe_inputs(std::span<const RawTensor> raw) {
    const auto row = [&](std::string_view name) { return std::ranges::find(spec_->inputs, name, &TensorSpec::name); };
    const auto dtype_of = [&](std::string_view name) {
      return row(name) != spec_->inputs.end() && row(name)->is_int64 ? BACKGAUGE_INT64 : problem_.dtype;
    };
    for (const Tensor& tensor : problem_.inputs) {
      Described input{{tensor.name, tensor.shape, {}}, dtype_of(tensor.name)};
      input.raw.bytes.resize(tensor.values.size() * backgauge_dtype_bytes(input.dtype));
      encode(input.dtype, tensor.values, input.raw.bytes.data());
      inputs_.push_back(std::move(input));
    }
    for (const RawTensor& tensor : raw) {
      Described input{tensor, dtype_of(tensor.name)};
      const auto same = std::ranges::find_if(inputs_, [&](const Described& d) { return d.raw.name == tensor.name; });
      if (same != inputs_.end()) {
        *same = std::move(input);
        continue;
      }
      const auto later =
          std::ranges::find_if(inputs_, [&](const Described& d) { return row(d.raw.name) > row(tensor.name); });
      inputs_.insert(later, std::move(input));
    }
  }

  void describe_outputs(std::int64_t reserve_length) {
    Extents extents = problem_.extents;
    extents.reserve_length = reserve_length;
    outputs_.clear();
    for (const TensorSpec& spec : spec_->outputs) {
      if (spec.present(extents)) {
        outputs_.push_back({{std::string(spec.name), spec.shape(extents), {}}, problem_.dtype});
      }
    }
    link();
  }

  // Makes call_ describe inputs_ and outputs_, with data for what prepare may read only.
  void link() {
    const auto describe = [&](std::vector<Described>& from, std::vector<backgauge_tensor>& to) {
      to.clear();
      for (Described& described : from) {
        backgauge_tensor tensor{};
        tensor.name = described.raw.name.c_str();
        const std::size_t rank = std::min<std::size_t>(described.raw.shape.size(), BACKGAUGE_MAX_RANK);
        std::copy_n(described.raw.shape.begin(), rank, tensor.shape);
        tensor.rank = static_cast<std::int32_t>(rank);
        tensor.dtype = described.dtype;
        tensor.memory_space = BACKGAUGE_HOST;
        if (described.dtype == BACKGAUGE_INT64 && !described.raw.bytes.empty())
          tensor.data = described.raw.bytes.data();
        to.push_back(tensor);
      }
    };
    describe(inputs_, c_inputs_);
    describe(outputs_, c_outputs_);
    call_.struct_size = sizeof call_;
    call_.op = problem_.op;
    call_.dtype = problem_.dtype;
    call_.memory_space = BACKGAUGE_HOST;
    call_.attributes = problem_.attributes;
    call_.inputs = c_inputs_.data();
    call_.outputs = c_outputs_.data();
    call_.num_inputs = static_cast<std::int32_t>(c_inputs_.size());
    call_.num_outputs = static_cast<std::int32_t>(c_outputs_.size());
    call_.num_threads = options_.num_threads;
  }

  void place(const backgauge_plan& plan) {
    std::vector<Block> blocks;
    for (Described& input : inputs_) {
      const bool may_change =
          std::ranges::find(options_.changed_inputs, input.raw.name) != options_.changed_inputs.end();
      Block block{.name = input.raw.name, .unit = backgauge_dtype_bytes(input.dtype), .size = input.raw.bytes.size()};
      block.role = may_change ? Block::Role::kChangedInput : Block::Role::kInput;
      block.bytes = std::move(input.raw.bytes);
      blocks.push_back(std::move(block));
    }
    for (const Described& output : outputs_) {
      std::int64_t elements = element_count(output.raw.shape).value_or(kWatchedElements);
      if (!result_.refusal.empty()) elements = std::min(elements, kWatchedElements);
      const std::size_t unit = backgauge_dtype_bytes(output.dtype);
      blocks.push_back({.name = output.raw.name,
                        .role = Block::Role::kOutput,
                        .unit = unit,
                        .size = static_cast<std::size_t>(elements) * unit});
    }
    blocks.push_back({.name = "workspace",
                      .role = Block::Role::kWorkspace,
                      .unit = std::max<std::size_t>(plan.workspace_alignment, 1),
                      .size = plan.workspace_bytes,
                      .fill = options_.workspace_fill});
    arena_ = std::make_unique<Arena>(std::move(blocks), options_.placement);
    std::size_t block = 0;
    for (backgauge_tensor& tensor : c_inputs_) tensor.data = arena_->data(block++);
    first_output_ = block;
    for (backgauge_tensor& tensor : c_outputs_) tensor.data = arena_->data(block++);
    call_.workspace = arena_->data(block);
    call_.workspace_bytes = plan.workspace_bytes;
  }

  void invoke(const char* function, const std::function<backgauge_status(backgauge_message&)>& body) {
    backgauge_message message{};
    result_.function = function;
    try {
      result_.status = body(message);
    } catch (...) {  // not ours: the implementation's rules forbid it
      result_.status = BACKGAUGE_INTERNAL;
      result_.violations.push_back(fmt::format("{} threw an exception", function));
    }
    message.text[sizeof message.text - 1] = '\0';
    result_.message = message.text;
  }

  void collect_outputs() {
    // What other failures leave in the outputs is not promised.
    const bool must_be_untouched =
        result_.status == BACKGAUGE_INVALID_ARGUMENT || result_.status == BACKGAUGE_UNSUPPORTED;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const std::size_t block = first_output_ + k;
      const std::span<const std::byte> bytes = arena_->bytes(block);
      const std::size_t elements = bytes.size() / backgauge_dtype_bytes(problem_.dtype);
      Output output{outputs_[k].raw, {}, std::vector<std::uint8_t>(elements)};
      for (std::size_t e = 0; e < elements; ++e) output.unwritten[e] = arena_->unwritten(block, e) ? 1 : 0;
      const auto touched = std::ranges::find(output.unwritten, 0);
      if (must_be_untouched && touched != output.unwritten.end()) {
        result_.violations.push_back(fmt::format("answered {} and wrote {} (element {} of {})",
                                                 status_word(std::int32_t{result_.status}), output.raw.name,
                                                 touched - output.unwritten.begin(), elements));
      }
      output.raw.bytes.assign(bytes.begin(), bytes.end());
      if (output.raw.name == kReserveSpace) {
        output.unwritten.clear();
      } else {
        output.values.resize(elements);
        decode(problem_.dtype, bytes.data(), output.values);
      }
      result_.outputs.push_back(std::move(output));
    }
  }

  const backgauge_implementation& implementation_;
  const RunOptions& options_;
  const Problem& problem_;
  const OpSpec* spec_;
  std::vector<Described> inputs_, outputs_;
  std::vector<backgauge_tensor> c_inputs_, c_outputs_;
  backgauge_call call_{};
  std::unique_ptr<Arena> arena_;
  std::size_t first_output_ = 0;
  RunResult result_;
};

}  // namespace

RunResult run(const backgauge_implementation& implementation, const Problem& problem, std::span<const RawTensor> raw,
              const RunOptions& options) {
  Call call(implementation, problem, raw, options);
  if (!call.prepare()) return call.finish();
  const bool forward = problem.op == BACKGAUGE_CUDNN_RNN;
  call.invoke_guarded(forward ? "forward" : "run", [&](backgauge_message& message) {
    return (forward ? implementation.forward : implementation.run)(&call.c(), &message);
  });
  return call.finish();
}

std::vector<RawTensor> absent_inputs(const Problem& problem) {
  std::vector<RawTensor> absent;
  Extents extents = problem.extents;
  extents.reserve_length = 0;
  for (const TensorSpec& spec : find_op(problem.op)->inputs) {
    if (!spec.present(extents) || problem.find(spec.name) != nullptr) continue;
    const Shape shape = spec.shape(extents);
    const auto elements = static_cast<std::size_t>(element_count(shape).value_or(0));
    absent.push_back(
        {std::string(spec.name), shape, std::vector<std::byte>(elements * backgauge_dtype_bytes(problem.dtype))});
  }
  return absent;
}

std::string refusal_of(const Problem& problem) {
  const RunOptions options;
  return Call({}, problem, absent_inputs(problem), options).shapes_refusal();
}

DropoutMasks dropout_masks(const backgauge_implementation& implementation, const Problem& problem,
                           std::span<const RawTensor> raw, const RunOptions& options) {
  DropoutMasks masks;
  Call call(implementation, problem, raw, options);
  if (call.prepare()) {
    const Extents& e = problem.extents;
    const auto elements = static_cast<std::size_t>(e.T * e.B * e.D * e.H);
    for (std::int64_t gap = 0; gap + 1 < e.L && (gap == 0 || call.result().status == BACKGAUGE_OK); ++gap) {
      constexpr std::uint8_t kUnset = 0xff;
      masks.keep.emplace_back(elements, kUnset);
      call.invoke_guarded("dropout_mask", [&](backgauge_message& message) {
        return implementation.dropout_mask(&call.c(), static_cast<std::int32_t>(gap), masks.keep.back().data(),
                                           &message);
      });
    }
  }
  masks.result = call.finish();
  return masks;
}

}  // namespace backgauge
