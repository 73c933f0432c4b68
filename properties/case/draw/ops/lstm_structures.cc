// SPDX-License-Identifier: Apache-2.0
#include "properties/case/draw/ops/lstm.h"

namespace backgauge::draw_ops {
namespace {

using namespace parts;
using D = Draft&;

const Names kUpstream = {"cs_grad", "h_grad"};
const Names kPeepholes = {"wci", "wcf", "wco"};
const Names kAllOfSamples = {"x", "cs_prev", "h_prev", "i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"};
const Names kEverything = {"x",  "cs_prev", "h_prev", "w",  "wci", "wcf", "wco",     "b",     "i",
                           "cs", "f",       "o",      "ci", "co",  "h",   "cs_grad", "h_grad"};

constexpr Structure kBlank[] = {
    {"x 0", [](D d) { d.zero({"x"}, all); }},
    {"a sample of x 0", [](D d) { d.zero({"x"}, one_sample); }},
    {"a step of x 0", [](D d) { d.zero({"x"}, one_step); }},
    {"a feature of x 0", [](D d) { d.zero({"x"}, one_unit); }},
    {"h_prev and cs_prev 0",
     [](D d) {
       d.zero({"h_prev", "cs_prev"}, all);
     }},
    {"h_prev 0", [](D d) { d.zero({"h_prev"}, all); }},
    {"cs_prev 0", [](D d) { d.zero({"cs_prev"}, all); }},
    {"a sample of h_prev and cs_prev 0",
     [](D d) {
       d.zero({"h_prev", "cs_prev"}, one_sample);
     }},
    {"a unit of cs_prev 0", [](D d) { d.zero({"cs_prev"}, one_unit); }},
    {"w 0", [](D d) { d.zero({"w"}, all); }},
    {"rows of w for x 0", [](D d) { d.zero({"w"}, input_weights); }},
    {"rows of w for h_prev 0", [](D d) { d.zero({"w"}, recurrent_weights); }},
    {"a gate of w and b 0",
     [](D d) {
       d.zero({"w", "b"}, one_gate);
     }},
    {"all gates of w except one 0", [](D d) { d.zero({"w"}, other_gates); }},
    {"a gate of the rows of w for h_prev 0", [](D d) { d.zero({"w"}, recurrent_weights_of_gate); }},
    {"a unit of w 0", [](D d) { d.zero({"w"}, one_unit); }},
    {"b 0", [](D d) { d.zero({"b"}, all); }},
    {"wci 0", [](D d) { d.zero({"wci"}, all); }},
    {"wcf 0", [](D d) { d.zero({"wcf"}, all); }},
    {"wco 0", [](D d) { d.zero({"wco"}, all); }},
    {"wci and wcf 0",
     [](D d) {
       d.zero({"wci", "wcf"}, all);
     }},
    {"wci, wcf and wco 0", [](D d) { d.zero(kPeepholes, all); }},
    {"a unit of wci, wcf and wco 0", [](D d) { d.zero(kPeepholes, one_unit); }},
    {"i 0", [](D d) { d.zero({"i"}, all); }, true},
    {"f 0", [](D d) { d.zero({"f"}, all); }, true},
    {"o 0", [](D d) { d.zero({"o"}, all); }, true},
    {"ci 0", [](D d) { d.zero({"ci"}, all); }, true},
    {"co 0", [](D d) { d.zero({"co"}, all); }, true},
    {"cs 0", [](D d) { d.zero({"cs"}, all); }, true},
    {"cs and co 0",
     [](D d) {
       d.zero({"cs", "co"}, all);
     },
     true},
    {"h 0", [](D d) { d.zero({"h"}, all); }, true},
    {"i and ci 0",
     [](D d) {
       d.zero({"i", "ci"}, all);
     },
     true},
    {"a sample of f 0", [](D d) { d.zero({"f"}, one_sample); }, true},
    {"a unit of i 0", [](D d) { d.zero({"i"}, one_unit); }, true},
    {"a step of o 0", [](D d) { d.zero({"o"}, one_step); }, true},
    {"f 0 at the last step", [](D d) { d.zero({"f"}, last_step); }, true},
    {"a unit of all saved tensors 0",
     [](D d) {
       d.zero({"i", "cs", "f", "o", "ci", "co", "h"}, one_unit);
     },
     true},
    {"cs_grad 0", [](D d) { d.zero({"cs_grad"}, all); }},
    {"h_grad 0", [](D d) { d.zero({"h_grad"}, all); }},
    {"cs_grad and h_grad 0", [](D d) { d.zero(kUpstream, all); }},
    {"cs_grad 0 except at the last step", [](D d) { d.zero({"cs_grad"}, before_last_step); }},
    {"h_grad 0 except at the last step", [](D d) { d.zero({"h_grad"}, before_last_step); }},
    {"cs_grad and h_grad 0 except at the last step", [](D d) { d.zero(kUpstream, before_last_step); }},
    {"cs_grad and h_grad 0 except at the first step", [](D d) { d.zero(kUpstream, after_first_step); }},
    {"cs_grad and h_grad 0 except at one step", [](D d) { d.zero(kUpstream, other_steps); }},
    {"cs_grad and h_grad 0 at the last step", [](D d) { d.zero(kUpstream, last_step); }},
    {"cs_grad and h_grad 0 at the first step", [](D d) { d.zero(kUpstream, first_step); }},
    {"cs_grad 0, h_grad 0 except at the last step",
     [](D d) { d.zero({"cs_grad"}, all), d.zero({"h_grad"}, before_last_step); }},
    {"a sample of cs_grad and h_grad 0", [](D d) { d.zero(kUpstream, one_sample); }},
    {"cs_grad and h_grad 0 except for one sample", [](D d) { d.zero(kUpstream, other_samples); }},
    {"a unit of cs_grad and h_grad 0", [](D d) { d.zero(kUpstream, one_unit); }},
    {"cs_grad and h_grad 0 except for one unit", [](D d) { d.zero(kUpstream, other_units); }},
    {"h_grad 0 except for one sample", [](D d) { d.zero({"h_grad"}, other_samples); }},
    {"a sample 0 in every tensor", [](D d) { d.zero(kAllOfSamples, one_sample); }, true},
    {"x, h_prev and cs_prev 0",
     [](D d) {
       d.zero({"x", "h_prev", "cs_prev"}, all);
     }},
    {"w and b 0",
     [](D d) {
       d.zero({"w", "b"}, all);
     }},
};

constexpr Structure kAlike[] = {
    {"all samples alike", [](D d) { d.alike(kAllOfSamples, first_sample); }},
    {"two samples alike", [](D d) { d.alike(kAllOfSamples, two_samples); }},
    {"all samples of x alike", [](D d) { d.alike({"x"}, first_sample); }},
    {"all samples of cs_grad and h_grad alike", [](D d) { d.alike(kUpstream, first_sample); }},
    {"all samples of h_prev and cs_prev alike",
     [](D d) {
       d.alike({"h_prev", "cs_prev"}, first_sample);
     }},
    {"all steps of x alike", [](D d) { d.alike({"x"}, same_steps); }},
    {"all steps of cs_grad and h_grad alike", [](D d) { d.alike(kUpstream, same_steps); }},
    {"all steps alike",
     [](D d) {
       d.alike({"x", "i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"}, same_steps);
     },
     true},
    {"all units alike", [](D d) { d.alike(kEverything, first_unit); }, true},
    {"two units alike", [](D d) { d.alike(kEverything, two_units); }, true},
    {"all gates of w and b alike",
     [](D d) {
       d.alike({"w", "b"}, first_gate);
     }},
    {"two gates of w and b alike",
     [](D d) {
       d.alike({"w", "b"}, two_gates);
     }},
    {"all units of wci, wcf and wco alike", [](D d) { d.alike(kPeepholes, first_unit); }},
    {"wcf as wci", [](D d) { d.copy("wcf", "wci"); }},
    {"wco as wci", [](D d) { d.copy("wco", "wci"); }},
    {"wcf and wco as wci", [](D d) { d.copy("wcf", "wci"), d.copy("wco", "wci"); }},
    {"x as h_prev", [](D d) { d.copy("x", "h_prev"); }},
    {"cs_prev as h_prev", [](D d) { d.copy("cs_prev", "h_prev"); }},
    {"cs as cs_prev", [](D d) { d.copy("cs", "cs_prev"); }, true},
    {"h as x", [](D d) { d.copy("h", "x"); }, true},
    {"h as h_prev", [](D d) { d.copy("h", "h_prev"); }, true},
    {"cs_grad as h_grad", [](D d) { d.copy("cs_grad", "h_grad"); }},
    {"f as i", [](D d) { d.copy("f", "i"); }, true},
    {"o as f", [](D d) { d.copy("o", "f"); }, true},
    {"f and o as i", [](D d) { d.copy("f", "i"), d.copy("o", "i"); }, true},
    {"co as ci", [](D d) { d.copy("co", "ci"); }, true},
    {"co as cs", [](D d) { d.copy("co", "ci"), d.copy("cs", "co"); }, true},
    {"rows of w for h_prev symmetric", [](D d) { d.alike({"w"}, symmetric); }},
    {"w the same for h_prev as for x", [](D d) { d.alike({"w"}, [](Place p) { return p.part = Part::kW, p; }); }},
};

constexpr double identity(const Place& p, const Chosen&) { return p.unit == p.column ? 1 : 0; }
constexpr double one_hot(const Place& p, const Chosen& c) { return p.unit == c.unit ? 1 : 0; }
constexpr double signs(const Place& p, const Chosen&) { return (p.step + p.sample + p.unit) % 2 == 0 ? 1 : -1; }

constexpr Structure kExact[] = {
    {"x 1", [](D d) { d.set({"x"}, all, 1); }},
    {"x one-hot", [](D d) { d.set({"x"}, one_hot); }},
    {"x 1 and -1", [](D d) { d.set({"x"}, signs); }},
    {"h_prev 1", [](D d) { d.set({"h_prev"}, all, 1); }},
    {"h_prev -1", [](D d) { d.set({"h_prev"}, all, -1); }},
    {"cs_prev 1", [](D d) { d.set({"cs_prev"}, all, 1); }},
    {"cs_prev -1", [](D d) { d.set({"cs_prev"}, all, -1); }},
    {"cs_prev 3 and -3",
     [](D d) { d.set({"cs_prev"}, [](const Place& p, const Chosen& c) { return 3 * signs(p, c); }); }},
    {"b 1", [](D d) { d.set({"b"}, all, 1); }},
    {"b -1", [](D d) { d.set({"b"}, all, -1); }},
    {"w the identity", [](D d) { d.set({"w"}, identity); }},
    {"w 1/16", [](D d) { d.set({"w"}, all, 0.0625); }},
    {"w -1/16", [](D d) { d.set({"w"}, all, -0.0625); }},
    {"wci 1", [](D d) { d.set({"wci"}, all, 1); }},
    {"wcf 1", [](D d) { d.set({"wcf"}, all, 1); }},
    {"wco 1", [](D d) { d.set({"wco"}, all, 1); }},
    {"wci, wcf and wco 1", [](D d) { d.set(kPeepholes, all, 1); }},
    {"wci, wcf and wco -1", [](D d) { d.set(kPeepholes, all, -1); }},
    {"i 1", [](D d) { d.set({"i"}, all, 1); }, true},
    {"i 1/2", [](D d) { d.set({"i"}, all, 0.5); }, true},
    {"f 1", [](D d) { d.set({"f"}, all, 1); }, true},
    {"f 1/2", [](D d) { d.set({"f"}, all, 0.5); }, true},
    {"o 1", [](D d) { d.set({"o"}, all, 1); }, true},
    {"o 1/2", [](D d) { d.set({"o"}, all, 0.5); }, true},
    {"ci 1", [](D d) { d.set({"ci"}, all, 1); }, true},
    {"ci -1", [](D d) { d.set({"ci"}, all, -1); }, true},
    {"co 1", [](D d) { d.set({"co"}, all, 1); }, true},
    {"co -1", [](D d) { d.set({"co"}, all, -1); }, true},
    {"i, f and o 1/2",
     [](D d) {
       d.set({"i", "f", "o"}, all, 0.5);
     },
     true},
    {"i, f and o 1",
     [](D d) {
       d.set({"i", "f", "o"}, all, 1);
     },
     true},
    {"f 1, i 0", [](D d) { d.set({"f"}, all, 1), d.zero({"i"}, all); }, true},
    {"f 0, i 1", [](D d) { d.zero({"f"}, all), d.set({"i"}, all, 1); }, true},
    {"cs at the clip", [](D d) { d.set({"cs"}, all, d.clip()); }, true},
    {"cs at minus the clip", [](D d) { d.set({"cs"}, all, -d.clip()); }, true},
    {"a unit of cs at the clip", [](D d) { d.set({"cs"}, one_unit, d.clip()); }, true},
    {"h 1", [](D d) { d.set({"h"}, all, 1); }, true},
    {"h_grad 1", [](D d) { d.set({"h_grad"}, all, 1); }},
    {"cs_grad 1", [](D d) { d.set({"cs_grad"}, all, 1); }},
    {"cs_grad and h_grad 1", [](D d) { d.set(kUpstream, all, 1); }},
    {"h_grad 1, cs_grad 0", [](D d) { d.set({"h_grad"}, all, 1), d.zero({"cs_grad"}, all); }},
    {"cs_grad and h_grad -1", [](D d) { d.set(kUpstream, all, -1); }},
    {"every second element of x subnormal", [](D d) { d.set({"x"}, every_second, d.subnormal()); }},
    {"every second element of h_prev subnormal", [](D d) { d.set({"h_prev"}, every_second, d.subnormal()); }},
    {"every second element of cs_prev subnormal", [](D d) { d.set({"cs_prev"}, every_second, d.subnormal()); }},
    {"every second element of cs_grad subnormal", [](D d) { d.set({"cs_grad"}, every_second, d.subnormal()); }},
    {"every second element of wci, wcf and wco subnormal", [](D d) { d.set(kPeepholes, every_second, d.subnormal()); }},
    {"every second element of i subnormal", [](D d) { d.set({"i"}, every_second, d.subnormal()); }, true},
    {"every second element of f subnormal", [](D d) { d.set({"f"}, every_second, d.subnormal()); }, true},
    {"every second element of ci subnormal", [](D d) { d.set({"ci"}, every_second, d.subnormal()); }, true},
    {"every second element of w subnormal", [](D d) { d.set({"w"}, every_second, d.subnormal()); }},
};

constexpr Structure kLone[] = {
    {"one element of x", [](D d) { d.stand_out("x"); }},
    {"one element of h_prev", [](D d) { d.stand_out("h_prev"); }},
    {"one element of cs_prev", [](D d) { d.stand_out("cs_prev"); }},
    {"one element of w", [](D d) { d.stand_out("w"); }},
    {"one element of b", [](D d) { d.stand_out("b"); }},
    {"one element of wci", [](D d) { d.stand_out("wci"); }},
    {"one element of wcf", [](D d) { d.stand_out("wcf"); }},
    {"one element of wco", [](D d) { d.stand_out("wco"); }},
    {"one element of cs", [](D d) { d.stand_out("cs"); }, true},
    {"one element of cs_grad", [](D d) { d.stand_out("cs_grad"); }},
    {"one element of h_grad", [](D d) { d.stand_out("h_grad"); }},
    {"a sample of x", [](D d) { d.scale({"x"}, one_sample, d.outlying()); }},
    {"a unit of cs_prev", [](D d) { d.scale({"cs_prev"}, one_unit, d.outlying()); }},
    {"a sample of cs_grad and h_grad", [](D d) { d.scale(kUpstream, one_sample, d.outlying()); }},
    {"a unit of cs_grad and h_grad", [](D d) { d.scale(kUpstream, one_unit, d.outlying()); }},
    {"the last step of cs_grad and h_grad", [](D d) { d.scale(kUpstream, last_step, d.outlying()); }},
};

}  // namespace

Structures lstm_structures() { return {kBlank, kAlike, kExact, kLone}; }

}  // namespace backgauge::draw_ops
