// SPDX-License-Identifier: Apache-2.0
#include "reference/contract/malformed.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <stdexcept>
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

// Numbers that are none of these: next to the least and the greatest, and far away.
std::vector<std::int32_t> outside(const std::vector<std::int32_t>& legal) {
  const auto [least, greatest] = std::ranges::minmax(legal);
  const std::set<std::int32_t> candidates = {-1, 0, least - 1, greatest + 1, INT32_MAX, INT32_MIN};
  std::vector<std::int32_t> out;
  std::ranges::copy_if(candidates, std::back_inserter(out),
                       [&](std::int32_t value) { return std::ranges::find(legal, value) == legal.end(); });
  return out;
}

// All dtypes but one, and numbers that are no dtype.
std::vector<std::int32_t> other_dtypes(std::int32_t dtype) {
  std::vector<std::int32_t> legal = {BACKGAUGE_INT64};
  legal.insert(legal.end(), kFloatDtypes.begin(), kFloatDtypes.end());
  std::vector<std::int32_t> out = outside(legal);
  std::ranges::copy_if(legal, std::back_inserter(out), [=](std::int32_t other) { return other != dtype; });
  return out;
}

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
    for (const std::int32_t dtype : other_dtypes(slot.in(legal_).dtype)) {
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
    if (!spec_.has(Role::kLength)) return;
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
    std::vector<std::int32_t> ops;
    for (const OpSpec& spec : op_specs()) ops.push_back(spec.op);
    std::vector<std::int32_t> wrong = outside(ops);
    std::ranges::copy_if(ops, std::back_inserter(wrong), [this](std::int32_t op) { return op != setup_.op; });
    set("op", &backgauge_call::op, wrong);
    std::vector<std::int32_t> dtypes = other_dtypes(setup_.dtype);
    dtypes.push_back(32);  // one more than a set has bits
    set("dtype", &backgauge_call::dtype, dtypes);
    set("memory_space", &backgauge_call::memory_space, {-1, 0, 2, 3});
    set("num_threads", &backgauge_call::num_threads, {0, -1, INT32_MIN});
    set("reserved", &backgauge_call::reserved, {1, -1});
    set("attributes.reserved", &backgauge_attributes::reserved, {1, -1});
    add(Damage::kCall, "stream given", [](OwnedCall& call) { call.call.stream = &call; });
  }

  // Values that no call may have, and legal ones with which the tensors of this call do not agree.
  void damage_attributes() {
    for (const AttributeSpec& attribute : spec_.attributes()) {
      const std::string name(attribute.name);
      if (attribute.choice != nullptr) {
        std::vector<std::int32_t> values = outside(attribute.values);
        std::ranges::copy_if(attribute.values, std::back_inserter(values),
                             [&](std::int32_t value) { return disagrees(attribute, value); });
        set(name, attribute.choice, values);
      }
      if (attribute.integer != nullptr) {
        const auto least = static_cast<std::int64_t>(attribute.least);
        const auto greatest = static_cast<std::int64_t>(attribute.greatest);
        set(name, attribute.integer, {greatest + 1, least - 1, INT64_MAX, INT64_MIN});
      }
      if (attribute.real != nullptr) {
        const auto least = static_cast<float>(attribute.least), greatest = static_cast<float>(attribute.greatest);
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        set(name, attribute.real,
            {least - 0.25f, greatest + 0.25f, std::nextafter(greatest, kInfinity), -kInfinity, kInfinity,
             std::nanf("")});
      }
    }
  }

  // Whether a call with this legal value has other tensors or other shapes.
  bool disagrees(const AttributeSpec& attribute, std::int32_t value) const {
    CallSetup changed = setup_;
    changed.attributes.*attribute.choice = value;
    apply_attributes(spec_, changed.attributes, changed.extents);
    const bool skips_wider_input =
        changed.attributes.input_mode == BACKGAUGE_SKIP_INPUT && changed.extents.I != changed.extents.H;
    return skips_wider_input || !same_tensors(DescribedCall(setup_), DescribedCall(changed));
  }

  static bool same_tensors(const DescribedCall& a, const DescribedCall& b) {
    const auto same = [](const backgauge_tensor& x, const backgauge_tensor& y) {
      return std::string_view(x.name) == y.name &&
             std::ranges::equal(std::span(x.shape, x.rank), std::span(y.shape, y.rank));
    };
    return std::ranges::equal(a.inputs, b.inputs, same) && std::ranges::equal(a.outputs, b.outputs, same);
  }

  const CallSetup& setup_;
  const OpSpec& spec_;
  OwnedCall legal_;
  const std::string prefix_;
  std::vector<MalformedCall>& made_;
};

std::string prefix_of(const CallSetup& setup) {
  const OpSpec& spec = *find_op(setup.op);
  std::string text = std::string(spec.word) + " " + std::string(dtype_word(setup.dtype));
  for (const AttributeSpec& attribute : spec.attributes()) {
    if (attribute.choice == nullptr) continue;
    // "peephole=1" of a flag use_peephole; the word of another value says what it is of.
    text.append(" ");
    if (attribute.is_flag()) text.append(attribute.name.substr(attribute.name.find('_') + 1)).append("=");
    text.append(attribute.word(setup.attributes.*attribute.choice));
  }
  if (spec.traits.has_layers) text += " layers=" + std::to_string(setup.extents.L);
  return text + ": ";
}

// The legal calls that are damaged: an op gets those whose fact is true of it.
struct BaseSetup {
  Fact fact;
  std::int32_t use_peephole, rnn_mode, input_mode, direction;
  std::int64_t I, L;
};
constexpr BaseSetup kBaseSetups[] = {
    {&OpTraits::has_peepholes, 0, 0, 0, 0, 5, 1},
    {&OpTraits::has_peepholes, 1, 0, 0, 0, 5, 1},
    {&OpTraits::has_layers, 0, BACKGAUGE_LSTM, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_UNIDIRECTIONAL, 5, 1},
    {&OpTraits::has_layers, 0, BACKGAUGE_LSTM, BACKGAUGE_AUTO_SELECT, BACKGAUGE_BIDIRECTIONAL, 5, 3},
    {&OpTraits::has_layers, 0, BACKGAUGE_GRU, BACKGAUGE_SKIP_INPUT, BACKGAUGE_BIDIRECTIONAL, 2, 2},
    {&OpTraits::has_layers, 0, BACKGAUGE_RNN_TANH, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_BIDIRECTIONAL, 5, 1},
    {&OpTraits::has_layers, 0, BACKGAUGE_RNN_RELU, BACKGAUGE_LINEAR_INPUT, BACKGAUGE_UNIDIRECTIONAL, 5, 2},
};

}  // namespace

std::unique_ptr<OwnedCall> MalformedCall::make(const PrepareFunction& prepare, const InputMemory& input_memory) const {
  auto call = std::make_unique<OwnedCall>(setup, prepare, input_memory);
  apply(*call);
  return call;
}

std::vector<CallSetup> base_setups(backgauge_op op, backgauge_dtype dtype) {
  const OpSpec& spec = spec_of(op);
  std::vector<CallSetup> setups;
  for (const BaseSetup& base : kBaseSetups) {
    if (!(spec.traits.*base.fact)) continue;
    CallSetup setup{op, dtype, {}, {.T = 4, .B = 3, .I = base.I, .H = 2, .L = base.L, .S = 3}};
    setup.attributes.use_peephole = base.use_peephole;
    setup.attributes.rnn_mode = base.rnn_mode;
    setup.attributes.input_mode = base.input_mode;
    setup.attributes.direction = base.direction;
    apply_attributes(spec, setup.attributes, setup.extents);
    setups.push_back(setup);
  }
  if (setups.empty()) throw std::logic_error(std::string(spec.tensorflow) + " has no call to damage");
  return setups;
}

std::vector<MalformedCall> malformed_calls(backgauge_op op, backgauge_dtype dtype) {
  std::vector<MalformedCall> made;
  for (const CallSetup& setup : base_setups(op, dtype)) Maker(setup, prefix_of(setup), made).make_all();
  return made;
}

}  // namespace backgauge
