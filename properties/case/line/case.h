// SPDX-License-Identifier: Apache-2.0
// A case: everything that determines one judged run, as one line of text of at most 160 characters.
//
//   lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37 chk=5b1c
//   block_lstm_grad_v2 t5b3i17h4 peep=1 clip=0.5 order=ifco seq=4 dt=f16 data=strat:0x1f2e chk=7d0a
//   cudnn_rnn_backprop t7b3i5h4 mode=gru dir=bi layers=2 in=linear drop=0.5 dt=f64 data=strat:0x3c51 chk=91ae
//   block_lstm_grad_v2 ... data=golden:block_f32_tail
//   block_lstm_grad_v2 t1b1i1h1 peep=0 order=ifco seq=1 dt=f32 data=malformed:0x1f
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "properties/case/line/data_profile.h"
#include "reference/contract/op_spec.h"

namespace backgauge {

struct Case {
  backgauge_op op = kFirstOp;                    // a gradient op
  std::int64_t T = 1, B = 1, I = 1, H = 1;       // T: not for the cell
  std::int64_t seq_len_max = 1;                  // BlockLSTMGradV2
  bool use_peephole = false;                     // LSTM ops
  double cell_clip = 0;                          // of the forward pass that made the saved tensors; <= 0: none
  backgauge_rnn_mode rnn_mode = BACKGAUGE_LSTM;  // CudnnRNNBackprop
  backgauge_direction direction = BACKGAUGE_UNIDIRECTIONAL;
  backgauge_input_mode input_mode = BACKGAUGE_LINEAR_INPUT;
  std::int64_t layers = 1;
  double dropout = 0;
  backgauge_dtype dtype = BACKGAUGE_FLOAT32;
  DataProfile data = DataProfile::kStratified;
  std::uint64_t seed = 0;
  std::string golden{};                     // its name, for kGolden
  std::optional<std::uint16_t> checksum{};  // of the inputs; if given, fill() checks it

  bool operator==(const Case&) const = default;
};

// The canonical line; parse_case(to_string(c)) == c for every case that parse_case can return.
std::string to_string(const Case& c);

// line: one line without a comment. Returns nullopt, with the word and what is wrong with it in `error`, on failure.
std::optional<Case> parse_case(std::string_view line, std::string& error);

// Attributes and extents of the call, as validate() returns them. seed and seed2 are derived from the case's seed; a
// golden has its own.
backgauge_attributes attributes_of(const Case& c);
Extents extents_of(const Case& c);

// Steps that the op processes: seq_len_max if it has one, else T; 1 for ops without steps.
std::int64_t steps_taken(const Case& c);

// Sets T and seq_len_max, each only if the op has it.
void set_steps(Case& c, std::int64_t T, std::int64_t seq_len_max);

}  // namespace backgauge
