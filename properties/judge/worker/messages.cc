// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/messages.h"

#include <algorithm>

#include "properties/judge/call/printable.h"
#include "properties/judge/compare/claims.h"
#include "reference/contract/storage.h"

namespace backgauge {

namespace {

void make_printable(RunResult& result) {
  result.function = printable(result.function, kShownOfName);
  result.message = printable(result.message, kShownOfMessage);
  result.broken = printable(result.broken);
  for (std::string& violation : result.violations) violation = printable(violation);
}

// True if the output matches its description; then its values are computed.
bool complete(Output& output, const TensorSpec& spec, const Extents& extents, backgauge_dtype dtype) {
  const std::optional<std::int64_t> elements = element_count(output.raw.shape);
  if (output.raw.name != spec.name || output.raw.shape != spec.shape(extents) || !elements) return false;
  const auto count = static_cast<std::size_t>(*elements);
  if (output.raw.bytes.size() != count * backgauge_dtype_bytes(dtype)) return false;
  if (spec.role == Role::kReserve) return output.unwritten.empty();
  if (output.unwritten.size() != count) return false;
  output.values.resize(count);
  decode(dtype, output.raw.bytes.data(), output.values);
  return true;
}

// True if the outputs of this result are compared.
bool answered(const RunResult& result) {
  return result.status == BACKGAUGE_OK && result.violations.empty() && result.broken.empty();
}

bool complete(RunResult& result, const Problem& problem) {
  if (result.reserve_length < 0) return false;
  if (!answered(result)) {
    result.outputs.clear();
    return true;
  }
  Extents extents = problem.extents;
  extents.reserve_length = result.reserve_length;
  auto output = result.outputs.begin();
  for (const TensorSpec& spec : find_op(problem.op)->outputs) {
    if (!spec.present(extents)) continue;
    if (output == result.outputs.end() || !complete(*output++, spec, extents, problem.dtype)) return false;
  }
  return output == result.outputs.end();
}

bool complete(const DropoutMasks& masks, const Extents& e) {
  if (masks.result.reserve_length < 0 || !masks.result.outputs.empty()) return false;
  if (!answered(masks.result)) return true;
  const auto elements = static_cast<std::size_t>(mask_elements(e));
  return is_mask_count(masks.keep.size(), e) &&
         std::ranges::all_of(masks.keep, [&](const auto& keep) { return keep.size() == elements; });
}

// True if the result matches these calls; then the values of its outputs are computed.
bool complete(Together& together, const std::vector<TogetherCall>& calls) {
  if (together.thread >= calls.size()) return false;
  for (Together::Stray& stray : together.strays) {
    if (stray.thread >= calls.size()) return false;
    const Problem& problem = calls[stray.thread].problem;
    const OpSpec& spec = spec_of(stray.forward != 0 ? traits_of(problem.op).forward.value_or(problem.op) : problem.op);
    for (Output& output : stray.outputs) {
      const auto row = std::ranges::find(spec.outputs, output.raw.name, &TensorSpec::name);
      if (row == spec.outputs.end() || row->role == Role::kReserve) return false;
      if (!complete(output, *row, problem.extents, problem.dtype)) return false;
    }
    const auto elements = static_cast<std::size_t>(mask_elements(problem.extents));
    if (std::ranges::any_of(stray.keep, [&](const auto& keep) { return keep.size() != elements; })) return false;
  }
  return true;
}

// Claims from a worker may be any bytes.
bool are_legal(const std::vector<Claims>& claims) {
  if (std::ranges::any_of(claims, [](const Claims& each) { return find_op(each.op) == nullptr; })) return false;
  const ClaimArrays arrays(claims);
  const std::span tables(arrays.data(), static_cast<std::size_t>(arrays.size()));
  std::string refusal;
  return std::ranges::all_of(tables, [&](const auto& table) { return read_claims(table, refusal).has_value(); });
}

// The functions of a table that represents one in another process.
backgauge_status prepare_elsewhere(const backgauge_call*, backgauge_plan*, backgauge_message*) {
  return BACKGAUGE_INTERNAL;
}
backgauge_status run_elsewhere(const backgauge_call*, backgauge_message*) { return BACKGAUGE_INTERNAL; }
backgauge_status dropout_mask_elsewhere(const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
  return BACKGAUGE_INTERNAL;
}

}  // namespace

Introduction introduction(const backgauge_implementation& i) {
  std::vector<Claims> claims;
  for (std::int32_t k = 0; k < i.num_claims; ++k) {
    claims.push_back(claims_of(i, static_cast<backgauge_op>(i.claims[k].op)).value());
  }
  return {i.name,
          i.version,
          i.description,
          i.memory_space,
          (i.prepare != nullptr ? Introduction::kPrepare : 0) | (i.run != nullptr ? Introduction::kRun : 0) |
              (i.forward != nullptr ? Introduction::kForward : 0) |
              (i.dropout_mask != nullptr ? Introduction::kDropoutMask : 0),
          std::move(claims)};
}

backgauge_implementation table_of(const Introduction& i, const ClaimArrays& claims) {
  backgauge_implementation table{};
  table.abi = BACKGAUGE_ABI;
  table.struct_size = sizeof table;
  table.name = i.name.c_str();
  table.version = i.version.c_str();
  table.description = i.description.c_str();
  table.memory_space = i.memory_space;
  table.num_claims = claims.size();
  table.claims = claims.data();
  if ((i.functions & Introduction::kPrepare) != 0) table.prepare = prepare_elsewhere;
  if ((i.functions & Introduction::kRun) != 0) table.run = run_elsewhere;
  if ((i.functions & Introduction::kForward) != 0) table.forward = run_elsewhere;
  if ((i.functions & Introduction::kDropoutMask) != 0) table.dropout_mask = dropout_mask_elsewhere;
  return table;
}

std::optional<Introduction> introduction_from(std::span<const std::byte> bytes) {
  std::optional<Introduction> introduction = from_wire<Introduction>(bytes);
  if (!introduction || !are_legal(introduction->claims)) return std::nullopt;
  introduction->name = printable(introduction->name, kShownOfName);
  introduction->version = printable(introduction->version, kShownOfName);
  introduction->description = printable(introduction->description, kShownOfMessage);
  return introduction;
}

std::optional<Together> together_from(std::span<const std::byte> bytes, const std::vector<TogetherCall>& calls) {
  std::optional<Together> together = from_wire<Together>(bytes);
  if (together) together->fault = printable(together->fault);
  return together && complete(*together, calls) ? std::move(together) : std::nullopt;
}

std::optional<ThreadUse> thread_use_from(std::span<const std::byte> bytes) {
  std::optional<ThreadUse> use = from_wire<ThreadUse>(bytes);
  if (!use) return use;
  use->fault = printable(use->fault);
  use->unmeasured = printable(use->unmeasured);
  return use;
}

std::optional<MemoryGrowth> memory_growth_from(std::span<const std::byte> bytes) {
  std::optional<MemoryGrowth> growth = from_wire<MemoryGrowth>(bytes);
  if (!growth) return growth;
  growth->fault = printable(growth->fault);
  growth->unmeasured = printable(growth->unmeasured);
  return growth;
}

std::optional<RunResult> result_without_outputs_from(std::span<const std::byte> bytes) {
  std::optional<RunResult> result = from_wire<RunResult>(bytes);
  if (result) make_printable(*result);
  return result && result->outputs.empty() ? std::move(result) : std::nullopt;
}

std::optional<RunResult> run_result_from(std::span<const std::byte> bytes, const Problem& problem) {
  std::optional<RunResult> result = from_wire<RunResult>(bytes);
  if (result) make_printable(*result);
  return result && complete(*result, problem) ? std::move(result) : std::nullopt;
}

std::optional<DropoutMasks> dropout_masks_from(std::span<const std::byte> bytes, const Problem& problem) {
  std::optional<DropoutMasks> masks = from_wire<DropoutMasks>(bytes);
  if (masks) make_printable(masks->result);
  return masks && complete(*masks, problem.extents) ? std::move(masks) : std::nullopt;
}

std::optional<std::vector<std::string>> texts_from(std::span<const std::byte> bytes) {
  std::optional<std::vector<std::string>> texts = from_wire<std::vector<std::string>>(bytes);
  if (texts) std::ranges::transform(*texts, texts->begin(), [](const std::string& text) { return printable(text); });
  return texts;
}

}  // namespace backgauge
