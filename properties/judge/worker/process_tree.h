// SPDX-License-Identifier: Apache-2.0
// Ends all processes that a worker has started, whatever their process group, session or parent: processes inherit
// their environment, and that of a worker contains a mark. A process that has removed the mark is found through its
// parents. Where those have ended, the worker is its parent instead, as a "subreaper"; after the end of the worker, a
// process that adopts orphans is.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

namespace backgauge {

// A process that `start` makes (it returns the number), and that this process waits for: not an orphan.
pid_t with_own_child(const std::function<pid_t()>& start);
void forget_own_child(pid_t process);

// From now on this process becomes the parent of orphans that its children leave behind, so that end_marked() finds
// them. For a process that makes all of its children as above: others that begin later count as orphans.
void adopt_orphans();

// A new entry for the environment of a worker, "BACKGAUGE_WORKER=<process>.<number>.<ticks since boot>". Every call
// returns another one.
std::string new_worker_mark();

// The mark of this process; "" if no worker has started it.
std::string own_worker_mark();

// Ends all processes that have the mark or descend from one that has it, except this one; and adopted orphans that are
// not older than the mark. Returns when they are dead, or after two seconds. Does nothing without /proc.
void end_marked(const std::string& mark);

// Ends all processes that this process has started, and those that they have started, adopted orphans included. Returns
// when they are dead, or after `patience`.
void end_descendants(std::chrono::milliseconds patience);

}  // namespace backgauge
