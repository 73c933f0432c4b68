// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/memory/access.h"

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace backgauge {

const char* verb_of(Access access) {
  return access == Access::kRead ? "read" : access == Access::kWrite ? "wrote" : "touched";
}

#if defined(__x86_64__)

Access access_of(const void* context) {
  constexpr greg_t kWriteBit = 2;  // of the page fault's error code
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? Access::kWrite : Access::kRead;
}

#elif defined(__aarch64__)
namespace {

// The syndrome of the fault, ESR, as the kernel adds it to the registers; 0 if it does not, as an emulator.
std::uint64_t syndrome_of(const mcontext_t& machine) {
  constexpr std::uint32_t kSyndrome = 0x45535201;  // ESR_MAGIC
  struct Record {
    std::uint32_t magic, size;
    std::uint64_t first;
  };
  for (std::size_t at = 0; at + sizeof(Record) <= sizeof machine.__reserved;) {
    Record record;
    __builtin_memcpy(&record, machine.__reserved + at, sizeof record);
    if (record.magic == kSyndrome) return record.first;
    if (record.magic == 0 || record.size < sizeof record) break;
    at += record.size;
  }
  return 0;
}

// Loads and stores of one register, of pairs, and of structures of vectors (Arm Architecture Reference Manual, C4.1). A
// write that was taken for a read would fault forever, so anything else is kTouch: atomic operations, SVE.
Access access_of_instruction(std::uint32_t code) {
  const bool is_pair = (code & 0x3a000000) == 0x28000000, is_structure = (code & 0xbe000000) == 0x0c000000;
  if (is_pair || is_structure) return (code >> 22 & 1) != 0 ? Access::kRead : Access::kWrite;
  const bool is_one =
      (code & 0x3b000000) == 0x39000000 || (code & 0x3b200000) == 0x38000000 || (code & 0x3b200c00) == 0x38200800;
  if (!is_one) return Access::kTouch;
  const bool is_vector = (code >> 26 & 1) != 0;
  const std::uint32_t kind = code >> 22 & 3;  // 0: a store; 2: of a vector of 128 bits, or a load with sign
  return kind == 0 || (is_vector && kind == 2) ? Access::kWrite : Access::kRead;
}

}  // namespace

Access access_of(const void* context) {
  constexpr std::uint64_t kDataAbort = 0x24, kDataAbortOfKernel = 0x25, kWriteBit = 1 << 6;
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const std::uint64_t syndrome = syndrome_of(machine), kind = syndrome >> 26 & 0x3f;
  if (kind == kDataAbort || kind == kDataAbortOfKernel) {
    return (syndrome & kWriteBit) != 0 ? Access::kWrite : Access::kRead;
  }
  std::uint32_t code;
  __builtin_memcpy(&code, reinterpret_cast<const void*>(machine.pc), sizeof code);
  return access_of_instruction(code);
}

#else

Access access_of(const void*) { return Access::kTouch; }

#endif

}  // namespace backgauge
