// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/draw_case.h"

#include <vector>

#include "properties/case/line/random.h"

namespace backgauge {
namespace {

using Dims = std::vector<std::int64_t>;

// Different primes and a few equal ones, so that a transposition or a wrong stride shows; 9 and 17 are past the widths
// of vectors.
const Dims kSteps = {1, 2, 3, 5}, kBatches = {1, 2, 3, 5, 7}, kInputs = {1, 2, 3, 5, 9}, kHidden = {1, 2, 3, 5, 9, 17};
// The products of the block and of a stacked net have 16 * B * (I + H) * H operations per step: 5 to 20 million here.
const Dims kWideSteps = {3, 5}, kWideBatches = {17, 33}, kWideInputs = {13, 40}, kWideHidden = {64, 70};

class Drawing {
 public:
  Drawing(backgauge_op op, Sizes sizes, std::uint64_t seed) : stream_(seed, "case"), sizes_(sizes) { c_.op = op; }

  Case run() {
    const bool wide = sizes_ == Sizes::kWide && once_in(16);
    if (stacked()) {
      c_.rnn_mode = one_of<backgauge_rnn_mode>({BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU});
      c_.dtype = one_of<backgauge_dtype>({BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64, BACKGAUGE_BFLOAT16});
    } else {
      c_.dtype = one_of<backgauge_dtype>({BACKGAUGE_HALF, BACKGAUGE_FLOAT32});
    }
    c_.data = data_profile();
    c_.T = one_of(wide ? kWideSteps : is_short() ? Dims{1, 2} : kSteps);
    c_.B = one_of(wide ? kWideBatches : kBatches);
    c_.I = one_of(wide ? kWideInputs : kInputs);
    c_.H = one_of(wide ? kWideHidden : kHidden);
    if (once_in(24)) c_.B = 0;
    if (once_in(24)) c_.I = 0;
    if (once_in(24) && traits_of(c_.op).has_seq_len_max) c_.T = 0;
    stacked() ? draw_stacked() : draw_lstm();
    // Small seeds make short case lines; seed 0 is reserved for shrunk cases.
    c_.seed = 1 + static_cast<std::uint64_t>(below((1 << 16) - 1));
    return c_;
  }

 private:
  bool stacked() const { return traits_of(c_.op).is_stacked; }
  std::int64_t below(std::int64_t n) { return stream_.choice(drawn_++, n); }
  bool once_in(std::int64_t n) { return below(n) == 0; }
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }

  DataProfile data_profile() {
    if (once_in(2)) return DataProfile::kStratified;
    // semantics.md 8: the result of a relu for NaN is not defined. Large states saturate the other modes.
    const bool relu = stacked() && c_.rnn_mode == BACKGAUGE_RNN_RELU;
    const bool bounded = stacked() && !relu && c_.rnn_mode != BACKGAUGE_LSTM;
    std::vector<DataProfile> profiles = {DataProfile::kSaturated, DataProfile::kLinear, DataProfile::kZeros,
                                         DataProfile::kTiny,      DataProfile::kHuge,   DataProfile::kScales,
                                         DataProfile::kConstant};
    if (!bounded) profiles.push_back(DataProfile::kLarge);
    if (!relu) profiles.insert(profiles.end(), {DataProfile::kNan, DataProfile::kInf});
    return one_of(profiles);
  }

  // Where values are not random, or vanish, only short recurrences have bounds narrow enough to be conclusive.
  bool is_short() const {
    switch (c_.data) {
      case DataProfile::kStratified:
      case DataProfile::kZeros:
      case DataProfile::kScales:
      case DataProfile::kHuge: return false;
      default: return true;
    }
  }

  void draw_stacked() {
    c_.direction = one_of<backgauge_direction>({BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL});
    c_.input_mode = one_of<backgauge_input_mode>({BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT});
    const bool as_wide =
        c_.input_mode == BACKGAUGE_SKIP_INPUT || (c_.input_mode == BACKGAUGE_AUTO_SELECT && once_in(2));
    if (as_wide) c_.I = c_.H;
    c_.layers = is_short() ? 1 : one_of<std::int64_t>({1, 1, 2, 3});
    if (c_.layers > 1) c_.dropout = one_of<double>({0, 0, 0.25, 0.5, 1});
  }

  void draw_lstm() {
    c_.use_peephole = once_in(2);
    c_.cell_clip = one_of<double>({0, 0, 0.5, 1});
    if (!traits_of(c_.op).has_steps) {
      c_.T = 1;
    } else {
      c_.seq_len_max = once_in(2) ? c_.T : below(c_.T + 1);
    }
  }

  const RandomStream stream_;
  const Sizes sizes_;
  std::int64_t drawn_ = 0;
  Case c_{};
};

}  // namespace

Case draw_case(backgauge_op op, Sizes sizes, std::uint64_t seed) { return Drawing(op, sizes, seed).run(); }

}  // namespace backgauge
