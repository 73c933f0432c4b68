// SPDX-License-Identifier: Apache-2.0
// The part of an implementation's table around its ops: refuses calls, reports the memory that a call needs, and
// turns exceptions into statuses.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "impl/call_error.h"
#include "impl/workspace.h"
#include "reference/contract/claims.h"

namespace backgauge {

// Puts the text into the message, if there is one. Returns the status.
backgauge_status fail(backgauge_message* message, backgauge_status status, std::string_view text);

// Runs `body`, which returns a status, and turns what it throws into one.
template <class Body>
backgauge_status guarded(backgauge_message* message, Body body) noexcept {
  try {
    return body();
  } catch (const CallError& error) {
    return fail(message, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "no memory for temporaries");
  } catch (const std::exception& e) {
    return fail(message, BACKGAUGE_INTERNAL, e.what());
  }
}

// On input the memory that an op has counted, and the length of reserve_space, negative if it is too large. On output
// the plan, or BACKGAUGE_OUT_OF_MEMORY.
template <std::uint64_t kAlignment>
backgauge_status fill_plan(const Workspace<kAlignment>& count, std::int64_t reserve_length, backgauge_plan& plan,
                           backgauge_message* message) {
  if (reserve_length < 0 || !count.countable()) {
    return fail(message, BACKGAUGE_OUT_OF_MEMORY, "needs more than 2^60 bytes");
  }
  plan.workspace_alignment = kAlignment;
  plan.workspace_bytes = count.bytes();
  plan.reserve_space_length = reserve_length;
  return BACKGAUGE_OK;
}

class TableChecks {
 public:
  // Answers for a call that is claimed and whose shapes are legal; sees what prepare may see.
  using Plan = backgauge_status (*)(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                                    backgauge_message* message);

  // plan: nullptr if nothing is needed. memory_space: of the calls that it takes.
  TableChecks(std::vector<Claims> claims, Plan plan, std::int32_t memory_space = BACKGAUGE_HOST)
      : claims_(std::move(claims)), arrays_(claims_), plan_(plan), memory_space_(memory_space) {}

  // The claims as the table has them, which live as long as this object.
  const ClaimArrays& claims() const { return arrays_; }

  // Those of a gradient, or of the gradient of a forward op; nullptr if it is not claimed.
  const Claims* claimed(std::int32_t op) const;

  // The whole of `prepare`.
  backgauge_status prepare(const backgauge_call* call, backgauge_plan* plan, backgauge_message* message) const noexcept;

  // The whole of `run`, or of `forward`: execute(call, extents).
  template <class Execute>
  backgauge_status run(bool forward, const backgauge_call* call, backgauge_message* message,
                       Execute execute) const noexcept {
    return guarded(message, [&] {
      Extents extents;
      const backgauge_status status = before(forward, call, extents, message);
      if (status == BACKGAUGE_OK) execute(*call, extents);
      return status;
    });
  }

  // Before `run`, or before `forward`: BACKGAUGE_OK if the op may be executed, and then its extents.
  backgauge_status before(bool forward, const backgauge_call* call, Extents& extents, backgauge_message* message) const;

  // The check that `dropout_mask` makes in addition, of a call that may be executed: BACKGAUGE_OK if the call has a
  // mask of this number (Claims::mask_count), and `keep` is memory for it.
  backgauge_status before_mask(const backgauge_call& call, const Extents& extents, std::int32_t mask,
                               const std::uint8_t* keep, backgauge_message* message) const;

 private:
  backgauge_status answer(const backgauge_call& call, const Extents& extents, backgauge_plan& plan,
                          backgauge_message* message) const;
  backgauge_status answer(const backgauge_call& call, backgauge_plan& plan, backgauge_message* message) const;

  std::vector<Claims> claims_;
  ClaimArrays arrays_;
  Plan plan_;
  std::int32_t memory_space_;
};

}  // namespace backgauge
