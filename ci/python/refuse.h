// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace backgauge::python {

// Throws std::invalid_argument with the joined texts: what the user wrote is wrong.
template <class... Text>
[[noreturn]] void refuse(const Text&... text) {
  throw std::invalid_argument((std::string() + ... + std::string(text)));
}

}  // namespace backgauge::python
