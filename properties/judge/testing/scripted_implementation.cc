// SPDX-License-Identifier: Apache-2.0
// reserve_space of the scripted implementation: the dropout masks, one element of the dtype each, then kSeal.
#include "properties/judge/testing/scripted_implementation.h"

#include <algorithm>
#include <cstring>

#include "properties/case/line/random.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"
#include "reference/oracle.h"

namespace backgauge::testing {
namespace {

constexpr double kSeal = 42;

ScriptedImplementation* current = nullptr;

backgauge_dtype dtype_of(const backgauge_call& call) { return static_cast<backgauge_dtype>(call.dtype); }

Problem problem_of(const backgauge_call& call, const Extents& extents) {
  Problem problem{static_cast<backgauge_op>(call.op), dtype_of(call), call.attributes, extents, {}, {}};
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    const backgauge_tensor& tensor = call.inputs[k];
    Tensor copy{tensor.name, {tensor.shape, tensor.shape + tensor.rank}, {}};
    copy.values.resize(static_cast<std::size_t>(backgauge_elements(&tensor)));
    if (!copy.values.empty()) decode(static_cast<backgauge_dtype>(tensor.dtype), tensor.data, copy.values);
    problem.inputs.push_back(std::move(copy));
  }
  return problem;
}

void store(const backgauge_call& call, const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    const backgauge_tensor* output = backgauge_find(call.outputs, call.num_outputs, tensor.name.c_str());
    if (!tensor.values.empty()) encode(dtype_of(call), tensor.values, output->data);
  }
}

std::vector<double> decoded(const backgauge_call& call, const backgauge_tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(backgauge_elements(&tensor)));
  decode(dtype_of(call), tensor.data, values);
  return values;
}

// Masks as drawn by forward: a function of the seeds and the element, whatever its tensors hold.
double keep_value(const backgauge_attributes& attributes, std::int64_t index) {
  const RandomStream stream(
      static_cast<std::uint64_t>(attributes.seed) << 32 ^ static_cast<std::uint64_t>(attributes.seed2), "scripted");
  return stream.uniform(index) < static_cast<double>(attributes.dropout) ? 0 : 1;
}

void take_masks(const backgauge_call& call, Problem& problem) {
  const std::vector<double> reserve = decoded(call, *backgauge_find(call.inputs, call.num_inputs, "reserve_space"));
  const auto elements = static_cast<std::size_t>(mask_elements(problem.extents));
  for (std::size_t gap = 0; gap + 1 < static_cast<std::size_t>(problem.extents.L); ++gap) {
    problem.keep.emplace_back(reserve.begin() + static_cast<std::ptrdiff_t>(gap * elements),
                              reserve.begin() + static_cast<std::ptrdiff_t>((gap + 1) * elements));
  }
}

backgauge_status refuse(const std::string& reason, backgauge_message* message) {
  reason.copy(message->text, sizeof message->text - 1);
  return BACKGAUGE_INVALID_ARGUMENT;
}

std::int64_t reserve_length(const Extents& e) { return (e.L - 1) * mask_elements(e) + 1; }

backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) {
  const Validation validation = validate_shapes(*call);
  if (!validation.ok()) return refuse(validation.refusal, message);
  plan->workspace_alignment = 64;
  plan->workspace_bytes = 200;
  if (find_op(call->op)->has(Role::kReserve)) plan->reserve_space_length = reserve_length(validation.extents);
  if (current->after_prepare) current->after_prepare(*plan);
  return BACKGAUGE_OK;
}

backgauge_status run(const backgauge_call* call, backgauge_message* message) {
  ++current->runs;
  if (current->before) {
    if (const backgauge_status status = current->before(*call, *message); status != BACKGAUGE_OK) return status;
  }
  const Validation shapes = validate_shapes(*call);
  const Validation validation = validate(*call, shapes.ok() ? reserve_length(shapes.extents) : 0);
  if (!validation.ok()) return refuse(validation.refusal, message);
  Problem problem = problem_of(*call, validation.extents);
  if (traits_of(problem.op).forward) {
    const std::vector<double> reserve = decoded(*call, call->inputs[call->num_inputs - 1]);
    if (reserve.back() != kSeal) return BACKGAUGE_INTERNAL;
    take_masks(*call, problem);
  }
  store(*call, oracle_values(problem));
  if (current->after_run) current->after_run(*call);
  return BACKGAUGE_OK;
}

backgauge_status forward(const backgauge_call* call, backgauge_message* message) {
  const Validation shapes = validate_shapes(*call);
  const Validation validation = validate(*call, shapes.ok() ? reserve_length(shapes.extents) : 0);
  if (!validation.ok()) return refuse(validation.refusal, message);
  Problem problem = problem_of(*call, validation.extents);
  std::vector<double> reserve;
  for (std::int64_t gap = 0; gap + 1 < problem.extents.L; ++gap) {
    std::vector<std::uint8_t> keep;
    for (std::int64_t k = 0; k < mask_elements(problem.extents); ++k) {
      reserve.push_back(keep_value(current->seeds ? current->seeds(call->attributes) : call->attributes, k));
      keep.push_back(static_cast<std::uint8_t>(reserve.back()));
    }
    problem.keep.push_back(std::move(keep));
  }
  reserve.push_back(kSeal);
  std::vector<Tensor> made = oracle_values(problem);
  made.push_back({"reserve_space", {static_cast<std::int64_t>(reserve.size())}, reserve});
  store(*call, made);
  if (current->after_forward) current->after_forward(*call);
  return BACKGAUGE_OK;
}

backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep, backgauge_message*) {
  const Validation validation = validate_shapes(*call);
  Problem problem = problem_of(*call, validation.extents);
  take_masks(*call, problem);
  const std::vector<std::uint8_t>& mask = problem.keep[static_cast<std::size_t>(gap)];
  std::ranges::copy(mask, keep);
  if (current->after_dropout_mask) current->after_dropout_mask(keep, mask.size());
  return BACKGAUGE_OK;
}

}  // namespace

ScriptedImplementation::ScriptedImplementation() : table{} {
  table = {BACKGAUGE_ABI,
           sizeof table,
           "scripted",
           "1",
           "answers what the reference says",
           BACKGAUGE_HOST,
           0,
           nullptr,
           prepare,
           run,
           forward,
           dropout_mask};
  publish();
  current = this;
}

void ScriptedImplementation::claim(backgauge_op op) {
  if (claims_.op == op) return;
  claims_.op = op;
  claims_.dtypes = spec_of(op).dtypes;
  publish();
}

void ScriptedImplementation::publish() {
  arrays_ = ClaimArrays({claims_});
  table.num_claims = arrays_.size();
  table.claims = arrays_.data();
}

float& at(const backgauge_tensor* tensors, std::int32_t count, const char* name, std::int64_t index) {
  return static_cast<float*>(backgauge_find(tensors, count, name)->data)[index];
}

}  // namespace backgauge::testing
