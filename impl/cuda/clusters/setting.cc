// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/clusters/setting.h"

#include <cstdlib>
#include <string_view>

namespace backgauge::cuda {
namespace {

struct StepsRequest {
  int blocks = 0;
  std::string refusal;
};

StepsRequest steps_request_of(std::string_view text) {
  if (text.empty() || text == "each") return {};
  for (const int blocks : {1, 2, 4, 8, 16}) {
    if (text == "cluster-" + std::to_string(blocks)) return {blocks, ""};
  }
  return {0, "BACKGAUGE_CUDA_STEPS=" + std::string(text) +
                 ": expected each, cluster-1, cluster-2, cluster-4, cluster-8 or cluster-16"};
}

const StepsRequest& steps_request() {
  static const StepsRequest the = [] {
    const char* text = std::getenv("BACKGAUGE_CUDA_STEPS");
    return steps_request_of(text == nullptr ? "" : text);
  }();
  return the;
}

}  // namespace

int cluster_blocks() { return steps_request().blocks; }

std::string steps_text() {
  const int blocks = cluster_blocks();
  if (blocks == 0) return "";
  return ", steps in clusters of " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
}

const std::string& steps_refusal() { return steps_request().refusal; }

}  // namespace backgauge::cuda
