// SPDX-License-Identifier: Apache-2.0
// Law: One NaN in an upstream gradient, at one step of one sample and one unit, shows in everything that depends on
// it and nowhere else: in the sample's input gradients at this and earlier steps, and in the gradients of all
// weights of the unit. Other samples and later steps keep their bits.
// Kind: exact: the sets of elements are compared.
// Catches: NaN dropped by a maximum, a comparison or a skipped product; samples that influence each other; masking
// by multiplication; gradients that move with time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/judge/compare/compare.h"
#include "properties/laws/agreement.h"
#include "properties/laws/answer.h"
#include "properties/laws/portion.h"
#include "properties/laws/subnet.h"

namespace backgauge {
namespace nan_stays_in_its_sample_law {
namespace {

// A relu may or may not pass on a NaN: semantics.md 8. In a second layer, the output of one direction would enter both
// directions, and a dropped element may be skipped.
Case about(Case c) {
  c = with_finite_values(c);
  c.B = std::max<std::int64_t>(c.B, 1);
  c.dropout = 0;
  c.T = std::max<std::int64_t>(c.T, 1);
  c.seq_len_max = std::max<std::int64_t>(c.seq_len_max, 1);
  if (c.rnn_mode == BACKGAUGE_RNN_RELU) c.rnn_mode = BACKGAUGE_RNN_TANH;
  if (c.direction == BACKGAUGE_BIDIRECTIONAL) c.layers = 1;
  return c;
}

enum class Effect { kNan, kUnchanged, kEither };

// The position of the NaN, and its effect on each element of an output.
class Spread {
 public:
  Spread(const Case& c, const Problem& problem) : c_(c), problem_(problem), e_(problem.extents) {
    const std::uint64_t seed = c.seed;
    const std::int64_t steps = steps_taken(c);
    direction_ = static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(e_.D));
    step_ = static_cast<std::int64_t>(seed / 2 % static_cast<std::uint64_t>(steps));
    sample_ = static_cast<std::int64_t>(seed / 64 % static_cast<std::uint64_t>(c.B));
    unit_ = static_cast<std::int64_t>(seed / 512 % static_cast<std::uint64_t>(c.H));
    first_step_ = step_ == (direction_ == 0 ? 0 : steps - 1);
  }

  void plant(Problem& problem) const {
    Tensor& tensor = input(problem, spec_of(c_.op).input(Role::kUpstream).name);
    const std::int64_t width = e_.D * e_.H;
    tensor.values[(step_ * e_.B + sample_) * width + direction_ * e_.H + unit_] = std::nan("");
  }

  Effect of(std::string_view name, const std::vector<std::int64_t>& index) const {
    const TensorSpec& spec = tensor_spec(c_.op, name);
    switch (spec.role) {
      case Role::kData: return of_data(index);
      case Role::kState: return of_state(index, false);
      case Role::kCellState: return of_state(index, true);
      case Role::kGates: return index[0] == sample_ ? own(index[1] % e_.H) : Effect::kUnchanged;
      case Role::kPeephole: return e_.peephole ? of_weight(index[0]) : Effect::kUnchanged;
      case Role::kWeight: return spec.has_gate_blocks() ? of_weight(index.back() % e_.H) : of_parameter(index[0]);
      case Role::kBias: return of_weight(index.back() % e_.H);
      default: return Effect::kUnchanged;  // of the forward
    }
  }

 private:
  bool is_later(std::int64_t step) const { return direction_ == 0 ? step > step_ : step < step_; }

  Effect of_data(const std::vector<std::int64_t>& index) const {
    if (index[1] != sample_ || is_later(index[0])) return Effect::kUnchanged;
    const bool no_matrix = e_.L == 1 && skips_input(c_);
    return index[0] == step_ && no_matrix ? own(index[2]) : Effect::kNan;
  }

  // States are [B, H] or [L * D, B, H]. At the first step of the last layer, the gradient of cs depends on the unit
  // alone; that of h is a product with all gates.
  Effect of_state(const std::vector<std::int64_t>& index, bool is_cell_state) const {
    const std::int64_t net = index.size() == 3 ? index[0] : 0, layer = net / e_.D, direction = net % e_.D;
    if (direction != direction_ || index[index.size() - 2] != sample_) return Effect::kUnchanged;
    return first_step_ && layer + 1 == e_.L && is_cell_state ? own(index.back()) : Effect::kNan;
  }

  Effect own(std::int64_t unit) const { return unit == unit_ ? Effect::kNan : Effect::kUnchanged; }

  // After several steps the NaN affects all units of the sample; at the first step only its own.
  Effect of_weight(std::int64_t unit) const { return first_step_ ? own(unit) : Effect::kNan; }

  Effect of_parameter(std::int64_t place) const {
    const RnnParams layout = layout_of(problem_);
    const std::int64_t H = e_.H;
    for (std::int64_t layer = 0; layer < e_.L; ++layer) {
      for (std::int64_t direction = 0; direction < e_.D; ++direction) {
        const std::int64_t width = layout.matrix_input(layer), rows = layout.gates * H;
        const auto row_in = [&](std::int64_t begin, std::int64_t columns) -> std::int64_t {
          return columns > 0 && place >= begin && place < begin + rows * columns ? (place - begin) / columns : -1;
        };
        for (const std::int64_t row :
             {row_in(layout.W(layer, direction, 0), width), row_in(layout.R(layer, direction, 0), H),
              row_in(layout.bW(layer, direction, 0), 1), row_in(layout.bR(layer, direction, 0), 1)}) {
          if (row < 0) continue;
          if (direction != direction_) return Effect::kUnchanged;
          return layer + 1 == e_.L ? of_weight(row % H) : Effect::kNan;
        }
      }
    }
    return Effect::kEither;
  }

  const Case& c_;
  const Problem& problem_;
  const Extents& e_;
  std::int64_t direction_, step_, sample_, unit_;
  bool first_step_;
};

Finding check(const backgauge_implementation& implementation, const Case& c) {
  if (claims_of(implementation, c.op)->determinism[c.dtype] == BACKGAUGE_NOT_DETERMINISTIC) {
    return {Outcome::kSaysNothing, "determinism is not claimed"};
  }
  Problem problem = filled(c).problem;
  const auto clean = exactly(answer(implementation, problem));
  const Spread spread(c, problem);
  Problem poisoned = problem;
  spread.plant(poisoned);
  Agreement agreement(implementation, c);
  for (const Wanted& got : exactly(answer(implementation, poisoned))) {
    Wanted expected = named(clean, got.name);
    for (std::size_t k = 0; k < expected.value.size(); ++k) {
      const Effect effect = spread.of(got.name, index_of(got.shape, static_cast<std::int64_t>(k)));
      if (effect != Effect::kUnchanged) expected.value[k] = std::numeric_limits<long double>::quiet_NaN();
      if (effect == Effect::kEither) expected.allowed[k] = std::numeric_limits<double>::infinity();
    }
    agreement.expect(got, expected);
  }
  return agreement.finding();
}

}  // namespace
}  // namespace nan_stays_in_its_sample_law

Law nan_stays_in_its_sample() {
  using namespace nan_stays_in_its_sample_law;
  return {"M23",    "NanStaysInItsSample", "one upstream NaN shows in everything that depends on it and nowhere else",
          every_op, Sizes::kSmall,         about,
          check};
}

}  // namespace backgauge
