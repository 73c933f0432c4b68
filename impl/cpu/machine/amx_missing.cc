// SPDX-License-Identifier: Apache-2.0
#include "impl/cpu/machine/amx_missing.h"

#if defined(BACKGAUGE_WITH_AMX)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace backgauge::cpu {

#if defined(BACKGAUGE_WITH_AMX)
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};
Registers ask(unsigned leaf, unsigned part) {
  Registers r;
  if (__get_cpuid_count(leaf, part, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

// Tiles (24) and their bfloat16 products (22).
bool has_instructions() {
  constexpr unsigned kBoth = 1u << 24 | 1u << 22;
  return (ask(7, 0).edx & kBoth) == kBoth;
}

// Palette 1: eight tiles of sixteen rows of 64 bytes.
bool has_palette() {
  const Registers palette = ask(0x1d, 1);
  return palette.ebx >> 16 >= 8 && (palette.ebx & 0xffff) == 64 && (palette.ecx & 0xffff) >= 16;
}

// Whether the system saves configuration (17) and data (18) of tiles when it switches threads.
bool system_saves_tiles() {
  if ((ask(1, 0).ecx & bit_OSXSAVE) == 0) return false;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3;
}

bool system_lends_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

std::string_view amx_missing() {
  static const std::string_view missing = !has_instructions()     ? "the processor has no AMX for bfloat16"
                                          : !has_palette()        ? "the processor does not have the tiles of palette 1"
                                          : !system_saves_tiles() ? "the system does not save tiles"
                                          : !system_lends_tiles() ? "the system refuses tiles (ARCH_REQ_XCOMP_PERM)"
                                                                  : "";
  return missing;
}
#else
std::string_view amx_missing() { return "built without AMX: not x86-64 Linux, or the assembler does not support it"; }
#endif

}  // namespace backgauge::cpu
