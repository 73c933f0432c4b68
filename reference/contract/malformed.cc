// SPDX-License-Identifier: Apache-2.0
#include "reference/contract/malformed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace backgauge {
namespace {

using Apply = std::function<void(OwnedCall&)>;

// Identifies a tensor of a call, so that it can be found in a copy of that call.
struct Slot {
  bool output;
  std::size_t index;

  std::vector<backgauge_tensor>& list(OwnedCall& call) const { return output ? call.outputs : call.inputs; }
  backgauge_tensor& in(OwnedCall& call) const { return list(call)[index]; }
};

class Maker {
 public:
  Maker(const CallSetup& setup, std::string prefix, std::vector<MalformedCall>& made)
      : setup_(setup), spec_(*find_op(setup.op)), legal_(setup), prefix_(std::move(prefix)), made_(made) {}

  void make_all() {
    for (const Slot& slot : slots()) {
      damage_shape(slot);
      damage_description(slot);
      damage_memory(slot);
      damage_list(slot);
    }
    damage_hidden_size();
    damage_lists();
    damage_overlaps();
    damage_values();
    damage_call();
    damage_attributes();
  }

 private:
  void add(Damage damage, const std::string& what, Apply apply) {
    made_.push_back({prefix_ + what, damage, setup_, std::move(apply)});
  }

  std::vector<Slot> slots() {
    std::vector<Slot> result;
    for (std::size_t k = 0; k < legal_.inputs.size(); ++k) result.push_back({false, k});
    for (std::size_t k = 0; k < legal_.outputs.size(); ++k) result.push_back({true, k});
    return result;
  }

  std::string name(const Slot& slot) { return slot.in(legal_).name; }

  void damage_shape(const Slot& slot) {
    const backgauge_tensor& tensor = slot.in(legal_);
    for (std::int32_t k = 0; k < tensor.rank; ++k) {
      const std::int64_t size = tensor.shape[k];
      const std::set<std::int64_t> sizes = {
          0, -1, size - 1, size + 1, 2 * size, std::int64_t{1} << 31, std::int64_t{1} << 62, INT64_MAX, INT64_MIN};
      for (const std::int64_t damaged : sizes) {
        if (damaged == size) continue;
        add(Damage::kShape, name(slot) + ": dimension " + std::to_string(k) + " = " + std::to_string(damaged),
            [=](OwnedCall& call) { slot.in(call).shape[k] = damaged; });
      }
    }
    const std::int32_t ranks[] = {tensor.rank - 1, tensor.rank + 1, BACKGAUGE_MAX_RANK + 1, INT32_MAX, INT32_MIN};
    for (const std::int32_t rank : ranks) {
      add(Damage::kShape, name(slot) + ": rank " + std::to_string(rank), [=](OwnedCall& call) {
        backgauge_tensor& damaged = slot.in(call);
        for (std::int32_t k = damaged.rank; k < std::min<std::int32_t>(rank, BACKGAUGE_MAX_RANK); ++k) {
          damaged.shape[k] = 1;  // the same elements with another rank
        }
        damaged.rank = rank;
      });
    }
    if (tensor.rank > 1) {
      add(Damage::kShape, name(slot) + ": more elements than 2^63",
          [=](OwnedCall& call) { std::fill_n(slot.in(call).shape, slot.in(call).rank, std::int64_t{1} << 40); });
    }
  }

  // Consistent shapes with H = 0.
  void damage_hidden_size() {
    add(Damage::kShape, "every tensor: H = 0", [extents = setup_.extents, &spec = spec_](OwnedCall& call) mutable {
      extents.H = 0;
      extents.params_length = 0;
      extents.reserve_length = 0;
      const auto shrink = [&](const std::vector<TensorSpec>& specs, std::vector<backgauge_tensor>& tensors) {
        for (backgauge_tensor& tensor : tensors) {
          const auto row = std::ranges::find(specs, std::string_view(tensor.name), &TensorSpec::name);
          std::ranges::copy(row->shape(extents), tensor.shape);
        }
      };
      shrink(spec.inputs, call.inputs);
      shrink(spec.outputs, call.outputs);
    });
  }

  void damage_description(const Slot& slot) {
    for (const std::int32_t dtype : {-1, 0, 1, 2, 3, 4, 5}) {
      if (dtype == slot.in(legal_).dtype) continue;
      add(Damage::kDescription, name(slot) + ": dtype " + std::to_string(dtype),
          [=](OwnedCall& call) { slot.in(call).dtype = dtype; });
    }
    for (const std::int32_t space : {-1, 0, 2, 3}) {
      add(Damage::kDescription, name(slot) + ": memory_space " + std::to_string(space),
          [=](OwnedCall& call) { slot.in(call).memory_space = space; });
    }
    add(Damage::kDescription, name(slot) + ": reserved 1", [=](OwnedCall& call) { slot.in(call).reserved = 1; });
  }

  void damage_memory(const Slot& slot) {
    add(Damage::kMemory, name(slot) + ": data NULL", [=](OwnedCall& call) { slot.in(call).data = nullptr; });
    for (std::size_t offset = 1; offset < backgauge_dtype_bytes(slot.in(legal_).dtype); offset *= 2) {
      add(Damage::kMemory, name(slot) + ": data misaligned by " + std::to_string(offset),
          [=](OwnedCall& call) { slot.in(call).data = static_cast<char*>(slot.in(call).data) + offset; });
    }
  }

  void damage_list(const Slot& slot) {
    add(Damage::kList, name(slot) + ": left out", [=](OwnedCall& call) {
      std::vector<backgauge_tensor>& list = slot.list(call);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(slot.index));
      call.link();
    });
    add(Damage::kList, name(slot) + ": twice", [=](OwnedCall& call) {
      std::vector<backgauge_tensor>& list = slot.list(call);
      list.push_back(list[slot.index]);
      call.link();
    });
    for (const char* wrong : {static_cast<const char*>(nullptr), "", "unknown"}) {
      add(Damage::kList, name(slot) + ": named " + (wrong == nullptr ? "NULL" : "\"" + std::string(wrong) + "\""),
          [=](OwnedCall& call) { slot.in(call).name = wrong; });
    }
    if (slot.index > 0) {
      add(Damage::kList, name(slot) + ": before its predecessor",
          [=](OwnedCall& call) { std::swap(slot.in(call), slot.list(call)[slot.index - 1]); });
      add(Damage::kList, name(slot) + ": under its predecessor's name",
          [=](OwnedCall& call) { slot.in(call).name = slot.list(call)[slot.index - 1].name; });
    }
  }

  void damage_lists() {
    for (const std::int32_t count : {-1, 0, INT32_MIN}) {
      add(Damage::kList, "num_inputs " + std::to_string(count), [=](OwnedCall& call) { call.call.num_inputs = count; });
      add(Damage::kList, "num_outputs " + std::to_string(count),
          [=](OwnedCall& call) { call.call.num_outputs = count; });
    }
    add(Damage::kList, "inputs NULL", [](OwnedCall& call) { call.call.inputs = nullptr; });
    add(Damage::kList, "outputs NULL", [](OwnedCall& call) { call.call.outputs = nullptr; });
  }

  // Every output overlapping every other tensor, except the pairs that may share memory: those overlap by half.
  void damage_overlaps() {
    for (const Slot& output : slots()) {
      if (!output.output) continue;
      for (const Slot& other : slots()) {
        if (other.output && other.index <= output.index) continue;
        const auto spec = std::ranges::find(spec_.outputs, name(output), &TensorSpec::name);
        const bool may_share = !other.output && spec->alias == name(other);
        const std::size_t offset = may_share ? backgauge_dtype_bytes(setup_.dtype) : 0;
        if (other.in(legal_).dtype == BACKGAUGE_INT64) continue;  // too small for an output
        add(Damage::kMemory, name(output) + ": " + std::to_string(offset) + " bytes into " + name(other),
            [=](OwnedCall& call) { output.in(call).data = static_cast<char*>(other.in(call).data) + offset; });
      }
      add(Damage::kMemory, name(output) + ": in the workspace", [=](OwnedCall& call) {
        call.call.workspace = output.in(call).data;
        call.call.workspace_bytes = std::max<std::uint64_t>(call.plan.workspace_bytes, 1);
      });
    }
    add(Damage::kMemory, "workspace NULL", [](OwnedCall& call) {
      call.call.workspace = nullptr;
      call.call.workspace_bytes = std::max<std::uint64_t>(call.plan.workspace_bytes, 1);
    });
  }

  void damage_values() {
    if (!spec_of(setup_.op).traits.has_seq_len_max) return;
    for (const std::int64_t value :
         {std::int64_t{-1}, setup_.extents.T + 1, std::int64_t{1} << 31, std::int64_t{1} << 62, INT64_MIN, INT64_MAX}) {
      add(Damage::kValue, "seq_len_max = " + std::to_string(value),
          [=](OwnedCall& call) { call.seq_len_max() = value; });
    }
  }

  template <class Field>
  void set(const std::string& field, Field backgauge_call::*member, std::vector<Field> values) {
    for (const Field value : values) {
      add(Damage::kCall, field + " = " + std::to_string(value), [=](OwnedCall& call) { call.call.*member = value; });
    }
  }

  template <class Field>
  void set(const std::string& field, Field backgauge_attributes::*member, std::vector<Field> values) {
    for (const Field value : values) {
      add(Damage::kCall, field + " = " + std::to_string(value),
          [=](OwnedCall& call) { call.call.attributes.*member = value; });
    }
  }

  void damage_call() {
    set<std::uint32_t>("struct_size", &backgauge_call::struct_size, {0, sizeof(backgauge_call) - 1});
    std::vector<std::int32_t> ops = {-1, 0, 5, INT32_MAX, INT32_MIN};
    for (const OpSpec& other : op_specs()) {
      if (other.op != setup_.op) ops.push_back(other.op);
    }
    set("op", &backgauge_call::op, ops);
    std::vector<std::int32_t> dtypes = {-1, 0, 1, 2, 3, 4, 5, 32, INT32_MIN};
    std::erase(dtypes, setup_.dtype);
    set("dtype", &backgauge_call::dtype, dtypes);
    set("memory_space", &backgauge_call::memory_space, {-1, 0, 2, 3});
    set("num_threads", &backgauge_call::num_threads, {0, -1, INT32_MIN});
    set("reserved", &backgauge_call::reserved, {1, -1});
    set("attributes.reserved", &backgauge_attributes::reserved, {1, -1});
    add(Damage::kCall, "stream given", [](OwnedCall& call) { call.call.stream = &call; });
  }

  void damage_attributes() {
    if (!spec_.traits.is_stacked) {
      set("use_peephole", &backgauge_attributes::use_peephole, {-1, 2, INT32_MAX, INT32_MIN});
      return;
    }
    const backgauge_attributes& legal = setup_.attributes;
    std::vector<std::int32_t> modes = {-1, 0, 5, INT32_MAX};
    for (const std::int32_t mode : {BACKGAUGE_RNN_RELU, BACKGAUGE_LSTM, BACKGAUGE_GRU}) {
      const bool same_tensors = mode == BACKGAUGE_RNN_RELU && legal.rnn_mode == BACKGAUGE_RNN_TANH;
      if (mode != legal.rnn_mode && !same_tensors) modes.push_back(mode);
    }
    set("rnn_mode", &backgauge_attributes::rnn_mode, modes);
    std::vector<std::int32_t> input_modes = {-1, 0, 4, INT32_MAX};
    const bool skip = legal.input_mode == BACKGAUGE_SKIP_INPUT;
    input_modes.push_back(skip ? BACKGAUGE_LINEAR_INPUT : BACKGAUGE_SKIP_INPUT);
    set("input_mode", &backgauge_attributes::input_mode, input_modes);
    std::vector<std::int32_t> directions = {-1, 0, 3, INT32_MAX};
    directions.push_back(legal.direction == BACKGAUGE_UNIDIRECTIONAL ? BACKGAUGE_BIDIRECTIONAL
                                                                     : BACKGAUGE_UNIDIRECTIONAL);
    set("direction", &backgauge_attributes::direction, directions);
    const std::vector<std::int64_t> seeds = {std::int64_t{INT32_MAX} + 1, std::int64_t{INT32_MIN} - 1, INT64_MAX,
                                             INT64_MIN};
    set("seed", &backgauge_attributes::seed, seeds);
    set("seed2", &backgauge_attributes::seed2, seeds);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    set("dropout", &backgauge_attributes::dropout,
        {-0.25f, 1.25f, std::nextafter(1.0f, 2.0f), -kInfinity, kInfinity, std::nanf("")});
  }

  const CallSetup& setup_;
  const OpSpec& spec_;
  OwnedCall legal_;
  const std::string prefix_;
  std::vector<MalformedCall>& made_;
};

std::string prefix_of(const CallSetup& setup) {
  const OpSpec& spec = *find_op(setup.op);
  const backgauge_attributes& a = setup.attributes;
  std::string text = std::string(spec.word) + " " + std::string(dtype_word(setup.dtype));
  if (!spec.traits.is_stacked) return text + " peephole=" + std::to_string(a.use_peephole) + ": ";
  for (const std::string_view word :
       {rnn_mode_word(a.rnn_mode), direction_word(a.direction), input_mode_word(a.input_mode)}) {
    text += " " + std::string(word);
  }
  return text + " layers=" + std::to_string(setup.extents.L) + ": ";
}

}  // namespace

std::unique_ptr<OwnedCall> MalformedCall::make(const PrepareFunction& prepare, const InputMemory& input_memory) const {
  auto call = std::make_unique<OwnedCall>(setup, prepare, input_memory);
  apply(*call);
  return call;
}

std::vector<CallSetup> base_setups(backgauge_op op, backgauge_dtype dtype) {
  std::vector<CallSetup> setups;
  if (!traits_of(op).is_stacked) {
    for (const std::int32_t use_peephole : {0, 1}) {
      CallSetup setup{op, dtype, {}, {.T = 4, .B = 3, .I = 5, .H = 2, .S = 3}};
      setup.attributes.use_peephole = use_peephole;
      setup.extents.peephole = use_peephole == 1;
      setups.push_back(setup);
    }
    return setups;
  }
  struct Variant {
    std::int32_t rnn_mode, input_mode, direction;
    std::int64_t I, L;
  };
  constexpr Variant kVariants[] = {
      {BACKGAUGE_LSTM, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_UNIDIRECTIONAL, 5, 1},
      {BACKGAUGE_LSTM, BACKGAUGE_AUTO_SELECT, BACKGAUGE_BIDIRECTIONAL, 5, 3},
      {BACKGAUGE_GRU, BACKGAUGE_SKIP_INPUT, BACKGAUGE_BIDIRECTIONAL, 2, 2},
      {BACKGAUGE_RNN_TANH, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_BIDIRECTIONAL, 5, 1},
      {BACKGAUGE_RNN_RELU, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_UNIDIRECTIONAL, 5, 2},
  };
  for (const Variant& variant : kVariants) {
    CallSetup setup{op, dtype, {}, {.T = 4, .B = 3, .I = variant.I, .H = 2, .L = variant.L}};
    setup.attributes.rnn_mode = variant.rnn_mode;
    setup.attributes.input_mode = variant.input_mode;
    setup.attributes.direction = variant.direction;
    setup.extents.D = variant.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
    setup.extents.lstm = variant.rnn_mode == BACKGAUGE_LSTM;
    setups.push_back(setup);
  }
  return setups;
}

std::vector<MalformedCall> malformed_calls(backgauge_op op, backgauge_dtype dtype) {
  std::vector<MalformedCall> made;
  for (const CallSetup& setup : base_setups(op, dtype)) Maker(setup, prefix_of(setup), made).make_all();
  return made;
}

}  // namespace backgauge
