// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/campaign.h"

#include <algorithm>
#include <span>

#include "properties/case/random.h"

namespace backgauge {
namespace {

constexpr DataClass kClasses[] = {DataClass::kSaturated, DataClass::kLinear, DataClass::kLarge,  DataClass::kZeros,
                                  DataClass::kTiny,      DataClass::kHuge,   DataClass::kScales, DataClass::kConstant,
                                  DataClass::kNan,       DataClass::kInf};

// Different primes by default, so that a transposition or a wrong stride shows.
constexpr std::int64_t kSteps[] = {1, 2, 3, 5, 7};
constexpr std::int64_t kBatches[] = {1, 2, 3, 5, 7, 11, 17};
constexpr std::int64_t kInputs[] = {1, 2, 3, 5, 7, 11, 13, 19};
constexpr std::int64_t kHidden[] = {1, 2, 3, 5, 7, 11, 13, 17, 23};

// How often each cell of the enumeration is drawn.
struct Repeats {
  int lstm_stratified, lstm_class, cudnn_stratified, cudnn_class, edges;
};
Repeats repeats(Tier tier) { return tier == Tier::kSmoke ? Repeats{6, 1, 1, 1, 1} : Repeats{100, 8, 12, 3, 2}; }

bool makes_sense(backgauge_rnn_mode mode, DataClass data) {
  switch (data) {
    case DataClass::kNan:
    case DataClass::kInf:
      return mode != BACKGAUGE_RNN_RELU;  // semantics.md 8: what a relu makes of NaN is not settled
    // States of the others are below 1; larger ones saturate everything, and all gradients vanish.
    case DataClass::kLarge: return mode == BACKGAUGE_LSTM || mode == BACKGAUGE_RNN_RELU;
    default: return true;
  }
}

class Planner {
 public:
  Planner(const Campaign& campaign, std::vector<Case>& out) : campaign_(campaign), out_(out) {}

  void lstm(backgauge_op op) {
    const Repeats n = repeats(campaign_.tier);
    for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
      for (const bool peephole : {false, true}) {
        Case c{.op = op, .use_peephole = peephole, .dtype = dtype};
        for (int k = 0; k < n.lstm_stratified; ++k) add_lstm(c);
        for (const DataClass data : kClasses) {
          c.data = data;
          for (int k = 0; k < n.lstm_class; ++k) add_lstm(c);
        }
        c.data = DataClass::kStratified;
        for (int k = 0; k < n.edges; ++k) lstm_edges(c);
      }
    }
  }

  void cudnn() {
    const Repeats n = repeats(campaign_.tier);
    for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32, BACKGAUGE_FLOAT64}) {
      for (const backgauge_rnn_mode mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_RNN_TANH, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
        Case c{.op = BACKGAUGE_CUDNN_RNN_BACKPROP, .rnn_mode = mode, .dtype = dtype};
        for (const backgauge_direction direction : {BACKGAUGE_UNIDIRECTIONAL, BACKGAUGE_BIDIRECTIONAL}) {
          c.direction = direction;
          for (const backgauge_input_mode input :
               {BACKGAUGE_LINEAR_INPUT, BACKGAUGE_SKIP_INPUT, BACKGAUGE_AUTO_SELECT}) {
            c.input_mode = input;
            for (int k = 0; k < n.cudnn_stratified; ++k) add_cudnn(c);
          }
        }
        for (const DataClass data : kClasses) {
          if (!makes_sense(mode, data)) continue;
          c.data = data;
          for (int k = 0; k < n.cudnn_class; ++k) {
            c.direction = draw(2) == 0 ? BACKGAUGE_UNIDIRECTIONAL : BACKGAUGE_BIDIRECTIONAL;
            c.input_mode = static_cast<backgauge_input_mode>(BACKGAUGE_LINEAR_INPUT + draw(3));
            add_cudnn(c);
          }
        }
        c.data = DataClass::kStratified;
        for (int k = 0; k < n.edges; ++k) cudnn_edges(c);
      }
    }
  }

 private:
  // Draws in order; a case's own values come from its own seed.
  std::int64_t draw(std::int64_t count) { return stream_.choice(next_++, count); }
  std::int64_t pick(std::span<const std::int64_t> from) {
    return from[static_cast<std::size_t>(draw(static_cast<std::int64_t>(from.size())))];
  }

  void add(Case c) {
    c.seed = stream_.bits(next_++) >> 32;  // short lines
    out_.push_back(std::move(c));
  }

  void add_lstm(Case c) {
    constexpr double kClips[] = {0, 0, 0.5, 1, 3};
    const bool saturated = c.data == DataClass::kSaturated;  // needs units of either kind
    c.B = pick(saturated ? std::span(kBatches).subspan(2) : std::span(kBatches));
    c.I = pick(kInputs);
    c.H = pick(saturated ? std::span(kHidden).subspan(3) : std::span(kHidden));
    c.cell_clip = kClips[draw(5)];
    if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) {
      const bool rigorous = c.data == DataClass::kTiny || c.data == DataClass::kNan || c.data == DataClass::kInf;
      c.T = pick(rigorous ? std::span(kSteps).first(3) : std::span(kSteps));
      const std::int64_t kind = draw(20);  // 45 % all of T, 5 % none, 10 % one step, the rest in between
      c.seq_len_max = kind < 9 ? c.T : kind < 10 ? 0 : kind < 12 ? 1 : 1 + draw(c.T);
    }
    add(c);
  }

  void add_cudnn(Case c) {
    constexpr double kDropouts[] = {0, 0, 0.25, 0.5, 1};
    // Where the values are not random only the rigorous bound holds, and it grows with layers, steps and widths; where
    // gates saturate or weights vanish, every further layer and step squares what is left of the gradients.
    const bool narrow = c.data != DataClass::kStratified && c.data != DataClass::kZeros &&
                        c.data != DataClass::kScales && c.data != DataClass::kHuge;
    c.T = pick(narrow ? std::span(kSteps).first(2) : std::span(kSteps));
    // Of a special class a few rows and units are special, the others carry the evidence.
    c.B = pick(narrow ? std::span(kBatches).subspan(2, 3) : std::span(kBatches).first(5));
    c.H = pick(narrow ? std::span(kHidden).subspan(3, 3) : std::span(kHidden).first(8));
    c.I = c.input_mode == BACKGAUGE_SKIP_INPUT || (c.input_mode == BACKGAUGE_AUTO_SELECT && draw(2) == 0)
              ? c.H
              : pick(std::span(kInputs).first(6));
    c.layers = narrow ? 1 : 1 + draw(3);
    c.dropout = c.layers > 1 ? kDropouts[draw(5)] : 0;
    add(c);
  }

  void lstm_edges(Case c) {
    const auto edge = [&](std::int64_t T, std::int64_t B, std::int64_t I, std::int64_t H, std::int64_t S) {
      c.T = c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? T : 1;
      c.B = B, c.I = I, c.H = H;
      c.seq_len_max = c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2 ? S : 1;
      add(c);
    };
    edge(1, 1, 1, 1, 1);                                            // one of everything
    edge(3, 0, 5, 7, 2);                                            // no batch
    edge(3, 2, 0, 5, 2);                                            // no input
    edge(2, 3, 5, 7, 0);                                            // no step taken
    edge(3, 3, 3, 3, 3);                                            // all equal
    edge(2, 5, 9, 3, 2);                                            // I = 3H: w is square
    edge(5, 5, 2, 7, 4);                                            // T = B
    edge(3, 7, 7, 7, 3);                                            // B = I = H
    edge(2, 65, 3, 33, 2);                                          // past the widths of vectors and tiles
    edge(33, 2, 5, 3, 31);                                          // many steps
    if (c.op == BACKGAUGE_BLOCK_LSTM_GRAD_V2) edge(0, 3, 5, 7, 0);  // no step there
  }

  void cudnn_edges(Case c) {
    const auto edge = [&](std::int64_t T, std::int64_t B, std::int64_t I, std::int64_t H, std::int64_t L,
                          backgauge_direction direction) {
      c.T = T, c.B = B, c.I = I, c.H = H, c.layers = L;
      c.dropout = L > 1 ? 0.5 : 0;
      c.direction = direction;
      c.input_mode = BACKGAUGE_LINEAR_INPUT;
      add(c);
    };
    edge(1, 1, 1, 1, 1, BACKGAUGE_UNIDIRECTIONAL);
    edge(2, 0, 3, 5, 2, BACKGAUGE_BIDIRECTIONAL);   // no batch
    edge(2, 3, 0, 5, 1, BACKGAUGE_UNIDIRECTIONAL);  // no input
    edge(3, 3, 10, 5, 2, BACKGAUGE_BIDIRECTIONAL);  // I = 2H: every layer is as wide
    edge(2, 19, 3, 33, 1, BACKGAUGE_BIDIRECTIONAL);
    edge(17, 2, 3, 2, 1, BACKGAUGE_BIDIRECTIONAL);  // many steps
  }

  const Campaign& campaign_;
  std::vector<Case>& out_;
  RandomStream stream_{campaign_.seed, "campaign"};
  std::int64_t next_ = 0;
};

}  // namespace

std::string_view tier_word(Tier tier) { return tier == Tier::kSmoke ? "smoke" : "ci"; }

std::optional<Tier> parse_tier(std::string_view word) {
  for (const Tier tier : {Tier::kSmoke, Tier::kCi}) {
    if (tier_word(tier) == word) return tier;
  }
  return std::nullopt;
}

std::vector<Case> plan(const Campaign& campaign) {
  std::vector<Case> out;
  for (const backgauge_op op : campaign.ops) {
    Planner planner(campaign, out);
    if (op == BACKGAUGE_CUDNN_RNN_BACKPROP) {
      planner.cudnn();
    } else {
      planner.lstm(op);
    }
  }
  return out;
}

}  // namespace backgauge
