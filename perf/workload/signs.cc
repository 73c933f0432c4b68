// SPDX-License-Identifier: Apache-2.0
#include "perf/workload/signs.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "properties/case/line/random.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

using Flips = std::vector<std::uint8_t>;

Flips joined(const Flips& a, const Flips& b) {
  Flips out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

// For blocks of columns of one gate each: no gate except `odd` depends on the sign of a unit.
Flips of_gates(const Flips& units, int gates, int odd) {
  Flips out;
  for (int gate = 0; gate < gates; ++gate) out = joined(out, gate == odd ? units : Flips(units.size(), 0));
  return out;
}

template <class Word>
void flip_stored(std::byte* at, const Flips& columns, std::uint8_t row, std::size_t count) {
  constexpr int kSign = 8 * sizeof(Word) - 1;
  for (std::size_t k = 0; k < count; ++k) {
    Word word;
    std::memcpy(&word, at + k * sizeof word, sizeof word);
    word ^= static_cast<Word>(static_cast<Word>(columns[k] ^ row) << kSign);
    std::memcpy(at + k * sizeof word, &word, sizeof word);
  }
}

}  // namespace

Signs::Signs(const Problem& problem, std::uint64_t seed) : seed_(seed) {
  upstream_ = static_cast<std::uint8_t>(seed % 2);
  traits_of(problem.op).is_stacked ? describe_net(problem) : describe_lstm(problem);
}

Signs::Flips Signs::draw(std::string_view what, std::int64_t count) const {
  const RandomStream stream(seed_, what);
  Flips out(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) out[static_cast<std::size_t>(k)] = stream.sign(k) < 0 ? 1 : 0;
  return out;
}

void Signs::add(std::string_view name, Flips rows, Flips columns, bool with_upstream) {
  if (columns.empty()) return;  // no inputs
  if (rows.empty()) rows.push_back(0);
  patterns_.push_back({name, with_upstream ? upstream_ : std::uint8_t{0}, std::move(rows), std::move(columns)});
}

void Signs::describe_lstm(const Problem& problem) {
  const Extents& e = problem.extents;
  const bool cell = !traits_of(problem.op).has_steps;
  const Flips x = draw("inputs", e.I), h = draw("units", e.H);
  const Flips gates = of_gates(h, 4, cell ? 1 : 2);  // i,c,f,o and i,f,c,o
  const Flips rows = joined(x, h);
  add("x", {}, x);
  add("w", rows, gates);
  add("b", {}, gates);
  for (const char* name : {"cs_prev", "h_prev", "wci", "wcf", "wco", "cs", "ci", "co", "h"}) add(name, {}, h);
  for (const char* name : {"cs_grad", "h_grad", "cs_prev_grad", "h_prev_grad", "wci_grad", "wcf_grad", "wco_grad"}) {
    add(name, {}, h, true);
  }
  add("x_grad", {}, x, true);
  add("w_grad", rows, gates, true);
  add("b_grad", {}, gates, true);
  add("dicfo", {}, gates, true);
}

void Signs::describe_net(const Problem& problem) {
  const Extents& e = problem.extents;
  const std::int32_t mode = problem.attributes.rnn_mode;
  const RnnParams layout = rnn_params(problem.attributes, e.I, e.H, e.L);
  constexpr int kOfLstmAndGru = 2;  // i,f,n,o and r,z,n
  const int odd = mode == BACKGAUGE_RNN_RELU ? -1 : mode == BACKGAUGE_RNN_TANH ? 0 : kOfLstmAndGru;
  const Flips x = layout.skip_input ? Flips(static_cast<std::size_t>(e.I), 0) : draw("inputs", e.I);
  const auto units = [&](std::int64_t layer, std::int64_t direction) {
    const bool keeps = odd < 0 || (layout.skip_input && layer == 0);
    if (keeps) return Flips(static_cast<std::size_t>(e.H), 0);
    return draw("units " + std::to_string(layer) + " " + std::to_string(direction), e.H);
  };
  const auto both = [&](std::int64_t layer) {
    Flips out = units(layer, 0);
    return e.D == 2 ? joined(out, units(layer, 1)) : out;
  };

  Flips params(static_cast<std::size_t>(layout.size()), 0), states;
  for (std::int64_t layer = 0; layer < e.L; ++layer) {
    const Flips below = layer == 0 ? x : both(layer - 1);
    for (std::int64_t direction = 0; direction < e.D; ++direction) {
      const Flips mine = units(layer, direction);
      for (std::int64_t b = 0; b < e.B; ++b) states = joined(states, mine);
      for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
        const auto row = [&](std::int64_t unit) -> std::uint8_t {
          return gate == odd ? mine[static_cast<std::size_t>(unit)] : std::uint8_t{0};
        };
        const auto matrix = [&](std::int64_t begin, std::int64_t width, const Flips& columns) {
          for (std::int64_t k = 0; k < e.H * width; ++k) {
            params[static_cast<std::size_t>(begin + k)] = row(k / width) ^ columns[static_cast<std::size_t>(k % width)];
          }
        };
        if (layout.matrix_input(layer) > 0) {
          matrix(layout.W(layer, direction, gate), layout.matrix_input(layer), below);
        }
        matrix(layout.R(layer, direction, gate), e.H, mine);
        for (std::int64_t unit = 0; unit < e.H; ++unit) {
          params[static_cast<std::size_t>(layout.bW(layer, direction, gate) + unit)] = row(unit);
          params[static_cast<std::size_t>(layout.bR(layer, direction, gate) + unit)] = row(unit);
        }
      }
    }
  }
  const Flips top = both(e.L - 1);
  add("input", {}, x);
  add("input_h", {}, states);
  add("input_c", {}, states);
  add("params", {}, params);
  add("output_backprop", {}, top, true);
  add("output_h_backprop", {}, states, true);
  add("output_c_backprop", {}, states, true);
  add("input_backprop", {}, x, true);
  add("input_h_backprop", {}, states, true);
  add("input_c_backprop", {}, states, true);
  add("params_backprop", {}, params, true);
}

// flip(first element, elements, columns, whether the row changes too)
template <class Flip>
void Signs::for_each_row(std::string_view name, std::size_t count, const Flip& flip) const {
  const auto pattern = std::ranges::find(patterns_, name, &Pattern::name);
  if (pattern == patterns_.end()) return;
  const std::size_t width = pattern->columns.size();
  for (std::size_t first = 0, row = 0; first < count; first += width, ++row) {
    flip(first, std::min(width, count - first), pattern->columns,
         static_cast<std::uint8_t>(pattern->all ^ pattern->rows[row % pattern->rows.size()]));
  }
}

void Signs::apply(std::string_view name, std::span<double> values) const {
  for_each_row(name, values.size(), [&](std::size_t first, std::size_t count, const Flips& columns, std::uint8_t row) {
    flip_stored<std::uint64_t>(reinterpret_cast<std::byte*>(&values[first]), columns, row, count);
  });
}

void Signs::apply(std::string_view name, backgauge_dtype dtype, std::span<std::byte> bytes) const {
  const std::size_t size = backgauge_dtype_bytes(dtype);
  for_each_row(name, bytes.size() / size,
               [&](std::size_t first, std::size_t count, const Flips& columns, std::uint8_t row) {
                 std::byte* at = &bytes[first * size];
                 switch (dtype) {
                   case BACKGAUGE_HALF:
                   case BACKGAUGE_BFLOAT16: return flip_stored<std::uint16_t>(at, columns, row, count);
                   case BACKGAUGE_FLOAT32: return flip_stored<std::uint32_t>(at, columns, row, count);
                   case BACKGAUGE_FLOAT64: return flip_stored<std::uint64_t>(at, columns, row, count);
                   default: return;  // int64 is never flipped
                 }
               });
}

}  // namespace backgauge
