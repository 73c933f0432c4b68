// SPDX-License-Identifier: Apache-2.0
// Misbehaviour that ends the process, or disturbs it. Each computes the correct outputs first.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "properties/saboteurs/hostile/misbehaviour.h"

namespace backgauge::saboteurs {
namespace {

volatile int turns = 0;
int* volatile nowhere = nullptr;

// Recursion through a pointer, so that the compiler cannot turn it into a loop.
int deeper(int depth);
int (*volatile next)(int) = deeper;
int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return next(depth + 1) + frame[0];
}

backgauge_status segfaults(Call call, Message message) {
  right(call, message);
  *nowhere = 1;
  return BACKGAUGE_OK;
}

backgauge_status aborts(Call call, Message message) {
  right(call, message);
  std::abort();
}

backgauge_status overflows_the_stack(Call call, Message message) {
  right(call, message);
  return deeper(0) > 0 ? BACKGAUGE_OK : BACKGAUGE_INTERNAL;
}

backgauge_status exits(Call call, Message message) {
  right(call, message);
  std::exit(0);
}

backgauge_status loops(Call call, Message message) {
  const backgauge_status status = right(call, message);
  while (turns >= 0) {
  }
  return status;
}

// Leaves the process group by which all processes of a job are ended, as a daemon does.
backgauge_status leaves_its_group(Call call, Message message) {
  const backgauge_status status = right(call, message);
  setpgid(0, getpgid(getppid()));
  for (const int number : {SIGTERM, SIGHUP, SIGINT}) std::signal(number, SIG_IGN);
  while (turns >= 0) {
  }
  return status;
}

// Both processes continue, and each sends a reply.
backgauge_status doubles_itself(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (fork() < 0) return BACKGAUGE_INTERNAL;
  return status;
}

backgauge_status prints(Call call, Message message) {
  std::printf("gradient of %d tensors\n", static_cast<int>(call->num_inputs));
  return right(call, message);
}

backgauge_status spams(Call call, Message message) {
  const char line[] = "debug: here we are again, and again, and again, and again\n";
  for (int k = 0; k < 20000; ++k) std::fwrite(line, 1, sizeof line - 1, stderr);
  return right(call, message);
}

// The memory is never touched, so it only uses addresses. Without a limit it stops after a terabyte.
backgauge_status allocates(Call call, Message message) {
  constexpr std::size_t kPiece = std::size_t{1} << 26;
  constexpr int kMost = 1 << 14;  // a terabyte
  for (int k = 0; k < kMost; ++k) {
    if (std::malloc(kPiece) == nullptr) {
      std::strcpy(message->text, "no memory left");
      return BACKGAUGE_OUT_OF_MEMORY;
    }
  }
  return right(call, message);
}

backgauge_status leaks_a_thread(Call call, Message message) {
  std::thread([] {
    for (;;) pause();
  }).detach();
  return right(call, message);
}

backgauge_status dies_in_one_case_of_ten(Call call, Message message) {
  static std::atomic<int> calls{0};
  if (shape_key(*call) % 10 == 3 || (calls += 1) % 20 == 7) std::abort();
  return right(call, message);
}

backgauge_status dies_later(Call call, Message message) {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::abort();
  }).detach();
  return right(call, message);
}

// Replies of the process after this cannot be trusted.
backgauge_status closes_every_file(Call call, Message message) {
  for (int number = 0; number < 64; ++number) close(number);
  return right(call, message);
}

}  // namespace

std::vector<Misbehaviour> process_misbehaviours() {
  using enum Hostile::Trial;
  using enum Hostile::Verdict;
  return {
      {"segfaults", "writes through a null pointer", kWorker, kBroken, "crash: SIGSEGV in run", segfaults},
      {"aborts", "calls abort()", kWorker, kBroken, "crash: SIGABRT in run", aborts},
      {"overflows_the_stack", "recurses without end", kWorker, kBroken, "crash: SIGSEGV in run", overflows_the_stack},
      {"exits", "calls exit(0), as if the process had succeeded", kWorker, kBroken, "exit: status 0 in run", exits},
      {"loops", "never returns", kWorker, kBroken, "timeout: run has not returned", loops},
      {"leaves_its_group", "joins another process group, ignores signals and never returns", kWorker, kBroken,
       "timeout: run has not returned", leaves_its_group},
      {"doubles_itself", "forks, and lets both processes return", kWorker, kBroken,
       "memory: the process sent a reply that cannot be decoded", doubles_itself},
      {"prints", "prints a line in every call", kWorker, kBroken, "output: ", prints},
      {"spams", "prints a megabyte in every call", kWorker, kBroken, "output: ", spams},
      {"allocates", "allocates until no memory is left", kWorker, kBroken, "memory: run returned out_of_memory",
       allocates},
      {"leaks_a_thread", "leaks a thread in every call", kWorker, kBroken, "threads: ", leaks_a_thread},
      {"dies_in_one_case_of_ten", "calls abort() in one call of ten", kWorker, kBroken, "crash: SIGABRT in run",
       dies_in_one_case_of_ten},
      {"dies_later", "starts a thread that calls abort() after the call has returned", kWorker, kBroken,
       "crash: SIGABRT", dies_later},
      {"closes_every_file", "closes all files of the process", kWorker, kBroken, "", closes_every_file},
  };
}

}  // namespace backgauge::saboteurs
