// SPDX-License-Identifier: Apache-2.0
#include "ci/python/python_error.h"

#include <nanobind/stl/string.h>

#include <filesystem>

namespace nb = nanobind;

namespace backgauge::python {

std::string text_of(const nb::python_error& error) {
  std::string text = nb::cast<std::string>(error.type().attr("__name__"));
  if (const std::string what = nb::cast<std::string>(nb::str(error.value())); !what.empty()) text += ": " + what;
  nb::object innermost = error.traceback();
  if (!innermost.is_valid() || innermost.is_none()) return text;
  for (nb::object next; !(next = innermost.attr("tb_next")).is_none();) innermost = next;
  const std::string file = nb::cast<std::string>(innermost.attr("tb_frame").attr("f_code").attr("co_filename"));
  const int line = nb::cast<int>(innermost.attr("tb_lineno"));
  return text + " (" + std::filesystem::path(file).filename().string() + ", line " + std::to_string(line) + ")";
}

}  // namespace backgauge::python
