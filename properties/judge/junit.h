// SPDX-License-Identifier: Apache-2.0
// Records as JUnit XML: one testsuite per op, one testcase per case with its time, and a property with its repro line.
//   FAILED -> failure, BROKEN -> error, SKIPPED and MISTRUSTED -> skipped with the reason; texts as in report.h
#pragma once

#include <span>
#include <string>

#include "properties/judge/record.h"

namespace backgauge {

std::string junit(std::span<const Record> records);

}  // namespace backgauge
