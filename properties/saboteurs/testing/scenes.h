// SPDX-License-Identifier: Apache-2.0
// Questions about a scene: which of its values are zero, equal or far larger than the others, and its sizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "properties/saboteurs/testing/occasions.h"
#include "reference/contract/rnn_params.h"

namespace backgauge::saboteurs::scenes {

using Values = std::vector<double>;
using S = const Scene&;

inline const Values& at(S s, std::string_view name) {
  static const Values none;
  const auto found = s.values.find(name);
  return found == s.values.end() ? none : found->second;
}

// Whether `fits` holds for `count` values from `begin` on; false if there are none.
template <class Is>
bool all_of(const Values& values, std::int64_t begin, std::int64_t count, Is fits) {
  if (count <= 0 || begin < 0 || begin + count > static_cast<std::int64_t>(values.size())) return false;
  return std::all_of(values.begin() + begin, values.begin() + begin + count, fits);
}
template <class Is>
bool all_of(const Values& values, Is fits) {
  return all_of(values, 0, static_cast<std::int64_t>(values.size()), fits);
}
inline bool zero(const Values& values) {
  return all_of(values, [](double v) { return v == 0; });
}
inline bool zero(S s, std::string_view name) { return zero(at(s, name)); }
inline bool is(S s, std::string_view name, double value) {
  return all_of(at(s, name), [value](double v) { return v == value; });
}
inline bool negative_zero(S s, std::string_view name) {
  return all_of(at(s, name), [](double v) { return v == 0 && std::signbit(v); });
}
inline bool equal(S s, std::string_view one, std::string_view other) {
  return !at(s, one).empty() && at(s, one) == at(s, other);
}
// Whether the values are several blocks of `size` values, all equal to the first.
inline bool repeats(const Values& values, std::int64_t size) {
  const std::int64_t count = size > 0 ? static_cast<std::int64_t>(values.size()) / size : 0;
  for (std::int64_t k = 1; k < count; ++k) {
    if (!std::equal(values.begin(), values.begin() + size, values.begin() + k * size)) return false;
  }
  return count > 1;
}
// How many of the blocks of `size` values are all 0.
inline std::int64_t zero_blocks(const Values& values, std::int64_t size) {
  std::int64_t blocks = 0;
  for (std::int64_t k = 0; size > 0 && (k + 1) * size <= static_cast<std::int64_t>(values.size()); ++k) {
    blocks += all_of(values, k * size, size, [](double v) { return v == 0; });
  }
  return blocks;
}
inline bool outlier(S s, std::string_view name) {
  double largest = 0, next = 0;
  for (const double v : at(s, name)) {
    next = std::max(next, std::min(largest, std::fabs(v)));
    largest = std::max(largest, std::fabs(v));
  }
  return at(s, name).size() > 8 && std::isfinite(largest) && largest > 16 * next && next > 0;
}

inline std::int64_t steps(S s) { return spec_of(s.op).has(Role::kLength) ? s.extents.S : s.extents.T; }
inline std::string_view upstream(S s) { return spec_of(s.op).input(Role::kUpstream).name; }

inline bool only_last_step(S s, std::string_view name) {
  const std::int64_t width = s.extents.B * s.extents.D * s.extents.H;
  const auto is_zero = [](double v) { return v == 0; };
  return steps(s) > 1 && all_of(at(s, name), 0, (steps(s) - 1) * width, is_zero) &&
         !all_of(at(s, name), (steps(s) - 1) * width, width, is_zero);
}
inline bool gate_of_w_zero(S s) {
  const std::int64_t H = s.extents.H;
  const Values& w = at(s, "w");
  for (std::int64_t gate = 0; gate < 4 && !w.empty(); ++gate) {
    bool all = true;
    for (std::size_t k = 0; k < w.size(); ++k) {
      all = all && (static_cast<std::int64_t>(k) % (4 * H) / H != gate || w[k] == 0);
    }
    if (all) return true;
  }
  return false;
}

// Where weights and biases are in params.
inline RnnParams layout(S s) { return rnn_params(s.attributes, s.extents.I, s.extents.H, s.extents.L); }
inline bool zero_params(S s, std::int64_t begin, std::int64_t count) {
  return all_of(at(s, "params"), begin, count, [](double v) { return v == 0; });
}
template <class Is>
bool any_block(S s, Is is_met) {
  const RnnParams l = layout(s);
  for (std::int64_t layer = 0; layer < l.layers; ++layer) {
    for (std::int64_t d = 0; d < l.directions; ++d) {
      for (std::int64_t gate = 0; gate < l.gates; ++gate) {
        if (is_met(l, layer, d, gate)) return true;
      }
    }
  }
  return false;
}
template <class Is>
bool every_block(S s, Is is_met) {
  return !any_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t gate) {
    return !is_met(l, layer, d, gate);
  });
}
inline bool symmetric_R(S s) {
  const Values& params = at(s, "params");
  const std::int64_t H = s.extents.H;
  return H > 1 && !params.empty() &&
         every_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t gate) {
           const std::int64_t R = l.R(layer, d, gate);
           for (std::int64_t j = 0; j < H; ++j) {
             for (std::int64_t k = 0; k < j; ++k) {
               if (params[R + j * H + k] != params[R + k * H + j]) return false;
             }
           }
           return true;
         });
}
inline bool same_directions(S s) {
  const Values& params = at(s, "params");
  return s.extents.D == 2 && !params.empty() &&
         every_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t, std::int64_t g) {
           return std::equal(params.begin() + l.R(layer, 0, g), params.begin() + l.R(layer, 0, g) + l.hidden_size,
                             params.begin() + l.R(layer, 1, g));
         });
}
inline bool mode(S s, std::int32_t wanted) { return s.attributes.rnn_mode == wanted; }
inline std::int64_t H(S s) { return s.extents.H; }
inline std::int64_t B(S s) { return s.extents.B; }
inline std::int64_t I(S s) { return s.extents.I; }
inline bool aligned(S s, std::int64_t to) { return B(s) % to == 0 && I(s) % to == 0 && H(s) % to == 0; }

}  // namespace backgauge::saboteurs::scenes
