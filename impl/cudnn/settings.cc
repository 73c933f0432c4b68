// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/settings.h"

#include <algorithm>
#include <cstdlib>

namespace backgauge::cudnn {
namespace {

struct MathType {
  const char* name;
  cudnnMathType_t type;
  backgauge_numerical_contract contract;  // of float32
};

// CUDNN_DEFAULT_MATH of float32 is TF32; ALLOW_CONVERSION rounds operands to half. Measured on an H200 with cuDNN 9.19.
constexpr std::array<MathType, 4> kMathTypes{{
    {"fma", CUDNN_FMA_MATH, BACKGAUGE_FP32_STRICT},
    {"default", CUDNN_DEFAULT_MATH, BACKGAUGE_FP32_TF32},
    {"tensor-op", CUDNN_TENSOR_OP_MATH, BACKGAUGE_FP32_TF32},
    {"tensor-op-conversion", CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, BACKGAUGE_FP16_ACC32},
}};

// An empty variable counts as unset.
std::string environment(const char* name, const char* unset) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? unset : value;
}

// The row of that name. On output in `refusal`, if there is none: which names there are.
template <class Rows>
const typename Rows::value_type* named(const Rows& rows, const char* variable, const std::string& name,
                                       std::string& refusal) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.name == name; });
  if (found != rows.end()) return &*found;
  refusal = std::string(variable) + ": expected ";
  for (std::size_t k = 0; k < rows.size(); ++k) {
    refusal += (k == 0 ? "" : k + 1 < rows.size() ? ", " : " or ") + std::string(rows[k].name);
  }
  refusal += ", got " + name;
  return nullptr;
}

Settings read_settings() {
  Settings out;
  out.math_name = environment("BACKGAUGE_CUDNN_MATH", "fma");
  if (const MathType* math = named(kMathTypes, "BACKGAUGE_CUDNN_MATH", out.math_name, out.refusal)) {
    out.math = math->type;
  }
  out.workspace_config = environment("CUBLAS_WORKSPACE_CONFIG", "unset");
  out.one_workspace_size = out.workspace_config == ":4096:2" || out.workspace_config == ":16:8";
  if (kTakesTheFastest) {
    for (const Algorithm& algorithm : kAlgorithms) {
      // Building a network for PERSIST_DYNAMIC takes longer than any shape is worth, and it was never the fastest.
      if (algorithm.id == CUDNN_RNN_ALGO_PERSIST_DYNAMIC) continue;
      for (const bool graph : {false, true}) out.ways.push_back({algorithm.id, graph});
    }
    return out;
  }
  Way way;
  if (const Algorithm* algorithm =
          named(kAlgorithms, "BACKGAUGE_CUDNN_ALGO", environment("BACKGAUGE_CUDNN_ALGO", "standard"), out.refusal)) {
    way.algorithm = algorithm->id;
  }
  const std::string graph = environment("BACKGAUGE_CUDNN_GRAPH", "off");
  if (graph != "on" && graph != "off") out.refusal = "BACKGAUGE_CUDNN_GRAPH: expected on or off, got " + graph;
  way.graph = graph == "on";
  out.ways = {way};
  return out;
}

// Short, since listings cut a version off after some eighty characters.
std::string version_text() {
  const std::size_t version = cudnnGetVersion();  // 91900
  const Settings& s = settings();
  const Way& way = s.ways.front();
  const std::string algorithm =
      s.best() ? "the fastest" : std::string(algorithm_of(way.algorithm).name) + (way.graph ? " in a graph" : "");
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100) + " (" + algorithm + ", f32 " + s.math_name + ", cublas " + s.workspace_config +
         ")";
}

}  // namespace

const Algorithm& algorithm_of(cudnnRNNAlgo_t id) { return *std::ranges::find(kAlgorithms, id, &Algorithm::id); }

const Settings& settings() {
  static const Settings value = read_settings();
  return value;
}

const std::string& version() {
  static const std::string text = version_text();
  return text;
}

void claim_settings(Claims& claims) {
  const Settings& s = settings();
  const auto math = std::ranges::find(kMathTypes, s.math, &MathType::type);
  // Of half and bfloat16, all operands of products are values of the dtype already, as class S says.
  claims.numerical_contract = BACKGAUGE_FP32_STRICT;
  claims.numerical_contract.set(BACKGAUGE_FLOAT32, math->contract);
  // Which way is the fastest is a matter of chance, and with it the bits.
  claims.determinism = s.one_workspace_size && !s.best() ? BACKGAUGE_BITWISE : BACKGAUGE_NOT_DETERMINISTIC;
  const bool approximates =
      std::ranges::any_of(s.ways, [](const Way& way) { return algorithm_of(way.algorithm).approximates_tanh; });
  for (const backgauge_dtype dtype : {BACKGAUGE_HALF, BACKGAUGE_FLOAT32}) {
    if (approximates) claims.tanh_absolute.set(dtype, kErrorOfTanh);
  }
  // STANDARD, which takes all calls, is among the ways of cudnn-best.
  if (s.best()) return;
  const Algorithm& algorithm = algorithm_of(s.ways.front().algorithm);
  if (!algorithm.takes_float64) claims.dtypes = claims.dtypes[kEveryDtype] & ~BACKGAUGE_BIT(BACKGAUGE_FLOAT64);
  if (algorithm.greatest_H > 0) claims.greatest_H = algorithm.greatest_H;
  claims.dropout = algorithm.takes_dropout;
}

}  // namespace backgauge::cudnn
