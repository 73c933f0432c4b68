// SPDX-License-Identifier: Apache-2.0
// The error message of a function that the host backend refuses.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "impl/call_error.h"
#include "reference/contract/backgauge.h"

namespace backgauge::cuda {

// The message of the CallError that `body` throws; empty where it throws none.
template <class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const CallError& error) {
    EXPECT_EQ(error.status(), BACKGAUGE_INTERNAL);
    return error.what();
  }
  return "";
}

}  // namespace backgauge::cuda
