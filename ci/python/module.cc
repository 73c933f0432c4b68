// SPDX-License-Identifier: Apache-2.0
// The native part of the Python package, `_backgauge`: an interpreter that imports it can serve as a worker.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <stdexcept>

#include "ci/python/arrays.h"
#include "ci/python/drawn_case.h"
#include "ci/python/on_device.h"
#include "ci/python/python_error.h"
#include "ci/python/python_implementation.h"
#include "ci/python/user_problem.h"
#include "ci/python/verdict.h"
#include "ci/python/words.h"
#include "ci/run/explain/own_data.h"
#include "ci/run/judge/judged_folder.h"
#include "ci/run/plan/own_problem.h"
#include "ci/run/plan/refuse.h"
#include "perf/call/session_server.h"
#include "properties/case/stored/bundle.h"
#include "properties/judge/worker/worker_main.h"
#include "properties/judge/worker/worker_process.h"

namespace nb = nanobind;

namespace backgauge::python {
namespace {

// Serves the judge or the benchmark until it is gone, then ends the process. arguments: those of a worker.
// open(name): the description of an implementation (python_implementation.h). libraries: the folders from which it may
// import if the worker is confined.
[[noreturn]] void serve(std::vector<std::string> arguments, const nb::callable& open,
                        const std::vector<std::string>& libraries) {
  if (std::optional<Confinement> confinement = take_confinement(arguments)) {
    confinement->readable.insert(confinement->readable.end(), libraries.begin(), libraries.end());
    append(*confinement, arguments);
  }
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
  if (is_session(arguments)) session_main(arguments, open_table, [] { return &timed_parts(); });
  worker_main(arguments, open_table);
}

// What both functions are asked about: an object as problem_of() takes it, with the attribute claims.
struct Question {
  explicit Question(const nb::object& given)
      : claims(claims_in_words("", cli::gradient_named(nb::cast<std::string>(given.attr("op"))),
                               nb::cast<nb::dict>(given.attr("claims")))),
        filled(problem_of(given)),
        expected(filled.facts) {}

  Declared declared() const { return backgauge::declared(claims, filled.problem.dtype); }

  Claims claims;
  Filled filled;
  ExpectedOutputs expected;
};

// [(name, values, allowed), ...] of the outputs, and which of them prove nothing, in words, or "".
nb::tuple oracle_of(const nb::object& given) {
  Question question(given);
  const Problem& problem = question.filled.problem;
  std::string warning;
  const std::vector<Wanted>& wanted = without_gil([&]() -> const auto& {
    const std::vector<Wanted>& gradient = question.expected.gradient(problem, question.declared());
    warning = cli::unproven(question.expected, problem, gradient, question.declared(), true);
    return gradient;
  });
  return nb::make_tuple(listed(wanted), warning);
}

// (word of the verdict, lines that explain it).
nb::tuple judge(const nb::object& problem, const nb::dict& outputs) {
  Question question(problem);
  return verdict_on(arrays_of(outputs), question.expected, question.filled.problem, question.claims, Inputs::kOwn);
}

// Writes the folder of `backgauge oracle --inputs`, and the outputs to outputs/ in it. Raises ValueError if that fails.
void save(const nb::object& problem, const nb::dict& outputs, const std::string& folder) {
  Question question(problem);
  const std::vector<Wanted> wanted = question.expected.all(question.filled.problem, Declared{});
  std::string error;
  if (!write_bundle(folder, cli::line_of(question.filled), question.filled, wanted, error, cli::oracle_build())) {
    cli::refuse("save: {}", error);
  }
  const std::filesystem::path place = std::filesystem::path(folder) / "outputs";
  std::error_code trouble;
  std::filesystem::remove_all(place, trouble);  // those of an earlier failure
  std::filesystem::create_directories(place, trouble);
  for (const GivenTensor& output : outputs_of(arrays_of(outputs))) {
    const NpyArray array{npy_type(output.dtype), output.shape, output.values};
    if (!write_npy(place / (output.name + ".npy"), array, error)) cli::refuse("save: {}", error);
  }
}

}  // namespace
}  // namespace backgauge::python

NB_MODULE(_backgauge, module) {
  // No objects are freed at the end of a process that _exit() ends.
  nb::set_leak_warnings(false);
  module.def("serve", &backgauge::python::serve, nb::arg("arguments"), nb::arg("open"), nb::arg("libraries"));
  module.def("oracle", &backgauge::python::oracle_of);
  module.def("judge", &backgauge::python::judge);
  module.def("save", &backgauge::python::save);
  module.def("describe", &backgauge::python::described);
  module.def("claim_words", &backgauge::python::all_in_words);
  module.def("properties", &backgauge::python::properties_in_words);
  module.def("planned_lines", &backgauge::python::planned_lines);
  backgauge::python::add_device_functions(module);
  using backgauge::python::DrawnCase;
  nb::class_<DrawnCase>(module, "DrawnCase")
      .def(nb::init<const std::string&, const nb::dict&, bool>())
      .def_prop_ro("line", &DrawnCase::line)
      .def_prop_ro("op", &DrawnCase::op)
      .def_prop_ro("dtype", &DrawnCase::dtype)
      .def_prop_ro("skip_reason", &DrawnCase::skip_reason)
      .def("inputs", &DrawnCase::inputs)
      .def("attributes", &DrawnCase::attributes)
      .def("dropout_keep", &DrawnCase::dropout_keep)
      .def("forward", &DrawnCase::forward)
      .def("oracle", &DrawnCase::oracle)
      .def("judge", &DrawnCase::judge);
}
