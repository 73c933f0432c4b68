// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/draft.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

#include "properties/case/draw/input_ranges.h"
#include "properties/case/line/shaped_problem.h"
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

// The axes of one dimension of ops.inc.
std::vector<Axis> axes_of(std::string_view dimension, const Extents& e) {
  if (dimension == "T") return {{&Place::step, e.T}};
  if (dimension == "B") return {{&Place::sample, e.B}};
  if (dimension == "I") return {{&Place::unit, e.I}};
  if (dimension == "H") return {{&Place::unit, e.H}};
  if (dimension == "4 * H") return {{&Place::gate, 4}, {&Place::unit, e.H}};
  if (dimension == "L * D") return {{&Place::layer, e.L}, {&Place::direction, e.D}};
  if (dimension == "D * H") return {{&Place::direction, e.D}, {&Place::unit, e.H}};
  throw std::logic_error("no axes for the dimension " + std::string(dimension));
}

Part part_of(Role role) {
  if (role == Role::kBias) return Part::kBW;
  return role == Role::kPeephole ? Part::kPeephole : Part::kStates;
}

}  // namespace

Draft::Draft(const Case& c, Problem& problem) : c_(c), problem_(problem), stream_(c.seed, "structure") {
  const auto draw = [&](std::int64_t index, std::int64_t count) {
    return stream_.choice(index, std::max<std::int64_t>(count, 1));
  };
  const std::int64_t steps = steps_taken(c);
  chosen_ = {.step = draw(0, steps),
             .last_step = std::max<std::int64_t>(steps, 1) - 1,
             .sample = draw(1, c.B),
             .layer = draw(2, c.layers),
             .direction = draw(3, problem.extents.D),
             .gate = draw(4, rnn_gates(c.rnn_mode)),
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
  const TensorSpec& spec = spec_of(c_.op, tensor);
  const Extents& e = problem_.extents;
  const auto append = [&](const Place& place, std::vector<Axis> axes, std::span<const std::string_view> dimensions) {
    for (const std::string_view dimension : dimensions) {
      for (const Axis& axis : axes_of(dimension, e)) axes.push_back(axis);
    }
    append_block(place, axes, out);
  };
  if (spec.shape_text == "params_length") {
    out = params_places();
  } else if (spec.dimensions.front() == "I + H") {
    append({.part = Part::kW}, {{&Place::column, e.I}}, std::span(spec.dimensions).subspan(1));
    append({.part = Part::kR}, {{&Place::column, e.H}}, std::span(spec.dimensions).subspan(1));
  } else {
    append({.part = part_of(spec.role)}, {}, spec.dimensions);
  }
  return out;
}

// The order of the buffer: all matrices, then all biases (reference/contract/rnn_params.h).
std::vector<Place> Draft::params_places() const {
  const RnnParams layout = rnn_params(problem_.attributes, c_.I, c_.H, c_.layers);
  std::vector<Place> out(static_cast<std::size_t>(layout.size()));
  const auto put = [&](std::int64_t offset, Place place, std::int64_t columns) {
    std::vector<Place> block;
    append_block(place, std::vector<Axis>{{&Place::unit, c_.H}, {&Place::column, columns}}, block);
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
