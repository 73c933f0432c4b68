// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/settings.h"

#include <cstdlib>
#include <string_view>

namespace backgauge::cuda {
namespace {

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Whether the word is known, and sets nothing that was set before.
bool take(std::string_view word, Settings& out) {
  if (word == "fp16") return !out.half_operands && (out.half_operands = true);
  if (out.floats != FloatProducts::kAsTheyAre) return false;
  if (word == "tf32") out.floats = FloatProducts::kTf32;
  if (word == "3xtf32") out.floats = FloatProducts::kThreeTf32;
  return out.floats != FloatProducts::kAsTheyAre;
}

bool take_math(std::string_view text, Settings& out) {
  for (std::string_view rest = text; !text.empty();) {
    const std::size_t comma = rest.find(',');
    if (!take(rest.substr(0, comma), out)) return false;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return true;
}

bool take_steps(std::string_view text, Settings& out) {
  if (text.empty() || text == "each") return true;
  for (const int blocks : {1, 2, 4, 8, 16}) {
    if (text == "cluster-" + std::to_string(blocks)) out.cluster_blocks = blocks;
  }
  return out.cluster_blocks > 0;
}

Settings read_settings() {
  const std::string_view math = environment("BACKGAUGE_CUDA_MATH"), steps = environment("BACKGAUGE_CUDA_STEPS");
  Settings out;
  if (!take_math(math, out)) {
    out.refusal = "BACKGAUGE_CUDA_MATH=" + std::string(math) + ": expected tf32 or 3xtf32, fp16, or both with a comma";
  } else if (!take_steps(steps, out)) {
    out.refusal = "BACKGAUGE_CUDA_STEPS=" + std::string(steps) +
                  ": expected each, cluster-1, cluster-2, cluster-4, cluster-8 or cluster-16";
  }
  return out;
}

}  // namespace

const Settings& settings() {
  static const Settings the = read_settings();
  return the;
}

std::string settings_text() {
  const auto& [floats, half_operands, blocks, refusal] = settings();
  std::string text;
  if (floats == FloatProducts::kTf32) text += ", float products in TF32";
  if (floats == FloatProducts::kThreeTf32) text += ", float products as three of TF32";
  if (half_operands) text += ", half products in half";
  if (blocks > 0) text += ", steps in clusters of " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks");
  return text;
}

}  // namespace backgauge::cuda
