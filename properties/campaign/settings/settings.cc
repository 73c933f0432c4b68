// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/settings/settings.h"

#include <algorithm>
#include <stdexcept>

#include "properties/campaign/settings/modes.h"
#include "reference/contract/op_spec.h"

namespace backgauge {
namespace {

// Setting::values, in this order. Those from kBlank on are in an array of their own: drawn_factors().
constexpr DataProfile kDistinguishedProfiles[] = {
    DataProfile::kStratified, DataProfile::kSaturated, DataProfile::kLinear, DataProfile::kLarge,
    DataProfile::kZeros,      DataProfile::kTiny,      DataProfile::kHuge,   DataProfile::kScales,
    DataProfile::kConstant,   DataProfile::kNan,       DataProfile::kInf,    DataProfile::kBlank,
    DataProfile::kAlike,      DataProfile::kExact,     DataProfile::kLone};
constexpr int kDrawnProfiles = 11;
static_assert(kDistinguishedProfiles[kDrawnProfiles] == DataProfile::kBlank);

constexpr backgauge_direction kDirections[] = {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL};
constexpr backgauge_input_mode kInputModes[] = {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT};

template <class Values>
int index_in(const Values& values, std::ranges::range_value_t<Values> value) {
  return static_cast<int>(std::ranges::find(values, value) - std::begin(values));
}

template <class Values>
std::vector<std::string_view> words_of(const Values& values, std::string_view (*word_of)(std::int32_t)) {
  std::vector<std::string_view> out;
  for (const auto value : values) out.push_back(word_of(value));
  return out;
}

int dtype_of(const Case& c) { return index_in(kFloatDtypes, c.dtype); }
int data_of(const Case& c) {
  const auto* const found = std::ranges::find(kDistinguishedProfiles, c.data);
  return found == std::end(kDistinguishedProfiles) ? kUnset : static_cast<int>(found - kDistinguishedProfiles);
}
int mode_of(const Case& c) { return index_in(kModes, c.rnn_mode); }
int direction_of(const Case& c) { return index_in(kDirections, c.direction); }
int input_of(const Case& c) { return index_in(kInputModes, c.input_mode); }
int layers_of(const Case& c) { return c.layers >= 1 && c.layers <= 3 ? static_cast<int>(c.layers) - 1 : kUnset; }
int dropout_of(const Case& c) { return c.dropout == 0 ? 0 : c.dropout == 1 ? 2 : 1; }
int peephole_of(const Case& c) { return c.use_peephole ? 1 : 0; }
// Saved states are of order 1, so that a limit of 3 is above nearly all of them.
int clip_of(const Case& c) { return c.cell_clip <= 0 ? 0 : c.cell_clip <= 1 ? 1 : 2; }
int steps_of(const Case& c) { return c.T == 0 ? kUnset : static_cast<int>(std::min<std::int64_t>(c.T, 3)) - 1; }
int batch_of(const Case& c) { return c.B <= 1 ? static_cast<int>(c.B) : c.B < 8 ? 2 : 3; }
int hidden_of(const Case& c) { return c.H == 1 ? 0 : c.H <= 8 ? 1 : 2; }
int width_of(const Case& c) { return c.I == 0 ? 0 : c.I < c.H ? 1 : c.I == c.H ? 2 : 3; }
int seq_len_max_of(const Case& c) {
  return c.T == 0 ? kUnset : c.seq_len_max == c.T ? 3 : static_cast<int>(std::min<std::int64_t>(c.seq_len_max, 2));
}

std::vector<Setting> lstm_settings(bool steps) {
  std::vector<std::string_view> profiles;
  for (const DataProfile data : kDistinguishedProfiles) profiles.push_back(data_profile_word(data));
  std::vector<Setting> out = {{"dtype", {"f16", "f32"}, dtype_of},        {"data", profiles, data_of},
                              {"B", {"0", "1", "2..7", "8.."}, batch_of}, {"H", {"1", "2..8", "9.."}, hidden_of},
                              {"I", {"0", "<H", "=H", ">H"}, width_of},   {"peephole", {"off", "on"}, peephole_of},
                              {"clip", {"none", "..1", "1.."}, clip_of}};
  if (!steps) return out;
  out.push_back({"T", {"1", "2", "3.."}, steps_of});
  out.push_back({"seq_len_max", {"0", "1", "2..T-1", "T"}, seq_len_max_of});
  return out;
}

std::vector<Setting> stacked_settings() {
  std::vector<Setting> out = lstm_settings(false);
  out.resize(5);  // dtype, data, B, H, I
  out[0].values = words_of(kFloatDtypes, dtype_word);
  out.push_back({"mode", words_of(kModes, rnn_mode_word), mode_of});
  out.push_back({"direction", words_of(kDirections, direction_word), direction_of});
  out.push_back({"input", words_of(kInputModes, input_mode_word), input_of});
  out.push_back({"layers", {"1", "2", "3"}, layers_of});
  out.push_back({"dropout", {"0", "between", "1"}, dropout_of});
  out.push_back({"T", {"1", "2", "3.."}, steps_of});
  return out;
}

// The values set in a row, by the names of their settings.
class Reader {
 public:
  Reader(backgauge_op op, const Row& row) : settings_(settings_of(op)), row_(row) {}

  std::string_view value(std::string_view setting) const {  // "" if unset
    const std::size_t at = index(setting);
    return row_[at] == kUnset ? std::string_view() : settings_[at].values[static_cast<std::size_t>(row_[at])];
  }
  int position(std::string_view setting) const { return row_[index(setting)]; }
  bool is(std::string_view setting, std::string_view wanted) const { return value(setting) == wanted; }
  bool is_other(std::string_view setting, std::string_view wanted) const {
    return !value(setting).empty() && value(setting) != wanted;
  }

 private:
  std::size_t index(std::string_view setting) const {
    for (std::size_t k = 0; k < settings_.size(); ++k) {
      if (settings_[k].name == setting) return k;
    }
    throw std::logic_error("no setting " + std::string(setting));
  }

  const std::vector<Setting>& settings_;
  const Row& row_;
};

bool is_legal_anywhere(const Reader& row) {
  if (row.is("H", "1") && row.is("I", "<H")) return false;              // I = 0 is a value of its own
  if (row.is("B", "0") && row.is_other("data", "strat")) return false;  // no element has a value
  return true;
}

bool is_legal_lstm(const Reader& row) {
  if (!is_legal_anywhere(row)) return false;
  // Needs saturated units and others: of a single row or unit, all or nothing is saturated.
  return !row.is("data", "saturated") || !(row.is("B", "1") || row.is("H", "1"));
}

bool is_legal_block(const Reader& row) {
  if (!is_legal_lstm(row)) return false;
  if (row.is("T", "1") && (row.is("seq_len_max", "1") || row.is("seq_len_max", "2..T-1"))) return false;  // that is T
  if (row.is("T", "2") && row.is("seq_len_max", "2..T-1")) return false;
  return !row.is("seq_len_max", "0") || !row.is_other("data", "strat");  // nothing is read
}

bool is_legal_stacked(const Reader& row) {
  if (!is_legal_anywhere(row)) return false;
  // semantics.md 8: the result of a relu for NaN is not defined.
  if (row.is("mode", "relu") && (row.is("data", "nan") || row.is("data", "inf"))) return false;
  // States of these are below 1; larger ones saturate everything, and all gradients vanish.
  if (row.is("data", "large") && (row.is("mode", "tanh") || row.is("mode", "gru"))) return false;
  if (row.is("input", "skip") && row.is_other("I", "=H")) return false;
  if (row.position("data") == kUnset || !needs_short_nets(kDistinguishedProfiles[row.position("data")])) return true;
  // In these profiles a few rows and units are special; the others carry the evidence.
  return !row.is_other("layers", "1") && !row.is("T", "3..") && !row.is_other("B", "2..7") && !row.is("H", "1");
}

std::size_t index_of(backgauge_op op, std::string_view setting) {
  const std::vector<Setting>& settings = settings_of(op);
  return static_cast<std::size_t>(std::ranges::find(settings, setting, &Setting::name) - settings.begin());
}

std::size_t data_setting(backgauge_op op) { return index_of(op, "data"); }

Factors with_dtypes(const Dtypes& dtypes, backgauge_op op, Factors factors) {
  std::vector<int> values;
  for (const backgauge_dtype dtype : dtypes) values.push_back(index_in(kFloatDtypes, dtype));
  const std::size_t at = index_of(op, "dtype");
  factors.sizes[at] = std::ranges::max(values) + 1;  // which rows are found depends on values that no row may have
  factors.legal = [legal = factors.legal, at, values](const Row& row) {
    return (row[at] == kUnset || std::ranges::count(values, row[at]) > 0) && legal(row);
  };
  return factors;
}

constexpr std::int64_t kSmall[] = {2, 3, 5, 7};

std::int64_t draw_hidden(const Reader& row, bool evidence, Draws& draws) {
  if (row.is("H", "1")) return 1;
  if (row.is("H", "9..")) return draws.pick<std::int64_t>({9, 11, 13, 17});
  return evidence ? draws.pick<std::int64_t>({5, 7}) : draws.pick(kSmall);
}

std::int64_t draw_batch(const Reader& row, bool evidence, Draws& draws) {
  if (row.is("B", "0") || row.is("B", "1")) return row.position("B");
  if (row.is("B", "8..")) return draws.pick<std::int64_t>({8, 11, 17});
  return evidence ? draws.pick<std::int64_t>({3, 5, 7}) : draws.pick(kSmall);
}

std::int64_t draw_width(const Reader& row, std::int64_t H, Draws& draws) {
  if (row.is("I", "0")) return 0;
  if (row.is("I", "<H")) return 1 + draws.below(H - 1);
  if (row.is("I", "=H")) return H;
  return draws.pick<std::int64_t>({H + 1, H + 2, 2 * H, H <= 8 ? 3 * H : H + 3});
}

std::int64_t draw_steps(const Reader& row, bool few, Draws& draws) {
  if (row.position("T") < 2) return 1 + row.position("T");
  return few ? 3 : draws.pick<std::int64_t>({3, 4, 5, 7});
}

std::int64_t draw_seq_len_max(const Reader& row, std::int64_t T, Draws& draws) {
  if (row.is("seq_len_max", "T")) return T;
  return row.position("seq_len_max") < 2 ? row.position("seq_len_max") : 2 + draws.below(T - 2);
}

}  // namespace

bool needs_short_nets(DataProfile data) {
  switch (data) {
    case DataProfile::kStratified:
    case DataProfile::kZeros:
    case DataProfile::kScales:
    case DataProfile::kHuge:
    case DataProfile::kTame:
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
  static const std::vector<Setting> one_step = lstm_settings(false), sequence = lstm_settings(true),
                                    stacked = stacked_settings();
  return traits_of(op).is_stacked ? stacked : traits_of(op).has_steps ? sequence : one_step;
}

Factors factors_of(backgauge_op op) {
  Factors factors;
  for (const Setting& setting : settings_of(op)) factors.sizes.push_back(static_cast<int>(setting.values.size()));
  factors.legal = [op](const Row& row) {
    const Reader reader(op, row);
    return traits_of(op).is_stacked        ? is_legal_stacked(reader)
           : traits_of(op).has_seq_len_max ? is_legal_block(reader)
                                           : is_legal_lstm(reader);
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
  const Reader row(op, values);
  Case c{.op = op};
  c.dtype = kFloatDtypes[static_cast<std::size_t>(row.position("dtype"))];
  c.data = kDistinguishedProfiles[row.position("data")];
  const bool stacked = traits_of(op).is_stacked;
  const bool evidence = stacked ? needs_short_nets(c.data) : c.data == DataProfile::kSaturated;
  c.H = draw_hidden(row, evidence, draws);
  c.I = draw_width(row, c.H, draws);
  c.B = draw_batch(row, evidence, draws);
  if (traits_of(op).has_steps) c.T = draw_steps(row, needs_short_nets(c.data), draws);
  if (stacked) {
    c.rnn_mode = kModes[row.position("mode")];
    c.direction = kDirections[row.position("direction")];
    c.input_mode = kInputModes[row.position("input")];
    c.layers = 1 + row.position("layers");
    c.dropout = row.is("dropout", "0") ? 0 : row.is("dropout", "1") ? 1 : draws.pick({0.25, 0.5});
  } else {
    c.use_peephole = row.is("peephole", "on");
    c.cell_clip = row.is("clip", "none") ? 0 : row.is("clip", "1..") ? 3 : draws.pick({0.5, 1.0});
    if (traits_of(op).has_seq_len_max) c.seq_len_max = draw_seq_len_max(row, c.T, draws);
  }
  c.seed = draws.seed();
  return c;
}

}  // namespace backgauge
