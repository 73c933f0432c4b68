// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

// What the machine or its libraries could not do. what() is one line.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(backgauge_status status, const std::string& text) : std::runtime_error(text), status_(status) {}

  backgauge_status status() const { return status_; }

 private:
  backgauge_status status_;
};

}  // namespace backgauge::cuda
