// SPDX-License-Identifier: Apache-2.0
#include "ci/command/process_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ci/options/command_error.h"
#include "properties/judge/worker/process_tree.h"

namespace backgauge::cli {
namespace {

// The default of Linux, which is requested; with less than an eighth of it, even the parser may overflow.
constexpr rlim_t kStack = rlim_t{8} << 20, kLeastStack = rlim_t{1} << 20;

// In ascending order: open() takes the lowest number that is free.
void open_standard_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY);
  }
}

void hear_of_children() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, nullptr);
}

// Reaching the limit of file sizes becomes an error that names the file, instead of a signal that kills the process.
void allow_files() {
  signal(SIGXFSZ, SIG_IGN);
  rlimit files{};
  if (getrlimit(RLIMIT_FSIZE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_FSIZE, &files);
}

// The main stack grows up to the current limit; stacks of threads have the size of the limit at the start.
void allow_stacks() {
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kStack) return;
  stack.rlim_cur = std::min(kStack, stack.rlim_max);
  setrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_cur < kLeastStack) {
    throw CommandError{kUsage, fmt::format("the stack limit is {} KiB (ulimit -s), expected at least {} KiB",
                                           stack.rlim_cur >> 10, kLeastStack >> 10)};
  }
  pthread_attr_t threads;
  pthread_attr_init(&threads);
  pthread_attr_setstacksize(&threads, stack.rlim_cur);
  pthread_setattr_default_np(&threads);
  pthread_attr_destroy(&threads);
}

}  // namespace

void mend_process() {
  open_standard_streams();
  hear_of_children();
  allow_files();
  allow_stacks();
  adopt_orphans();
}

// glibc would raise its threshold to the largest block that was freed, up to 32 MiB, and then cut later blocks of other
// sizes from such blocks: 60 MB of 440 in block_lstm_grad_v2 t25b64i512h512. Matrices of one step are smaller.
//
// With a threshold of ours, glibc gives all but 128 KiB of free memory back as well, which the next case takes again,
// page by page: 14.8 s of CPU time for the smoke tier of `cpu`, 14.0 s with 32 MiB (three turns each, AMD EPYC with two
// cores).
void give_large_blocks_back() {
  constexpr int kLarge = 4 << 20, kKept = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace backgauge::cli
