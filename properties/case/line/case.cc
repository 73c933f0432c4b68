// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case.h"

#include <array>
#include <charconv>

#include "properties/case/line/random.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

std::string shortest(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string hexadecimal(std::uint64_t value, std::size_t digits) {
  std::array<char, 16> text;
  const std::string_view shown(text.data(), std::to_chars(text.data(), text.data() + text.size(), value, 16).ptr);
  return std::string(digits > shown.size() ? digits - shown.size() : 0, '0').append(shown);
}

std::string dims(const Case& c) {
  std::string text;
  if (traits_of(c.op).has_steps) text.append("t").append(std::to_string(c.T));
  text.append("b").append(std::to_string(c.B));
  text.append("i").append(std::to_string(c.I));
  return text.append("h").append(std::to_string(c.H));
}

}  // namespace

std::string to_string(const Case& c) {
  const OpSpec* spec = find_op(c.op);
  std::string line = std::string(spec == nullptr ? "?" : spec->word) + " " + dims(c);
  const auto add = [&line](std::string_view key, std::string_view value) {
    line.append(" ").append(key).append("=").append(value);
  };
  if (traits_of(c.op).is_stacked) {
    add("mode", rnn_mode_word(c.rnn_mode));
    add("dir", direction_word(c.direction));
    add("layers", std::to_string(c.layers));
    add("in", input_mode_word(c.input_mode));
    if (c.dropout != 0) add("drop", shortest(c.dropout));
  } else {
    add("peep", c.use_peephole ? "1" : "0");
    if (c.cell_clip != 0) add("clip", shortest(c.cell_clip));
  }
  if (traits_of(c.op).has_seq_len_max) {
    add("order", traits_of(c.op).gates);
    add("seq", std::to_string(c.seq_len_max));
  }
  add("dt", dtype_word(c.dtype));
  std::string data(data_profile_word(c.data));
  data.append(c.data == DataProfile::kGolden ? ":" : ":0x");
  add("data", data.append(c.data == DataProfile::kGolden ? c.golden : hexadecimal(c.seed, 1)));
  if (c.checksum) add("chk", hexadecimal(*c.checksum, 4));
  return line;
}

backgauge_attributes attributes_of(const Case& c) {
  backgauge_attributes attributes{};
  if (!traits_of(c.op).is_stacked) {
    attributes.use_peephole = c.use_peephole;
    return attributes;
  }
  attributes.rnn_mode = c.rnn_mode;
  attributes.input_mode = c.input_mode;
  attributes.direction = c.direction;
  attributes.dropout = static_cast<float>(c.dropout);
  const RandomStream stream(c.seed, "attributes");
  attributes.seed = static_cast<std::int32_t>(stream.bits(0) >> 32);
  attributes.seed2 = static_cast<std::int32_t>(stream.bits(1) >> 32);
  return attributes;
}

Extents extents_of(const Case& c) {
  const OpTraits& op = traits_of(c.op);
  Extents extents;
  if (op.has_steps) extents.T = c.T;
  extents.B = c.B;
  extents.I = c.I;
  extents.H = c.H;
  if (op.is_stacked) {
    extents.L = c.layers;
    extents.D = c.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    extents.lstm = c.rnn_mode == BACKGAUGE_LSTM;
    extents.params_length = checked_size(rnn_params(attributes_of(c), c.I, c.H, c.layers)).value_or(-1);
  } else {
    extents.peephole = c.use_peephole;
    if (op.has_seq_len_max) extents.S = c.seq_len_max;
  }
  return extents;
}

std::int64_t steps_taken(const Case& c) {
  const OpTraits& op = traits_of(c.op);
  return op.has_seq_len_max ? c.seq_len_max : op.has_steps ? c.T : 1;
}

}  // namespace backgauge
