// SPDX-License-Identifier: Apache-2.0
// The settings that an op has besides those of every op (dtype, data, B, H, I), and their legality: one entry per op.
#pragma once

#include <vector>

#include "properties/campaign/settings/row_reader.h"
#include "reference/contract/op_entries.h"

namespace backgauge::setting_ops {

struct Entry {
  std::vector<Setting> (*settings)();
  // Whether a row that is legal for every op is legal for this one.
  bool (*is_legal)(const RowReader&);
  // Whether only a few rows and units are special in a profile, so that the others have to be evidence.
  bool (*needs_evidence)(DataProfile);
  // Draws what the settings of this op leave open, after B, I and H.
  void (*draw)(const RowReader&, Draws&, Case&);
  // Changes a setting that leaves every shape as it is; B if the op has no such setting.
  void (*vary)(Case&);
};
BACKGAUGE_OP_ENTRIES

inline void vary_batch(Case& c) { c.B += 4; }

// The setting T, for ops that have steps.
inline Setting steps_setting() {
  return {"T", {"1", "2", "3.."}, [](const Case& c) {
            return c.T == 0 ? kUnset : c.T < 3 ? static_cast<int>(c.T) - 1 : 2;
          }};
}

inline std::int64_t draw_steps(const RowReader& row, DataProfile data, Draws& draws) {
  if (row.position("T") < 2) return 1 + row.position("T");
  return needs_short_nets(data) ? 3 : draws.pick<std::int64_t>({3, 4, 5, 7});
}

}  // namespace backgauge::setting_ops
