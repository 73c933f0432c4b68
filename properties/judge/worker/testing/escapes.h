// SPDX-License-Identifier: Apache-2.0
// Attempts to do more than compute, for the tests of confined workers.
#pragma once

#include <map>
#include <string>

namespace backgauge::testing {

// What a process that starts a worker has and may not hand on: a variable, and a descriptor of this number.
inline constexpr const char* kSecretVariable = "BACKGAUGE_TEST_TOKEN";
inline constexpr int kOpenDescriptor = 200;

// By the name of the attempt: a function that returns true if it has succeeded.
const std::map<std::string, bool (*)()>& escapes();

}  // namespace backgauge::testing
