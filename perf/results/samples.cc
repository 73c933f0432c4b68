// SPDX-License-Identifier: Apache-2.0
#include "perf/results/samples.h"

#include <nlohmann/json.hpp>

namespace backgauge {
namespace {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8 are replaced: implementations write what they like into their messages.
std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json verdict_of(const WorkloadResult& result, const Entry& entry) {
  Json tensors = Json::object();
  for (const TensorReport& tensor : entry.verdict.tensors) tensors[tensor.name] = tensor.max_ratio;
  Json out = {{"workload", to_string(result.workload.c)},
              {"suite", result.workload.suite},
              {"implementation", entry.implementation},
              {"version", entry.version},
              {"verdict", entry.word()},
              {"reason", entry.reason()},
              {"error_over_bound", entry.error_over_bound()},
              {"tensors", tensors}};
  if (entry.on_device) out["on_device"] = true;
  if (!entry.timed()) return out;
  out["flops"] = result.work.flops;
  out["bytes"] = result.work.bytes;
  out["threads"] = result.threads;
  out["first_call_seconds"] = entry.first_call;
  if (entry.empty_call > 0) out["empty_call_seconds"] = entry.empty_call;
  out["launch_seconds"] = entry.launches;
  if (!entry.above_limit.empty()) out["above_limit"] = entry.above_limit;
  return out;
}

}  // namespace

std::string samples_head(const std::map<std::string, std::string>& context) {
  return json_line({{"schema", "backgauge.samples/1"}, {"context", context}});
}

std::string samples_of(const WorkloadResult& result) {
  std::string out;
  for (const Entry& entry : result.entries) {
    out += json_line(verdict_of(result, entry));
    for (const Sample& sample : entry.samples) {
      out += json_line({{"workload", to_string(result.workload.c)},
                        {"suite", result.workload.suite},
                        {"implementation", entry.implementation},
                        {"version", entry.version},
                        {"round", sample.round},
                        {"seconds", sample.seconds},
                        {"calls", sample.calls},
                        {"fma_gflops", sample.fma_gflops},
                        {"disturbed", sample.disturbed},
                        {"block", sample.block},
                        {"cpu_seconds", sample.cpu_seconds},
                        {"waits", sample.waits},
                        {"instructions", sample.instructions},
                        {"cycles", sample.cycles}});
    }
  }
  return out;
}

std::string counts_head(const std::map<std::string, std::string>& context) {
  return json_line({{"schema", "backgauge.counts/1"}, {"context", context}});
}

std::string counts_of(const WorkloadResult& result, const std::string& counter) {
  std::string out;
  for (const Entry& entry : result.entries) {
    out += json_line({{"workload", to_string(result.workload.c)},
                      {"suite", result.workload.suite},
                      {"implementation", entry.implementation},
                      {"version", entry.version},
                      {"verdict", entry.word()},
                      {"reason", entry.reason()},
                      {"counter", counter},
                      {"instructions", entry.known(&Sample::instructions)},
                      {"cycles", entry.known(&Sample::cycles)}});
  }
  return out;
}

std::string samples_file_beside(const std::string& json_file) {
  constexpr std::string_view kJson = ".json";
  const std::string stem =
      json_file.ends_with(kJson) ? json_file.substr(0, json_file.size() - kJson.size()) : json_file;
  return stem + ".samples.jsonl";
}

}  // namespace backgauge
