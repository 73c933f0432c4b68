// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/sandbox/system_calls.h"

#include <asm/termbits.h>
#include <linux/sched.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace backgauge {
namespace {

// Calls without a condition. None of them reaches another process, or changes a file that the process cannot write.
constexpr const char* kAllowed[] = {
    // memory
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock",
    "membarrier", "memfd_create", "ftruncate", "fallocate", "pkey_alloc", "pkey_free", "pkey_mprotect", "mbind",
    "get_mempolicy", "set_mempolicy",
    // files: Landlock decides which
    "open", "openat", "close", "close_range", "read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64",
    "writev", "lseek", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat",
    "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd", "dup", "dup2", "dup3", "fcntl", "fadvise64",
    "umask",
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

void answer_refused(int report, std::set<std::string>& names) {
  for (;;) {
    pollfd waiting{report, POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLIN) == 0) return;
    seccomp_notif* call = nullptr;
    seccomp_notif_resp* answer = nullptr;
    if (seccomp_notify_alloc(&call, &answer) != 0) return;
    if (seccomp_notify_receive(report, call) == 0) {
      char* const name = seccomp_syscall_resolve_num_arch(call->data.arch, call->data.nr);
      names.insert(name == nullptr ? "number " + std::to_string(call->data.nr) : std::string(name));
      std::free(name);
      answer->id = call->id;
      answer->error = -EPERM;
      seccomp_notify_respond(report, answer);
    }
    seccomp_notify_free(call, answer);
  }
}

}  // namespace backgauge
