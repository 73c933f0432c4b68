// SPDX-License-Identifier: Apache-2.0
// Finds out whether an instruction that faulted was reading or writing memory.
#pragma once

namespace backgauge {

enum class Access { kRead, kWrite, kTouch };  // kTouch: it is unknown which of both
const char* verb_of(Access access);           // "read", "wrote" or "touched"

// context: the third argument of a signal handler, which may call this.
Access access_of(const void* context);

}  // namespace backgauge
