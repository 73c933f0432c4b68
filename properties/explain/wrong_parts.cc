// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/wrong_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace backgauge {
namespace {

class WrongParts {
 public:
  WrongParts(const Wanted& wanted, const Consider& consider) : wanted_(wanted), consider_(consider) {}

  void operator()(const std::string& name, const auto& is_selected) const {
    for (const WrongFactor& wrong : kWrongFactors) {
      Values64 values(wanted_.value.size());
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<double>(wanted_.value[k]) * (is_selected(k) ? wrong.factor : 1);
      }
      consider_(fmt::format("the part '{}' {}", name, wrong.text), values);
    }
  }

 private:
  const Wanted& wanted_;
  const Consider& consider_;
};

}  // namespace

const TensorSpec& output_of(const Problem& problem, const Wanted& wanted) {
  const std::vector<TensorSpec>& specs = spec_of(problem.op).outputs;
  const auto found = std::ranges::find(specs, wanted.name, &TensorSpec::name);
  if (found == specs.end()) throw std::logic_error(wanted.name + " is not an output of the op");
  return *found;
}

void for_each_wrong_part(const Problem& problem, const Wanted& wanted, const Consider& consider) {
  const Extents& e = problem.extents;
  const Shape& shape = wanted.shape;
  if (shape.empty() || wanted.value.empty()) return;
  const WrongParts with_wrong(wanted, consider);
  const auto columns = static_cast<std::size_t>(shape.back());
  const auto H = static_cast<std::size_t>(e.H);
  const TensorSpec& output = output_of(problem, wanted);
  if (output.has_gate_blocks()) {
    const std::string_view gates = traits_of(problem.op).gates;
    for (std::size_t gate = 0; gate < gates.size(); ++gate) {
      const std::string name = gates[gate] == 'c' ? "ci" : std::string(1, gates[gate]);
      with_wrong("gate " + name, [=](std::size_t k) { return k % columns / H == gate; });
    }
  }
  if (output.dimensions.front() == "I + H") {
    const std::size_t of_x = static_cast<std::size_t>(e.I) * columns;
    if (e.I > 0) with_wrong("x rows", [=](std::size_t k) { return k < of_x; });
    with_wrong("h rows", [=](std::size_t k) { return k >= of_x; });
  } else if (shape.size() > 1 && shape[0] > 1) {
    const std::size_t row = wanted.value.size() / static_cast<std::size_t>(shape[0]), size = wanted.value.size();
    const std::string noun = shape[0] == e.T && shape.size() == 3 ? "step" : "row";
    with_wrong("first " + noun, [=](std::size_t k) { return k < row; });
    with_wrong("last " + noun, [=](std::size_t k) { return k >= size - row; });
  }
}

}  // namespace backgauge
