// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/draft.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "properties/case/draw/input_ranges.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

struct Axis {
  std::int64_t Place::*coordinate;
  std::int64_t size;
};

// Appends the places of a dense block, the last axis fastest.
void append_block(Place place, std::span<const Axis> axes, std::vector<Place>& out) {
  if (axes.empty()) {
    out.push_back(place);
    return;
  }
  for (std::int64_t k = 0; k < axes.front().size; ++k) {
    place.*axes.front().coordinate = k;
    append_block(place, axes.subspan(1), out);
  }
}

void append_block(const Place& place, std::initializer_list<Axis> axes, std::vector<Place>& out) {
  append_block(place, std::span<const Axis>(axes.begin(), axes.size()), out);
}

bool is_peephole(std::string_view name) { return name == "wci" || name == "wcf" || name == "wco"; }

}  // namespace

Draft::Draft(const Case& c, Problem& problem) : c_(c), problem_(problem), stream_(c.seed, "structure") {
  const auto draw = [&](std::int64_t index, std::int64_t count) {
    return stream_.choice(index, std::max<std::int64_t>(count, 1));
  };
  const std::int64_t steps = steps_taken(c);
  const std::int64_t gates = traits_of(c.op).is_stacked ? rnn_gates(c.rnn_mode) : 4;
  chosen_ = {.step = draw(0, steps),
             .last_step = std::max<std::int64_t>(steps, 1) - 1,
             .sample = draw(1, c.B),
             .layer = draw(2, c.layers),
             .direction = draw(3, c.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1),
             .gate = draw(4, gates),
             .unit = draw(5, c.H)};
  zero_ = draw(6, 4) == 0 ? -0.0 : 0.0;
}

double Draft::subnormal() const { return input_range(c_.dtype).subnormal; }

double Draft::outlying() const { return input_range(c_.dtype).outlying; }

void Draft::set(const Names& names, Where where, double value) {
  for (const std::string_view name : names) {
    Tensor* tensor = find(name);
    if (tensor == nullptr) continue;
    const std::vector<Place>& at = places(*tensor);
    for (std::size_t k = 0; k < tensor->values.size(); ++k) {
      if (where(at[k], chosen_)) tensor->values[k] = value;
    }
  }
}

void Draft::set(const Names& names, double (*value)(const Place&, const Chosen&)) {
  for (const std::string_view name : names) {
    Tensor* tensor = find(name);
    if (tensor == nullptr) continue;
    const std::vector<Place>& at = places(*tensor);
    for (std::size_t k = 0; k < tensor->values.size(); ++k) tensor->values[k] = value(at[k], chosen_);
  }
}

void Draft::scale(const Names& names, Where where, double factor) {
  for (const std::string_view name : names) {
    Tensor* tensor = find(name);
    if (tensor == nullptr) continue;
    const std::vector<Place>& at = places(*tensor);
    for (std::size_t k = 0; k < tensor->values.size(); ++k) {
      if (where(at[k], chosen_)) tensor->values[k] *= factor;
    }
  }
}

void Draft::stand_out(std::string_view name) {
  Tensor* tensor = find(name);
  if (tensor == nullptr) return;
  // Only among the steps that are read.
  const std::vector<Place>& at = places(*tensor);
  std::vector<std::size_t> candidates;
  for (std::size_t k = 0; k < tensor->values.size(); ++k) {
    if (at[k].step <= chosen_.last_step) candidates.push_back(k);
  }
  if (candidates.empty()) return;
  double largest = 0;
  for (const std::size_t k : candidates) largest = std::max(largest, std::fabs(tensor->values[k]));
  double& value = tensor->values[candidates[static_cast<std::size_t>(
      stream_.choice(7, static_cast<std::int64_t>(candidates.size())))]];
  value = std::copysign(largest * outlying(), value);
}

void Draft::alike(const Names& names, Place (*source)(Place)) {
  for (const std::string_view name : names) {
    Tensor* tensor = find(name);
    if (tensor == nullptr) continue;
    const std::map<Place, std::size_t> index = index_of(*tensor);
    for (const auto& [place, k] : index) {
      if (const auto found = index.find(source(place)); found != index.end()) {
        tensor->values[k] = tensor->values[found->second];
      }
    }
  }
}

void Draft::copy(std::string_view to, std::string_view from) {
  Tensor *target = find(to), *origin = find(from);
  if (target == nullptr || origin == nullptr) return;
  const std::map<Place, std::size_t> index = index_of(*origin);
  for (const auto& [place, k] : index_of(*target)) {
    Place there = place;
    auto found = index.find(there);
    there.step = 0;
    if (found == index.end()) found = index.find(there);
    if (found != index.end()) target->values[k] = origin->values[found->second];
  }
}

Tensor* Draft::find(std::string_view name) {
  const auto found = std::ranges::find_if(problem_.inputs, [&](const Tensor& tensor) { return tensor.name == name; });
  return found == problem_.inputs.end() ? nullptr : &*found;
}

const std::vector<Place>& Draft::places(const Tensor& tensor) {
  const auto [entry, is_new] = places_.try_emplace(tensor.name);
  if (!is_new) return entry->second;
  std::vector<Place>& out = entry->second;
  const bool stacked = traits_of(c_.op).is_stacked;
  const std::int64_t H = c_.H, directions = c_.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
  if (tensor.name == "params") {
    out = params_places();
  } else if (tensor.name == "w") {
    append_block({.part = Part::kW}, {{&Place::column, c_.I}, {&Place::gate, 4}, {&Place::unit, H}}, out);
    append_block({.part = Part::kR}, {{&Place::column, H}, {&Place::gate, 4}, {&Place::unit, H}}, out);
  } else if (tensor.name == "b") {
    append_block({.part = Part::kBW}, {{&Place::gate, 4}, {&Place::unit, H}}, out);
  } else if (is_peephole(tensor.name)) {
    append_block({.part = Part::kPeephole}, {{&Place::unit, H}}, out);
  } else if (stacked && tensor.name == "output_backprop") {
    append_block({}, {{&Place::step, c_.T}, {&Place::sample, c_.B}, {&Place::direction, directions}, {&Place::unit, H}},
                 out);
  } else if (stacked && tensor.name != "input") {
    append_block(
        {}, {{&Place::layer, c_.layers}, {&Place::direction, directions}, {&Place::sample, c_.B}, {&Place::unit, H}},
        out);
  } else {
    const std::int64_t steps = tensor.shape.size() == 3 ? tensor.shape[0] : 1;
    append_block({}, {{&Place::step, steps}, {&Place::sample, c_.B}, {&Place::unit, tensor.shape.back()}}, out);
  }
  return out;
}

// The order of the buffer: all matrices, then all biases (reference/contract/rnn_params.h).
std::vector<Place> Draft::params_places() const {
  const RnnParams layout = rnn_params(problem_.attributes, c_.I, c_.H, c_.layers);
  std::vector<Place> out(static_cast<std::size_t>(layout.size()));
  const auto put = [&](std::int64_t offset, Place place, std::int64_t columns) {
    std::vector<Place> block;
    append_block(place, {{&Place::unit, c_.H}, {&Place::column, columns}}, block);
    std::ranges::copy(block, out.begin() + offset);
  };
  for (std::int64_t layer = 0; layer < layout.layers; ++layer) {
    for (std::int64_t direction = 0; direction < layout.directions; ++direction) {
      for (std::int64_t gate = 0; gate < layout.gates; ++gate) {
        Place place{.layer = layer, .direction = direction, .gate = gate};
        place.part = Part::kW, put(layout.W(layer, direction, gate), place, layout.matrix_input(layer));
        place.part = Part::kR, put(layout.R(layer, direction, gate), place, c_.H);
        place.part = Part::kBW, put(layout.bW(layer, direction, gate), place, 1);
        place.part = Part::kBR, put(layout.bR(layer, direction, gate), place, 1);
      }
    }
  }
  return out;
}

std::map<Place, std::size_t> Draft::index_of(const Tensor& tensor) {
  std::map<Place, std::size_t> index;
  const std::vector<Place>& at = places(tensor);
  for (std::size_t k = 0; k < tensor.values.size(); ++k) index.emplace(at[k], k);
  return index;
}

}  // namespace backgauge
