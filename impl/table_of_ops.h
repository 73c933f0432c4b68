// SPDX-License-Identifier: Apache-2.0
// Makes the table of an implementation of its ops: each function is an op with the checks of table_checks.h around it.
#pragma once

#include <type_traits>

#include "impl/table_checks.h"

namespace backgauge {

// What an implementation computes. The functions get calls that are claimed and whose shapes are legal, and may throw.
template <class Workspace>
struct TableOps {
  using Memory = Workspace;  // that of impl/workspace.h

  std::vector<Claims> (*claims)();
  // Takes its memory; if that only counts, it does nothing else. Otherwise the call has been validated.
  void (*execute)(const backgauge_call& call, const Extents& extents, Workspace& memory);
  // Elements of reserve_space, or -1 if too many to count. nullptr: no op has one.
  std::int64_t (*reserve_length)(const backgauge_call& call, const Extents& extents) = nullptr;
  // Writes the mask of a gap between layers of a validated call. nullptr: masks are not reported.
  void (*copy_mask)(const backgauge_call& call, const Extents& extents, std::int32_t gap, std::uint8_t* keep) = nullptr;
  std::int32_t memory_space = BACKGAUGE_HOST;
};

// kOps: a TableOps.
template <const auto& kOps>
struct Table {
  using Memory = typename std::remove_cvref_t<decltype(kOps)>::Memory;

  static const TableChecks& checks() {
    static const TableChecks all(kOps.claims(), plan, kOps.memory_space);
    return all;
  }

  static backgauge_status plan(const backgauge_call& call, const Extents& extents, backgauge_plan& needed,
                               backgauge_message* message) {
    Memory count;
    const std::int64_t length = find_op(call.op)->has(Role::kReserve) ? kOps.reserve_length(call, extents) : 0;
    if (length >= 0) kOps.execute(call, extents, count);
    return fill_plan(count, length, needed, message);
  }

  static backgauge_status prepare(const backgauge_call* call, backgauge_plan* needed, backgauge_message* message) {
    return checks().prepare(call, needed, message);
  }

  template <bool kForward>
  static backgauge_status run(const backgauge_call* call, backgauge_message* message) {
    return checks().run(kForward, call, message, [](const backgauge_call& checked, const Extents& extents) {
      Memory memory(checked.workspace);
      kOps.execute(checked, extents, memory);
    });
  }

  static backgauge_status dropout_mask(const backgauge_call* call, std::int32_t gap, std::uint8_t* keep,
                                       backgauge_message* message) {
    return guarded(message, [&] {
      Extents extents;
      backgauge_status status = checks().before(false, call, extents, message);
      if (status == BACKGAUGE_OK) status = checks().before_mask(*call, extents, gap, keep, message);
      if (status == BACKGAUGE_OK) kOps.copy_mask(*call, extents, gap, keep);
      return status;
    });
  }

  static backgauge_implementation make(const char* name, const char* version, const char* description) {
    return {BACKGAUGE_ABI,
            sizeof(backgauge_implementation),
            name,
            version,
            description,
            kOps.memory_space,
            checks().claims().size(),
            checks().claims().data(),
            prepare,
            run<false>,
            kOps.reserve_length == nullptr ? nullptr : &run<true>,
            kOps.copy_mask == nullptr ? nullptr : dropout_mask};
  }
};

}  // namespace backgauge
