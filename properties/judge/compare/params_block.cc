// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/compare/params_block.h"

#include <fmt/format.h>

#include <string_view>

namespace backgauge {
namespace {

// Letters of the gates in the order of the layout.
std::string_view gate_letters(std::int32_t rnn_mode) {
  switch (rnn_mode) {
    case BACKGAUGE_LSTM: return "ifno";
    case BACKGAUGE_GRU: return "rzn";
    default: return "";  // a single gate needs no name
  }
}

}  // namespace

std::string params_block(const backgauge_attributes& attributes, const RnnParams& layout, std::int64_t index) {
  const auto place = [&](std::int64_t layer, std::int64_t direction, std::int64_t gate, const std::string& element) {
    const std::string_view letters = gate_letters(attributes.rnn_mode);
    return fmt::format("layer {} {}, {}{}", layer, direction == 0 ? "forward" : "reverse", element,
                       letters.empty() ? "" : fmt::format(" of gate {}", letters[static_cast<std::size_t>(gate)]));
  };
  const std::int64_t H = layout.hidden_size;
  for (std::int64_t layer = 0; layer < layout.layers; ++layer) {
    const std::int64_t width = layout.matrix_input(layer);
    for (std::int64_t direction = 0; direction < layout.directions; ++direction) {
      for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
        const auto within = [&](std::int64_t begin, std::int64_t count) {
          return index >= begin && index < begin + count;
        };
        const std::int64_t W = layout.W(layer, direction, gate), R = layout.R(layer, direction, gate);
        const std::int64_t bW = layout.bW(layer, direction, gate), bR = layout.bR(layer, direction, gate);
        const auto matrix_element = [&](char matrix, std::int64_t offset, std::int64_t columns) {
          return place(layer, direction, gate, fmt::format("{}[{},{}]", matrix, offset / columns, offset % columns));
        };
        if (within(W, H * width)) return matrix_element('W', index - W, width);
        if (within(R, H * H)) return matrix_element('R', index - R, H);
        if (within(bW, H)) return place(layer, direction, gate, fmt::format("bW[{}]", index - bW));
        if (within(bR, H)) return place(layer, direction, gate, fmt::format("bR[{}]", index - bR));
      }
    }
  }
  return "";
}

}  // namespace backgauge
