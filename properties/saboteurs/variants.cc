// SPDX-License-Identifier: Apache-2.0
// The list of all variants: the catalogue, operator faults by rule, correct styles.
#include <string_view>
#include <utility>

#include "properties/saboteurs/variant.h"
#include "reference/contract/op_spec.h"

namespace backgauge::saboteurs {
namespace {

enum Ops : std::uint32_t { CELL = 1, BLOCK = 2, RNN = 4 };
constexpr std::pair<Ops, backgauge_op> kOps[] = {
    {CELL, BACKGAUGE_LSTM_BLOCK_CELL_GRAD}, {BLOCK, BACKGAUGE_BLOCK_LSTM_GRAD_V2}, {RNN, BACKGAUGE_CUDNN_RNN_BACKPROP}};

// "A1.cell"
std::string id_for(std::string_view name, Ops op) {
  return std::string(name) + (op == CELL ? ".cell" : op == BLOCK ? ".block" : ".rnn");
}

void add_catalogue(std::vector<Variant>& out) {
  struct Row {
    Fault fault;
    const char* id;
    std::uint32_t ops;
    const char* what;
  };
  constexpr Row kRows[] = {
#define BACKGAUGE_FAULT(id, ops, what) {Fault::k##id, #id, ops, what},
#include "properties/saboteurs/faults.inc"
#undef BACKGAUGE_FAULT
  };
  for (const Row& row : kRows) {
    for (const auto& [bit, op] : kOps) {
      if ((row.ops & bit) == 0) continue;
      Variant variant{.id = id_for(row.id, bit), .group = std::string(1, row.id[0]), .what = row.what, .op = op};
      variant.fault = row.fault;
      out.push_back(std::move(variant));
    }
  }
}

enum class SiteKind { sum, product, sigmoid_slope, tanh_slope, dot, index };
enum class Where { cell, lstm, block, rnn, gru, tanh };

std::uint32_t ops_of(Where where) {
  switch (where) {
    case Where::cell: return CELL | BLOCK | RNN;
    case Where::lstm: return CELL | BLOCK;
    case Where::block: return BLOCK;
    case Where::rnn:
    case Where::gru:
    case Where::tanh: return RNN;
  }
  return 0;
}

struct Rule {
  Change change;
  const char* word;  // in the id
  bool each_operand;
  const char* what;  // after what the operation computes
};

// A product has one sign, a sum has one for each term.
std::vector<Rule> rules_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::sum:
      return {{Change::kDrop, "drop", true, "without its {} term"},
              {Change::kNegate, "negate", true, "with the other sign of its {} term"},
              {Change::kTwice, "twice", true, "with its {} term counted twice"}};
    case SiteKind::product:
      return {{Change::kDrop, "drop", true, "without its {} factor"},
              {Change::kNegate, "negate", false, "with the other sign"},
              {Change::kNext, "next", true, "with another factor in place of its {}"}};
    case SiteKind::sigmoid_slope:
      return {{Change::kConstant, "constant", false, "with 2 in place of 1"},
              {Change::kDrop, "drop", false, "without the factor in brackets"},
              {Change::kNegate, "negate", false, "with + in place of -"}};
    case SiteKind::tanh_slope:
      return {{Change::kConstant, "constant", false, "with 2 in place of 1"},
              {Change::kDrop, "drop", false, "without the square"},
              {Change::kNegate, "negate", false, "with + in place of -"},
              {Change::kTwice, "twice", false, "with the cube in place of the square"}};
    case SiteKind::dot:
      return {{Change::kDrop, "drop", true, "without its {} term"},
              {Change::kNegate, "negate", false, "with the other sign"}};
    case SiteKind::index:
      return {{Change::kUp, "up", false, "one too high"}, {Change::kDown, "down", false, "one too low"}};
  }
  return {};
}

// "without its first term"; of a dot the two operands are its first and its last term.
std::string told(const Rule& rule, SiteKind kind, int operand) {
  constexpr const char* kPlaces[] = {"first", "second", "third", "fourth"};
  std::string text = rule.what;
  if (const std::size_t gap = text.find("{}"); gap != text.npos) {
    text.replace(gap, 2, kind == SiteKind::dot && operand == 1 ? "last" : kPlaces[operand]);
  }
  return text;
}

void add_operator_faults(std::vector<Variant>& out) {
  struct Row {
    Site site;
    const char* name;
    SiteKind kind;
    int operands;
    Where where;
    const char* what;
  };
  constexpr Row kRows[] = {
#define BACKGAUGE_SITE(name, kind, operands, where, what) \
  {Site::k_##name, #name, SiteKind::kind, operands, Where::where, what},
#include "properties/saboteurs/sites.inc"
#undef BACKGAUGE_SITE
  };
  for (const Row& row : kRows) {
    for (const Rule& rule : rules_of(row.kind)) {
      for (int operand = 0; operand < (rule.each_operand ? row.operands : 1); ++operand) {
        for (const auto& [bit, op] : kOps) {
          if ((ops_of(row.where) & bit) == 0) continue;
          const std::string number = rule.each_operand ? std::to_string(operand + 1) : "";
          Variant variant{.id = id_for(std::string(row.name) + "_" + rule.word + number, bit),
                          .group = "operator",
                          .what = std::string(row.what) + " " + told(rule, row.kind, operand),
                          .op = op};
          variant.site = row.site;
          variant.change = rule.change;
          variant.operand = operand;
          out.push_back(std::move(variant));
        }
      }
    }
  }
}

void add_correct(std::vector<Variant>& out, std::string id, std::string what, const Style& style) {
  Variant variant{.id = std::move(id),
                  .group = "correct",
                  .what = std::move(what),
                  .op = BACKGAUGE_LSTM_BLOCK_CELL_GRAD,
                  .kind = Kind::kCorrect};
  variant.style = style;
  out.push_back(std::move(variant));
}

void add_correct_variants(std::vector<Variant>& out) {
  add_correct(out, "forward_sums", "sums from the first term to the last", {});
  add_correct(out, "reverse_sums", "sums from the last term to the first", {.order = SumOrder::kReverse});
  add_correct(out, "pairwise_sums", "sums as balanced trees", {.order = SumOrder::kPairwise});
  add_correct(out, "lanes8", "sums in 8 lanes", {.order = SumOrder::kLanes8});
  add_correct(out, "lanes16", "sums in 16 lanes", {.order = SumOrder::kLanes16});
  add_correct(out, "shuffled_sums", "sums in an order of their own", {.order = SumOrder::kShuffled});
  add_correct(out, "kahan_sums", "compensated sums", {.order = SumOrder::kKahan});
  add_correct(out, "double_sums", "sums in double", {.order = SumOrder::kWide});
  add_correct(out, "fma", "fused multiply-add", {.fma = true});
  add_correct(out, "lanes8_fma", "fused multiply-add in 8 lanes", {.order = SumOrder::kLanes8, .fma = true});
  add_correct(out, "sigmoid_difference", "s - s s as the slope of a sigmoid",
              {.sigmoid_slope = SigmoidSlope::kDifference});
  add_correct(out, "tanh_product", "(1 - t)(1 + t) as the slope of tanh", {.tanh_slope = TanhSlope::kProduct});
  add_correct(out, "tanh_fma", "fma(-t, t, 1) as the slope of tanh", {.tanh_slope = TanhSlope::kFusedMultiplyAdd});
  add_correct(out, "slopes_as_factors", "g (1 - s) s and (g + g t)(1 - t): a gradient through an activation",
              {.through_slope = ThroughSlope::kFactors});
  add_correct(out, "slopes_multiplied_out", "g s - g s s and g - g t t: a gradient through an activation",
              {.through_slope = ThroughSlope::kDifferences});
  add_correct(out, "blend_interpolated", "GRU: n + z (h - n), dh - dh z", {.blend = Blend::kInterpolated});
  add_correct(out, "blend_multiplied_out", "GRU: dh - dh z, dh h - dh n", {.blend = Blend::kMultipliedOut});
  add_correct(out, "factors_from_the_right", "short sums and products from the right",
              {.factors_from_the_right = true});
  add_correct(out, "merged_weight_sums", "weight gradients as one sum over steps and examples",
              {.merged_weight_sums = true});
  add_correct(out, "time_blocks", "weight gradients as one sum for every 2 steps", {.time_block = 2});
  add_correct(out, "padded_gates", "gates of a unit side by side, rows padded", {.padded_gates = true});
  add_correct(out, "threads2", "partial sums of 2 shares of the batch", {.threads = 2});
  add_correct(out, "threads7", "partial sums of 7 shares of the batch", {.threads = 7});
  add_correct(out, "flushed", "subnormals flushed, FTZ and DAZ", {.flush_subnormals = true});
  add_correct(out, "recomputed_co", "co recomputed from cs, declared", {.recompute_co = true});
  add_correct(out, "recomputed_co_by_exp", "co recomputed from cs with exp, declared",
              {.recompute_co = true, .tanh_by_exp = true});
  add_correct(out, "sigmoid_by_tanh", "0.5 tanh(x / 2) + 0.5 as the sigmoid", {.sigmoid_by_tanh = true});
  add_correct(out, "tanh_by_exp", "tanh from exp and expm1", {.tanh_by_exp = true});
  add_correct(out, "in_place", "intermediate results in the memory of outputs", {.in_place = true});
  add_correct(out, "written_twice", "outputs written twice", {.written_twice = true});
  add_correct(out, "in_double", "computed in double, rounded once", {.wide = true});
  add_correct(out, "half_carries", "half: what passes from step to step rounded, class A'",
              {.half_class = BACKGAUGE_CLASS_A_PRIME});
  add_correct(out, "half_everywhere", "half: every operation rounded, class B", {.half_class = BACKGAUGE_CLASS_B});
  add_correct(out, "half_everywhere_pairwise", "half: every operation rounded, sums as balanced trees, class B",
              {.order = SumOrder::kPairwise, .half_class = BACKGAUGE_CLASS_B});
  add_correct(out, "half_carries_lanes8_fma", "half: what passes from step to step rounded, fused in 8 lanes, class A'",
              {.order = SumOrder::kLanes8, .fma = true, .half_class = BACKGAUGE_CLASS_A_PRIME});
  add_correct(
      out, "half_everywhere_as_factors", "half: every operation rounded, slopes as factors, GRU interpolated, class B",
      {.through_slope = ThroughSlope::kFactors, .blend = Blend::kInterpolated, .half_class = BACKGAUGE_CLASS_B});
  add_correct(out, "half_everywhere_multiplied_out",
              "half: every operation rounded, slopes and blend multiplied out, sums in 8 lanes, class B",
              {.order = SumOrder::kLanes8,
               .through_slope = ThroughSlope::kDifferences,
               .blend = Blend::kMultipliedOut,
               .half_class = BACKGAUGE_CLASS_B});
  add_correct(out, "tf32", "operands of products of matrices in TF32, declared", {.contract = BACKGAUGE_FP32_TF32});
  add_correct(out, "bf16", "operands of products of matrices in bfloat16, declared",
              {.contract = BACKGAUGE_BF16_ACC32});
  add_correct(out, "fp32_3xtf32", "operands of products of matrices in two parts of TF32, declared",
              {.contract = BACKGAUGE_FP32_3XTF32});
  add_correct(out, "all_at_once", "padded gates, merged sums in 16 lanes of 7 shares, fused, factors from the right",
              {.order = SumOrder::kLanes16,
               .fma = true,
               .tanh_slope = TanhSlope::kFusedMultiplyAdd,
               .factors_from_the_right = true,
               .merged_weight_sums = true,
               .threads = 7,
               .padded_gates = true});
}

}  // namespace

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> out;
    add_catalogue(out);
    add_operator_faults(out);
    add_correct_variants(out);
    return out;
  }();
  return all;
}

}  // namespace backgauge::saboteurs
