// SPDX-License-Identifier: Apache-2.0
#include "ci/python/python_function.h"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "ci/python/on_device.h"
#include "ci/python/words.h"
#include "ci/run/plan/refuse.h"
#include "reference/contract/op_spec.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

constexpr std::string_view kOut = "out";
constexpr std::string_view kStream = "stream";  // the handle of the device's stream, as a number

}  // namespace

nb::dict attributes_of(const backgauge_call& call) {
  nb::dict out = attributes_in_words(static_cast<backgauge_op>(call.op), call.attributes);
  out["num_threads"] = call.num_threads;
  return out;
}

Function function_of(const nb::handle& given) {
  Function function;
  const std::string op = nb::cast<std::string>(given.attr("op"));
  const auto& specs = op_specs();
  const auto spec = std::ranges::find(specs, op, &OpSpec::tensorflow);
  function.name = nb::cast<std::string>(given.attr("name"));
  if (spec == specs.end()) {
    std::vector<std::string_view> known;
    for (const OpSpec& each : specs) known.push_back(each.tensorflow);
    cli::refuse("{}: op: expected one of {}, got {}", function.name, fmt::join(known, ", "), op);
  }
  function.op = spec->op;
  function.compute = nb::borrow(given.attr("compute"));
  function.compute_nothing = nb::borrow(given.attr("compute_nothing"));
  function.prepare = nb::borrow(given.attr("prepare"));
  function.prepare_nothing = nb::borrow(given.attr("prepare_nothing"));
  function.staged = nb::cast<bool>(given.attr("staged"));
  function.refuse = nb::borrow(given.attr("refuse"));
  function.refuses = nb::cast<bool>(given.attr("refuses"));
  function.reserve_space_length = nb::borrow(given.attr("reserve_space_length"));
  function.on_device = nb::borrow(given.attr("on_device"));

  backgauge_call call{};
  call.op = function.op;
  std::vector<std::string> known;
  for (const TensorSpec& tensor : spec->inputs) known.emplace_back(tensor.name);
  for (const auto& [name, value] : attributes_of(call)) known.push_back(nb::cast<std::string>(name));
  known.emplace_back(kOut);
  if (spec->traits.forward) known.emplace_back(kKeep);
  if (function.memory_space() == BACKGAUGE_CUDA) known.emplace_back(kStream);
  const nb::object parameters = given.attr("parameters");
  function.parameters = parameters.is_none() ? known : nb::cast<std::vector<std::string>>(parameters);
  for (const std::string& parameter : function.parameters) {
    if (std::ranges::find(known, parameter) != known.end()) continue;
    cli::refuse("{}: parameter {}: expected names of {}: {}", function.name, parameter, op, fmt::join(known, ", "));
  }
  if (function.refuses) {
    if (spec->traits.forward || spec->traits.gradient)
      cli::refuse("{}: refuses: expected an op without a training forward, got {}", function.name, op);
    for (const TensorSpec& tensor : spec->inputs) {
      if (function.takes(tensor.name)) continue;
      cli::refuse("{}: refuses: expected a function that takes all inputs of {}; {} is missing", function.name, op,
                  tensor.name);
    }
  }
  return function;
}

nb::object Function::array(const backgauge_tensor& tensor, Access access, void* stream) const {
  return on_device.is_none() ? memory_of(tensor, access) : array_on_device(on_device, tensor, stream);
}

nb::dict arguments_of(const Function& function, const backgauge_call& call, const nb::object& keep) {
  const nb::dict attributes = attributes_of(call);
  nb::dict arguments;
  for (const std::string& name : function.parameters) {
    const backgauge_tensor* tensor = backgauge_find(call.inputs, call.num_inputs, name.c_str());
    nb::object value = nb::none();  // for a tensor that this call has not
    if (tensor != nullptr && tensor->dtype == BACKGAUGE_INT64 && tensor->rank == 0) {
      value = nb::cast(*static_cast<const std::int64_t*>(tensor->data));
    } else if (tensor != nullptr) {
      value = function.array(*tensor, Access::kRead, call.stream);
    } else if (attributes.contains(name.c_str())) {
      value = attributes[name.c_str()];
    } else if (name == kKeep) {
      value = keep;
    } else if (name == kStream) {
      value = nb::cast(reinterpret_cast<std::uintptr_t>(call.stream));
    }
    arguments[name.c_str()] = value;
  }
  return arguments;
}

}  // namespace backgauge::python
