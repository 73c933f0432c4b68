// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/sandbox/confinement.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "properties/judge/sandbox/landlock.h"

namespace backgauge {
namespace {

// What loaders, C libraries and pools of threads read. Not /usr itself: recorded outputs may be installed there.
constexpr const char* kOfTheSystem[] = {"/lib",
                                        "/lib64",
                                        "/usr/lib",
                                        "/usr/lib64",
                                        "/usr/local/lib",
                                        "/usr/local/cuda",
                                        "/etc/ld.so.cache",
                                        "/proc/self",
                                        "/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/stat",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/sys/devices/system",
                                        "/dev/zero",
                                        "/dev/random",
                                        "/dev/urandom"};
constexpr const char* kNvidia[] = {"/dev/nvidiactl",   "/dev/nvidia-uvm",     "/dev/nvidia-uvm-tools",
                                   "/dev/nvidia-caps", "/proc/driver/nvidia", "/sys"};
constexpr int kMostNvidiaDevices = 16;

[[noreturn]] void fail_confining(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

bool has_nvidia_devices() { return access(kNvidia[0], F_OK) == 0; }

Readable readable_by(const Confinement& confinement) {
  Readable out{confinement.readable, {"/dev/null"}};
  out.places.insert(out.places.end(), std::begin(kOfTheSystem), std::end(kOfTheSystem));
  const char* const folders = std::getenv("LD_LIBRARY_PATH");
  std::string_view rest = folders == nullptr ? "" : folders;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) out.places.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!has_nvidia_devices()) return out;
  out.devices.insert(out.devices.end(), std::begin(kNvidia), std::end(kNvidia));
  for (int k = 0; k < kMostNvidiaDevices; ++k) out.devices.push_back("/dev/nvidia" + std::to_string(k));
  return out;
}

// Root may change limits, modules and the clock. Without these capabilities, root is refused like other users.
void drop_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  if (syscall(SYS_capset, &header, none) != 0) fail_confining("capset");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_confining("PR_SET_NO_NEW_PRIVS");
}

// One byte with a descriptor.
struct Parcel {
  Parcel() {
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
  }
  Parcel(const Parcel&) = delete;

  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
};

// descriptor: -1 for none.
void send_report(int socket, int descriptor) {
  Parcel parcel;
  if (descriptor < 0) {
    parcel.message.msg_controllen = 0;
  } else {
    cmsghdr* const head = CMSG_FIRSTHDR(&parcel.message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  if (sendmsg(socket, &parcel.message, MSG_NOSIGNAL) != 1) fail_confining("the report of refused calls");
}

Descriptor receive_report(int socket) {
  Parcel parcel;
  const auto received = TEMP_FAILURE_RETRY(recvmsg(socket, &parcel.message, MSG_CMSG_CLOEXEC));
  const cmsghdr* const head = received == 1 ? CMSG_FIRSTHDR(&parcel.message) : nullptr;
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS) return Descriptor();
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return Descriptor(descriptor);
}

void wait_to_go_on(int socket) {
  char byte = 0;
  if (TEMP_FAILURE_RETRY(recv(socket, &byte, sizeof byte, 0)) != 1) _exit(0);  // the judge is gone
}

}  // namespace

std::vector<std::string> lacking_protections() {
  std::vector<std::string> out;
  if (landlock_version() == 0) out.push_back(std::string("Landlock (files): ") + std::strerror(errno));
  if (!has_system_call_filter()) out.push_back(std::string("seccomp (system calls): ") + std::strerror(errno));
  return out;
}

void confine_this_process(const Confinement& confinement, int socket) {
  drop_privileges();
  if (landlock_version() > 0) restrict_files(readable_by(confinement));
  Descriptor report;
  if (has_system_call_filter()) report = restrict_system_calls(socket, has_nvidia_devices());
  send_report(socket, report.get());
  wait_to_go_on(socket);
}

Confined::Confined(int socket) : socket_(socket), report_(receive_report(socket)) {}

void Confined::let_go() {
  const char byte = 0;
  send(socket_, &byte, sizeof byte, MSG_NOSIGNAL);
}

void Confined::answer() { answer_reported(report_.get(), reported_); }

}  // namespace backgauge
