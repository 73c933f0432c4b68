// SPDX-License-Identifier: Apache-2.0
// Calls into Python, which may raise.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "impl/call_error.h"

namespace backgauge::python {

// "ValueError: negative dimensions (kernel.py, line 12)": one line, with the innermost line of Python. The caller holds
// the GIL.
std::string text_of(const nanobind::python_error& error);

// Runs `body` with the GIL. What it raises becomes a CallError: BACKGAUGE_OUT_OF_MEMORY for a MemoryError, else
// BACKGAUGE_INTERNAL.
template <class Body>
void in_python(Body body) {
  std::optional<CallError> raised;
  {
    const nanobind::gil_scoped_acquire gil;
    try {
      body();
    } catch (const nanobind::python_error& error) {
      const bool no_memory = error.matches(PyExc_MemoryError);
      raised.emplace(no_memory ? BACKGAUGE_OUT_OF_MEMORY : BACKGAUGE_INTERNAL, text_of(error));
    }
  }
  if (raised) throw *raised;
}

}  // namespace backgauge::python
