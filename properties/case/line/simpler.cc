// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/simpler.h"

#include <algorithm>
#include <bit>

#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

using Dims = std::vector<std::int64_t>;

// Sizes smaller than n, the simplest first.
Dims smaller(std::int64_t n) {
  if (n == 0) return {1};
  Dims out;
  for (const std::int64_t candidate : {std::int64_t{1}, n / 2, n - 1}) {
    if (candidate >= 1 && candidate < n && std::ranges::find(out, candidate) == out.end()) out.push_back(candidate);
  }
  return out;
}

std::int64_t complexity_of_dimension(std::int64_t n) { return n == 0 ? 1 : n - 1; }

// Values of an attribute that are simpler than that of the case, the simplest first.
std::vector<double> simpler_values(const CaseAttribute& attribute, const Case& c) {
  const AttributeSpec& spec = *attribute.spec;
  if (spec.choice == nullptr)
    return attribute.is_usual(c) ? std::vector<double>{} : std::vector<double>{attribute.usual()};
  return {spec.values.begin(), std::ranges::find(spec.values, static_cast<std::int32_t>(attribute.get(c)))};
}

std::int64_t complexity_of_data(DataProfile data) {
  return data == DataProfile::kPlain ? 0 : data == DataProfile::kStratified ? 1 : 2;
}

// Every seed is replaced by the seeds 0 to kLeastSeeds - 1.
constexpr std::uint64_t kLeastSeeds = 4;

// The number of its hexadecimal digits in the line; 0 is the simplest.
std::int64_t complexity_of_seed(std::uint64_t seed) { return (std::bit_width(seed) + 3) / 4; }

// Cases that differ from c in one setting, which is simpler.
std::vector<Case> neighbours(const Case& c) {
  std::vector<Case> out;
  const auto add = [&](const auto& change) {
    Case changed = c;
    changed.checksum.reset();
    change(changed);
    if (changed.input_mode == BACKGAUGE_SKIP_INPUT) changed.I = changed.H;
    // The number of steps after seq_len_max stays the same, so that both get smaller.
    set_steps(changed, changed.T, std::clamp<std::int64_t>(changed.seq_len_max + changed.T - c.T, 0, changed.T));
    out.push_back(std::move(changed));
  };
  for (std::int64_t Case::*member : {&Case::layers, &Case::T, &Case::B, &Case::H, &Case::I}) {
    for (const std::int64_t value : smaller(c.*member)) {
      add([&](Case& changed) { changed.*member = value; });
    }
  }
  for (const std::int64_t steps : {c.T, std::min(c.seq_len_max + 1, c.T)}) {
    add([&](Case& changed) { set_steps(changed, c.T, steps); });
  }
  for (const CaseAttribute& attribute : case_attributes(traits_of(c.op))) {
    for (const double value : simpler_values(attribute, c)) {
      add([&](Case& changed) { attribute.set(changed, value); });
    }
  }
  add([](Case& changed) { changed.cell_clip = 0; });
  add([](Case& changed) { changed.dtype = BACKGAUGE_FLOAT32; });
  for (const DataProfile data : {DataProfile::kPlain, DataProfile::kStratified}) {
    add([data](Case& changed) {
      changed.data = data;
      changed.golden.clear();
    });
  }
  for (std::uint64_t seed = 0; seed < kLeastSeeds; ++seed) {
    add([seed](Case& changed) { changed.seed = seed; });
  }
  return out;
}

// Whether parse_case accepts the case and its inputs can be made. A golden vector cannot be changed.
bool is_sensible(const Case& c) {
  if (c.data == DataProfile::kGolden) return false;
  return !(c.rnn_mode == BACKGAUGE_RNN_RELU && (c.data == DataProfile::kNan || c.data == DataProfile::kInf));
}

}  // namespace

std::int64_t complexity(const Case& c) {
  std::int64_t sum = c.layers - 1;
  for (const std::int64_t dim : {c.T, c.B, c.I, c.H}) sum += complexity_of_dimension(dim);
  sum += c.T - steps_taken(c);
  for (const CaseAttribute& attribute : case_attributes(traits_of(c.op))) {
    sum += static_cast<std::int64_t>(simpler_values(attribute, c).size());
  }
  sum += c.cell_clip != 0;
  sum += c.dtype != BACKGAUGE_FLOAT32;
  sum += complexity_of_data(c.data);
  constexpr std::int64_t kAllSeeds = 32;  // more than any seed's: seeds only decide between otherwise equal cases
  return sum * kAllSeeds + complexity_of_seed(c.seed);
}

std::vector<Case> simpler(const Case& c, Case (*about)(Case)) {
  std::vector<Case> out;
  if (c.data == DataProfile::kMalformed) return out;  // a malformed call cannot be changed
  for (const Case& neighbour : neighbours(c)) {
    const Case candidate = about(neighbour);
    if (complexity(candidate) < complexity(c) && is_sensible(candidate)) out.push_back(candidate);
  }
  std::ranges::stable_sort(out, {}, complexity);
  return out;
}

}  // namespace backgauge
