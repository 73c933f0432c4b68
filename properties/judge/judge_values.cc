// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/judge_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "properties/judge/compare.h"
#include "properties/judge/findings.h"

namespace backgauge {

Verdict judge_values(const std::vector<Wanted>& wanted, const std::vector<GivenTensor>& given, backgauge_dtype dtype,
                     const Declared& declared) {
  std::vector<TensorReport> reports;
  for (const Wanted& tensor : wanted) {
    if (const std::string fault = faulty_bound(tensor); !fault.empty()) return broken(fault);
    const auto found = std::ranges::find(given, tensor.name, &GivenTensor::name);
    if (found == given.end()) return failed(tensor.name + " is missing");
    if (found->dtype != dtype) {
      return failed(
          fmt::format("{}: expected dtype {}, got {}", tensor.name, dtype_word(dtype), dtype_word(found->dtype)));
    }
    if (found->shape != tensor.shape || found->values.size() != tensor.value.size()) {
      return failed(fmt::format("{}: expected shape {}, got {} with {} values", tensor.name, to_string(tensor.shape),
                                to_string(found->shape), found->values.size()));
    }
    reports.push_back(compare(tensor, found->values, {}, dtype, declared));
  }
  return conclude(std::move(reports));
}

}  // namespace backgauge
