// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/variation.h"

#include <algorithm>

#include "properties/case/line/random.h"

namespace backgauge {
namespace {

std::vector<const TensorSpec*> sharing(const OpSpec& spec) {
  std::vector<const TensorSpec*> out;
  for (const TensorSpec& output : spec.outputs) {
    if (!output.alias.empty()) out.push_back(&output);
  }
  return out;
}

}  // namespace

std::int32_t other_thread_count(std::uint64_t seed, std::int32_t first) {
  std::vector<std::int32_t> counts = {1, 2, 3, 4, 5, 7, 8, 16};
  std::erase(counts, first);
  return counts[RandomStream(seed, "threads").choice(0, static_cast<std::int64_t>(counts.size()))];
}

std::vector<std::string> drawn_shared_outputs(const OpSpec& spec, std::uint64_t seed) {
  const std::vector<const TensorSpec*> all = sharing(spec);
  const auto count = static_cast<std::int64_t>(all.size());
  const std::int64_t which = RandomStream(seed, "shared_outputs").choice(0, count + 1);
  std::vector<std::string> out;
  for (std::int64_t k = 0; k < count; ++k) {
    if (which == count || which == k) out.emplace_back(all[static_cast<std::size_t>(k)]->name);
  }
  return out;
}

std::string sharing_text(const OpSpec& spec, const std::vector<std::string>& outputs) {
  std::string out;
  for (const TensorSpec* output : sharing(spec)) {
    if (std::ranges::find(outputs, output->name) == outputs.end()) continue;
    out.append(out.empty() ? "with " : ", ").append(output->name).append(" in the memory of ").append(output->alias);
  }
  return out;
}

}  // namespace backgauge
