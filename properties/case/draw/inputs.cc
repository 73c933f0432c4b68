// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/inputs.h"

#include <algorithm>
#include <optional>
#include <span>

#include "properties/case/draw/ops/entry.h"
#include "properties/case/draw/poison.h"
#include "properties/case/line/c_call.h"
#include "properties/case/line/random.h"
#include "properties/case/line/shaped_problem.h"
#include "properties/case/stored/golden.h"
#include "reference/contract/storage.h"
#include "reference/contract/validate.h"

namespace backgauge {
namespace {

// Elements of all inputs together: 16 GiB of doubles, more than a judged run can hold in addition to its results.
constexpr std::int64_t kLargestProblem = std::int64_t{1} << 31;

// Above this number (128 MiB of doubles), a tensor holds only the elements that are read. Cases whose memory shall be
// filled completely have fewer.
constexpr std::int64_t kLargestFullTensor = std::int64_t{1} << 24;

// Elements of a tensor that get a value; nullopt if they cannot be counted.
std::optional<std::int64_t> made_elements(const Problem& problem, const Tensor& tensor) {
  const auto count = element_count(tensor.shape);
  if (!count || *count <= kLargestFullTensor) return count;
  return elements_in_rows(tensor.shape, spec_of(problem.op, tensor).rows(problem.extents));
}

std::string too_large(const Problem& problem) {
  std::int64_t total = 0;
  for (const Tensor& tensor : problem.inputs) {
    const auto count = made_elements(problem, tensor);
    if (!count || *count > kLargestProblem - total) {
      return tensor.name + " " + to_string(tensor.shape) + ": the inputs have more than 2^31 elements";
    }
    total += *count;
  }
  return "";
}

// The reason why the contract refuses a call with these extents, whatever the data; "" if it is legal.
std::string refusal_of(const Problem& problem) {
  std::int64_t seq_len_max = problem.extents.S;
  const auto describe = [&](const std::vector<TensorSpec>& specs) {
    std::vector<backgauge_tensor> tensors;
    for (const TensorSpec& spec : specs) {
      if (!spec.present(problem.extents)) continue;
      tensors.push_back(c_tensor(spec.name.data(),  // a literal of ops.inc
                                 spec.shape(problem.extents), spec.is_int64 ? BACKGAUGE_INT64 : problem.dtype,
                                 BACKGAUGE_HOST, spec.is_int64 ? &seq_len_max : nullptr));
    }
    return tensors;
  };
  const OpSpec& spec = spec_of(problem.op);
  const std::vector<backgauge_tensor> inputs = describe(spec.inputs), outputs = describe(spec.outputs);
  const backgauge_call call = c_call(problem, inputs, outputs, BACKGAUGE_HOST, 1);
  return validate_shapes(call).refusal;
}

void draw(const Crew& crew, const Case& c, Filled& filled) {
  const DrawRules rules = draw_rules(c);
  // Each tensor by one thread: most of the time, the kernel clears pages.
  std::vector<Tensor>& inputs = filled.problem.inputs;
  crew.over(
      inputs.size(),
      [&](std::size_t k, std::size_t) {
        inputs[k].values.resize(made_elements(filled.problem, inputs[k]).value_or(0));
      },
      1);
  draw_ops::entry_of(c.op).draw(crew, c, rules, filled.problem, filled.facts);
  for (Tensor& tensor : filled.problem.inputs) {
    if (spec_of(c.op, tensor).role == Role::kLength) tensor.values = {static_cast<double>(c.seq_len_max)};
  }
  // Underflow loses the same part of every value, which is not a random rounding error.
  filled.facts.structured = c.data == DataProfile::kConstant || c.data == DataProfile::kPlain ||
                            c.data == DataProfile::kTiny || c.data == DataProfile::kAlike ||
                            c.data == DataProfile::kExact || c.data == DataProfile::kLone || rules.exact_gates;
  filled.facts.training = c.data == DataProfile::kTraining && filled.facts.consistent_saved && !(c.cell_clip > 0);
  poison_unread(c, rules, filled.problem, filled.facts);
  if (c.data == DataProfile::kNan || c.data == DataProfile::kInf) plant_nonfinite(c, filled.problem, filled.facts);
}

std::string shown(std::uint16_t checksum) {
  Case c;
  c.checksum = checksum;
  const std::string line = to_string(c);
  return line.substr(line.size() - 4);
}

}  // namespace

std::uint16_t checksum_of(const Problem& problem, const Crew& crew) {
  std::uint64_t hash = kFnvBasis;
  constexpr std::size_t kAtOnce = 4096;
  unsigned char bytes[kAtOnce * sizeof(double)];
  for (const Tensor& tensor : problem.inputs) {
    hash = fnv1a(tensor.shape.data(), tensor.shape.size() * sizeof(std::int64_t), hash);
    const backgauge_dtype dtype = dtype_of(problem, tensor);
    const std::span values(tensor.values);
    for (std::size_t first = 0; first < values.size(); first += kAtOnce) {
      if (crew.stopping()) throw Stopped();
      const std::span<const double> some = values.subspan(first, std::min(kAtOnce, values.size() - first));
      encode(dtype, some, bytes);
      hash = fnv1a(bytes, some.size() * backgauge_dtype_bytes(dtype), hash);
    }
  }
  hash ^= hash >> 32;
  return static_cast<std::uint16_t>(hash ^ hash >> 16);
}

Filled fill(const Case& c, const Crew& crew) {
  Filled filled;
  if (c.data == DataProfile::kMalformed) {
    filled.error = "data=malformed: no inputs are drawn for a call that must be refused";
    return filled;
  }
  if (c.data == DataProfile::kOwn) {
    filled.error = "data=own: its inputs are in the files that a user gave to `backgauge oracle --inputs`";
    return filled;
  }
  if (c.data == DataProfile::kGolden) {
    GoldenData golden;
    if (!find_golden(c, golden, filled.error)) return filled;
    filled.problem = std::move(golden.problem);
    filled.facts = golden.facts;
  } else {
    filled.problem = shaped_problem(c);
    filled.error = too_large(filled.problem);
    if (!filled.error.empty()) return filled;
  }
  filled.error = refusal_of(filled.problem);
  if (!filled.error.empty()) return filled;
  if (c.data != DataProfile::kGolden) draw(crew, c, filled);
  filled.checksum = checksum_of(filled.problem, crew);
  if (c.checksum && *c.checksum != filled.checksum) {
    filled.error = "chk=" + shown(*c.checksum) + ": the inputs made here have the checksum " + shown(filled.checksum);
  }
  return filled;
}

void draw_dropout_masks(const Case& c, Problem& problem) {
  const double dropout = static_cast<double>(problem.attributes.dropout);
  if (!(dropout > 0 && dropout < 1) || !problem.keep.empty()) return;
  for (std::int64_t gap = 0; gap + 1 < problem.extents.L; ++gap) {
    const RandomStream stream(c.seed, "dropout_mask_" + std::to_string(gap));
    std::vector<std::uint8_t> keep(static_cast<std::size_t>(mask_elements(problem.extents)));
    for (std::size_t k = 0; k < keep.size(); ++k) {
      keep[k] = stream.uniform(static_cast<std::int64_t>(k)) >= dropout ? 1 : 0;
    }
    problem.keep.push_back(std::move(keep));
  }
}

}  // namespace backgauge
