// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/testing/escapes.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "properties/judge/worker/worker_process.h"

namespace backgauge::testing {
namespace {

bool made(long result) { return result >= 0; }

bool opens(const char* path, int flags) { return made(open(path, flags, 0600)); }

bool reads_the_judge() {
  char byte = 0;
  iovec local{&byte, 1}, remote{reinterpret_cast<void*>(0x400000), 1};
  return made(process_vm_readv(getppid(), &local, 1, &remote, 1, 0));
}

bool opens_the_judge(const char* file) {
  return opens(("/proc/" + std::to_string(getppid()) + "/" + file).c_str(), O_RDONLY);
}

bool counts_events() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  return made(syscall(SYS_perf_event_open, &attributes, getppid(), -1, -1, 0));
}

bool spawns() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  return posix_spawnp(&child, name, nullptr, nullptr, arguments, nullptr) == 0;
}

bool forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return made(child);
}

bool raises_a_limit() {
  const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  return made(setrlimit(RLIMIT_MEMLOCK, &limit));
}

bool moves_the_judge() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  return made(sched_setaffinity(getppid(), sizeof first, &first));
}

}  // namespace

const std::map<std::string, bool (*)()>& escapes() {
  static const std::map<std::string, bool (*)()> all{
      {"socket", [] { return made(socket(AF_INET, SOCK_STREAM, 0)); }},
      {"local socket", [] { return made(socket(AF_UNIX, SOCK_STREAM, 0)); }},
      {"fork", forks},
      {"spawn", spawns},
      {"exec", [] { return made(execl("/bin/true", "true", nullptr)); }},
      {"ptrace", [] { return made(ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr)); }},
      {"kill", [] { return made(kill(getppid(), 0)); }},
      {"kill group", [] { return made(kill(0, SIGCONT)); }},
      {"judge's memory", reads_the_judge},
      {"judge's memory file", [] { return opens_the_judge("mem"); }},
      {"judge's command line", [] { return opens_the_judge("cmdline"); }},
      {"perf", counts_events},
      {"bpf", [] { return made(syscall(SYS_bpf, 0, nullptr, 0)); }},
      {"io_uring", [] { return made(syscall(SYS_io_uring_setup, 1, nullptr)); }},
      {"userfaultfd", [] { return made(syscall(SYS_userfaultfd, 0)); }},
      {"mount", [] { return made(syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, nullptr)); }},
      {"namespace", [] { return made(syscall(SYS_unshare, CLONE_NEWUSER)); }},
      {"shared memory", [] { return made(shmget(IPC_PRIVATE, 4096, 0600)); }},
      {"read a file", [] { return opens("/etc/passwd", O_RDONLY); }},
      {"read a folder", [] { return opens("/", O_RDONLY | O_DIRECTORY); }},
      {"write a file", [] { return opens("/tmp/backgauge-escape", O_WRONLY | O_CREAT); }},
      {"write itself", [] { return opens("/proc/self/mem", O_RDWR); }},
      {"truncate", [] { return made(truncate("/tmp", 0)); }},
      {"unlink", [] { return made(unlink("/tmp/backgauge-escape")); }},
      {"chmod", [] { return made(chmod("/tmp", 0777)); }},
      {"raise a limit", raises_a_limit},
      {"move the judge", moves_the_judge},
      {"empty a file", [] { return opens("/dev/null", O_RDONLY | O_TRUNC); }},
      {"open without reading", [] { return opens("/dev/null", O_ACCMODE); }},
      {"signals of a descriptor", [] { return made(fcntl(STDIN_FILENO, F_SETOWN, getppid())); }},
      {"which signal", [] { return made(fcntl(STDIN_FILENO, F_SETSIG, SIGKILL)); }},
      {"signals begin", [] { return made(fcntl(STDIN_FILENO, F_SETFL, O_ASYNC)); }},
      {"seal the memory", [] { return made(fcntl(WorkerProcess::kMemory, F_ADD_SEALS, F_SEAL_GROW)); }},
      {"read a variable", [] { return std::getenv(kSecretVariable) != nullptr; }},
      {"use a descriptor", [] { return made(fcntl(kOpenDescriptor, F_GETFD)); }},
      {"become dumpable", [] { return made(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }},
      // Not an attempt to get out: what honest libraries do.
      {"thread",
       [] {
         std::thread([] {}).join();
         return false;
       }},
      {"duplicate a descriptor", [] { return !made(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100)); }},
      {"silence its output", [] { return !opens("/dev/null", O_WRONLY | O_CREAT | O_TRUNC); }},
      {"read a library", [] { return !opens("/usr/lib", O_RDONLY | O_DIRECTORY); }},
      {"read its maps", [] { return !opens("/proc/self/maps", O_RDONLY); }},
      {"signal itself", [] { return !made(kill(getpid(), 0)); }},
  };
  return all;
}

}  // namespace backgauge::testing
