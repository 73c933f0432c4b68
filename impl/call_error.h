// SPDX-License-Identifier: Apache-2.0
// Exceptions that end a call: an error of a library or a device, or a limit.
#pragma once

#include <stdexcept>
#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge {

// what() is one line. guarded() of table_checks.h answers with both.
class CallError : public std::runtime_error {
 public:
  CallError(backgauge_status status, const std::string& text) : std::runtime_error(text), status_(status) {}

  backgauge_status status() const { return status_; }

 private:
  backgauge_status status_;
};

}  // namespace backgauge
