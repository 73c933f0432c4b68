// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "ci/proof/proof.h"

namespace backgauge::cli {

// One correct implementation in the JSON of `backgauge self`.
nlohmann::ordered_json correct_result_json(const CorrectResult& result);

}  // namespace backgauge::cli
