// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/worker/channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace backgauge {
namespace {

constexpr std::size_t kStateBytes =
    65536;  // whole pages on every machine: WorkerState, followed by the bytes of messages
static_assert(sizeof(WorkerState) <= kStateBytes && std::atomic<std::uint64_t>::is_always_lock_free);

constexpr std::size_t kFirstBytes = std::size_t{1} << 20;  // enough for most cases

struct Note {
  std::uint32_t kind;
  std::uint32_t turn;
  std::uint64_t size;
};

[[noreturn]] void fail(const char* what) {
  if (errno == EFBIG) throw std::runtime_error(std::string(what) + ": the limit on file sizes (ulimit -f) is too low");
  throw std::system_error(errno, std::generic_category(), what);
}

std::size_t file_bytes(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

// If a standard stream is closed, its number is free. A socket must not get it, or printed text would be sent there.
Descriptor apart_from_standard_streams(Descriptor descriptor) {
  if (descriptor.get() < 0 || descriptor.get() > STDERR_FILENO) return descriptor;
  return Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

// Allocates the memory now: a page that could not be allocated when it is accessed would raise SIGBUS.
bool reserve(int file, std::size_t bytes) {
  return file_bytes(file) >= bytes || fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0;
}

}  // namespace

Channel Channel::open(Ends& other) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  Descriptor ours = apart_from_standard_streams(Descriptor(sockets[0]));
  other.socket = apart_from_standard_streams(Descriptor(sockets[1]));
  other.memory = apart_from_standard_streams(Descriptor(memfd_create("backgauge", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (other.memory.get() < 0) fail("memfd_create");
  // If the memory shrank, reading it would end the process.
  if (fcntl(other.memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) fail("sealing shared memory");
  Descriptor memory(fcntl(other.memory.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (memory.get() < 0) fail("shared memory");
  return Channel(std::move(ours), std::move(memory));
}

Channel::Channel(Descriptor socket, Descriptor memory) : socket_(std::move(socket)), memory_(std::move(memory)) {
  if (!reserve(memory_.get(), kStateBytes + kFirstBytes)) fail("shared memory");
  void* state = mmap(nullptr, kStateBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (state == MAP_FAILED) fail("shared memory");
  state_ = static_cast<WorkerState*>(state);
}

Channel::~Channel() {
  if (state_ != nullptr) munmap(state_, kStateBytes);
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Channel::Channel(Channel&& other) noexcept
    : socket_(std::move(other.socket_)),
      memory_(std::move(other.memory_)),
      state_(std::exchange(other.state_, nullptr)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      left_(std::exchange(other.left_, 0)) {}

void Channel::map(std::size_t bytes) {
  if (bytes <= mapped_) return;
  bytes = std::max({bytes, 2 * mapped_, kFirstBytes});  // so that growing is rare
  if (!reserve(memory_.get(), kStateBytes + bytes)) throw std::bad_alloc();
  void* mapping = mapping_ == nullptr
                      ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), kStateBytes)
                      : mremap(mapping_, mapped_, bytes, MREMAP_MAYMOVE);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mapped_ = bytes;
}

bool Channel::send(std::uint32_t kind, std::uint32_t turn, std::span<const std::byte> bytes) {
  map(bytes.size());
  if (!bytes.empty()) std::memcpy(mapping_, bytes.data(), bytes.size());
  if (left_ > bytes.size()) std::memset(mapping_ + bytes.size(), 0, left_ - bytes.size());
  left_ = bytes.size();
  const Note note{kind, turn, bytes.size()};
  return TEMP_FAILURE_RETRY(::send(socket_.get(), &note, sizeof note, MSG_NOSIGNAL)) == sizeof note;
}

std::optional<Channel::Message> Channel::receive() {
  Note note{};
  if (TEMP_FAILURE_RETRY(recv(socket_.get(), &note, sizeof note, 0)) != sizeof note) return std::nullopt;
  const std::size_t available = file_bytes(memory_.get());
  if (available < kStateBytes || note.size > available - kStateBytes) return std::nullopt;
  map(note.size);
  left_ = note.size;
  return Message{note.kind, note.turn, {mapping_, note.size}};
}

}  // namespace backgauge
