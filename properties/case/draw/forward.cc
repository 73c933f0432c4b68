// SPDX-License-Identifier: Apache-2.0
// Each thread computes some of the units, from their gates to their outputs. All wait for each other after each step,
// because the next one reads all outputs.
#include "properties/case/draw/forward.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <vector>

#include "properties/case/draw/elementary.h"
#include "properties/case/draw/panel_product.h"

namespace backgauge {
namespace {

// The products of inputs are made for several steps at once, up to this number of rows, so that weights are read less
// often than once a step. 128 rows of 1,024 values are 1 MiB, which a second level holds.
constexpr std::int64_t kMostRowsAtOnce = 128;

// Rows of a panel in one product: 64 KiB.
constexpr std::int64_t kDepthAtOnce = 512;

class Forward {
 public:
  Forward(const ForwardInputs& in, const Saved& saved, const Crew& crew)
      : in_(in),
        saved_(saved),
        crew_(crew),
        panels_((in.H + kPanelUnits - 1) / kPanelUnits),
        steps_at_once_(std::clamp<std::int64_t>(kMostRowsAtOnce / std::max<std::int64_t>(in.B, 1), 1,
                                                std::max<std::int64_t>(in.steps, 1))),
        weights_(std::make_unique_for_overwrite<double[]>(size(panels_ * (in.I + in.H) * kPanelColumns))),
        gates_(std::make_unique_for_overwrite<double[]>(size(steps_at_once_ * in.B * panels_ * kPanelColumns))) {
    if (in.steps == 0) return;  // nothing is read
    for (int k = 0; k < 2; ++k) h_[k].resize(size(in.B * in.H));
    cs_.assign(in.cs_prev, in.cs_prev + in.B * in.H);
    std::copy(in.h_prev, in.h_prev + in.B * in.H, h_[0].begin());
  }

  void run() {
    const auto workers = static_cast<int>(std::clamp<std::int64_t>(panels_, 1, crew_.threads()));
    bool ending = false;
    std::atomic<bool> stopped{false};
    // All threads end after the same step.
    std::barrier together(workers, [&]() noexcept { ending = stopped; });
    Crew::together(workers, [&](int worker) {
      const std::int64_t first = panels_ * worker / workers, last = panels_ * (worker + 1) / workers;
      for (std::int64_t t = 0; t < in_.steps && !ending; ++t) {
        if (!step(t, first, last)) stopped = true;
        together.arrive_and_wait();
      }
    });
    if (ending) throw Stopped();
  }

 private:
  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
  double* panel(std::int64_t number) const { return weights_.get() + number * (in_.I + in_.H) * kPanelColumns; }

  // The place of (gate, unit) in its panel.
  static std::int64_t place(std::int64_t gate, std::int64_t unit) { return gate * kPanelUnits + unit % kPanelUnits; }

  // Step t of some panels; false if it was stopped.
  bool step(std::int64_t t, std::int64_t first, std::int64_t last) {
    for (std::int64_t number = first; number < last; ++number) {
      if (t == 0) pack(number);
      const std::int64_t at_once = t % steps_at_once_;
      if (at_once == 0) {
        const std::int64_t rows = std::min(steps_at_once_, in_.steps - t) * in_.B;
        start_gates(number, rows);
        if (!add(number, 0, in_.x + t * in_.B * in_.I, in_.I, rows, 0)) return false;
      }
      if (!add(number, in_.I, h_[t % 2].data(), in_.H, in_.B, at_once * in_.B)) return false;
      for (std::int64_t row = 0; row < in_.B; ++row) cells(t, number, row, at_once * in_.B + row);
    }
    return true;
  }

  // Units that do not exist have weights of 0.
  void pack(std::int64_t number) const {
    double* out = panel(number);
    for (std::int64_t k = 0; k < in_.I + in_.H; ++k, out += kPanelColumns) {
      for (std::int64_t gate = 0; gate < 4; ++gate) {
        for (std::int64_t unit = number * kPanelUnits; unit < (number + 1) * kPanelUnits; ++unit) {
          out[place(gate, unit)] = unit < in_.H ? in_.w[(k * 4 + gate) * in_.H + unit] : 0;
        }
      }
    }
  }

  double* gates(std::int64_t number, std::int64_t row) const {
    return gates_.get() + (number * steps_at_once_ * in_.B + row) * kPanelColumns;
  }

  void start_gates(std::int64_t number, std::int64_t rows) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      double* out = gates(number, row);
      for (std::int64_t gate = 0; gate < 4; ++gate) {
        for (std::int64_t unit = number * kPanelUnits; unit < (number + 1) * kPanelUnits; ++unit) {
          out[place(gate, unit)] = unit < in_.H ? in_.b[gate * in_.H + unit] : 0;
        }
      }
    }
  }

  // Adds the product of `values` [rows, depth] and the weights from row `from` on to gates from `row` on.
  bool add(std::int64_t number, std::int64_t from, const double* values, std::int64_t depth, std::int64_t rows,
           std::int64_t row) const {
    for (std::int64_t k = 0; k < depth; k += kDepthAtOnce) {
      if (crew_.stopping()) return false;
      add_panel_product({values + k, depth, panel(number) + (from + k) * kPanelColumns, rows,
                         std::min(kDepthAtOnce, depth - k), gates(number, row)});
    }
    return true;
  }

  void cells(std::int64_t t, std::int64_t number, std::int64_t row, std::int64_t gates_row) {
    const bool icfo = in_.order == GateOrder::kIcfo;
    const double* made = gates(number, gates_row);
    const std::int64_t end = std::min(in_.H, (number + 1) * kPanelUnits);
    for (std::int64_t j = number * kPanelUnits; j < end; ++j) {
      const auto gate = [&](std::int64_t block) { return made[place(block, j)]; };
      double& state = cs_[size(row * in_.H + j)];
      const double cs_old = state;
      const double peep_i = in_.use_peephole ? cs_old * in_.wci[j] : 0;
      const double peep_f = in_.use_peephole ? cs_old * in_.wcf[j] : 0;
      const double i = portable::sigmoid(gate(0) + peep_i);
      const double ci = portable::tanh(gate(icfo ? 1 : 2));
      const double f = portable::sigmoid(gate(icfo ? 2 : 1) + in_.forget_bias + peep_f);
      double cs = i * ci + f * cs_old;
      if (in_.cell_clip > 0) cs = std::clamp(cs, -in_.cell_clip, in_.cell_clip);
      const double peep_o = in_.use_peephole ? cs * in_.wco[j] : 0;
      const double o = portable::sigmoid(gate(3) + peep_o);
      const double co = portable::tanh(cs);
      state = cs;
      h_[(t + 1) % 2][size(row * in_.H + j)] = o * co;
      const std::size_t at = size((t * in_.B + row) * in_.H + j);
      put(saved_.i, at, i);
      put(saved_.cs, at, cs);
      put(saved_.f, at, f);
      put(saved_.o, at, o);
      put(saved_.ci, at, ci);
      put(saved_.co, at, co);
      put(saved_.h, at, o * co);
    }
  }

  static void put(std::span<double> into, std::size_t at, double value) {
    if (at < into.size()) into[at] = value;
  }

  const ForwardInputs& in_;
  const Saved& saved_;
  const Crew& crew_;
  const std::int64_t panels_, steps_at_once_;
  const std::unique_ptr<double[]> weights_, gates_;
  std::vector<double> cs_, h_[2];  // [B, H]; outputs of the last step and of this one, in turn
};

}  // namespace

void run_forward(const ForwardInputs& in, const Saved& saved, const Crew& crew) { Forward(in, saved, crew).run(); }

}  // namespace backgauge
