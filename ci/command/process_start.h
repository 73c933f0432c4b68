// SPDX-License-Identifier: Apache-2.0
// Repairs, before anything else happens, what this process may inherit from its parent: closed standard streams (their
// numbers would be reused for sockets and records), an ignored SIGCHLD (the exit status of workers would be lost), and
// small limits on the stack and on files. The process also adopts what workers leave behind.
#pragma once

namespace backgauge::cli {

// Throws CommandError(kUsage) for what cannot be repaired.
void mend_process();

// Blocks of memory that the oracle needs for outputs and gradients of weights are given back when they are freed. Not
// for a worker, where it would change how an implementation allocates.
void give_large_blocks_back();

}  // namespace backgauge::cli
