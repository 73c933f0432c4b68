// SPDX-License-Identifier: Apache-2.0
#include "perf/results/context.h"

#include <fmt/format.h>

namespace backgauge {

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
  const auto add = [&](const std::string& key, double value) { context[key] = fmt::format("{:.5g}", value); };
  add("fma_gflops_f32", limits.fma_f32);
  add("fma_gflops_f64", limits.fma_f64);
  for (const auto& [word, bandwidth] : {std::pair{"read", &limits.read}, std::pair{"copy", &limits.copy}}) {
    add(fmt::format("{}_gbps_l1", word), bandwidth->l1);
    add(fmt::format("{}_gbps_l2", word), bandwidth->l2);
    add(fmt::format("{}_gbps_l3", word), bandwidth->l3);
    add(fmt::format("{}_gbps_memory", word), bandwidth->memory);
  }
  if (result.noise_known) add("noise_aa", result.noise);
  return context;
}

}  // namespace backgauge
