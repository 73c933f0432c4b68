// SPDX-License-Identifier: Apache-2.0
#include "impl/cuda/device/math.h"

#include <cstdlib>
#include <string_view>

namespace backgauge::cuda {
namespace {

struct Request {
  Math math;
  std::string refusal;
};

// Whether the word is known, and sets nothing that was set before.
bool take(std::string_view word, Math& math) {
  if (word == "fp16") return !math.half_operands && (math.half_operands = true);
  if (math.floats != FloatProducts::kAsTheyAre) return false;
  if (word == "tf32") math.floats = FloatProducts::kTf32;
  if (word == "3xtf32") math.floats = FloatProducts::kThreeTf32;
  return math.floats != FloatProducts::kAsTheyAre;
}

Request request_of(std::string_view text) {
  Request request;
  for (std::string_view rest = text; !text.empty();) {
    const std::size_t comma = rest.find(',');
    if (!take(rest.substr(0, comma), request.math)) {
      request.refusal =
          "BACKGAUGE_CUDA_MATH=" + std::string(text) + ": expected tf32 or 3xtf32, fp16, or both with a comma";
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return request;
}

const Request& request() {
  static const Request the = [] {
    const char* text = std::getenv("BACKGAUGE_CUDA_MATH");
    return request_of(text == nullptr ? "" : text);
  }();
  return the;
}

}  // namespace

const Math& math() { return request().math; }

std::string math_text() {
  std::string text;
  if (math().floats == FloatProducts::kTf32) text += ", float products in TF32";
  if (math().floats == FloatProducts::kThreeTf32) text += ", float products as three of TF32";
  if (math().half_operands) text += ", half products in half";
  return text;
}

const std::string& math_refusal() { return request().refusal; }

}  // namespace backgauge::cuda
