// SPDX-License-Identifier: Apache-2.0
// The algorithms of cuDNN's RNN functions, and what differs between them: what is claimed of each is claimed from here.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "impl/cudnn/library.h"
#include "reference/contract/claims.h"

namespace backgauge::cudnn {

struct Algorithm {
  cudnnRNNAlgo_t id;
  std::string_view name;  // value of BACKGAUGE_CUDNN_ALGO
  bool takes_float64;
  std::int64_t greatest_H;  // of every mode: claims know no limits by mode; 0: none
  bool takes_dropout;       // 0 < dropout < 1
  bool approximates_tanh;   // in float32 and half, by kErrorOfTanh: at any H, LSTM up to 768 at least
};

// Measured on an H200 with cuDNN 9.19. PERSIST_STATIC takes an LSTM and a GRU up to H = 1536 and relu and tanh up to
// 2048, SMALL_H up to 128 and 256: the lesser of the two is claimed. PERSIST_DYNAMIC was seen at H = 512 only. Its
// network is built for a batch size once, which takes .2 to 1.4 s, and is not built again for other dropout states.
// bfloat16 is STANDARD in all of them.
inline constexpr std::array<Algorithm, 4> kAlgorithms{{
    {CUDNN_RNN_ALGO_STANDARD, "standard", true, 0, true, false},
    {CUDNN_RNN_ALGO_PERSIST_STATIC, "persist-static", false, 1536, true, true},
    {CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, "persist-small-h", false, 128, true, true},
    {CUDNN_RNN_ALGO_PERSIST_DYNAMIC, "persist-dynamic", false, 512, false, true},
}};

// 122 * 2^-24 was measured for one tanh, and 143 * 2^-24 for tanh(tanh(x)) in an LSTM, which has the error of two; in
// half, whose arithmetic is float too, .512 to .517 units in the last place, .5 of which are the rounding to half.
inline constexpr double kErrorOfTanh = 0x1p-17;

const Algorithm& algorithm_of(cudnnRNNAlgo_t id);

// Narrows claims of all calls to those of the settings (settings.h). The one place where what is claimed depends on the
// algorithm or the math type.
void claim_settings(Claims& claims);

}  // namespace backgauge::cudnn
