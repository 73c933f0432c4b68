// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/settings.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "properties/campaign/settings/ops/entry.h"
#include "properties/campaign/settings/values.h"

namespace backgauge {
namespace {

int dtype_of(const Case& c) { return index_in(kFloatDtypes, c.dtype); }
int data_of(const Case& c) {
  const auto* const found = std::ranges::find(kDistinguishedProfiles, c.data);
  return found == std::end(kDistinguishedProfiles) ? kUnset : static_cast<int>(found - kDistinguishedProfiles);
}
int batch_of(const Case& c) { return c.B <= 1 ? static_cast<int>(c.B) : c.B < 8 ? 2 : 3; }
int hidden_of(const Case& c) { return c.H == 1 ? 0 : c.H <= 8 ? 1 : 2; }
int width_of(const Case& c) { return c.I == 0 ? 0 : c.I < c.H ? 1 : c.I == c.H ? 2 : 3; }
// Positions in kFloatDtypes, up to the last that the op has.
std::vector<std::string_view> dtype_values(const OpSpec& op) {
  std::vector<std::string_view> out = words_of(kFloatDtypes, dtype_word);
  while ((op.dtypes & BACKGAUGE_BIT(kFloatDtypes[out.size() - 1])) == 0) out.pop_back();
  return out;
}

std::vector<Setting> make_settings(backgauge_op op) {
  std::vector<Setting> out = {{"dtype", dtype_values(spec_of(op)), dtype_of},
                              {"data", words_of(kDistinguishedProfiles, data_profile_word), data_of},
                              {"B", {"0", "1", "2..7", "8.."}, batch_of},
                              {"H", {"1", "2..8", "9.."}, hidden_of},
                              {"I", {"0", "<H", "=H", ">H"}, width_of}};
  std::ranges::move(setting_ops::entry_of(op).settings(), std::back_inserter(out));
  return out;
}

bool is_legal_anywhere(const RowReader& row) {
  if (row.is("H", "1") && row.is("I", "<H")) return false;              // I = 0 is a value of its own
  if (row.is("B", "0") && row.is_other("data", "strat")) return false;  // no element has a value
  return true;
}

std::size_t data_setting(backgauge_op op) { return index_of(settings_of(op), "data"); }

Factors with_dtypes(const Dtypes& dtypes, backgauge_op op, Factors factors) {
  std::vector<int> values;
  for (const backgauge_dtype dtype : dtypes) values.push_back(index_in(kFloatDtypes, dtype));
  const std::size_t at = index_of(settings_of(op), "dtype");
  factors.sizes[at] = std::ranges::max(values) + 1;  // which rows are found depends on values that no row may have
  factors.legal = [legal = factors.legal, at, values](const Row& row) {
    return (row[at] == kUnset || std::ranges::count(values, row[at]) > 0) && legal(row);
  };
  return factors;
}

constexpr std::int64_t kSmall[] = {2, 3, 5, 7};

std::int64_t draw_hidden(const RowReader& row, bool evidence, Draws& draws) {
  if (row.is("H", "1")) return 1;
  if (row.is("H", "9..")) return draws.pick<std::int64_t>({9, 11, 13, 17});
  return evidence ? draws.pick<std::int64_t>({5, 7}) : draws.pick(kSmall);
}

std::int64_t draw_batch(const RowReader& row, bool evidence, Draws& draws) {
  if (row.is("B", "0") || row.is("B", "1")) return row.position("B");
  if (row.is("B", "8..")) return draws.pick<std::int64_t>({8, 11, 17});
  return evidence ? draws.pick<std::int64_t>({3, 5, 7}) : draws.pick(kSmall);
}

std::int64_t draw_width(const RowReader& row, std::int64_t H, Draws& draws) {
  if (row.is("I", "0")) return 0;
  if (row.is("I", "<H")) return 1 + draws.below(H - 1);
  if (row.is("I", "=H")) return H;
  return draws.pick<std::int64_t>({H + 1, H + 2, 2 * H, H <= 8 ? 3 * H : H + 3});
}

}  // namespace

bool needs_short_nets(DataProfile data) {
  switch (data) {
    case DataProfile::kStratified:
    case DataProfile::kZeros:
    case DataProfile::kScales:
    case DataProfile::kHuge:
    case DataProfile::kTame:
    case DataProfile::kSparse:
    case DataProfile::kBlank: return false;
    default: return true;
  }
}

std::vector<Dtypes> dtype_groups(backgauge_op op) {
  std::vector<Dtypes> out;
  for (const Dtypes& group :
       {Dtypes{BACKGAUGE_FLOAT32, BACKGAUGE_HALF, BACKGAUGE_FLOAT64}, Dtypes{BACKGAUGE_BFLOAT16}}) {
    Dtypes dtypes;
    std::ranges::copy_if(group, std::back_inserter(dtypes),
                         [&](backgauge_dtype dtype) { return (find_op(op)->dtypes & BACKGAUGE_BIT(dtype)) != 0; });
    if (!dtypes.empty()) out.push_back(std::move(dtypes));
  }
  return out;
}

const std::vector<Setting>& settings_of(backgauge_op op) {
  static const std::map<backgauge_op, std::vector<Setting>> all = [] {
    std::map<backgauge_op, std::vector<Setting>> out;
    for (const backgauge_op each : gradient_ops()) out.emplace(each, make_settings(each));
    return out;
  }();
  return all.at(op);
}

Factors factors_of(backgauge_op op) {
  Factors factors;
  for (const Setting& setting : settings_of(op)) factors.sizes.push_back(static_cast<int>(setting.values.size()));
  factors.legal = [op](const Row& row) {
    const RowReader reader(op, row);
    return is_legal_anywhere(reader) && setting_ops::entry_of(op).is_legal(reader);
  };
  return factors;
}

Factors drawn_factors(backgauge_op op, const Dtypes& dtypes) {
  Factors factors = with_dtypes(dtypes, op, factors_of(op));
  factors.sizes[data_setting(op)] = kDrawnProfiles;
  return factors;
}

Factors structured_factors(backgauge_op op, const Dtypes& dtypes) {
  Factors factors = with_dtypes(dtypes, op, factors_of(op));
  factors.legal = [legal = factors.legal, data = data_setting(op)](const Row& row) {
    return (row[data] == kUnset || row[data] >= kDrawnProfiles) && legal(row);
  };
  return factors;
}

Row row_of(const Case& c) {
  Row row;
  for (const Setting& setting : settings_of(c.op)) row.push_back(setting.value_of(c));
  return row;
}

Case case_of(backgauge_op op, const Row& values, Draws& draws) {
  const RowReader row(op, values);
  const setting_ops::Entry& entry = setting_ops::entry_of(op);
  Case c{.op = op};
  c.dtype = kFloatDtypes[static_cast<std::size_t>(row.position("dtype"))];
  c.data = kDistinguishedProfiles[row.position("data")];
  const bool evidence = entry.needs_evidence(c.data);
  c.H = draw_hidden(row, evidence, draws);
  c.I = draw_width(row, c.H, draws);
  c.B = draw_batch(row, evidence, draws);
  entry.draw(row, draws, c);
  c.seed = draws.seed();
  return c;
}

}  // namespace backgauge
