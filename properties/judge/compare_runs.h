// SPDX-License-Identifier: Apache-2.0
// The verdict on the calls of one case: their outputs against the expected ones, and against each other.
#pragma once

#include <cstdint>

#include "properties/judge/case_runs.h"
#include "properties/judge/compare/expected_outputs.h"

namespace backgauge {

// On input the runs of a session that leave something to compare (CaseRuns::verdict is not set) and whose dropout masks
// are available.
Verdict compare_runs(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected);

// The same of a case whose dropout masks are not available: by the checks that need no mask, and by the adjoint
// identity (README.md). Calls the forward again, with these and with other inputs. `seed`: of directions and of masks
// that are drawn here.
Verdict compare_runs_without_masks(CaseSession& session, const CaseRuns& runs, ExpectedOutputs& expected,
                                   std::uint64_t seed);

}  // namespace backgauge
