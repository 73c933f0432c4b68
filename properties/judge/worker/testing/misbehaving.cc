// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/testing/misbehaving.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "properties/judge/testing/scripted_implementation.h"
#include "properties/judge/worker/testing/escapes.h"
#include "properties/judge/worker/worker_process.h"

namespace backgauge::testing {
namespace {

using namespace std::chrono_literals;

volatile int turns = 0;
int* volatile nowhere = reinterpret_cast<int*>(16);

// Writes through a pointer that compilers cannot analyse.
int deeper(int depth);
int (*volatile next)(int) = deeper;
int deeper(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return next(depth + 1) + frame[0];
}

void compute_for(std::chrono::nanoseconds cpu_time) {
  const auto now = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  for (const auto begin = now(); now() - begin < cpu_time;) {
  }
}

void take_all_memory() {
  while (std::malloc(std::size_t{1} << 26) != nullptr) {  // NOLINT(clang-analyzer-unix.Malloc): never given back
  }
}

// Takes memory of a kind that its own limit does not count, and waits.
void hoard() {
  constexpr std::size_t kSome = std::size_t{256} << 20;
  void* const shared = mmap(nullptr, kSome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) std::memset(shared, 1, kSome);
  std::this_thread::sleep_for(1s);
}

// The same in a file that it does not map.
void hoard_in_a_file() {
  constexpr off_t kSome = off_t{256} << 20;
  const int file = memfd_create("hoard", 0);
  if (fallocate(file, 0, 0, kSome) == 0) std::this_thread::sleep_for(1s);
}

// Tells the judge again and again that another call has begun.
void begin_again_and_again() {
  void* const shared =
      mmap(nullptr, sizeof(WorkerState), PROT_READ | PROT_WRITE, MAP_SHARED, WorkerProcess::kMemory, 0);
  if (shared == MAP_FAILED) return;
  for (;;) ++static_cast<WorkerState*>(shared)->turns;
}

// Finds the memory that is shared with the judge, and fills it.
void scribble(unsigned char value) {
  for (int number = 3; number < 16; ++number) {
    const off_t size = lseek(number, 0, SEEK_END);
    if (size <= 0) continue;
    void* shared = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, number, 0);
    if (shared != MAP_FAILED) std::memset(shared, value, static_cast<std::size_t>(size));
  }
}

// Makes the first flush of output after the call take this long.
void flush_slowly(std::chrono::milliseconds time) {
  static std::chrono::milliseconds patience;
  patience = time;
  const auto write = [](void*, const char*, std::size_t size) {
    std::this_thread::sleep_for(patience);
    return static_cast<ssize_t>(size);
  };
  static std::FILE* file = fopencookie(nullptr, "w", {nullptr, write, nullptr, nullptr});
  std::fputc('x', file);
}

// Starts a process in another session, whose parent ends when it has written its number to `path`.
void leave_a_daemon(const std::string& path) {
  if (const pid_t parent = fork(); parent != 0) {
    waitpid(parent, nullptr, 0);
    return;
  }
  setsid();
  if (const pid_t daemon = fork(); daemon != 0) {
    std::ofstream(path) << daemon << std::endl;
    _exit(0);
  }
  for (;;) pause();
}

using Act = std::function<void(const backgauge_call&)>;

void later(const Act& act, const backgauge_call& call) {
  std::thread([act, call] {
    std::this_thread::sleep_for(2ms);
    act(call);
  }).detach();
}

const std::map<std::string, Act>& acts() {
  static const std::map<std::string, Act> all{
      {"right", [](const backgauge_call&) {}},
      {"crash", [](const backgauge_call&) { *nowhere = 1; }},
      {"abort",
       [](const backgauge_call&) {
         std::fputs("free(): invalid pointer\n", stderr);
         std::abort();
       }},
      {"overflow", [](const backgauge_call&) { deeper(0); }},
      {"exit", [](const backgauge_call&) { std::exit(0); }},
      {"loop",
       [](const backgauge_call&) {
         while (turns >= 0) {
         }
       }},
      {"compute", [](const backgauge_call&) { compute_for(55ms); }},
      {"print", [](const backgauge_call&) { std::printf("hello\n"); }},
      {"spam",
       [](const backgauge_call&) {
         const std::string line(1000, 'x');
         for (int k = 0; k < 1000; ++k) std::fputs(line.c_str(), stderr);
       }},
      {"threads", [](const backgauge_call&) { std::thread([] { pause(); }).detach(); }},
      {"close", [](const backgauge_call&) { close(WorkerProcess::kSocket); }},
      {"scribble", [](const backgauge_call&) { scribble(0xff); }},
      {"late write",
       [](const backgauge_call& call) {
         later([element = &output_at(call, "dicfo", 3)](const backgauge_call&) { *element = 1; }, call);
       }},
      {"late crash", [](const backgauge_call& call) { later([](const backgauge_call&) { std::abort(); }, call); }},
      {"leave",
       [](const backgauge_call&) {
         setpgid(0, getpgid(getppid()));
         while (turns >= 0) {
         }
       }},
      {"evil print", [](const backgauge_call&) { std::fputs("\x1b[31m\xff\n", stdout); }},
      {"compute on the side",
       [](const backgauge_call&) {
         for (int k = 0; k < 2; ++k) {
           std::thread([] {
             while (turns >= 0) {
             }
           }).detach();
         }
         flush_slowly(10s);
       }},
      {"hoard", [](const backgauge_call&) { hoard(); }},
      {"hoard in a file", [](const backgauge_call&) { hoard_in_a_file(); }},
      {"begin again", [](const backgauge_call&) { begin_again_and_again(); }},
      {"slow flush", [](const backgauge_call&) { flush_slowly(500ms); }},
      {"fork",
       [](const backgauge_call&) {
         if (fork() == 0) {
           pause();
           _exit(0);
         }
         std::abort();
       }},
  };
  return all;
}

}  // namespace

const backgauge_implementation* open_scripted(const std::string& name, std::string& error) {
  static ScriptedImplementation scripted;
  scripted.claim(BACKGAUGE_LSTM_BLOCK_CELL_GRAD);
  static const auto dropout_mask = scripted.table.dropout_mask;
  scripted.table.dropout_mask = dropout_mask;
  if (name == "rnn" || name.ends_with(" masks")) scripted.claim(BACKGAUGE_CUDNN_RNN_BACKPROP);
  if (name == "no masks") scripted.table.dropout_mask = nullptr;
  if (name == "unavailable masks") {
    scripted.table.dropout_mask = [](const backgauge_call*, std::int32_t, std::uint8_t*, backgauge_message*) {
      return BACKGAUGE_UNSUPPORTED;
    };
  }
  if (name == "crash while loading") std::abort();
  if (name == "loop while loading") pause();
  if (name == "pool") {
    for (long k = 0; k < 4 * sysconf(_SC_NPROCESSORS_CONF); ++k) std::thread([] { pause(); }).detach();
  }
  if (name == "nobody") {
    error = "nobody: is not there";
    return nullptr;
  }
  if (name == "memory") {
    scripted.before = [](const backgauge_call&, backgauge_message& message) {
      take_all_memory();
      std::strcpy(message.text, "no more");
      return BACKGAUGE_OUT_OF_MEMORY;
    };
  }
  if (name == "leak") {
    scripted.before = [](const backgauge_call&, backgauge_message& message) {
      constexpr std::size_t kSome = std::size_t{1} << 26;
      // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): a leak is what is tried
      if (std::malloc(kSome) != nullptr) return BACKGAUGE_OK;
      std::strcpy(message.text, "no more");
      return BACKGAUGE_OUT_OF_MEMORY;
    };
  }
  if (name == "one in ten") {
    scripted.after_run = [](const backgauge_call& call) {
      if (call.inputs[0].shape[0] % 10 == 7) std::abort();
    };
  }
  if (name.starts_with("daemon ")) {
    scripted.after_run = [path = name.substr(7)](const backgauge_call&) {
      if (access(path.c_str(), F_OK) != 0) leave_a_daemon(path);
    };
  }
  if (const auto act = acts().find(name); act != acts().end()) scripted.after_run = act->second;
  constexpr std::string_view kEscape = "escape ";
  if (name.starts_with(kEscape)) {
    scripted.after_run = [escape = escapes().at(name.substr(kEscape.size()))](const backgauge_call&) {
      if (escape()) std::abort();
    };
  }
  return &scripted.table;
}

}  // namespace backgauge::testing
