// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/case_generator.h"

#include <algorithm>
#include <array>
#include <ostream>

namespace backgauge {
namespace {

using Dims = std::vector<std::int64_t>;

// Different primes and a few equal ones, so that a transposition or a wrong stride shows; 9 and 17 are past the widths
// of vectors.
const Dims kSteps = {1, 2, 3, 5}, kBatches = {1, 2, 3, 5, 7}, kInputs = {1, 2, 3, 5, 9}, kHidden = {1, 2, 3, 5, 9, 17};
// The products of the block and of a stacked net have 16 * B * (I + H) * H operations a step: 5 to 20 million here.
const Dims kWideSteps = {3, 5}, kWideBatches = {17, 33}, kWideInputs = {13, 40}, kWideHidden = {64, 70};

std::int64_t one_of(const Dims& dims) { return *rc::gen::elementOf(dims); }
bool once_in(int n) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, n)) == 0; }

DataClass data_class(const Case& c) {
  // Half of the cases are of the class that has no special values.
  if (once_in(2)) return DataClass::kStratified;
  const bool stacked = c.op == BACKGAUGE_CUDNN_RNN_BACKPROP;
  // semantics.md 8: what a relu makes of NaN is not settled. Large states saturate what is neither lstm nor relu.
  const bool relu = stacked && c.rnn_mode == BACKGAUGE_RNN_RELU;
  const bool bounded = stacked && !relu && c.rnn_mode != BACKGAUGE_LSTM;
  std::vector<DataClass> classes = {DataClass::kSaturated, DataClass::kLinear, DataClass::kZeros,   DataClass::kTiny,
                                    DataClass::kHuge,      DataClass::kScales, DataClass::kConstant};
  if (!bounded) classes.push_back(DataClass::kLarge);
  if (!relu) classes.insert(classes.end(), {DataClass::kNan, DataClass::kInf});
  return *rc::gen::elementOf(classes);
}

// Where values are not random, or vanish, only short recurrences leave bounds that say something.
bool is_short(const Case& c) {
  switch (c.data) {
    case DataClass::kStratified:
    case DataClass::kZeros:
    case DataClass::kScales:
    case DataClass::kHuge: return false;
    default: return true;
  }
}

void draw_stacked(Case& c) {
  c.direction = *rc::gen::element(BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL);
  c.input_mode = *rc::gen::element(BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT);
  const bool as_wide = c.input_mode == BACKGAUGE_SKIP_INPUT || (c.input_mode == BACKGAUGE_AUTO_SELECT && once_in(2));
  if (as_wide) c.I = c.H;
  c.layers = is_short(c) ? 1 : *rc::gen::element<std::int64_t>(1, 1, 2, 3);
  if (c.layers > 1) c.dropout = *rc::gen::element(0.0, 0.0, 0.25, 0.5, 1.0);
}

void draw_lstm(Case& c) {
  c.use_peephole = once_in(2);
  c.cell_clip = *rc::gen::element(0.0, 0.0, 0.5, 1.0);
  if (c.op == BACKGAUGE_LSTM_BLOCK_CELL_GRAD) {
    c.T = 1;
    return;
  }
  c.seq_len_max = once_in(2) ? c.T : *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, c.T + 1));
}

Case any_case(backgauge_op op, Sizes sizes) {
  Case c;
  c.op = op;
  const bool stacked = op == BACKGAUGE_CUDNN_RNN_BACKPROP, wide = sizes == Sizes::kWide && once_in(16);
  if (stacked) {
    c.rnn_mode = *rc::gen::element(BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU);
    c.dtype = *rc::gen::element(BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64);
  } else {
    c.dtype = *rc::gen::element(BACKGAUGE_HALF, BACKGAUGE_FLOAT32);
  }
  c.data = data_class(c);
  const Dims short_steps = {1, 2};
  c.T = one_of(wide ? kWideSteps : is_short(c) ? short_steps : kSteps);
  c.B = one_of(wide ? kWideBatches : kBatches);
  c.I = one_of(wide ? kWideInputs : kInputs);
  c.H = one_of(wide ? kWideHidden : kHidden);
  if (once_in(24)) c.B = 0;
  if (once_in(24)) c.I = 0;
  if (once_in(24) && op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) c.T = 0;
  stacked ? draw_stacked(c) : draw_lstm(c);
  // Short lines; the seed 0 is kept for shrunk cases.
  c.seed = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(1, 1u << 16));
  return c;
}

// What is smaller than n, the plainest first.
Dims smaller(std::int64_t n) {
  if (n == 0) return {1};
  Dims out;
  for (const std::int64_t candidate : {std::int64_t{1}, n / 2, n - 1}) {
    if (candidate >= 1 && candidate < n && std::ranges::find(out, candidate) == out.end()) out.push_back(candidate);
  }
  return out;
}

std::int64_t complexity_of_dimension(std::int64_t n) { return n == 0 ? 1 : n - 1; }

std::int64_t complexity_of_mode(backgauge_rnn_mode mode) {
  constexpr std::array kPlainestFirst = {BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU, BACKGAUGE_GRU, BACKGAUGE_LSTM};
  return std::ranges::find(kPlainestFirst, mode) - kPlainestFirst.begin();
}

// One thing changed in each, towards the plainest.
std::vector<Case> neighbours(const Case& c) {
  std::vector<Case> out;
  const auto add = [&](const auto& change) {
    Case changed = c;
    change(changed);
    if (changed.input_mode == BACKGAUGE_SKIP_INPUT) changed.I = changed.H;
    if (changed.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
      // As many steps behind seq_len_max as before, so that both get smaller.
      changed.seq_len_max = std::clamp<std::int64_t>(changed.seq_len_max + changed.T - c.T, 0, changed.T);
    }
    out.push_back(std::move(changed));
  };
  for (std::int64_t Case::*member : {&Case::layers, &Case::T, &Case::B, &Case::H, &Case::I}) {
    for (const std::int64_t value : smaller(c.*member)) {
      add([&](Case& changed) { changed.*member = value; });
    }
  }
  add([&](Case& changed) { changed.seq_len_max = c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? c.T : 1; });
  add([&](Case& changed) { changed.seq_len_max = std::min(c.seq_len_max + 1, c.T); });
  add([](Case& changed) { changed.direction = BACKGAUGE_UNIDIRECTIONAL; });
  add([](Case& changed) { changed.dropout = 0; });
  add([](Case& changed) { changed.use_peephole = false; });
  add([](Case& changed) { changed.cell_clip = 0; });
  add([](Case& changed) { changed.input_mode = BACKGAUGE_LINEAR_INPUT; });
  for (const auto mode : {BACKGAUGE_RNN_TANH, BACKGAUGE_RNN_RELU, BACKGAUGE_GRU}) {
    if (c.op == BACKGAUGE_CUDNN_RNN_BACKPROP) add([mode](Case& changed) { changed.rnn_mode = mode; });
  }
  add([](Case& changed) { changed.dtype = BACKGAUGE_FLOAT32; });
  add([](Case& changed) { changed.data = DataClass::kStratified; });
  add([](Case& changed) { changed.seed = 0; });
  return out;
}

// What parse_case would refuse, or what the inputs cannot be made of.
bool is_sensible(const Case& c) {
  const bool relu = c.op == BACKGAUGE_CUDNN_RNN_BACKPROP && c.rnn_mode == BACKGAUGE_RNN_RELU;
  return !(relu && (c.data == DataClass::kNan || c.data == DataClass::kInf));
}

}  // namespace

std::int64_t complexity(const Case& c) {
  std::int64_t sum = c.layers - 1;
  for (const std::int64_t dim : {c.T, c.B, c.I, c.H}) sum += complexity_of_dimension(dim);
  if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) sum += c.T - c.seq_len_max;
  sum += c.direction != BACKGAUGE_UNIDIRECTIONAL;
  sum += c.dropout != 0;
  sum += c.use_peephole;
  sum += c.cell_clip != 0;
  sum += c.input_mode != BACKGAUGE_LINEAR_INPUT;
  if (c.op == BACKGAUGE_CUDNN_RNN_BACKPROP) sum += complexity_of_mode(c.rnn_mode);
  sum += c.dtype != BACKGAUGE_FLOAT32;
  sum += c.data != DataClass::kStratified;
  sum += c.seed != 0;
  return sum;
}

std::vector<Case> simpler(const Case& c, Case (*about)(Case)) {
  std::vector<Case> out;
  for (const Case& neighbour : neighbours(c)) {
    const Case candidate = about(neighbour);
    if (complexity(candidate) < complexity(c) && is_sensible(candidate)) out.push_back(candidate);
  }
  std::ranges::stable_sort(out, {}, complexity);
  return out;
}

rc::Gen<Case> cases(backgauge_op op, Sizes sizes, Case (*about)(Case)) {
  const rc::Gen<Case> any = rc::gen::exec([op, sizes, about] { return about(any_case(op, sizes)); });
  return [any, about](const rc::Random& random, int size) {
    return rc::shrinkable::shrinkRecur(any(random, size).value(),
                                       [about](const Case& c) { return rc::seq::fromContainer(simpler(c, about)); });
  };
}

void showValue(const Case& c, std::ostream& out) { out << to_string(c); }

}  // namespace backgauge
