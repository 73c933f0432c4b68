// SPDX-License-Identifier: Apache-2.0
// Code that runs in the signal handler uses only lock-free atomics and mprotect, a bare system call.
#include "properties/judge/memory/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

namespace backgauge {
namespace {

// A case of a determinism check keeps the memory of some 240 calls, two watches each; several are judged at once.
constexpr std::size_t kMostWatches = 8192;
std::array<std::atomic<GuardWatch*>, kMostWatches> watches;

// Both handlers, and how many watches need them.
struct Handlers {
  std::mutex mutex;
  std::size_t users = 0;
  struct sigaction previous_segv, previous_bus;
};
Handlers& handlers() {
  static Handlers instance;
  return instance;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = signal == SIGBUS ? handlers().previous_bus : handlers().previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // On return the instruction faults again, now with the default action. Ignoring a fault would repeat it forever.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool take_fault(std::uintptr_t address, Access access) {
  for (const std::atomic<GuardWatch*>& slot : watches) {
    GuardWatch* watch = slot.load(std::memory_order_acquire);
    if (watch == nullptr || address < watch->begin_ || address >= watch->end_) continue;
    const std::size_t hit = watch->count_.fetch_add(1, std::memory_order_relaxed);
    if (hit < watch->hits_.size()) watch->hits_[hit] = {address, access};
    // A page that has only been read stays closed for writing, so that a write is recorded as well.
    const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
    void* page = reinterpret_cast<void*>(address - address % page_bytes());
    return mprotect(page, page_bytes(), protection) == 0;
  }
  return false;
}

namespace {

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!take_fault(address, access_of(context))) pass_on(signal, info, context);
}

void install(int signal, struct sigaction* previous) {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;  // a stack overflow must still reach the previous handler
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, previous) != 0) {
    throw std::runtime_error("guard: the handlers of SIGSEGV and SIGBUS cannot be installed");
  }
}

void acquire_handlers() {
  Handlers& shared = handlers();
  page_bytes();  // its first call must not happen in a signal handler
  const std::lock_guard lock(shared.mutex);
  if (shared.users == 0) {
    install(SIGSEGV, &shared.previous_segv);
    install(SIGBUS, &shared.previous_bus);
  }
  ++shared.users;
}

void release_handlers() {
  Handlers& shared = handlers();
  const std::lock_guard lock(shared.mutex);
  if (--shared.users > 0) return;
  sigaction(SIGSEGV, &shared.previous_segv, nullptr);
  sigaction(SIGBUS, &shared.previous_bus, nullptr);
}

}  // namespace

GuardWatch::GuardWatch(std::span<std::byte> mapping)
    : begin_(reinterpret_cast<std::uintptr_t>(mapping.data())), end_(begin_ + mapping.size()), slot_(0) {
  acquire_handlers();
  for (; slot_ < kMostWatches; ++slot_) {
    GuardWatch* none = nullptr;
    if (watches[slot_].compare_exchange_strong(none, this, std::memory_order_release)) return;
  }
  release_handlers();
  throw std::runtime_error("guard: too many calls are being judged at once");
}

GuardWatch::~GuardWatch() {
  watches[slot_].store(nullptr, std::memory_order_release);
  release_handlers();
}

void GuardWatch::arm() {
  const std::lock_guard lock(handlers().mutex);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction current {};
    if (sigaction(signal, nullptr, &current) == 0 && current.sa_sigaction == on_fault) continue;
    install(signal, nullptr);
  }
}

std::span<const GuardHit> GuardWatch::hits() const { return {hits_.data(), std::min(count_.load(), hits_.size())}; }

}  // namespace backgauge
