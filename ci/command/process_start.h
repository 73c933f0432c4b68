// SPDX-License-Identifier: Apache-2.0
// What the one who started this process may have left it with, mended before anything else happens: standard streams
// that are closed (their numbers would be given to sockets and records), SIGCHLD ignored (nobody would know how a
// worker ended), small limits on the stack and on files.
#pragma once

namespace backgauge::cli {

// Throws CommandError(kUsage) for what cannot be mended.
void mend_process();

}  // namespace backgauge::cli
