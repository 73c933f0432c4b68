// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/portion.h"

#include <stdexcept>

#include "properties/laws/subnet.h"

namespace backgauge {
namespace {

// The units, repeated for each of several blocks of H.
Places in_blocks(std::int64_t blocks, std::int64_t H, const Places& units) {
  Places out;
  for (std::int64_t block = 0; block < blocks; ++block) {
    for (const std::int64_t unit : units) out.push_back(block * H + unit);
  }
  return out;
}

Places places_along(std::string_view symbol, std::int64_t length, const Extents& e, const Portion& portion) {
  if (symbol == "I") return portion.inputs;
  if (symbol == "H") return portion.units;
  if (symbol == "4 * H") return in_blocks(4, e.H, portion.units);
  if (symbol == "D * H") return in_blocks(e.D, e.H, portion.units);
  if (symbol == "I + H") {
    Places out = portion.inputs;
    for (const std::int64_t unit : portion.units) out.push_back(e.I + unit);
    return out;
  }
  if (symbol == "T" || symbol == "B" || symbol == "L * D") return all_places(length);
  throw std::logic_error("unknown dimension " + std::string(symbol));
}

Selection params_at(const RnnParams& layout, const Portion& portion) {
  Selection out{{0}, {}};
  const auto append = [&out](std::int64_t begin, std::int64_t columns, const Places& rows, const Places& from) {
    for (const std::int64_t row : rows) {
      for (const std::int64_t column : from)
        out.from.push_back(static_cast<std::size_t>(begin + row * columns + column));
    }
  };
  const std::int64_t H = layout.hidden_size;
  const auto for_gates = [&](const auto& visit) {
    for (std::int64_t layer = 0; layer < layout.layers; ++layer) {
      for (std::int64_t direction = 0; direction < layout.directions; ++direction) visit(layer, direction);
    }
  };
  for_gates([&](std::int64_t layer, std::int64_t direction) {
    const std::int64_t width = layout.matrix_input(layer);
    const Places from = layer == 0 ? portion.inputs : in_blocks(layout.directions, H, portion.units);
    for (std::int64_t gate = 0; width > 0 && gate < layout.gates; ++gate) {
      append(layout.W(layer, direction, gate), width, portion.units, from);
    }
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      append(layout.R(layer, direction, gate), H, portion.units, portion.units);
    }
  });
  for_gates([&](std::int64_t layer, std::int64_t direction) {
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      append(layout.bW(layer, direction, gate), 1, portion.units, {0});
    }
    for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
      append(layout.bR(layer, direction, gate), 1, portion.units, {0});
    }
  });
  out.shape[0] = static_cast<std::int64_t>(out.from.size());
  return out;
}

}  // namespace

Selection portion_of(const Problem& problem, std::string_view name, const Portion& portion) {
  if (name == "params" || name == "params_backprop") return params_at(layout_of(problem), portion);
  const Shape shape = tensor_spec(problem.op, name).shape(problem.extents);
  const auto symbols = dimensions(problem.op, name);
  std::vector<Places> places;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    places.push_back(places_along(symbols[axis], shape[axis], problem.extents, portion));
  }
  return elements_at(shape, places);
}

Problem portion_of(const Problem& problem, const Portion& portion) {
  Problem out = problem;
  for (Tensor& tensor : out.inputs) tensor = select(tensor, portion_of(problem, tensor.name, portion));
  out.extents.I = static_cast<std::int64_t>(portion.inputs.size());
  out.extents.H = static_cast<std::int64_t>(portion.units.size());
  if (problem.extents.params_length > 0) {
    const bool skip = layout_of(problem).skip_input;
    out.attributes.input_mode = skip ? BACKGAUGE_SKIP_INPUT : BACKGAUGE_LINEAR_INPUT;
    out.extents.params_length = layout_of(out).size();
  }
  return out;
}

bool skips_input(const Case& c) { return resolves_to_skip(c.input_mode, c.I, c.H); }

}  // namespace backgauge
