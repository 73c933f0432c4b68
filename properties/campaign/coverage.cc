// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include "properties/campaign/campaign.h"

namespace backgauge {
namespace {

using ValueOf = std::function<std::string(const Case&)>;

// Counts the cases of `op` per value; `legal` lists the values that there are.
Axis axis(std::string name, backgauge_op op, const std::vector<Case>& cases, const std::vector<std::string>& legal,
          const ValueOf& value_of) {
  Axis out{std::move(name), {}};
  for (const std::string& value : legal) out.values.emplace_back(value, 0);
  for (const Case& c : cases) {
    if (c.op != op) continue;
    const std::string value = value_of(c);
    for (auto& [legal_value, count] : out.values) count += legal_value == value;
  }
  return out;
}

template <class Enum, class Word>
std::vector<std::string> words(std::initializer_list<Enum> values, Word word) {
  std::vector<std::string> out;
  for (const Enum value : values) out.emplace_back(word(value));
  return out;
}

}  // namespace

std::vector<Axis> coverage(backgauge_op op, const std::vector<Case>& cases) {
  std::vector<Axis> out;
  std::vector<std::string> dtypes;
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
    if (find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) dtypes.emplace_back(dtype_word(dtype));
  }
  out.push_back(axis("dtype", op, cases, dtypes, [](const Case& c) { return std::string(dtype_word(c.dtype)); }));
  if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
    out.push_back(axis("mode", op, cases,
                       words({BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}, rnn_mode_word),
                       [](const Case& c) { return std::string(rnn_mode_word(c.rnn_mode)); }));
    out.push_back(axis("direction", op, cases,
                       words({BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL}, direction_word),
                       [](const Case& c) { return std::string(direction_word(c.direction)); }));
    out.push_back(axis("input", op, cases,
                       words({BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT}, input_mode_word),
                       [](const Case& c) { return std::string(input_mode_word(c.input_mode)); }));
    out.push_back(axis("layers", op, cases, {"1", "2", "3"}, [](const Case& c) { return std::to_string(c.layers); }));
    out.push_back(axis("dropout", op, cases, {"0", "between", "1"}, [](const Case& c) {
      return std::string(c.dropout == 0 ? "0" : c.dropout == 1 ? "1" : "between");
    }));
  } else {
    out.push_back(axis("peephole", op, cases, {"off", "on"},
                       [](const Case& c) { return std::string(c.use_peephole ? "on" : "off"); }));
  }
  if (op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
    out.push_back(axis("seq_len_max", op, cases, {"0", "1..T-1", "T"}, [](const Case& c) {
      return std::string(c.seq_len_max == c.T ? "T" : c.seq_len_max == 0 ? "0" : "1..T-1");
    }));
  }
  out.push_back(axis("data", op, cases,
                     words({DataClass::kStratified, DataClass::kSaturated, DataClass::kLinear, DataClass::kLarge,
                            DataClass::kZeros, DataClass::kTiny, DataClass::kHuge, DataClass::kScales,
                            DataClass::kConstant, DataClass::kNan, DataClass::kInf, DataClass::kGolden},
                           data_class_word),
                     [](const Case& c) { return std::string(data_class_word(c.data)); }));
  return out;
}

}  // namespace backgauge
