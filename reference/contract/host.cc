// SPDX-License-Identifier: Apache-2.0
// The functions that backgauge offers to implementations, in C.
#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "reference/contract/validate.h"

namespace backgauge {
namespace {

void write(backgauge_message* message, std::string_view line) {
  if (message == nullptr) return;
  const std::size_t size = std::min(line.size(), sizeof message->text - 1);
  std::memcpy(message->text, line.data(), size);
  message->text[size] = '\0';
}

backgauge_status validate_for_c(const backgauge_call* call, std::int64_t reserve_space_length,
                                backgauge_message* message) noexcept {
  if (call == nullptr) {
    write(message, "call: expected a call, got NULL");
    return BACKGAUGE_INVALID_ARGUMENT;
  }
  try {
    const Validation validation = validate(*call, reserve_space_length);
    write(message, validation.refusal);
    return validation.ok() ? BACKGAUGE_OK : BACKGAUGE_INVALID_ARGUMENT;
  } catch (const std::exception&) {  // can only be std::bad_alloc
    write(message, "call: expected memory to check it with, got none");
    return BACKGAUGE_OUT_OF_MEMORY;
  }
}

}  // namespace

const backgauge_host& host() {
  static constexpr backgauge_host kHost = {BACKGAUGE_ABI, sizeof(backgauge_host), validate_for_c};
  return kHost;
}

}  // namespace backgauge
