// SPDX-License-Identifier: Apache-2.0
#include "perf/meter/interference.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace backgauge {
namespace {

namespace fs = std::filesystem;

// "0.10 0.20 0.30 2/105 4711": two are runnable, one of which is this process. If the file is missing, nothing is
// reported.
bool others_are_runnable() {
  std::ifstream file("/proc/loadavg");
  std::string load;
  for (int k = 0; k < 4; ++k) file >> load;
  return file && std::atoi(load.c_str()) > 1;
}

// "cpu user nice system idle iowait irq softirq steal ...", in ticks.
std::int64_t stolen_ticks() {
  std::ifstream file("/proc/stat");
  std::string word;
  std::int64_t ticks = 0;
  file >> word;
  for (int k = 0; k < 8; ++k) file >> ticks;
  return file ? ticks : 0;
}

// The sum over all threads of another process.
std::int64_t switches_of(int process) {
  std::int64_t switches = 0;
  std::error_code ignored;
  for (const fs::directory_entry& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), ignored)) {
    std::ifstream file(task.path() / "status");
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view kKey = "nonvoluntary_ctxt_switches:";
      if (line.starts_with(kKey)) switches += std::atoll(line.c_str() + kKey.size());
    }
  }
  return switches;
}

}  // namespace

void InterferenceMonitor::wait_until_idle(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  busy_before_ = others_are_runnable();
  while (busy_before_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    busy_before_ = others_are_runnable();
  }
}

bool InterferenceMonitor::disturbed() const {
  const Counts after = now();
  return busy_before_ || after.switches > before_.switches + 1 || after.stolen > before_.stolen;
}

InterferenceMonitor::Counts InterferenceMonitor::now() const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_nivcsw + (other_process_ > 0 ? switches_of(other_process_) : 0), stolen_ticks()};
}

}  // namespace backgauge
