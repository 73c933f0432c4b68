// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/structures.h"

#include "properties/case/draw/ops/entry.h"

namespace backgauge {

std::span<const Structure> structures_of(backgauge_op op, DataProfile data) {
  const Structures all = draw_ops::entry_of(op).structures();
  switch (data) {
    case DataProfile::kBlank: return all.blank;
    case DataProfile::kAlike: return all.alike;
    case DataProfile::kExact: return all.exact;
    case DataProfile::kLone: return all.lone;
    default: return {};
  }
}

std::uint64_t seed_of_same_structure(const Case& c, std::uint64_t seed) {
  const std::uint64_t count = structures_of(c.op, c.data).size();
  return count == 0 ? seed : seed / count * count + c.seed % count;
}

const Structure* structure_of(const Case& c) {
  const std::span<const Structure> all = structures_of(c.op, c.data);
  return all.empty() ? nullptr : &all[static_cast<std::size_t>(c.seed % all.size())];
}

}  // namespace backgauge
