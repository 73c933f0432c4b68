// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/ops/cudnn.h"

namespace backgauge::draw_ops {
namespace {

using namespace parts;
using D = Draft&;

const Names kUpstream = {"output_backprop", "output_h_backprop", "output_c_backprop"};
const Names kFinal = {"output_h_backprop", "output_c_backprop"};
const Names kInitial = {"input_h", "input_c"};
const Names kAllOfSamples = {"input",           "input_h",           "input_c",
                             "output_backprop", "output_h_backprop", "output_c_backprop"};
const Names kWithDirections = {"input_h",           "input_c",           "params",
                               "output_h_backprop", "output_c_backprop", "output_backprop"};

constexpr bool biases(const Place& p, const Chosen&) { return p.part == Part::kBW || p.part == Part::kBR; }
constexpr bool input_biases(const Place& p, const Chosen&) { return p.part == Part::kBW; }
constexpr bool recurrent_biases(const Place& p, const Chosen&) { return p.part == Part::kBR; }
constexpr bool one_direction(const Place& p, const Chosen& c) { return p.direction == c.direction; }
constexpr bool one_layer(const Place& p, const Chosen& c) { return p.layer == c.layer; }
constexpr bool last_layer_and_direction(const Place& p, const Chosen& c) {
  return p.layer == c.layer && p.direction == c.direction;
}
constexpr bool matrices_of_layer(const Place& p, const Chosen& c) {
  return p.layer == c.layer && (p.part == Part::kW || p.part == Part::kR);
}
constexpr bool recurrent_weights_of_direction(const Place& p, const Chosen& c) {
  return p.part == Part::kR && p.direction == c.direction;
}
constexpr bool every_second_of_R(const Place& p, const Chosen& c) { return p.part == Part::kR && every_second(p, c); }
constexpr bool every_second_bias(const Place& p, const Chosen& c) { return biases(p, c) && every_second(p, c); }
constexpr bool unit_of_matrices(const Place& p, const Chosen& c) {
  return p.unit == c.unit && (p.part == Part::kW || p.part == Part::kR);
}

constexpr Structure kBlank[] = {
    {"input 0", [](D d) { d.zero({"input"}, all); }},
    {"a sample of input 0", [](D d) { d.zero({"input"}, one_sample); }},
    {"a step of input 0", [](D d) { d.zero({"input"}, one_step); }},
    {"a feature of input 0", [](D d) { d.zero({"input"}, one_unit); }},
    {"input_h and input_c 0", [](D d) { d.zero(kInitial, all); }},
    {"input_h 0", [](D d) { d.zero({"input_h"}, all); }},
    {"input_c 0", [](D d) { d.zero({"input_c"}, all); }},
    {"a sample of input_h and input_c 0", [](D d) { d.zero(kInitial, one_sample); }},
    {"a layer of input_h and input_c 0", [](D d) { d.zero(kInitial, one_layer); }},
    {"a direction of input_h and input_c 0", [](D d) { d.zero(kInitial, one_direction); }},
    {"params 0", [](D d) { d.zero({"params"}, all); }},
    {"W 0", [](D d) { d.zero({"params"}, input_weights); }},
    {"R 0", [](D d) { d.zero({"params"}, recurrent_weights); }},
    {"all biases 0", [](D d) { d.zero({"params"}, biases); }},
    {"bW 0", [](D d) { d.zero({"params"}, input_biases); }},
    {"bR 0", [](D d) { d.zero({"params"}, recurrent_biases); }},
    {"a gate 0", [](D d) { d.zero({"params"}, one_gate); }},
    {"a gate of R 0", [](D d) { d.zero({"params"}, recurrent_weights_of_gate); }},
    {"a gate of W 0", [](D d) { d.zero({"params"}, input_weights_of_gate); }},
    {"a direction of params 0", [](D d) { d.zero({"params"}, one_direction); }},
    {"a direction of R 0", [](D d) { d.zero({"params"}, recurrent_weights_of_direction); }},
    {"a layer of params 0", [](D d) { d.zero({"params"}, one_layer); }},
    {"W and R of a layer 0", [](D d) { d.zero({"params"}, matrices_of_layer); }},
    {"a unit of params 0", [](D d) { d.zero({"params"}, one_unit); }},
    {"a unit of W and R 0", [](D d) { d.zero({"params"}, unit_of_matrices); }},
    {"output_backprop 0", [](D d) { d.zero({"output_backprop"}, all); }},
    {"output_h_backprop 0", [](D d) { d.zero({"output_h_backprop"}, all); }},
    {"output_c_backprop 0", [](D d) { d.zero({"output_c_backprop"}, all); }},
    {"output_h_backprop and output_c_backprop 0", [](D d) { d.zero(kFinal, all); }},
    {"output_backprop and output_c_backprop 0",
     [](D d) {
       d.zero({"output_backprop", "output_c_backprop"}, all);
     }},
    {"all upstream gradients 0", [](D d) { d.zero(kUpstream, all); }},
    {"output_backprop 0 except at the last step", [](D d) { d.zero({"output_backprop"}, before_last_step); }},
    {"output_backprop 0 except at the first step", [](D d) { d.zero({"output_backprop"}, after_first_step); }},
    {"output_backprop 0 except at one step", [](D d) { d.zero({"output_backprop"}, other_steps); }},
    {"output_backprop 0 at the last step", [](D d) { d.zero({"output_backprop"}, last_step); }},
    {"only the last step of output_backprop",
     [](D d) { d.zero({"output_backprop"}, before_last_step), d.zero(kFinal, all); }},
    {"only the first step of output_backprop",
     [](D d) { d.zero({"output_backprop"}, after_first_step), d.zero(kFinal, all); }},
    {"a sample of the upstream gradients 0", [](D d) { d.zero(kUpstream, one_sample); }},
    {"upstream gradients 0 except for one sample", [](D d) { d.zero(kUpstream, other_samples); }},
    {"a direction of output_backprop 0", [](D d) { d.zero({"output_backprop"}, one_direction); }},
    {"a direction of the upstream gradients 0", [](D d) { d.zero(kUpstream, one_direction); }},
    {"a layer of output_h_backprop and output_c_backprop 0", [](D d) { d.zero(kFinal, one_layer); }},
    {"output_h_backprop of one layer and direction 0",
     [](D d) { d.zero({"output_h_backprop"}, last_layer_and_direction); }},
    {"a unit of the upstream gradients 0", [](D d) { d.zero(kUpstream, one_unit); }},
    {"upstream gradients 0 except for one unit", [](D d) { d.zero(kUpstream, other_units); }},
    {"a sample 0 in every tensor", [](D d) { d.zero(kAllOfSamples, one_sample); }},
    {"input, input_h and input_c 0",
     [](D d) {
       d.zero({"input", "input_h", "input_c"}, all);
     }},
    {"input_h, input_c, output_h_backprop and output_c_backprop 0",
     [](D d) { d.zero(kInitial, all), d.zero(kFinal, all); }},
};

constexpr Structure kAlike[] = {
    {"all samples alike", [](D d) { d.alike(kAllOfSamples, first_sample); }},
    {"two samples alike", [](D d) { d.alike(kAllOfSamples, two_samples); }},
    {"all samples of input alike", [](D d) { d.alike({"input"}, first_sample); }},
    {"all samples of input_h and input_c alike", [](D d) { d.alike(kInitial, first_sample); }},
    {"all samples of the upstream gradients alike", [](D d) { d.alike(kUpstream, first_sample); }},
    {"all steps of input alike", [](D d) { d.alike({"input"}, same_steps); }},
    {"all steps of output_backprop alike", [](D d) { d.alike({"output_backprop"}, same_steps); }},
    {"all units alike", [](D d) { d.alike(kWithDirections, first_unit); }},
    {"two units alike", [](D d) { d.alike(kWithDirections, two_units); }},
    {"all gates alike", [](D d) { d.alike({"params"}, first_gate); }},
    {"two gates alike", [](D d) { d.alike({"params"}, two_gates); }},
    {"both directions alike", [](D d) { d.alike(kWithDirections, [](Place p) { return p.direction = 0, p; }); }},
    {"both directions of params alike", [](D d) { d.alike({"params"}, [](Place p) { return p.direction = 0, p; }); }},
    {"all layers alike",
     [](D d) {
       d.alike({"input_h", "input_c", "params", "output_h_backprop", "output_c_backprop"},
               [](Place p) { return p.layer = 0, p; });
     }},
    {"R as W",
     [](D d) { d.alike({"params"}, [](Place p) { return p.part = p.part == Part::kR ? Part::kW : p.part, p; }); }},
    {"bR as bW",
     [](D d) { d.alike({"params"}, [](Place p) { return p.part = p.part == Part::kBR ? Part::kBW : p.part, p; }); }},
    {"R symmetric", [](D d) { d.alike({"params"}, symmetric); }},
    {"input_c as input_h", [](D d) { d.copy("input_c", "input_h"); }},
    {"output_c_backprop as output_h_backprop", [](D d) { d.copy("output_c_backprop", "output_h_backprop"); }},
    {"output_h_backprop as input_h", [](D d) { d.copy("output_h_backprop", "input_h"); }},
};

constexpr double identity(const Place& p, const Chosen&) { return p.unit == p.column ? 1 : 0; }
constexpr double one_hot(const Place& p, const Chosen& c) { return p.unit == c.unit ? 1 : 0; }
constexpr double signs(const Place& p, const Chosen&) { return (p.step + p.sample + p.unit) % 2 == 0 ? 1 : -1; }
constexpr bool off_the_diagonal(const Place& p, const Chosen&) { return p.part == Part::kR && p.unit != p.column; }
constexpr bool diagonal(const Place& p, const Chosen&) { return p.part == Part::kR && p.unit == p.column; }

constexpr Structure kExact[] = {
    {"input 1", [](D d) { d.set({"input"}, all, 1); }},
    {"input one-hot", [](D d) { d.set({"input"}, one_hot); }},
    {"input 1 and -1", [](D d) { d.set({"input"}, signs); }},
    {"input_h 1", [](D d) { d.set({"input_h"}, all, 1); }},
    {"input_h -1", [](D d) { d.set({"input_h"}, all, -1); }},
    {"input_c 1", [](D d) { d.set({"input_c"}, all, 1); }},
    {"input_c -1", [](D d) { d.set({"input_c"}, all, -1); }},
    {"R the identity", [](D d) { d.zero({"params"}, off_the_diagonal), d.set({"params"}, diagonal, 1); }},
    {"R half the identity", [](D d) { d.zero({"params"}, off_the_diagonal), d.set({"params"}, diagonal, 0.5); }},
    {"R diagonal", [](D d) { d.zero({"params"}, off_the_diagonal); }},
    {"W and R the identity",
     [](D d) {
       d.set({"params"}, [](const Place& p, const Chosen& c) {
         return p.part == Part::kW || p.part == Part::kR ? identity(p, c) : 0.25;
       });
     }},
    {"all biases 1", [](D d) { d.set({"params"}, biases, 1); }},
    {"all biases -1", [](D d) { d.set({"params"}, biases, -1); }},
    {"params 1/16", [](D d) { d.set({"params"}, all, 0.0625); }},
    {"params -1/16", [](D d) { d.set({"params"}, all, -0.0625); }},
    {"output_backprop 1", [](D d) { d.set({"output_backprop"}, all, 1); }},
    {"output_h_backprop 1", [](D d) { d.set({"output_h_backprop"}, all, 1); }},
    {"output_c_backprop 1", [](D d) { d.set({"output_c_backprop"}, all, 1); }},
    {"all upstream gradients 1", [](D d) { d.set(kUpstream, all, 1); }},
    {"all upstream gradients -1", [](D d) { d.set(kUpstream, all, -1); }},
    {"output_backprop 1, the others 0", [](D d) { d.set({"output_backprop"}, all, 1), d.zero(kFinal, all); }},
    {"every second element of input subnormal", [](D d) { d.set({"input"}, every_second, d.subnormal()); }},
    {"every second element of input_h subnormal", [](D d) { d.set({"input_h"}, every_second, d.subnormal()); }},
    {"every second element of input_c subnormal", [](D d) { d.set({"input_c"}, every_second, d.subnormal()); }},
    {"every second element of R subnormal", [](D d) { d.set({"params"}, every_second_of_R, d.subnormal()); }},
    {"every second bias subnormal", [](D d) { d.set({"params"}, every_second_bias, d.subnormal()); }},
    {"every second element of output_h_backprop subnormal",
     [](D d) { d.set({"output_h_backprop"}, every_second, d.subnormal()); }},
};

constexpr Structure kLone[] = {
    {"one element of input", [](D d) { d.stand_out("input"); }},
    {"one element of input_h", [](D d) { d.stand_out("input_h"); }},
    {"one element of input_c", [](D d) { d.stand_out("input_c"); }},
    {"one element of params", [](D d) { d.stand_out("params"); }},
    {"one element of output_backprop", [](D d) { d.stand_out("output_backprop"); }},
    {"one element of output_h_backprop", [](D d) { d.stand_out("output_h_backprop"); }},
    {"one element of output_c_backprop", [](D d) { d.stand_out("output_c_backprop"); }},
    {"a sample of input", [](D d) { d.scale({"input"}, one_sample, d.outlying()); }},
    {"a sample of the upstream gradients", [](D d) { d.scale(kUpstream, one_sample, d.outlying()); }},
    {"a direction of output_backprop", [](D d) { d.scale({"output_backprop"}, one_direction, d.outlying()); }},
    {"the last step of output_backprop", [](D d) { d.scale({"output_backprop"}, last_step, d.outlying()); }},
    {"output_h_backprop and output_c_backprop", [](D d) { d.scale(kFinal, all, d.outlying()); }},
};

}  // namespace

Structures cudnn_structures() { return {kBlank, kAlike, kExact, kLone}; }

}  // namespace backgauge::draw_ops
