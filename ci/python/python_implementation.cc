// SPDX-License-Identifier: Apache-2.0
#include "ci/python/python_implementation.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string_view>

#include "ci/python/host_call.h"
#include "ci/python/malformed_arguments.h"
#include "ci/python/python_error.h"
#include "ci/python/python_function.h"
#include "ci/python/words.h"
#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/refuse.h"
#include "impl/cpu/table/cpu.h"
#include "impl/table_checks.h"
#include "reference/contract/op_spec.h"
#include "reference/contract/validate.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

nb::dict sizes_of(const Extents& e) {
  nb::dict out;
  out["T"] = e.T, out["B"] = e.B, out["I"] = e.I, out["H"] = e.H, out["L"] = e.L, out["D"] = e.D;
  return out;
}

class Implementation : public TimedParts {
 public:
  explicit Implementation(const nb::object& description);

  const backgauge_implementation& table() const { return table_; }

  // The functions of the table.
  backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) const {
    return guarded(message, [&] { return checks_.prepare(call, plan, message); });
  }
  backgauge_status compute(bool forward, const backgauge_call* call, backgauge_message* message) const {
    return call_checked(&Function::compute, forward, call, message);
  }
  backgauge_status dropout_mask(const backgauge_call* call, std::int32_t mask, std::uint8_t* keep,
                                backgauge_message* message) const {
    if (own_forward(call->op) != nullptr) return BACKGAUGE_UNSUPPORTED;
    return guarded(message, [&] { return mask_of_cpu(*call, mask, keep, message); });
  }
  std::int64_t reserve_length(const backgauge_call& call, const Extents& extents) const;

  bool is_staged(std::int32_t op) const override {
    const Function* function = find(op);
    return function != nullptr && function->staged;
  }
  backgauge_status prepare(const backgauge_call* call, backgauge_message* message) override {
    return begin(&Function::prepare, call, message);
  }
  backgauge_status run(const backgauge_call*, backgauge_message* message) override {
    return guarded(message, [&] {
      in_python([&] { timed_(); });
      return BACKGAUGE_OK;
    });
  }
  backgauge_status finish(const backgauge_call*, backgauge_message* message) override {
    return guarded(message, [&] {
      in_python([&] { prepared_.attr("finish")(); });
      return BACKGAUGE_OK;
    });
  }
  backgauge_status prepare_nothing(const backgauge_call* call, backgauge_message* message) override {
    return is_staged(call->op) ? begin(&Function::prepare_nothing, call, message) : BACKGAUGE_OK;
  }
  backgauge_status run_nothing(const backgauge_call* call, backgauge_message* message) override {
    return is_staged(call->op) ? run(call, message) : call_checked(&Function::compute_nothing, false, call, message);
  }

 private:
  using Member = nb::object Function::*;
  void add(const nb::handle& given);
  backgauge_status refuse(const backgauge_call& call, backgauge_message* message) const;
  Claims claims_of(const Function& function, const OpSpec& spec, const nb::dict& words) const;
  backgauge_plan plan_of_cpu(const backgauge_call& call) const;
  backgauge_status mask_of_cpu(const backgauge_call& call, std::int32_t mask, std::uint8_t* keep,
                               backgauge_message* message) const;

  backgauge_status forward_of_cpu(const backgauge_call& call, backgauge_message* message) const;

  // Calls `function` with a call in host memory as `cpu` takes it: with the workspace that it needs.
  template <class F>
  backgauge_status on_cpu(const backgauge_call& call, F function) const {
    const backgauge_plan plan = plan_of_cpu(call);
    const auto alignment = static_cast<std::align_val_t>(std::max(plan.workspace_alignment, 1u));
    const auto release = [&](void* memory) { operator delete(memory, alignment); };
    const std::unique_ptr<void, decltype(release)> workspace(operator new(plan.workspace_bytes, alignment), release);
    backgauge_call with_workspace = call;
    with_workspace.workspace = workspace.get();
    with_workspace.workspace_bytes = plan.workspace_bytes;
    return function(&with_workspace);
  }
  const backgauge_implementation& cpu_for(const backgauge_call& call) const {
    return checks_.claimed(call.op)->masks_per_direction[call.dtype] ? *cpu_ : *cpu_with_shared_masks_;
  }
  std::int32_t memory_space() const { return functions_.front().memory_space(); }
  nb::object keep_of(const backgauge_call& call, const Extents& extents) const;
  backgauge_status call_checked(Member member, bool forward, const backgauge_call* call,
                                backgauge_message* message) const;
  nb::object call_python(Member member, const Function& function, const backgauge_call& call,
                         const Extents& extents) const;
  backgauge_status begin(Member member, const backgauge_call* call, backgauge_message* message);

  const Function* find(std::int32_t op) const {
    const auto found = std::ranges::find(functions_, op, &Function::op);
    return found == functions_.end() ? nullptr : &*found;
  }

  // The file's training forward of an op or of its gradient.
  const Function* own_forward(std::int32_t op) const {
    const OpTraits& traits = find_op(op)->traits;
    return traits.gradient ? find(op) : traits.forward ? find(*traits.forward) : nullptr;
  }

  std::string name_, version_, description_;
  std::vector<Function> functions_;
  TableChecks checks_{{}, nullptr};
  backgauge_implementation table_{};
  // Make the training forward where the file has none: one with a mask for each direction, one with a mask for both.
  const backgauge_implementation *cpu_ = nullptr, *cpu_with_shared_masks_ = nullptr;
  nb::object prepared_, timed_;  // a call that the benchmark has prepared, and its run()
};

Implementation* the_one = nullptr;

Implementation::Implementation(const nb::object& description)
    : name_(nb::cast<std::string>(description.attr("name"))),
      version_(nb::cast<std::string>(description.attr("version"))),
      description_(nb::cast<std::string>(description.attr("description"))) {
  std::string error;
  cpu_ = cpu_implementation(error);
  if (cpu_ == nullptr) cli::refuse("{}", error);
  cpu_with_shared_masks_ = cpu_with_shared_masks(error);
  for (const nb::handle given : description.attr("functions")) add(given);
  std::vector<Claims> claims;
  std::size_t next = 0;
  for (const nb::handle given : description.attr("functions")) {
    const Function& function = functions_[next++];
    const OpSpec& spec = *find_op(function.op);
    if (!spec.traits.gradient) {
      claims.push_back(claims_of(function, spec, nb::cast<nb::dict>(given.attr("claims"))));
    } else if (find(*spec.traits.gradient) == nullptr) {
      cli::refuse("{}: no function computes the gradient of {}", function.name, spec.tensorflow);
    }
  }
  if (claims.empty()) cli::refuse("no function in it is decorated with @backgauge.implements");
  checks_ = {std::move(claims),
             [](const backgauge_call& call, const Extents& extents, backgauge_plan& plan, backgauge_message*) {
               const bool reserves = find_op(call.op)->has(Role::kReserve);
               plan.reserve_space_length = reserves ? the_one->reserve_length(call, extents) : 0;
               return BACKGAUGE_OK;
             },
             memory_space()};
  table_ = {
      .abi = BACKGAUGE_ABI,
      .struct_size = sizeof(backgauge_implementation),
      .name = name_.c_str(),
      .version = version_.c_str(),
      .description = description_.c_str(),
      .memory_space = memory_space(),
      .num_claims = checks_.claims().size(),
      .claims = checks_.claims().data(),
      .prepare = [](const backgauge_call* call, backgauge_plan* plan,
                    backgauge_message* message) { return the_one->prepare(call, plan, message); },
      .run = [](const backgauge_call* call,
                backgauge_message* message) { return the_one->compute(false, call, message); },
      .forward = [](const backgauge_call* call,
                    backgauge_message* message) { return the_one->compute(true, call, message); },
      .dropout_mask = [](const backgauge_call* call, std::int32_t mask, std::uint8_t* keep,
                         backgauge_message* message) { return the_one->dropout_mask(call, mask, keep, message); }};
}

void Implementation::add(const nb::handle& given) {
  Function function = function_of(given);
  if (const Function* other = find(function.op)) {
    cli::refuse("two functions implement {}: {} and {}", find_op(function.op)->tensorflow, other->name, function.name);
  }
  if (!functions_.empty() && function.memory_space() != memory_space()) {
    cli::refuse("{}: device: expected the device of {}, which is in the same file", function.name,
                functions_.front().name);
  }
  functions_.push_back(std::move(function));
}

// `call` must be refused, and the message already says why. If arguments in Python cannot express its fault, it is
// refused here. Otherwise the function is called: raising an exception counts as refusing, returning as accepting.
backgauge_status Implementation::refuse(const backgauge_call& call, backgauge_message* message) const {
  const Function* const function = call.struct_size < sizeof call ? nullptr : find(call.op);
  if (function == nullptr || !function->refuses) return BACKGAUGE_INVALID_ARGUMENT;
  const auto given = malformed_arguments(call);
  if (!given) return BACKGAUGE_INVALID_ARGUMENT;
  try {
    in_python([&] {
      backgauge_call seen = call;
      seen.inputs = given->inputs.data();
      seen.num_inputs = static_cast<std::int32_t>(given->inputs.size());
      function->refuse(arguments_of(*function, seen, nb::none()));
    });
    return BACKGAUGE_OK;
  } catch (const CallError& error) {
    return fail(message, BACKGAUGE_INVALID_ARGUMENT, error.what());
  }
}

Claims Implementation::claims_of(const Function& function, const OpSpec& spec, const nb::dict& words) const {
  Claims claims = claims_in_words(function.name + ": ", spec, words);
  // A gradient that is not given the masks of a forward that is not its own cannot apply them.
  if (!function.takes(kKeep) && own_forward(spec.op) == nullptr) claims.dropout = false;
  return claims;
}

std::int64_t Implementation::reserve_length(const backgauge_call& call, const Extents& extents) const {
  const Function* own = own_forward(call.op);
  if (own == nullptr) return plan_of_cpu(call).reserve_space_length;
  std::int64_t length = 0;
  in_python([&] {
    if (own->reserve_space_length.is_none()) return;
    nb::dict arguments = sizes_of(extents);
    arguments.update(attributes_of(call));
    length = nb::cast<std::int64_t>(own->reserve_space_length(**arguments));
  });
  return length;
}

backgauge_plan Implementation::plan_of_cpu(const backgauge_call& call) const {
  backgauge_plan plan{};
  plan.struct_size = sizeof plan;
  backgauge_message message{};
  const HostCall described(call, Contents::kDescribed);
  const backgauge_status status = cpu_for(call).prepare(&described.get(), &plan, &message);
  if (status != BACKGAUGE_OK) throw CallError(status, message.text);
  return plan;
}

backgauge_status Implementation::mask_of_cpu(const backgauge_call& call, std::int32_t mask, std::uint8_t* keep,
                                             backgauge_message* message) const {
  const HostCall copied(call, Contents::kCopied);
  return on_cpu(copied.get(), [&](const auto* with) { return cpu_for(call).dropout_mask(with, mask, keep, message); });
}

backgauge_status Implementation::forward_of_cpu(const backgauge_call& call, backgauge_message* message) const {
  const HostCall copied(call, Contents::kCopied);
  const backgauge_status status =
      on_cpu(copied.get(), [&](const auto* with) { return cpu_for(call).forward(with, message); });
  if (status == BACKGAUGE_OK) copied.give_outputs();
  return status;
}

nb::object Implementation::keep_of(const backgauge_call& call, const Extents& e) const {
  const float dropout = call.attributes.dropout;
  if (!(dropout > 0) || e.L < 2) return nb::none();
  const std::int64_t count = checks_.claimed(call.op)->mask_count(call.dtype, e);
  const nb::object keep = nb::module_::import_("numpy").attr("zeros")(cli::shape_of_keep(e, count), "uint8");
  if (dropout >= 1) return keep;
  const HostCall copied(call, Contents::kCopied);
  auto* const masks = nb::cast<nb::ndarray<std::uint8_t, nb::c_contig>>(keep).data();
  for (std::int64_t mask = 0; mask < count; ++mask) {
    backgauge_message message{};
    const backgauge_status status =
        mask_of_cpu(copied.get(), static_cast<std::int32_t>(mask), masks + mask * mask_elements(e), &message);
    if (status != BACKGAUGE_OK) throw CallError(status, message.text);
  }
  return keep;
}

backgauge_status Implementation::call_checked(Member member, bool forward, const backgauge_call* call,
                                              backgauge_message* message) const {
  return guarded(message, [&] {
    Extents extents;
    const backgauge_status status = checks_.before(forward, call, extents, message);
    if (status == BACKGAUGE_INVALID_ARGUMENT && call != nullptr) return refuse(*call, message);
    if (status != BACKGAUGE_OK) return status;
    const Function* function = find(call->op);
    if (function == nullptr) return forward_of_cpu(*call, message);
    in_python([&] { call_python(member, *function, *call, extents); });
    return BACKGAUGE_OK;
  });
}

// The call before is freed first: it may hold the results of a whole forward.
backgauge_status Implementation::begin(Member member, const backgauge_call* call, backgauge_message* message) {
  return guarded(message, [&] {
    Extents extents;
    const backgauge_status status = checks_.before(false, call, extents, message);
    if (status != BACKGAUGE_OK) return status;
    in_python([&] {
      timed_.reset();
      prepared_.reset();
      prepared_ = call_python(member, *find(call->op), *call, extents);
      timed_ = prepared_.attr("run");
    });
    return BACKGAUGE_OK;
  });
}

nb::object Implementation::call_python(Member member, const Function& function, const backgauge_call& call,
                                       const Extents& extents) const {
  nb::dict outputs;
  for (std::int32_t k = 0; k < call.num_outputs; ++k) {
    outputs[call.outputs[k].name] = function.array(call.outputs[k], Access::kWrite, call.stream);
  }
  const nb::object keep = function.takes(kKeep) ? keep_of(call, extents) : nb::none();
  return (function.*member)(dtype_word(call.dtype).data(), arguments_of(function, call, keep), outputs);
}

}  // namespace

const backgauge_implementation& make_table(nb::object description) {
  // As long as the process lives: nothing is freed where others may still call it.
  the_one = new Implementation(description);
  return the_one->table();
}

TimedParts& timed_parts() { return *the_one; }

}  // namespace backgauge::python
