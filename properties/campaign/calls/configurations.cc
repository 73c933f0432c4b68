// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/calls/configurations.h"

#include <algorithm>
#include <utility>

#include "properties/campaign/settings/ops/entry.h"
#include "properties/case/draw/structures.h"
#include "properties/case/line/case_attributes.h"

namespace backgauge {
namespace {

// The bits of a NaN need not repeat.
bool can_be_compared(const Case& c) { return c.B != 0 && c.data != DataProfile::kNan && c.data != DataProfile::kInf; }

}  // namespace

Configurations::Configurations(std::vector<backgauge_op> ops, std::uint64_t seed, std::string_view name)
    : ops_(std::move(ops)), draws_(seed, name) {
  for (const backgauge_op op : ops_) rows_.push_back(covering_array(factors_of(op), 2));
}

Case Configurations::drawn(std::size_t op) {
  return case_of(ops_[op], draws_.pick(std::span<const Row>(rows_[op])), draws_);
}

Case Configurations::draw() {
  Case c = drawn(static_cast<std::size_t>(draws_.below(static_cast<std::int64_t>(ops_.size()))));
  return can_be_compared(c) ? c : draw();
}

Case Configurations::draw(backgauge_op op) {
  Case c = drawn(static_cast<std::size_t>(std::ranges::find(ops_, op) - ops_.begin()));
  return can_be_compared(c) ? c : draw(op);
}

Case Configurations::sibling_of(Case c, std::size_t k) {
  switch (k % 5) {
    case 0:  // peepholes or direction
      for (const CaseAttribute& attribute : case_attributes(traits_of(c.op))) {
        const std::vector<std::int32_t>& values = attribute.spec->values;
        if (values.size() == 2) attribute.set(c, attribute.get(c) == values[0] ? values[1] : values[0]);
      }
      break;
    case 1: c.B = c.B > 1 ? c.B - 1 : c.B + 1; break;
    case 2: c.dtype = c.dtype == BACKGAUGE_FLOAT32 ? BACKGAUGE_HALF : BACKGAUGE_FLOAT32; break;
    case 3: setting_ops::entry_of(c.op).vary(c); break;
    default:
      // Another shape with as many elements, if B and H differ.
      if (c.I == c.H && c.input_mode == BACKGAUGE_SKIP_INPUT) c.I = c.B;
      std::swap(c.B, c.H);
      break;
  }
  return with_other_values(std::move(c));
}

Case Configurations::with_other_values(Case c) {
  c.seed = seed_of_same_structure(c, draws_.seed());
  return c;
}

}  // namespace backgauge
