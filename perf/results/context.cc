// SPDX-License-Identifier: Apache-2.0
#include "perf/results/context.h"

#include <fmt/format.h>

namespace backgauge {
namespace {

using Context = std::map<std::string, std::string>;

void add_device(const device::Facts& facts, const DeviceLimits& limits, Context& context) {
  const auto say = [&](const char* key, const std::string& value) {
    if (!value.empty()) context[key] = value;
  };
  const auto add = [&](const char* key, double value) {
    if (value > 0) context[key] = fmt::format("{:.5g}", value);
  };
  say("device_name", facts.name);
  say("device_capability", facts.capability);
  say("device_driver", facts.driver);
  say("device_cuda_of_driver", facts.cuda_of_driver);
  say("device_cuda_runtime", facts.cuda_runtime);
  say("device_cublaslt", limits.products_version);
  for (const auto& [key, value] :
       {std::pair{"device_multiprocessors", std::int64_t{facts.multiprocessors}},
        std::pair{"device_clock_mhz", std::int64_t{facts.clock_mhz}},
        std::pair{"device_memory_clock_mhz", std::int64_t{facts.memory_clock_mhz}},
        std::pair{"device_memory_bus_bits", std::int64_t{facts.memory_bus_bits}},
        std::pair{"device_l2_bytes", facts.l2_bytes}, std::pair{"device_memory_bytes", facts.memory_bytes}}) {
    if (value > 0) context[key] = std::to_string(value);
  }
  add("device_gflops_f16", limits.f16);
  add("device_gflops_bf16", limits.bf16);
  add("device_gflops_tf32", limits.tf32);
  add("device_gflops_f32", limits.f32);
  add("device_gflops_f64", limits.f64);
  add("device_copy_gbps_l2", limits.copy_l2);
  add("device_copy_gbps_memory", limits.copy_memory);
  add("device_launch_us", limits.launch_us);
}

}  // namespace

std::map<std::string, std::string> context_of(const Machine& machine, const Build& build, const Limits& limits,
                                              const BenchOptions& options, const BenchResult& result) {
  std::map<std::string, std::string> context = {{"backgauge_version", build.version},
                                                {"commit", build.commit},
                                                {"compiler", build.compiler},
                                                {"build_type", build.type},
                                                {"cpu_model", machine.cpu_model},
                                                {"isa", machine.isa},
                                                {"governor", machine.governor},
                                                {"l1_bytes", std::to_string(machine.l1_bytes)},
                                                {"l2_bytes", std::to_string(machine.l2_bytes)},
                                                {"l3_bytes", std::to_string(machine.l3_bytes)},
                                                {"cores", std::to_string(machine.cores)},
                                                {"machine_id", machine.id()},
                                                {"cache_mode", options.cold ? "cold" : "hot"},
                                                {"threads", std::to_string(options.threads)},
                                                {"launches", std::to_string(options.launches)},
                                                {"workloads_planned", std::to_string(result.planned)},
                                                {"blocks", std::to_string(options.blocks)},
                                                {"counter", options.counter},
                                                {"work_convention", kWorkConvention}};
  for (const auto& [key, text] :
       {std::pair{"kernel", &machine.kernel}, std::pair{"libc", &machine.libc}, std::pair{"gpus", &machine.gpus.models},
        std::pair{"gpu_driver", &machine.gpus.driver}}) {
    if (!text->empty()) context[key] = *text;
  }
  const auto add = [&](const std::string& key, double value) { context[key] = fmt::format("{:.5g}", value); };
  if (machine.device) add_device(*machine.device, limits.device.value_or(DeviceLimits{}), context);
  if (result.noise_known) add("noise_aa", result.noise);
  if (limits.fma_f32 == 0) return context;  // of the CPU nothing was measured
  add("fma_gflops_f32", limits.fma_f32);
  add("fma_gflops_f64", limits.fma_f64);
  for (const auto& [word, bandwidth] : {std::pair{"read", &limits.read}, std::pair{"copy", &limits.copy}}) {
    add(fmt::format("{}_gbps_l1", word), bandwidth->l1);
    add(fmt::format("{}_gbps_l2", word), bandwidth->l2);
    add(fmt::format("{}_gbps_l3", word), bandwidth->l3);
    add(fmt::format("{}_gbps_memory", word), bandwidth->memory);
  }
  return context;
}

}  // namespace backgauge
