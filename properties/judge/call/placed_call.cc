// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/call/placed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "properties/case/line/c_call.h"
#include "properties/judge/call/plan_fault.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

constexpr std::string_view kReserveSpace = "reserve_space";

// Device memory has no guard pages, only canaries. A wrong row stride of a few thousand elements still lands in them.
std::size_t device_margin() { return 4 * page_bytes(); }

}  // namespace

PlacedCall::PlacedCall(const backgauge_implementation& implementation, const Problem& problem,
                       std::span<const RawTensor> raw, const RunOptions& options, const CallObserver& observer,
                       std::uint64_t memory_limit)
    : implementation_(implementation),
      options_(options),
      observer_(observer),
      memory_limit_(memory_limit),
      problem_(problem),
      spec_(find_op(problem.op)) {
  if (spec_ == nullptr) throw std::invalid_argument("the op of the problem has no table");
  describe_inputs(raw);
  describe_outputs(0);
  link();
  // An implementation may answer an illegal call in any way, so none is made.
  const std::string refusal = validate_shapes(call_).refusal;
  if (!refusal.empty()) throw std::invalid_argument("not a legal call: " + refusal);
}

bool PlacedCall::prepare() {
  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  if (implementation_.prepare != nullptr) {
    invoke_in_frame(
        "prepare",
        [&](const CallFrame& frame) {
          return implementation_.prepare(frame.call(), reinterpret_cast<backgauge_plan*>(frame.answer()),
                                         frame.message());
        },
        std::as_writable_bytes(std::span(&plan, 1)), "the plan");
    if (result_.status != BACKGAUGE_OK) return false;
  }
  add_plan_fault(plan, *spec_, problem_.dtype, memory_limit_, result_);
  if (!result_.violations.empty() || !result_.broken.empty()) return false;
  result_.reserve_length = plan.reserve_space_length;
  describe_outputs(result_.reserve_length);
  place(plan);
  return true;
}

void PlacedCall::invoke_guarded(const char* function, const Body& body, std::span<std::byte> answer,
                                const char* answer_name) {
  guarded([&] { invoke_in_frame(function, body, answer, answer_name); });
}

void PlacedCall::invoke_in_frame(const char* function, const Body& body, std::span<std::byte> answer,
                                 const char* answer_name) {
  auto frame = std::make_unique<CallFrame>(call_, answer_name, answer, options_.placement);
  frame->guarded([&] {
    invoke(function, observer_, result_, [&](backgauge_message& message) {
      const backgauge_status status = body(*frame);
      message = *frame->message();
      return status;
    });
  });
  std::ranges::copy(frame->answered(), answer.begin());
  for (std::string& violation : frame->freeze()) result_.violations.push_back(function + (" " + violation));
  memory_.frames.push_back(std::move(frame));
}

void PlacedCall::guarded(const std::function<void()>& body) {
  memory_.arena->guarded(body);
  if (memory_.mirror == nullptr) return;
  const std::string report = memory_.mirror->collect();
  if (!report.empty()) {
    result_.violations.push_back(fmt::format("after {} the device reported: {}", result_.function, report));
  }
}

void PlacedCall::refill() {
  if (memory_.mirror == nullptr) return memory_.arena->refill();
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (is_changed(inputs_[k])) memory_.mirror->restore(k);
  }
}

bool PlacedCall::is_changed(const Described& input) const {
  return std::ranges::find(options_.changed_inputs, input.raw.name) != options_.changed_inputs.end();
}

RunResult PlacedCall::finish() {
  if (memory_.arena) {
    collect_outputs();
    for (const Violation& violation : memory_.arena->freeze()) result_.violations.push_back(violation.text());
  }
  return std::move(result_);
}

void PlacedCall::describe_inputs(std::span<const RawTensor> raw) {
  const auto row = [&](std::string_view name) { return std::ranges::find(spec_->inputs, name, &TensorSpec::name); };
  const auto dtype_of = [&](std::string_view name) {
    return row(name) != spec_->inputs.end() && row(name)->is_int64 ? BACKGAUGE_INT64 : problem_.dtype;
  };
  for (const Tensor& tensor : problem_.inputs) {
    Described& input = inputs_.emplace_back();
    input = {{tensor.name, tensor.shape, {}}, dtype_of(tensor.name), &tensor.values};
    if (input.dtype == BACKGAUGE_INT64) encode_values(input);  // prepare may read it
  }
  for (const RawTensor& tensor : raw) {
    Described input{tensor, dtype_of(tensor.name), nullptr};
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

void PlacedCall::describe_outputs(std::int64_t reserve_length) {
  Extents extents = problem_.extents;
  extents.reserve_length = reserve_length;
  outputs_.clear();
  for (const TensorSpec& spec : spec_->outputs) {
    if (spec.present(extents)) {
      outputs_.push_back({{std::string(spec.name), spec.shape(extents), {}}, problem_.dtype, nullptr});
    }
  }
  link();
}

// A described input takes memory of its own only when it is placed, or if prepare may read it.
void PlacedCall::encode_values(Described& input) {
  if (input.values == nullptr) return;
  input.raw.bytes.resize(input.values->size() * backgauge_dtype_bytes(input.dtype));
  encode(input.dtype, *input.values, input.raw.bytes.data());
  input.values = nullptr;
}

// Makes call_ describe inputs_ and outputs_, with data only for what prepare may read.
void PlacedCall::link() {
  const auto describe = [&](std::vector<Described>& from, std::vector<backgauge_tensor>& to) {
    to.clear();
    for (Described& described : from) {
      const bool has_data = described.dtype == BACKGAUGE_INT64 && !described.raw.bytes.empty();
      to.push_back(c_tensor(described.raw.name.c_str(), described.raw.shape, described.dtype, space(),
                            has_data ? described.raw.bytes.data() : nullptr));
    }
  };
  describe(inputs_, c_inputs_);
  describe(outputs_, c_outputs_);
  call_ = c_call(problem_, c_inputs_, c_outputs_, space(), options_.num_threads);
}

// The input whose memory an output is to share, as a block; inputs_.size() if it has its own.
std::size_t PlacedCall::shared_block(const Described& output) const {
  const auto named = [&](const std::string& name) { return name == output.raw.name; };
  if (std::ranges::none_of(options_.shared_outputs, named)) return inputs_.size();
  const std::string_view alias = std::ranges::find(spec_->outputs, output.raw.name, &TensorSpec::name)->alias;
  const auto input = std::ranges::find(inputs_, alias, [](const Described& d) { return std::string_view(d.raw.name); });
  return static_cast<std::size_t>(input - inputs_.begin());
}

void PlacedCall::place(const backgauge_plan& plan) {
  std::vector<Block> blocks;
  for (Described& input : inputs_) {
    encode_values(input);
    const bool may_change = is_changed(input);
    Block block{.name = input.raw.name, .unit = backgauge_dtype_bytes(input.dtype)};
    // A large tensor has values only where it is read.
    block.size = static_cast<std::size_t>(element_count(input.raw.shape).value()) * block.unit;
    block.role = may_change ? Block::Role::kChangedInput : Block::Role::kInput;
    block.bytes = std::move(input.raw.bytes);
    blocks.push_back(std::move(block));
  }
  output_blocks_.clear();
  for (const Described& output : outputs_) {
    const std::size_t shared = shared_block(output);
    output_blocks_.push_back(shared < inputs_.size() ? shared : blocks.size());
    if (shared < inputs_.size()) {
      blocks[shared].role = Block::Role::kChangedInput;
      continue;
    }
    const std::int64_t elements = element_count(output.raw.shape).value();
    const std::size_t unit = backgauge_dtype_bytes(output.dtype);
    blocks.push_back({.name = output.raw.name,
                      .role = Block::Role::kOutput,
                      .unit = unit,
                      .size = static_cast<std::size_t>(elements) * unit,
                      .poisoned = !options_.finite_outputs,
                      .fill = RunOptions::kFiniteOutput});
  }
  const std::size_t workspace = blocks.size();
  blocks.push_back({.name = "workspace",
                    .role = Block::Role::kWorkspace,
                    .unit = std::max<std::size_t>(plan.workspace_alignment, 1),
                    .size = plan.workspace_bytes,
                    .fill = options_.workspace_fill});
  memory_.arena = std::make_unique<Arena>(std::move(blocks), options_.placement, on_device() ? device_margin() : 0);
  if (on_device()) mirror();
  const auto data = [&](std::size_t block) {
    return memory_.mirror ? memory_.mirror->data(block) : memory_.arena->data(block);
  };
  for (std::size_t k = 0; k < c_inputs_.size(); ++k) c_inputs_[k].data = data(k);
  for (std::size_t k = 0; k < c_outputs_.size(); ++k) c_outputs_[k].data = data(output_blocks_[k]);
  call_.workspace = data(workspace);
  call_.workspace_bytes = plan.workspace_bytes;
}

// Everything but seq_len_max, which the contract keeps in host memory.
void PlacedCall::mirror() {
  std::vector<bool> stays(memory_.arena->blocks());
  for (std::size_t k = 0; k < inputs_.size(); ++k) stays[k] = inputs_[k].dtype == BACKGAUGE_INT64;
  memory_.mirror = std::make_unique<DeviceMirror>(*memory_.arena, stays);
  call_.stream = memory_.mirror->stream().get();
}

void PlacedCall::collect_outputs() {
  // After other failures the contract does not determine the outputs.
  const bool must_be_untouched =
      result_.status == BACKGAUGE_INVALID_ARGUMENT || result_.status == BACKGAUGE_UNSUPPORTED;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const std::size_t block = output_blocks_[k];
    const std::span<const std::byte> bytes = memory_.arena->bytes(block);
    const std::size_t elements = bytes.size() / backgauge_dtype_bytes(problem_.dtype);
    Output output{outputs_[k].raw, {}, std::vector<std::uint8_t>(elements)};
    for (std::size_t e = 0; e < elements; ++e) output.unwritten[e] = memory_.arena->unwritten(block, e) ? 1 : 0;
    const auto touched = std::ranges::find(output.unwritten, 0);
    if (must_be_untouched && touched != output.unwritten.end()) {
      result_.violations.push_back(fmt::format("returned {} and wrote {} (element {} of {})",
                                               call_status_word(result_.status), output.raw.name,
                                               touched - output.unwritten.begin(), elements));
    }
    if (options_.finite_outputs)
      std::ranges::fill(output.unwritten, std::uint8_t{0});  // a correct result may be the same number
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

}  // namespace backgauge
