// SPDX-License-Identifier: Apache-2.0
#include "properties/device/runtime.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace backgauge::device {
namespace {

constexpr int kSuccess = 0, kOutOfMemory = 2, kInsufficientDriver = 35;  // cudaError_t

std::atomic<bool> lost{false};

struct Loaded {
  void* library = nullptr;
  Runtime functions{};
  std::string absence;
};

std::vector<std::string> places() {
  if (const char* named = std::getenv("BACKGAUGE_CUDART")) return {named};
  return {"libcudart.so.13", "libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so"};
}

void* open_library(std::string& failure) {
  const std::vector<std::string> names = places();
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  failure = "no CUDA runtime library: none of";
  for (const std::string& name : names) failure += " " + name;
  failure += " can be loaded (BACKGAUGE_CUDART names another)";
  return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// 0 without a driver; -1 where the library does not say.
int driver_version(void* library) {
  int (*ask)(int* version) = nullptr;
  int version = 0;
  return find(library, "cudaDriverGetVersion", ask) && ask(&version) == kSuccess ? version : -1;
}

Loaded load() {
  Loaded out;
  void* library = out.library = open_library(out.absence);
  if (library == nullptr) return out;
  Runtime& f = out.functions;
#define BACKGAUGE_FIND(name)                                         \
  if (!find(library, #name, f.name)) {                               \
    out.absence = "the CUDA runtime library has no function " #name; \
    return out;                                                      \
  }
  BACKGAUGE_FIND(cudaGetDeviceCount)
  BACKGAUGE_FIND(cudaGetErrorString)
  BACKGAUGE_FIND(cudaGetLastError)
  BACKGAUGE_FIND(cudaMalloc)
  BACKGAUGE_FIND(cudaFree)
  BACKGAUGE_FIND(cudaMemcpyAsync)
  BACKGAUGE_FIND(cudaMemsetAsync)
  BACKGAUGE_FIND(cudaDeviceSynchronize)
  BACKGAUGE_FIND(cudaStreamCreateWithFlags)
  BACKGAUGE_FIND(cudaStreamDestroy)
  BACKGAUGE_FIND(cudaStreamSynchronize)
  BACKGAUGE_FIND(cudaEventCreate)
  BACKGAUGE_FIND(cudaEventDestroy)
  BACKGAUGE_FIND(cudaEventRecord)
  BACKGAUGE_FIND(cudaEventSynchronize)
  BACKGAUGE_FIND(cudaEventElapsedTime)
#undef BACKGAUGE_FIND
  int devices = 0;
  const int error = f.cudaGetDeviceCount(&devices);
  if (error == kInsufficientDriver && driver_version(library) == 0) {
    // cudaGetErrorString() calls a missing driver one whose version is insufficient.
    out.absence = "no NVIDIA driver: libcuda.so.1 is not on this machine";
  } else if (error != kSuccess) {
    out.absence = std::string("no CUDA device: ") + f.cudaGetErrorString(error);
  } else if (devices == 0) {
    out.absence = "no CUDA device: the driver reports 0 devices";
  }
  return out;
}

const Loaded& loaded() {
  static const Loaded value = load();
  return value;
}

}  // namespace

const Runtime& runtime() {
  if (!absence().empty()) throw Error(absence());
  return loaded().functions;
}

void* function(const char* name) {
  if (!absence().empty()) throw Error(absence());
  return dlsym(loaded().library, name);
}

const std::string& absence() { return loaded().absence; }

bool is_lost() { return lost; }

void check(int error, const char* what) {
  if (error == kSuccess) return;
  runtime().cudaGetLastError();  // takes it back: what comes later is not to report it again
  if (error == kOutOfMemory) throw std::bad_alloc();
  lost = true;
  throw Error(std::string(what) + ": " + runtime().cudaGetErrorString(error));
}

}  // namespace backgauge::device
