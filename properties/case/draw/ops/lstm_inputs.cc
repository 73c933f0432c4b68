// SPDX-License-Identifier: Apache-2.0
// First everything is drawn, including the saved tensors. Then a forward pass overwrites the steps of the saved tensors
// that it computes, so that the steps beyond seq_len_max hold plausible values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/case/draw/forward.h"
#include "properties/case/draw/ops/lstm.h"
#include "properties/case/line/shaped_problem.h"
#include "reference/contract/storage.h"

namespace backgauge::draw_ops {
namespace {

// Multiplications of a forward pass, about two seconds of plain loops. Above it, saved tensors are drawn independently.
constexpr double kLargestForward = 0x1p30;

class LstmDraw {
 public:
  LstmDraw(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem)
      : crew_(crew), c_(c), rules_(rules), problem_(problem) {}

  void run(DataFacts& facts) {
    draw_weights();
    draw_states();
    draw_saved();
    for (Tensor& tensor : problem_.inputs) {
      if (is_upstream(role_of(tensor))) fill_upstream(crew_, c_, rules_, tensor);
    }
    if (c_.data == DataProfile::kTraining) keep_last_cs_grad();
    if (const Structure* structure = structure_of(c_)) {
      Draft draft(c_, problem_);
      structure->impose(draft);
    }
    for (Tensor& tensor : problem_.inputs) finish(crew_, c_, tensor);
    const bool affordable = c_.data == DataProfile::kTraining || forward_products() <= kLargestForward;
    facts.consistent_saved = rules_.consistent && affordable && has_what_forward_reads();
    if (facts.consistent_saved) run_forward_pass();
  }

 private:
  bool is_cell() const { return !traits_of(c_.op).has_steps; }
  std::int64_t steps() const { return steps_taken(c_); }
  Role role_of(const Tensor& tensor) const { return spec_of(c_.op, tensor).role; }

  Tensor& at(std::string_view name) {
    return *std::ranges::find(problem_.inputs, name,
                              [](const Tensor& tensor) { return std::string_view(tensor.name); });
  }

  double forward_products() const {
    return static_cast<double>(steps()) * static_cast<double>(c_.B) * static_cast<double>(c_.I + c_.H) * 4 *
           static_cast<double>(c_.H);
  }

  // Large tensors hold only the elements that the gradient reads, and the gradient of the cell reads no weights.
  bool has_what_forward_reads() {
    const auto whole = [&](const char* name) {
      return static_cast<std::int64_t>(at(name).values.size()) == element_count(at(name).shape);
    };
    return !is_cell() || (whole("x") && whole("h_prev") && whole("w") && whole("b"));
  }

  void draw_weights() {
    const std::int64_t H = c_.H;
    Tensor &w = at("w"), &b = at("b");
    fill_normal(crew_, c_, w, rules_.gain / std::sqrt(static_cast<double>(c_.I + H) * rules_.density));
    thin_out(crew_, c_, rules_.density, w, 0, static_cast<std::int64_t>(w.values.size()));
    fill_normal(crew_, c_, b, rules_.bias);
    for (Tensor* tensor : {&w, &b}) {
      each_value(crew_, *tensor, [&](std::size_t k, double& value) {
        value *= kGateScale[static_cast<std::int64_t>(k) % (4 * H) / H];
      });
    }
    const auto forget = static_cast<std::int64_t>(traits_of(c_.op).gates.find('f'));
    if (rules_.forget_bias) {
      for (std::int64_t j = 0; j < H; ++j) b.values[forget * H + j] += 1;
    }
    for (Tensor& tensor : problem_.inputs) {
      if (role_of(tensor) == Role::kPeephole) fill_normal(crew_, c_, tensor, rules_.bias);
    }
  }

  void draw_states() {
    fill_normal(crew_, c_, at("x"), 1);
    fill_bounded(crew_, c_, at("h_prev"), 1);
    if (c_.data == DataProfile::kLarge) {
      fill_large_states(crew_, c_, at("cs_prev"));
    } else {
      fill_normal(crew_, c_, at("cs_prev"), 1);
    }
  }

  // Open intervals that stay open when rounded to half: 1/64 is far above its unit roundoff.
  void draw_saved() {
    for (const char* name : {"i", "f", "o", "ci", "co"}) {
      Tensor& tensor = at(name);
      const bool gate = tensor.name.size() == 1;
      const RandomStream stream(c_.seed, name);
      each_value(crew_, tensor, [&](std::size_t k, double& value) {
        const double u = stream.uniform(k);
        value = gate ? 0x1p-6 + 0x1.fp-1 * u : 0x1.f8p-1 * (2 * u - 1);
      });
      if (rules_.exact_gates) place_exact_values(tensor, gate);
    }
    fill_normal(crew_, c_, at("cs"), 1);
    if (!is_cell()) fill_normal(crew_, c_, at("h"), 1);
    if (c_.data == DataProfile::kLarge) {
      Tensor &cs = at("cs"), &co = at("co");
      fill_large_states(crew_, c_, cs);
      each_value(crew_, co, [&](std::size_t k, double& value) { value = std::copysign(1.0, cs.values[k]); });
    }
  }

  // Five elements in eight, so that some products of several gates are not 0.
  void place_exact_values(Tensor& tensor, bool gate) {
    const bool half = c_.dtype == BACKGAUGE_HALF;
    const double below_one = 1 - float_format(c_.dtype).unit_roundoff;
    const double values[] = {0, 1, below_one, half ? 0x1p-14 : 1e-20, half ? 0x1p-24 : 1e-40};
    const RandomStream choice(c_.seed, tensor.name + "/exact"), sign(c_.seed, tensor.name + "/sign");
    each_value(crew_, tensor, [&](std::size_t k, double& value) {
      const std::int64_t which = choice.choice(k, 8);
      if (which < 5) value = values[which] * (gate ? 1 : sign.sign(k));
    });
  }

  // The cell states of an LSTM are an output only after the last step.
  void keep_last_cs_grad() {
    if (is_cell() || c_.seq_len_max == 0) return;
    Tensor& cs_grad = at("cs_grad");
    std::fill_n(cs_grad.values.begin(), (c_.seq_len_max - 1) * c_.B * c_.H, 0.0);
  }

  void run_forward_pass() {
    ForwardInputs in{};
    in.steps = steps();
    in.B = c_.B;
    in.I = c_.I;
    in.H = c_.H;
    in.order = traits_of(c_.op).gates == "icfo" ? GateOrder::kIcfo : GateOrder::kIfco;
    in.forget_bias = is_cell() ? 1 : 0;
    in.cell_clip = round_to(c_.dtype, c_.cell_clip);
    in.use_peephole = c_.use_peephole;
    for (const auto& [member, name] : {std::pair{&ForwardInputs::x, "x"}, std::pair{&ForwardInputs::cs_prev, "cs_prev"},
                                       std::pair{&ForwardInputs::h_prev, "h_prev"}, std::pair{&ForwardInputs::w, "w"},
                                       std::pair{&ForwardInputs::wci, "wci"}, std::pair{&ForwardInputs::wcf, "wcf"},
                                       std::pair{&ForwardInputs::wco, "wco"}, std::pair{&ForwardInputs::b, "b"}}) {
      in.*member = at(name).values.data();
    }
    Saved saved;
    for (const auto& [member, name] :
         {std::pair{&Saved::i, "i"}, std::pair{&Saved::cs, "cs"}, std::pair{&Saved::f, "f"}, std::pair{&Saved::o, "o"},
          std::pair{&Saved::ci, "ci"}, std::pair{&Saved::co, "co"}, std::pair{&Saved::h, "h"}}) {
      if (is_cell() && member == &Saved::h) continue;
      saved.*member = computed(name);
    }
    run_forward(in, saved, crew_);
    for (const std::span<double> made : {saved.i, saved.cs, saved.f, saved.o, saved.ci, saved.co, saved.h}) {
      crew_.over(made.size(),
                 [&](std::size_t first, std::size_t last) { round_all(c_.dtype, made.subspan(first, last - first)); });
    }
  }

  // The elements of a saved tensor that a forward pass computes; large tensors hold only what is read.
  std::span<double> computed(std::string_view name) {
    std::vector<double>& values = at(name).values;
    return std::span(values).first(std::min(values.size(), static_cast<std::size_t>(steps() * c_.B * c_.H)));
  }

  const Crew& crew_;
  const Case& c_;
  const DrawRules& rules_;
  Problem& problem_;
};

}  // namespace

void adapt_lstm(const Case& c, const RandomStream& stream, DrawRules& rules) {
  if (c.data != DataProfile::kSaturated) return;
  rules.exact_gates = stream.choice(4, 2) == 0;
  rules.consistent = !rules.exact_gates;
}

void draw_lstm_inputs(const Crew& crew, const Case& c, const DrawRules& rules, Problem& problem, DataFacts& facts) {
  LstmDraw(crew, c, rules, problem).run(facts);
}

}  // namespace backgauge::draw_ops
