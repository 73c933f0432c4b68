// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/sandbox/system_calls.h"

#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace backgauge {
namespace {

// Calls without a condition. None of them reaches another process, or changes a file that the process cannot write.
constexpr const char* kAllowed[] = {
    // memory
    "brk", "munmap", "mremap", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock", "membarrier",
    "memfd_create", "ftruncate", "fallocate", "pkey_alloc", "pkey_free", "mbind", "get_mempolicy", "set_mempolicy",
    // files: Landlock decides which
    "close", "close_range", "read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev", "lseek",
    "stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getdents64", "getcwd", "dup", "dup2", "dup3", "fadvise64", "umask",
    // waiting
    "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    "eventfd", "eventfd2", "pipe", "pipe2", "nanosleep", "clock_nanosleep", "pause",
    // time and identity
    "clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getrusage", "getpid", "getppid", "gettid",
    "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getpgrp", "getpgid", "getsid",
    "uname", "sysinfo", "getcpu", "getrandom", "getrlimit", "capget", "getpriority", "getxattr", "lgetxattr",
    // threads and signals of this process
    "futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq", "set_tid_address", "arch_prctl",
    "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "sched_get_priority_max",
    "sched_get_priority_min", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
    "rt_sigpending", "sigaltstack", "restart_syscall", "exit", "exit_group"};

constexpr int kNameOfMemory = 0x53564d41;  // PR_SET_VMA: how the C library names its memory

class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {
    if (context_ == nullptr) throw std::system_error(ENOMEM, std::generic_category(), "seccomp");
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  // A call that this architecture lacks needs no rule.
  void rule(std::uint32_t action, const char* name, const std::vector<scmp_arg_cmp>& conditions = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return;
    check(
        seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(conditions.size()), conditions.data()));
  }

  int load() {
    check(seccomp_load(context_));
    const int report = seccomp_notify_fd(context_);
    check(report < 0 ? report : 0);
    return report;
  }

 private:
  static void check(int result) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), "seccomp");
  }

  scmp_filter_ctx context_;
};

scmp_arg_cmp is(unsigned argument, std::uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }

scmp_arg_cmp has_bits(unsigned argument, std::uint64_t mask, std::uint64_t bits) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, bits};
}

// Landlock decides which files may be read and written. Before its third version it does not see that opening a file
// can empty it; and in no version the access mode 3, for which a file need not be readable.
void allow_opening(Filter& filter) {
  for (const auto& [call, flags] : {std::pair("open", 1u), {"openat", 2u}}) {
    filter.rule(SCMP_ACT_ALLOW, call, {has_bits(flags, O_ACCMODE | O_TRUNC, O_RDONLY)});
    for (const std::uint64_t mode : {O_WRONLY, O_RDWR}) {
      filter.rule(SCMP_ACT_ALLOW, call, {has_bits(flags, O_ACCMODE, mode)});
    }
  }
}

// Memory that nobody can execute. With other memory the call is reported (answer_reported()).
constexpr const char* kMapping[] = {"mmap", "mprotect", "pkey_mprotect"};
constexpr unsigned kProtection = 2;  // the argument of each

void allow_data(Filter& filter) {
  for (const char* call : kMapping) filter.rule(SCMP_ACT_ALLOW, call, {has_bits(kProtection, PROT_EXEC, 0)});
}

bool maps_code(const std::string& call) { return std::ranges::find(kMapping, call) != std::end(kMapping); }

// The file that holds what a call is to make executable; "" if it is no file.
std::string file_of(const seccomp_notif& call, const std::string& name) {
  const std::string process = "/proc/" + std::to_string(call.pid) + "/";
  std::error_code none;
  if (name == "mmap") {
    constexpr std::size_t kFlags = 3, kFile = 4;
    if ((call.data.args[kFlags] & MAP_ANONYMOUS) != 0) return "";
    return std::filesystem::read_symlink(process + "fd/" + std::to_string(static_cast<int>(call.data.args[kFile])),
                                         none);
  }
  std::ifstream maps(process + "maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx", &begin, &end) != 2) continue;
    if (call.data.args[0] < begin || call.data.args[0] >= end) continue;
    const std::size_t path = line.find('/');
    return path == std::string::npos ? "" : line.substr(path);
  }
  return "";
}

// What concerns the descriptor alone. Not F_SETOWN and F_SETSIG, with which the kernel sends signals to any process,
// nor O_ASYNC, which lets it begin; nor seals, with which memory that is shared with the judge could be made too small.
void allow_descriptor_flags(Filter& filter) {
  for (const std::uint64_t command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL}) {
    filter.rule(SCMP_ACT_ALLOW, "fcntl", {is(1, command)});
  }
  filter.rule(SCMP_ACT_ALLOW, "fcntl", {is(1, F_SETFL), has_bits(2, O_ASYNC, 0)});
}

void allow_threads(Filter& filter) {
  // clone3() has its flags in memory, where they cannot be read; the C library then uses clone().
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.rule(SCMP_ACT_ALLOW, "clone", {{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD}});
  filter.rule(SCMP_ACT_ALLOW, "sched_setaffinity", {is(0, 0)});
  const auto self = static_cast<std::uint64_t>(getpid());
  for (const char* call : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) {
    filter.rule(SCMP_ACT_ALLOW, call, {is(0, self)});
  }
  for (const std::uint64_t option : {PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, kNameOfMemory}) {
    filter.rule(SCMP_ACT_ALLOW, "prctl", {is(0, option)});
  }
}

// RLIMIT_DATA is how the worker itself limits the memory of a call (worker/allowance.h).
void allow_limits(Filter& filter) {
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", {is(0, 0), is(1, RLIMIT_DATA)});
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", {is(0, 0), is(2, 0)});
  filter.rule(SCMP_ACT_ALLOW, "setrlimit", {is(0, RLIMIT_DATA)});
}

}  // namespace

bool has_system_call_filter() {
  constexpr unsigned kActionAvailable = 2;
  const std::uint32_t report = 0x7fc00000;  // SECCOMP_RET_USER_NOTIF
  return syscall(SCMP_SYS(seccomp), kActionAvailable, 0, &report) == 0;
}

Descriptor restrict_system_calls(int socket, bool controls_devices) {
  Filter filter(SCMP_ACT_NOTIFY);
  for (const char* call : kAllowed) filter.rule(SCMP_ACT_ALLOW, call);
  allow_data(filter);
  allow_opening(filter);
  allow_descriptor_flags(filter);
  allow_threads(filter);
  allow_limits(filter);
  for (const char* call : {"sendto", "sendmsg", "recvfrom"}) {
    filter.rule(SCMP_ACT_ALLOW, call, {is(0, static_cast<std::uint64_t>(socket))});
  }
  if (controls_devices) {
    filter.rule(SCMP_ACT_ALLOW, "ioctl");
  } else {
    for (const std::uint64_t request : {TCGETS, FIONREAD, FIONBIO, FIOCLEX}) {
      filter.rule(SCMP_ACT_ALLOW, "ioctl", {is(1, request)});
    }
  }
  return Descriptor(filter.load());
}

void answer_reported(int report, Reported& reported) {
  for (;;) {
    pollfd waiting{report, POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLIN) == 0) return;
    seccomp_notif* call = nullptr;
    seccomp_notif_resp* answer = nullptr;
    if (seccomp_notify_alloc(&call, &answer) != 0) return;
    if (seccomp_notify_receive(report, call) == 0) {
      char* const known = seccomp_syscall_resolve_num_arch(call->data.arch, call->data.nr);
      const std::string name = known == nullptr ? "number " + std::to_string(call->data.nr) : std::string(known);
      std::free(known);
      answer->id = call->id;
      if (maps_code(name)) {
        if (const std::string file = file_of(*call, name); !file.empty()) reported.executable.insert(file);
        answer->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      } else {
        reported.refused.insert(name);
        answer->error = -EPERM;
      }
      seccomp_notify_respond(report, answer);
    }
    seccomp_notify_free(call, answer);
  }
}

}  // namespace backgauge
