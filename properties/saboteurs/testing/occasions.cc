// SPDX-License-Identifier: Apache-2.0
#include "properties/saboteurs/testing/occasions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "properties/saboteurs/hostile/misbehaviour.h"
#include "properties/saboteurs/op_set.h"
#include "properties/saboteurs/testing/scenes.h"
#include "reference/contract/validate.h"

namespace backgauge::saboteurs {
namespace {

using namespace scenes;
using S = const Scene&;

struct OccasionRow {
  const char* id;
  std::uint32_t ops;
  const char* what;
  bool (*is_met)(const Scene&);
};

constexpr OccasionRow kOccasions[] = {
    // Values.
    {"x_zero", BLOCK, "x is 0", [](S s) { return zero(s, "x"); }},
    {"h_prev_zero", BLOCK, "h_prev is 0", [](S s) { return zero(s, "h_prev"); }},
    {"cs_prev_zero", CELL | BLOCK, "cs_prev is 0", [](S s) { return zero(s, "cs_prev"); }},
    {"start_zero", BLOCK, "h_prev and cs_prev are 0", [](S s) { return zero(s, "h_prev") && zero(s, "cs_prev"); }},
    {"w_zero", BLOCK, "w is 0", [](S s) { return zero(s, "w"); }},
    {"w_rows_of_h_zero", BLOCK, "the rows of w for h_prev are 0",
     [](S s) {
       return all_of(at(s, "w"), I(s) * 4 * H(s), H(s) * 4 * H(s), [](double v) { return v == 0; }) && !zero(s, "w");
     }},
    {"w_rows_of_x_zero", BLOCK, "the rows of w for x are 0",
     [](S s) { return all_of(at(s, "w"), 0, I(s) * 4 * H(s), [](double v) { return v == 0; }) && !zero(s, "w"); }},
    {"gate_of_w_zero", BLOCK, "a gate of w is 0", [](S s) { return gate_of_w_zero(s) && !zero(s, "w"); }},
    {"wci_zero", CELL | BLOCK, "wci is 0 and wcf is not",
     [](S s) { return s.extents.peephole && zero(s, "wci") && !zero(s, "wcf"); }},
    {"wcf_zero", CELL | BLOCK, "wcf is 0 and wci is not",
     [](S s) { return s.extents.peephole && zero(s, "wcf") && !zero(s, "wci"); }},
    {"wco_zero", CELL | BLOCK, "wco is 0", [](S s) { return s.extents.peephole && zero(s, "wco"); }},
    {"peepholes_zero", CELL | BLOCK, "wci, wcf and wco are 0",
     [](S s) { return s.extents.peephole && zero(s, "wci") && zero(s, "wcf") && zero(s, "wco"); }},
    {"wci_is_wcf", CELL | BLOCK, "wci and wcf are equal",
     [](S s) { return s.extents.peephole && H(s) > 1 && equal(s, "wci", "wcf") && !zero(s, "wci"); }},
    {"i_zero", CELL | BLOCK, "i is 0", [](S s) { return zero(s, "i"); }},
    {"f_zero", CELL | BLOCK, "f is 0", [](S s) { return zero(s, "f"); }},
    {"o_zero", CELL | BLOCK, "o is 0", [](S s) { return zero(s, "o"); }},
    {"ci_zero", CELL | BLOCK, "ci is 0", [](S s) { return zero(s, "ci"); }},
    {"co_zero", CELL | BLOCK, "co is 0", [](S s) { return zero(s, "co"); }},
    {"i_one", CELL | BLOCK, "i is 1", [](S s) { return is(s, "i", 1); }},
    {"f_one", CELL | BLOCK, "f is 1", [](S s) { return is(s, "f", 1); }},
    {"o_one", CELL | BLOCK, "o is 1", [](S s) { return is(s, "o", 1); }},
    {"gates_half", CELL | BLOCK, "i, f and o are 1/2",
     [](S s) { return is(s, "i", 0.5) && is(s, "f", 0.5) && is(s, "o", 0.5); }},
    {"f_is_i", CELL | BLOCK, "f and i are equal", [](S s) { return equal(s, "f", "i") && !zero(s, "f"); }},
    {"cs_constant", CELL | BLOCK, "all elements of cs are equal, as if all states were clipped",
     [](S s) { return H(s) > 1 && !zero(s, "cs") && repeats(at(s, "cs"), 1); }},
    {"cs_is_cs_prev", CELL, "cs and cs_prev are equal", [](S s) { return equal(s, "cs", "cs_prev") && H(s) > 1; }},
    {"cs_grad_zero", CELL | BLOCK, "cs_grad is 0", [](S s) { return zero(s, "cs_grad"); }},
    {"h_grad_zero", CELL | BLOCK, "h_grad is 0", [](S s) { return zero(s, "h_grad"); }},
    {"upstream_zero", CELL | BLOCK, "cs_grad and h_grad are 0",
     [](S s) { return zero(s, "cs_grad") && zero(s, "h_grad"); }},
    {"last_step_of_cs_grad", BLOCK, "cs_grad is 0 except at the last step",
     [](S s) { return only_last_step(s, "cs_grad"); }},
    {"h_grad_one", CELL | BLOCK, "h_grad is 1", [](S s) { return is(s, "h_grad", 1); }},
    {"cs_grad_is_h_grad", CELL | BLOCK, "cs_grad and h_grad are equal",
     [](S s) { return equal(s, "cs_grad", "h_grad") && !zero(s, "h_grad") && !repeats(at(s, "h_grad"), 1); }},
    {"samples_of_x_alike", BLOCK, "all samples of x are equal at the first step",
     [](S s) {
       const Values& x = at(s, "x");
       return B(s) > 1 && I(s) > 1 && static_cast<std::int64_t>(x.size()) >= B(s) * I(s) && !zero(s, "x") &&
              !repeats(x, 1) && repeats(Values(x.begin(), x.begin() + B(s) * I(s)), I(s));
     }},
    {"x_is_h_prev", BLOCK, "x and h_prev are equal at the first step",
     [](S s) {
       const Values &x = at(s, "x"), &h_prev = at(s, "h_prev");
       return !h_prev.empty() && I(s) == H(s) && B(s) * H(s) > 1 && x.size() >= h_prev.size() &&
              std::equal(h_prev.begin(), h_prev.end(), x.begin());
     }},
    {"negative_zero_start", BLOCK, "h_prev is -0", [](S s) { return negative_zero(s, "h_prev"); }},
    {"outlier_of_w", BLOCK, "one weight is 16 times as large as the others", [](S s) { return outlier(s, "w"); }},
    {"outlier_of_x", BLOCK, "one feature is 16 times as large as the others", [](S s) { return outlier(s, "x"); }},
    {"input_zero", RNN, "input is 0", [](S s) { return zero(s, "input"); }},
    {"input_h_zero", RNN, "input_h is 0", [](S s) { return zero(s, "input_h"); }},
    {"input_c_zero", RNN, "input_c is 0", [](S s) { return zero(s, "input_c"); }},
    {"states_zero", RNN, "input_h and input_c are 0", [](S s) { return zero(s, "input_h") && zero(s, "input_c"); }},
    {"biases_zero", RNN, "all biases are 0",
     [](S s) { return zero_params(s, layout(s).matrices(), layout(s).size() - layout(s).matrices()); }},
    {"R_zero", RNN, "R is 0",
     [](S s) {
       return every_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t g) {
         return zero_params(s, l.R(layer, d, g), H(s) * H(s));
       });
     }},
    {"gate_of_R_zero", RNN, "a gate of R is 0",
     [](S s) {
       return H(s) > 1 && any_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t g) {
                return zero_params(s, l.R(layer, d, g), H(s) * H(s));
              });
     }},
    {"gate_of_W_zero", RNN, "a gate of W is 0",
     [](S s) {
       return any_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t g) {
         return H(s) > 1 && zero_params(s, l.W(layer, d, g), H(s) * l.matrix_input(layer));
       });
     }},
    {"bR_zero", RNN, "bR is 0 and bW is not",
     [](S s) {
       return every_block(s, [&](const RnnParams& l, std::int64_t layer, std::int64_t d, std::int64_t g) {
         return zero_params(s, l.bR(layer, d, g), H(s)) && !zero_params(s, l.bW(layer, d, g), H(s));
       });
     }},
    {"symmetric_R", RNN, "R is symmetric", symmetric_R},
    {"same_directions", RNN, "both directions have the same first row of R", same_directions},
    {"output_backprop_zero", RNN, "output_backprop is 0", [](S s) { return zero(s, "output_backprop"); }},
    {"output_h_backprop_zero", RNN, "output_h_backprop is 0", [](S s) { return zero(s, "output_h_backprop"); }},
    {"output_c_backprop_zero", RNN, "output_c_backprop is 0", [](S s) { return zero(s, "output_c_backprop"); }},
    {"last_step_of_output", RNN, "output_backprop is 0 except at the last step",
     [](S s) { return only_last_step(s, "output_backprop"); }},
    {"nothing_from_above", RNN, "all upstream gradients are 0",
     [](S s) {
       return zero(s, "output_backprop") && zero(s, "output_h_backprop") &&
              (!s.extents.lstm || zero(s, "output_c_backprop"));
     }},
    {"output_backprop_one", RNN, "output_backprop is 1", [](S s) { return is(s, "output_backprop", 1); }},
    {"layer_of_states_zero", RNN, "input_h of one layer and direction is 0",
     [](S s) {
       const std::int64_t zeros = zero_blocks(at(s, "input_h"), B(s) * H(s));
       return s.extents.L * s.extents.D > 1 && B(s) * H(s) > 1 && zeros > 0 && zeros < s.extents.L * s.extents.D;
     }},
    {"input_c_is_input_h", RNN, "input_c and input_h are equal",
     [](S s) { return equal(s, "input_c", "input_h") && !zero(s, "input_h") && !repeats(at(s, "input_h"), 1); }},
    {"steps_of_input_alike", RNN, "all steps of input are equal",
     [](S s) { return !zero(s, "input") && B(s) * I(s) > 1 && repeats(at(s, "input"), B(s) * I(s)); }},
    {"outlier_of_params", RNN, "one parameter is 16 times as large as the others",
     [](S s) { return outlier(s, "params"); }},
    {"sample_of_upstream_zero", CELL | BLOCK | RNN, "the upstream gradient of one sample is 0 at one step",
     [](S s) {
       const std::int64_t width = s.extents.H * s.extents.D;
       return B(s) > 1 && width > 1 && zero_blocks(at(s, upstream(s)), width) > 0 && !zero(s, upstream(s));
     }},

    // Sizes.
    {"H512", CELL | BLOCK | RNN, "H = 512", [](S s) { return H(s) == 512; }},
    {"H512_half", BLOCK | RNN, "H = 512 in half", [](S s) { return H(s) == 512 && s.dtype == BACKGAUGE_HALF; }},
    {"H650", CELL | BLOCK | RNN, "H = 650", [](S s) { return H(s) == 650; }},
    {"H1024", CELL | BLOCK | RNN, "H >= 1024", [](S s) { return H(s) >= 1024; }},
    {"H2048", CELL | RNN, "H = 2048", [](S s) { return H(s) == 2048; }},
    {"H_odd_tile", CELL | BLOCK | RNN, "H > 256 is one more than a multiple of 128",
     [](S s) { return H(s) > 257 && H(s) % 128 == 1; }},
    {"I1024", CELL | BLOCK | RNN, "I = 1024", [](S s) { return I(s) == 1024; }},
    {"I_odd_tile", CELL | BLOCK | RNN, "I > 256 is one less than a multiple of 256",
     [](S s) { return I(s) > 257 && I(s) % 256 == 255; }},
    {"T64", BLOCK | RNN, "more than 64 steps", [](S s) { return steps(s) > 64; }},
    {"T1024", BLOCK | RNN, "1024 steps and more", [](S s) { return steps(s) >= 1024; }},
    {"T35", BLOCK | RNN, "35 steps", [](S s) { return steps(s) == 35; }},
    {"T64_gru_bi", RNN, "more than 64 steps of a bidirectional GRU",
     [](S s) { return steps(s) > 64 && s.extents.D == 2 && mode(s, BACKGAUGE_GRU); }},
    {"T64_tanh_double", RNN, "more than 64 steps of tanh in float64",
     [](S s) { return steps(s) > 64 && s.dtype == BACKGAUGE_FLOAT64 && mode(s, BACKGAUGE_RNN_TANH); }},
    {"B128", CELL | BLOCK | RNN, "B >= 128", [](S s) { return B(s) >= 128; }},
    {"B128_half", CELL | BLOCK | RNN, "B >= 128 in half", [](S s) { return B(s) >= 128 && s.dtype == BACKGAUGE_HALF; }},
    {"B_odd_tile", CELL | BLOCK | RNN, "B > 64 is one more than a multiple of 64",
     [](S s) { return B(s) > 65 && B(s) % 64 == 1; }},
    {"B20", CELL | BLOCK | RNN, "B = 20", [](S s) { return B(s) == 20; }},
    {"layers5", RNN, "more than 4 layers", [](S s) { return s.extents.L > 4; }},
    {"layers5_relu", RNN, "more than 4 layers of relu",
     [](S s) { return s.extents.L > 4 && mode(s, BACKGAUGE_RNN_RELU); }},
    {"layers8_bi", RNN, "8 bidirectional layers", [](S s) { return s.extents.L == 8 && s.extents.D == 2; }},
    {"wide_and_tall", BLOCK | RNN, "B >= 64 and H >= 128", [](S s) { return B(s) >= 64 && H(s) >= 128; }},
    {"long_and_wide", BLOCK | RNN, "more than 64 steps of H >= 128", [](S s) { return steps(s) > 64 && H(s) >= 128; }},

    // Two and three sizes at once.
    {"aligned", CELL | BLOCK | RNN, "B, I and H are multiples of 8", [](S s) { return aligned(s, 8); }},
    {"aligned_64", CELL | BLOCK | RNN, "B, I and H are multiples of 64", [](S s) { return aligned(s, 64); }},
    {"aligned_steps", BLOCK | RNN, "B, I and H are multiples of 8, several steps",
     [](S s) { return steps(s) > 1 && aligned(s, 8); }},
    {"persistent", BLOCK | RNN, "B and H are multiples of 8, H >= 64, several steps",
     [](S s) { return steps(s) > 1 && B(s) % 8 == 0 && H(s) % 8 == 0 && H(s) >= 64; }},
    {"many_rows", BLOCK | RNN, "T * B >= 1024 and H >= 64", [](S s) { return steps(s) * B(s) >= 1024 && H(s) >= 64; }},
    {"rows_odd_tile", BLOCK | RNN, "T * B is one more than a multiple of 64, several steps, H >= 32",
     [](S s) { return steps(s) > 1 && B(s) > 1 && steps(s) * B(s) % 64 == 1 && H(s) >= 32; }},
    {"odd_tiles", CELL | BLOCK | RNN, "B and H are one more than multiples of 32, I is a multiple of 16",
     [](S s) { return B(s) > 32 && H(s) > 32 && B(s) % 32 == 1 && H(s) % 32 == 1 && I(s) % 16 == 0; }},
    {"tall_cell", CELL, "B >= 16 and H >= 4096", [](S s) { return B(s) >= 16 && H(s) >= 4096; }},
    {"deep_both_ways", RNN, "2 directions of 2 layers and more, B and H >= 32",
     [](S s) { return s.extents.L > 1 && s.extents.D == 2 && B(s) >= 32 && H(s) >= 32; }},
    {"aligned_gru_half", RNN, "a GRU in half, B, I and H multiples of 32",
     [](S s) { return B(s) > 0 && mode(s, BACKGAUGE_GRU) && s.dtype == BACKGAUGE_HALF && aligned(s, 32); }},
    {"aligned_bfloat16", RNN, "bfloat16, B and H multiples of 64",
     [](S s) { return s.dtype == BACKGAUGE_BFLOAT16 && B(s) % 64 == 0 && H(s) % 64 == 0; }},
};

const backgauge_implementation* wrapped = nullptr;

// Steps from seq_len_max on are not read, and do not count.
void keep_what_is_read(Scene& scene) {
  if (steps(scene) == scene.extents.T) return;
  for (const char* name : {"x", "i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"}) {
    Values& values = scene.values[name];
    values.resize(values.size() / static_cast<std::size_t>(scene.extents.T) * static_cast<std::size_t>(steps(scene)));
  }
}

Scene scene_of(const backgauge_call& call) {
  Scene scene{static_cast<backgauge_op>(call.op),
              static_cast<backgauge_dtype>(call.dtype),
              call.attributes,
              validate_shapes(call).extents,
              {}};
  for (std::int32_t k = 0; k < call.num_inputs; ++k) {
    const backgauge_tensor& tensor = call.inputs[k];
    if (tensor.dtype == BACKGAUGE_INT64) continue;
    Values& values = scene.values[tensor.name];
    values.resize(static_cast<std::size_t>(backgauge_elements(&tensor)));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = element(tensor, static_cast<std::int64_t>(j));
  }
  keep_what_is_read(scene);
  return scene;
}

backgauge_status run_on(const OccasionRow& row, const backgauge_call* call, backgauge_message* message) {
  const std::vector<std::vector<unsigned char>> before = outputs_of(*call);
  // Decided before the call, since outputs may share the memory of inputs.
  const bool strikes = validate_shapes(*call).ok() && row.is_met(scene_of(*call));
  const backgauge_status status = wrapped->run(call, message);
  if (status != BACKGAUGE_OK || !strikes) return status;
  bool all_zero = true;
  for_outputs(*call, [&](const backgauge_tensor& tensor, unsigned char*) {
    for (std::int64_t k = 0; k < backgauge_elements(&tensor); ++k) {
      const double value = element(tensor, k);
      all_zero = all_zero && value == 0;
      set_element(tensor, k, value * 1.0625);
    }
  });
  if (all_zero) give(*call, before);
  return status;
}

template <std::size_t N>
backgauge_status run_row(const backgauge_call* call, backgauge_message* message) {
  return run_on(kOccasions[N], call, message);
}
using Run = decltype(backgauge_implementation::run);
template <std::size_t... N>
constexpr std::array<Run, sizeof...(N)> runs_of(std::index_sequence<N...>) {
  return {run_row<N>...};
}
constexpr std::array<Run, std::size(kOccasions)> kRuns = runs_of(std::make_index_sequence<std::size(kOccasions)>());

}  // namespace

Scene scene_of(const Problem& problem) {
  Scene scene{problem.op, problem.dtype, problem.attributes, problem.extents, {}};
  for (const Tensor& tensor : problem.inputs) scene.values[tensor.name] = tensor.values;
  keep_what_is_read(scene);
  return scene;
}

const std::vector<Occasional>& occasional_implementations(const backgauge_implementation& implementation) {
  wrapped = &implementation;
  static const std::vector<Occasional> all = [] {
    std::vector<Occasional> out;
    for (std::size_t k = 0; k < std::size(kOccasions); ++k) {
      for (const auto& [bit, op] : kOps) {
        if ((kOccasions[k].ops & bit) == 0) continue;
        Occasional made{kOccasions[k].id, kOccasions[k].what, op, kOccasions[k].is_met, *wrapped};
        made.table.name = kOccasions[k].id;
        made.table.description = kOccasions[k].what;
        made.table.run = kRuns[k];
        out.push_back(made);
      }
    }
    return out;
  }();
  return all;
}

}  // namespace backgauge::saboteurs
