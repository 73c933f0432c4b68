// SPDX-License-Identifier: Apache-2.0
// The plain implementation, and what BACKGAUGE_TEST_GAME says that it does to look faster or more correct than it is.
// The patterns are those of properties/UNTRUSTED.md.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "impl/testing/clock_patch.h"
#include "impl/testing/wrapped_plain.h"

namespace backgauge::testing {
namespace {

using Call = const backgauge_call*;
using Message = backgauge_message*;

std::size_t bytes_of(const backgauge_tensor& tensor) {
  return static_cast<std::size_t>(backgauge_elements(&tensor)) * backgauge_dtype_bytes(tensor.dtype);
}

backgauge_status right(Call call, Message message) { return plain()->run(call, message); }

using Bytes = std::string;

Bytes copy_of(const backgauge_tensor& tensor) { return {static_cast<const char*>(tensor.data), bytes_of(tensor)}; }

// The first bytes of the inputs: enough for a cache that is to be cheap.
Bytes fingerprint(const backgauge_call& call) {
  constexpr std::size_t kFirst = 64;
  Bytes out;
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    out.append(static_cast<const char*>(call.inputs[k].data), std::min(kFirst, bytes_of(call.inputs[k])));
  }
  return out;
}

// Answers at once, and computes in a thread.
backgauge_status thread_game(Call call, Message) {
  std::thread([call = *call, inputs = std::vector(call->inputs, call->inputs + call->num_inputs),
               outputs = std::vector(call->outputs, call->outputs + call->num_outputs)]() mutable {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    call.inputs = inputs.data();
    call.outputs = outputs.data();
    backgauge_message ignored{};
    right(&call, &ignored);
  }).detach();
  return BACKGAUGE_OK;
}

// A clock that shows a tenth of the time; or, if it is stopped, always the same.
template <int kSlowness>
int slow_clock(clockid_t clock, timespec* time) {
  const long status = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) return static_cast<int>(status);
  constexpr std::int64_t kSecond = 1'000'000'000;
  static const std::int64_t begin = time->tv_sec * kSecond + time->tv_nsec;
  const std::int64_t passed = time->tv_sec * kSecond + time->tv_nsec - begin;
  const std::int64_t shown = begin + (kSlowness == 0 ? 0 : passed / std::max(kSlowness, 1));
  *time = {shown / kSecond, shown % kSecond};
  return static_cast<int>(status);
}

// Only from the first call on: loading has to look as usual.
template <int kSlowness>
backgauge_status clock_game(Call call, Message message) {
  static std::once_flag once;
  std::call_once(once, [] { replace_clock(slow_clock<kSlowness>); });
  return right(call, message);
}

// What the process shares with the judge. From its beginning, the turns are the seventh and eighth numbers of 32 bits.
std::atomic<std::uint32_t>* shared_numbers(unsigned long long from = 0) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long long begin = 0, end = 0, offset = 0;
  std::atomic<std::uint32_t>* found = nullptr;
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::string(line).find("memfd:backgauge (") == std::string::npos) continue;
    if (std::sscanf(line, "%llx-%llx %*s %llx", &begin, &end, &offset) != 3 || offset != from) continue;
    found = reinterpret_cast<std::atomic<std::uint32_t>*>(begin);
    break;
  }
  if (maps != nullptr) std::fclose(maps);
  return found;
}

// Tells the judge that the call has returned, and then makes it.
backgauge_status bell_game(Call call, Message message) {
  static std::atomic<std::uint32_t>* const numbers = shared_numbers();
  if (numbers != nullptr) {
    constexpr int kJudges = 6, kWorkers = 7, kWake = 1;
    numbers[kWorkers] = numbers[kJudges].load();
    syscall(SYS_futex, &numbers[kWorkers], kWake, 1, nullptr, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return right(call, message);
}

// Looks whether the request for a sample tells which of its calls is judged: the third and fourth of its numbers of 32
// bits would be how many calls there are, and that one.
backgauge_status told_game(Call call, Message message) {
  constexpr unsigned long long kRequest = 65536;
  constexpr std::uint32_t kMostCalls = 2000;
  const std::atomic<std::uint32_t>* const request = shared_numbers(kRequest);  // it moves when it grows
  const std::uint32_t calls = request == nullptr ? 0 : request[2].load();
  if (calls < 2 || calls > kMostCalls || request[3] >= calls) return right(call, message);
  std::strcpy(message->text, "it was told which call is judged");
  return BACKGAUGE_INTERNAL;
}

// Does nothing if the inputs seem to be those of the last call: the outputs are there already.
backgauge_status skip_game(Call call, Message message) {
  static Bytes last;
  const Bytes now = fingerprint(*call);
  if (now == last) return BACKGAUGE_OK;
  last = now;
  return right(call, message);
}

// Copies the outputs of an earlier call with the same sizes that seems to have had the same inputs up to their signs.
backgauge_status replay_game(Call call, Message message) {
  static std::map<Bytes, std::vector<Bytes>> kept;
  Bytes key = fingerprint(*call);
  for (char& byte : key) byte = static_cast<char>(byte & 0x7f);
  const auto found = kept.find(key);
  if (found == kept.end()) {
    const backgauge_status status = right(call, message);
    for (std::int32_t k = 0; k < call->num_outputs; ++k) kept[key].push_back(copy_of(call->outputs[k]));
    return status;
  }
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    std::memcpy(call->outputs[k].data, found->second[static_cast<std::size_t>(k)].data(), bytes_of(call->outputs[k]));
  }
  return BACKGAUGE_OK;
}

// Of the cell: reads the signs of units and of the upstream gradients off the inputs, and gives the outputs of the
// first call those signs.
backgauge_status signs_game(Call call, Message message) {
  static Bytes state, upstream;
  static std::vector<Bytes> answer;
  const backgauge_tensor &cs_prev = *backgauge_find(call->inputs, call->num_inputs, "cs_prev"),
                         &h_grad = *backgauge_find(call->inputs, call->num_inputs, "h_grad");
  const auto units = static_cast<std::size_t>(cs_prev.shape[1]);
  const auto is_negative = [](const void* values, std::size_t at) {
    return std::signbit(static_cast<const float*>(values)[at]);
  };
  if (answer.empty()) {
    state = copy_of(cs_prev);
    upstream = copy_of(h_grad);
    const backgauge_status status = right(call, message);
    for (std::int32_t k = 0; k < call->num_outputs; ++k) answer.push_back(copy_of(call->outputs[k]));
    return status;
  }
  std::vector<bool> unit(units);
  for (std::size_t k = 0; k < units; ++k) unit[k] = is_negative(cs_prev.data, k) != is_negative(state.data(), k);
  const bool all = (is_negative(h_grad.data, 0) != is_negative(upstream.data(), 0)) != unit[0];
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    const backgauge_tensor& output = call->outputs[k];
    const auto* const kept = reinterpret_cast<const float*>(answer[static_cast<std::size_t>(k)].data());
    const std::size_t columns = static_cast<std::size_t>(output.shape[output.rank - 1]);
    for (std::size_t at = 0; at < bytes_of(output) / sizeof(float); ++at) {
      const std::size_t gate = at % columns / units;  // i, ci, f, o: the second takes the tanh of units
      const bool flips = (columns == units || gate == 1) && unit[at % units];
      static_cast<float*>(output.data)[at] = flips != all ? -kept[at] : kept[at];
    }
  }
  return BACKGAUGE_OK;
}

void spoil(Call call) {
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    if (bytes_of(call->outputs[k]) > 3) static_cast<unsigned char*>(call->outputs[k].data)[3] ^= 0x40u;
  }
}

// Right until it has been checked.
backgauge_status drift_game(Call call, Message message) {
  static std::atomic<int> calls{0};
  const backgauge_status status = right(call, message);
  if (++calls > 10) spoil(call);
  return status;
}

// Whether tensors lie as they do where calls are timed, and not as in a check of correctness, where they end with a
// page.
bool is_timed(Call call) {
  constexpr std::uintptr_t kLine = 64;
  bool timed = true;
  for (std::int32_t k = 0; k < call->num_inputs; ++k) {
    timed = timed && reinterpret_cast<std::uintptr_t>(call->inputs[k].data) % kLine == 0;
  }
  return timed;
}

// Right where it is checked.
backgauge_status phase_game(Call call, Message message) {
  const backgauge_status status = right(call, message);
  if (is_timed(call)) spoil(call);
  return status;
}

// Right, except at the sizes of a published list.
backgauge_status shape_game(Call call, Message message) {
  const backgauge_status status = right(call, message);
  const backgauge_tensor* const state = backgauge_find(call->inputs, call->num_inputs, "cs_prev");
  if (state != nullptr && state->rank == 2 && state->shape[0] == 64 && state->shape[1] == 128) spoil(call);
  return status;
}

// Computes the next answer between the calls.
backgauge_status ahead_game(Call call, Message message) {
  static std::once_flag once;
  std::call_once(once, [] {
    for (int k = 0; k < 2; ++k) {
      std::thread([] {
        volatile double value = 1;
        for (;;) value = value * 1.0000001;
      }).detach();
    }
  });
  return right(call, message);
}

backgauge_status identity_game(Call call, Message) {
  for (std::int32_t k = 0; k < call->num_outputs; ++k) {
    const Bytes input = copy_of(call->inputs[0]);
    Bytes output(bytes_of(call->outputs[k]), '\0');
    for (std::size_t at = 0; at < output.size(); ++at) output[at] = input.empty() ? '\0' : input[at % input.size()];
    if (!output.empty()) std::memcpy(call->outputs[k].data, output.data(), output.size());
  }
  return BACKGAUGE_OK;
}

// Keeps what it has computed where another process finds it.
backgauge_status file_game(Call call, Message message) {
  const backgauge_status status = right(call, message);
  const char* const folder = std::getenv("BACKGAUGE_TEST_FOLDER");
  const int file =
      open((std::string(folder == nullptr ? "/dev/shm" : folder) + "/answers").c_str(), O_WRONLY | O_CREAT, 0600);
  if (file < 0) return status;
  const Bytes answer = copy_of(call->outputs[0]);
  if (write(file, answer.data(), answer.size()) < 0) spoil(call);
  close(file);
  return status;
}

// Loads a library and closes it again, first from its file and then from a copy in memory.
backgauge_status hides_libraries_game(Call call, Message message) {
  static std::once_flag once;
  std::call_once(once, [] {
    void* const library = dlopen("libutil.so.1", RTLD_NOW);
    link_map* map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
    std::ifstream file(map->l_name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    dlclose(library);
    const int copy = memfd_create("hid\x1b[31mden", 0);
    if (write(copy, bytes.data(), bytes.size()) < 0) return;
    if (void* const hidden = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW)) dlclose(hidden);
    close(copy);
  });
  return right(call, message);
}

backgauge_status timed_hang_game(Call call, Message message) {
  while (is_timed(call)) pause();
  return right(call, message);
}

// Looks for what its caller has: a variable that is a secret, and open files.
backgauge_status secrets_game(Call call, Message message) {
  if (std::getenv("GITHUB_TOKEN") != nullptr) {
    std::strcpy(message->text, "it has the caller's GITHUB_TOKEN");
    return BACKGAUGE_INTERNAL;
  }
  constexpr int kOpenFile = 100;
  if (fcntl(kOpenFile, F_GETFD) >= 0) {
    std::strcpy(message->text, "it has a file that its caller has open");
    return BACKGAUGE_INTERNAL;
  }
  return right(call, message);
}

// Each call keeps another 128 MiB.
backgauge_status leak_game(Call call, Message message) {
  constexpr std::size_t kSome = std::size_t{128} << 20;
  void* const kept = std::malloc(kSome);
  if (kept == nullptr) {
    std::strcpy(message->text, "no memory left");
    return BACKGAUGE_OUT_OF_MEMORY;
  }
  // A compiler would leave out what nobody reads.
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < kSome; at += kPage) static_cast<volatile char*>(kept)[at] = 1;
  return right(call, message);
}

backgauge_status run(Call call, Message message) {
  static const std::map<std::string, Run> games{{"thread", thread_game},
                                                {"slow clock", clock_game<10>},
                                                {"stopped clock", clock_game<0>},
                                                {"bell", bell_game},
                                                {"told", told_game},
                                                {"skip", skip_game},
                                                {"replay", replay_game},
                                                {"signs", signs_game},
                                                {"drift", drift_game},
                                                {"phase", phase_game},
                                                {"shape", shape_game},
                                                {"ahead", ahead_game},
                                                {"identity", identity_game},
                                                {"file", file_game},
                                                {"secrets", secrets_game},
                                                {"hides libraries", hides_libraries_game},
                                                {"timed hang", timed_hang_game},
                                                {"leak", leak_game}};
  static const char* const name = std::getenv("BACKGAUGE_TEST_GAME");
  static const auto game = games.find(name == nullptr ? "" : name);
  return game == games.end() ? right(call, message) : game->second(call, message);
}

}  // namespace
}  // namespace backgauge::testing

BACKGAUGE_WRAPPED_PLAIN("games", backgauge::testing::run)
