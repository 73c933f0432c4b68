// SPDX-License-Identifier: Apache-2.0
// The ops as data, made from ops.inc. A tensor's name, shape and role are looked up here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/backgauge.h"
#include "reference/contract/dtypes.h"

namespace backgauge {

// The sizes of one call, and the other values that the columns of ops.inc may depend on.
struct Extents {
  std::int64_t T = 0;  // steps
  std::int64_t B = 0;  // batch
  std::int64_t I = 0;  // input size
  std::int64_t H = 0;  // hidden size
  std::int64_t L = 1;  // layers
  std::int64_t D = 1;  // directions
  std::int64_t S = 0;  // seq_len_max
  std::int64_t params_length = 0;
  std::int64_t reserve_length = 0;  // of reserve_space, in elements
  bool peephole = false;
  bool lstm = false;
  bool skips_input = false;  // input_mode is skip_input, which needs I = H
};

inline constexpr std::int64_t kAll = INT64_MAX;  // every row

using Shape = std::vector<std::int64_t>;

// What a tensor is to its op. A gradient has the role of what it is the gradient of.
enum class Role {
  kLength,     // seq_len_max
  kData,       // what the net reads: x, input
  kState,      // h before the first step
  kCellState,  // cs before the first step
  kWeight,     // matrices; of ops with flat_params, the biases too
  kPeephole,   // diagonal weights
  kBias,
  kGates,              // pre-activations of the gates; only as a gradient
  kSaved,              // gates and states that a forward pass saved; the caller's, whatever computed them
  kForward,            // outputs of the op's own forward, by the same implementation
  kReserve,            // reserve_space, which only that implementation can read; it says how long it is
  kUpstream,           // the gradient of h at each step, or of output, that enters the op
  kUpstreamState,      // that of the last h alone
  kUpstreamCellState,  // that of cs, at each step or after the last
};
constexpr bool is_made_by_forward(Role role) { return role == Role::kForward || role == Role::kReserve; }
constexpr bool is_upstream(Role role) { return role >= Role::kUpstream; }
constexpr bool is_weight(Role role) { return role == Role::kWeight || role == Role::kPeephole; }

struct TensorSpec {
  std::string_view name;
  Role role;
  std::string_view shape_text;  // "I + H, 4 * H"
  std::string_view alias;       // outputs: the input whose memory it may share, or ""
  bool is_int64 = false;
  Shape (*shape)(const Extents&) = nullptr;
  bool (*has_shape)(const Extents&, std::span<const std::int64_t>) = nullptr;  // shape() == it, without allocating
  bool (*present)(const Extents&) = nullptr;
  std::int64_t (*rows)(const Extents&) = nullptr;  // inputs: rows read; outputs: rows live. May be negative or kAll
  std::vector<std::string_view> dimensions = {};   // those of shape_text: "I + H", "4 * H"

  // Whether its last dimension has one block of H per gate, in the order of OpTraits::gates.
  bool has_gate_blocks() const { return !dimensions.empty() && dimensions.back() == "4 * H"; }
};

// Properties of an op. Code that serves every op asks for the property that it depends on, never which op it is.
struct OpTraits {
  std::string_view brief{};      // "cell": where a table has a column per op
  std::string_view gates{};      // order of the gate blocks, "icfo"; "" if it depends on rnn_mode
  bool has_steps = true;         // it runs over T steps; otherwise over one, and has no T
  std::int64_t least_steps = 0;  // the least T
  bool has_seq_len_max = false;  // it stops after S of its T steps
  bool has_peepholes = false;    // diagonal weights of the states, which count if use_peephole is 1
  bool takes_saved = false;  // an LSTM's gates and states come from the caller, who may have computed them in any way
  bool has_modes = false;    // rnn_mode chooses relu, tanh, LSTM or GRU
  bool has_layers = false;   // L layers in D directions, the first of which may skip its matrix
  bool flat_params = false;  // all weights and biases are in one tensor, params (rnn_params.h)
  bool draws_masks = false;  // dropout between the layers, with masks from seeds
  std::optional<backgauge_op> one_step{};  // of a sequence op: the op for one of its steps, with its own order of gates
  std::optional<backgauge_op> forward{};   // of a gradient: the op whose outputs it takes, from the same implementation
  std::optional<backgauge_op> gradient{};  // of a forward op: the op that takes its outputs
};

// Named, because nvcc writes the type of a pointer to a member with parentheses, of which the compiler warns.
using Fact = bool OpTraits::*;

// A size that calls have.
struct SizeSpec {
  using Extent = std::int64_t Extents::*;

  char letter;           // in the columns of ops.inc
  std::string_view key;  // in case lines
  Extent extent;
  Fact fact = nullptr;  // true of the ops that have it; nullptr: every op has it

  bool is_dim() const { return key.size() == 1; }
};

// All sizes, in the order of case lines.
const std::vector<SizeSpec>& size_specs();

using WordOf = std::string_view (*)(std::int32_t);

// An attribute of ops. Its value is one of several enumerators (`choice`), or a number between two limits.
struct AttributeSpec {
  using Choice = std::int32_t backgauge_attributes::*;
  using Real = float backgauge_attributes::*;
  using Integer = std::int64_t backgauge_attributes::*;

  std::string_view name;    // in backgauge_attributes, and TensorFlow's
  std::string_view key;     // in case lines; "" if the seed of the case decides it
  Fact fact;                // true of the ops that have it
  Choice choice = nullptr;  // one of these three is not null
  Real real = nullptr;
  Integer integer = nullptr;
  // Of a choice: its claims, the words of its values, the value that is meant where none is given, and the legal
  // values, the simplest first. A flag's words are 0 and 1.
  std::string_view set{};
  WordOf word = nullptr, tensorflow_word = nullptr;
  std::int32_t usual = 0;
  std::vector<std::int32_t> values{};
  // Of a number.
  double least = 0, greatest = 0;

  bool is_flag() const { return choice != nullptr && tensorflow_word == nullptr; }
  bool allows(const backgauge_attributes& attributes) const;
  std::string expected() const;  // "0 or 1", "1 (uni) or 2 (bi)", "a number from 0 to 1"
  std::string given(const backgauge_attributes& attributes) const;  // its value as a number
};

// All attributes, in the order of case lines.
const std::vector<AttributeSpec>& attribute_specs();

struct OpSpec {
  backgauge_op op;
  std::string_view word;        // "block_lstm_grad_v2": files, case lines, records
  std::string_view tensorflow;  // "BlockLSTMGradV2"
  std::uint32_t dtypes;         // set of BACKGAUGE_BIT(backgauge_dtype)
  OpTraits traits;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;

  // The attributes and the sizes that it has, in the order of case lines.
  const auto& attributes() const { return attributes_; }
  const auto& sizes() const { return sizes_; }
  // Whether an input or an output has a role.
  bool has(Role role) const;
  // Its first input or output with a role. Throws std::logic_error if it has none.
  const TensorSpec& input(Role role) const;
  const TensorSpec& output(Role role) const;

  std::vector<std::reference_wrapper<const AttributeSpec>> attributes_{};
  std::vector<std::reference_wrapper<const SizeSpec>> sizes_{};
};

// All ops, the gradients first.
const std::vector<OpSpec>& op_specs();

// The table of an op, or nullptr for a number that is not an op.
const OpSpec* find_op(std::int32_t op);
const OpSpec* find_op(std::string_view word);

// The table of an op. Throws std::logic_error if there is no such op.
const OpSpec& spec_of(backgauge_op op);
inline const OpTraits& traits_of(backgauge_op op) { return spec_of(op).traits; }

// The op of a default-constructed case or call.
inline constexpr backgauge_op kFirstOp = BACKGAUGE_LSTM_BLOCK_CELL_GRAD;

// The ops under test, in the order of the enumerators.
const std::vector<backgauge_op>& gradient_ops();

// Elements in a shape; nullopt if a dimension is negative, or if the count times 8 bytes overflows 63 bits. A dimension
// of 0 counts as 1 for that check, because strides must not overflow either.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

// Sets what legal attributes say about the extents of a call: peephole, lstm, skips_input and D.
void apply_attributes(const OpSpec& op, const backgauge_attributes& attributes, Extents& extents);

// Elements of params; 0 if the op has tensors of its own for weights and biases. nullopt if there are more than 2^60,
// or no layer.
std::optional<std::int64_t> params_length(const OpSpec& op, const backgauge_attributes& attributes,
                                          const Extents& extents);

// The dropout masks of one gap between two layers: 1 where an element of the lower layer's output is kept, 0 where it
// is dropped.
Shape mask_shape(const Extents& extents);
std::int64_t mask_elements(const Extents& extents);

// Whether a call may have so many masks: one for each gap, or one for each gap and direction.
bool is_mask_count(std::size_t masks, const Extents& extents);

// Elements of the leading `rows` rows (clamped to the tensor).
std::int64_t elements_in_rows(const Shape& shape, std::int64_t rows);

// "[3, 20]"
std::string to_string(const Shape& shape);

// A name that a caller gave, fit for a line of limited length; it may be NULL.
std::string shown_name(const char* name);

// "8", "0.25": a number, without a fraction if it has none.
std::string number_text(double number);

// Words of enumerators, as in case lines, records and listings; "?" for unknown ones.
std::string_view flag_word(std::int32_t flag);            // 0 1
std::string_view dtype_word(std::int32_t dtype);          // f16 f32 f64 i64 bf16
std::string_view rnn_mode_word(std::int32_t mode);        // relu tanh lstm gru
std::string_view input_mode_word(std::int32_t mode);      // linear skip auto
std::string_view direction_word(std::int32_t direction);  // uni bi
std::string_view accuracy_class_word(std::int32_t cls);   // A A' S B
std::string_view numerical_contract_word(std::int32_t contract);
std::string_view determinism_word(std::int32_t determinism);
std::string_view call_status_word(std::int32_t status);

// The same enumerators as values of TensorFlow's attributes: "rnn_tanh", "linear_input", "bidirectional".
std::string_view rnn_mode_attribute(std::int32_t mode);
std::string_view input_mode_attribute(std::int32_t mode);
std::string_view direction_attribute(std::int32_t direction);

// The enumerator for which `word_of` (one of the functions above) returns `word`; 0 if there is none.
std::int32_t enumerator_of(std::string_view (*word_of)(std::int32_t), std::string_view word);

// "f16, f32": the words of the enumerators whose bit (BACKGAUGE_BIT) is set; all words by default.
std::string words_in(std::string_view (*word_of)(std::int32_t), std::uint32_t set = ~0u);

}  // namespace backgauge
