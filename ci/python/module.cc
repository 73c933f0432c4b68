// SPDX-License-Identifier: Apache-2.0
// The native part of the Python package, `_backgauge`: an interpreter that imports it can serve as a worker.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "ci/python/python_error.h"
#include "ci/python/python_implementation.h"
#include "ci/python/refuse.h"
#include "ci/python/user_problem.h"
#include "ci/run/diagnosis.h"
#include "perf/session_process.h"
#include "properties/judge/compare/verdict_text.h"
#include "properties/judge/worker/worker_main.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

// Serves the judge or the benchmark until it is gone, then ends the process. arguments: those of a worker.
// open(name): the description of an implementation (python_implementation.h).
[[noreturn]] void serve(const std::vector<std::string>& arguments, const nb::callable& open) {
  const auto open_table = [&](const std::string& name, std::string& error) -> const backgauge_implementation* {
    const nb::gil_scoped_acquire gil;
    try {
      return &make_table(open(name));
    } catch (const nb::python_error& raised) {
      error = name + ": " + text_of(raised);
    } catch (const std::invalid_argument& wrong) {
      error = name + ": " + wrong.what();
    }
    return nullptr;
  };
  const nb::gil_scoped_release released;
  if (is_session(arguments)) session_main(arguments, open_table);
  worker_main(arguments, open_table);
}

Declared declared_by(const std::string& half_class, const std::string& contract, bool recomputes_co) {
  const std::int32_t half = enumerator_of(accuracy_class_word, half_class);
  if (half == 0) refuse("half_class: expected A, A' or B, got ", half_class);
  const std::int32_t products = enumerator_of(numerical_contract_word, contract);
  if (products == 0) refuse("numerical_contract: unknown value ", contract);
  return {static_cast<backgauge_accuracy_class>(half), static_cast<backgauge_numerical_contract>(products),
          recomputes_co};
}

std::map<std::string, UserArray> arrays_of(const nb::object& given) {
  std::map<std::string, UserArray> out;
  for (const auto& [name, pair] : nb::cast<nb::dict>(given)) {
    out[nb::cast<std::string>(name)] = {nb::cast<std::string>(pair[0]), nb::cast<Values>(pair[1])};
  }
  return out;
}

template <class V>
nb::object array(const Shape& shape, const std::vector<V>& values) {
  auto* const copy = new std::vector<double>(values.begin(), values.end());
  const nb::capsule owner(copy, [](void* memory) noexcept { delete static_cast<std::vector<double>*>(memory); });
  const std::vector<std::size_t> dimensions(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, double>(copy->data(), dimensions.size(), dimensions.data(), owner));
}

// What both functions are asked about: an object with the attributes op, inputs, attributes, dropout_keep,
// independent_roundings, half_class, numerical_contract and recomputes_co. Arrays are pairs of a dtype's word and of
// values in float64.
struct Question {
  explicit Question(const nb::object& given)
      : declared(declared_by(nb::cast<std::string>(given.attr("half_class")),
                             nb::cast<std::string>(given.attr("numerical_contract")),
                             nb::cast<bool>(given.attr("recomputes_co")))),
        filled(problem_of({nb::cast<std::string>(given.attr("op")), arrays_of(given.attr("inputs")),
                           nb::cast<nb::dict>(given.attr("attributes")), given.attr("dropout_keep"),
                           nb::cast<bool>(given.attr("independent_roundings"))})),
        expected(filled.facts) {}

  Declared declared;
  Filled filled;
  ExpectedOutputs expected;
};

// [(name, values, allowed), ...] of the outputs.
nb::list oracle_of(const nb::object& problem) {
  Question question(problem);
  const std::vector<Wanted>* wanted = nullptr;
  {
    const nb::gil_scoped_release released;
    wanted = &question.expected.gradient(question.filled.problem, question.declared);
  }
  nb::list out;
  for (const Wanted& each : *wanted) {
    out.append(nb::make_tuple(each.name, array(each.shape, each.value), array(each.shape, each.allowed)));
  }
  return out;
}

// (word of the verdict, lines that explain it).
nb::tuple judge(const nb::object& problem, const nb::dict& outputs) {
  Question question(problem);
  const std::vector<GivenTensor> given = outputs_of(arrays_of(outputs));
  Verdict verdict;
  {
    const nb::gil_scoped_release released;
    verdict = judge_values(question.expected.gradient(question.filled.problem, question.declared), given,
                           question.filled.problem, question.declared);
    cli::diagnose(question.expected, question.filled.problem, given, question.declared, "half_class=\"{}\"", verdict);
  }
  return nb::make_tuple(std::string(verdict_word(verdict.status)), verdict_text(verdict));
}

}  // namespace
}  // namespace backgauge::python

NB_MODULE(_backgauge, module) {
  // No objects are freed at the end of a process that _exit() ends.
  nb::set_leak_warnings(false);
  module.def("serve", &backgauge::python::serve, nb::arg("arguments"), nb::arg("open"));
  module.def("oracle", &backgauge::python::oracle_of);
  module.def("judge", &backgauge::python::judge);
}
