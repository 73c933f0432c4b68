// SPDX-License-Identifier: Apache-2.0
#include "properties/judge/adjoint/adjoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "properties/judge/compare/compare.h"
#include "properties/judge/compare/run_verdicts.h"
#include "reference/contract/rnn_params.h"
#include "reference/contract/storage.h"
#include "reference/deviation.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Gradients are sums over up to four gates, and of four equal terms one is a quarter of the result (compare.cc).
constexpr double kLeastResolution = 4;

// The number of mask draws that measure the error of an estimate. If the effects of masks add up, the root mean square
// of so many is below a third of the standard deviation with a probability of 10^-4 (chi square of 8).
constexpr int kDraws = 8;
// The number of draws before a case fails. In a small net a single gate may act like a kink that only some masks show.
// The masks of the implementation are one more draw, whose error exceeds that of all 256 others in one of 257 such
// nets. In a large net no single gate dominates, and each draw takes four forwards: so the multiply-adds are limited,
// to some seconds, but at least kDraws are made.
constexpr int kMostDraws = 256;
constexpr double kMostWork = 0x1p31;

int draws_before_failing(const Problem& problem) {
  const Extents& e = problem.extents;
  const double rows = static_cast<double>(e.T * e.B * e.L * e.D * rnn_gates(problem.attributes.rnn_mode));
  const double work = 4 * rows * static_cast<double>(e.H) * static_cast<double>(e.I + e.D * e.H);
  return static_cast<int>(std::clamp(kMostWork / work, double{kDraws}, double{kMostDraws}));
}

// The largest sum of many rounding errors. If they are independent, it is kDeviations times the root of the sum of
// their squares, because they are bounded (Hoeffding); otherwise it is the sum of their magnitudes.
struct Roundings {
  long double sum = 0, squares = 0;

  void add(long double most) {
    sum += std::fabs(most);
    squares += most * most;
  }
  long double together(RoundingErrors roundings) const {
    if (roundings != RoundingErrors::kIndependent) return sum;
    return std::min(sum, static_cast<long double>(kDeviations) * std::sqrt(squares));
  }
};

std::size_t place_of(const std::vector<Output>& outputs, std::string_view name) {
  const auto found = std::ranges::find_if(outputs, [&](const Output& each) { return each.raw.name == name; });
  if (found == outputs.end()) throw std::logic_error("no output " + std::string(name));
  return static_cast<std::size_t>(found - outputs.begin());
}

// One estimate of both slopes: a weighted sum over steps.
struct Estimate {
  std::vector<std::pair<const Step*, long double>> steps;
  long double remaining = 0;  // an estimate of the error that finite steps leave
};

// If the forward is smooth, the slope T(e) over a step of size e has an error of order e^2, and (4 T(e / 2) - T(e)) / 3
// one of order e^4.
long double extrapolated(const std::vector<Step>& steps, const std::vector<long double>& rises, std::size_t half,
                         std::size_t whole) {
  return (4 * rises[half] / (2 * steps[half].size) - rises[whole] / (2 * steps[whole].size)) / 3;
}

std::vector<Estimate> estimates(const Slope& slope, bool kinks, const std::vector<long double>& differences) {
  const std::vector<Step>& steps = slope.steps;
  if (!kinks) {
    // The estimate from e / 2 and e. The one from e and 2 e has an error 16 times as large, which is most of the
    // difference between both.
    const long double coarse = extrapolated(steps, differences, 0, 2), fine = extrapolated(steps, differences, 1, 0);
    return {{{{&steps[1], 4 / (3 * 2 * steps[1].size)}, {&steps.front(), -1 / (3 * 2 * steps[0].size)}},
             std::fabs(coarse - fine)}};
  }
  // A kink between the ends changes the slope over a step by half of the second difference of the output. Magnitudes
  // are added over the elements, so that kinks with opposite signs do not cancel.
  std::vector<Estimate> all;
  for (const Step& step : steps) all.push_back({{{&step, 1 / (2 * step.size)}}, step.bend / step.size});
  return all;
}

// The error of an estimate with the masks of a draw, in the exact forward.
long double off_by(const Estimate& estimate, const Slope& slope, const MaskFreeReference::Draw& draw) {
  Problem forward = forward_problem(draw.problem);
  forward.keep = draw.problem.keep;
  const auto same_name = [](const std::string& name) { return [&](const Tensor& each) { return each.name == name; }; };
  Tensor& moving = *std::ranges::find_if(forward.inputs, same_name(slope.input));
  const Tensor& gradient = *std::ranges::find_if(draw.gradient, same_name(slope.gradient));
  const std::vector<double> here = moving.values;
  const auto sum_at = [&](const Step& step, int side) {
    for (std::size_t k = 0; k < slope.elements.size(); ++k) {
      const std::size_t at = slope.elements[k];
      moving.values[at] =
          static_cast<double>(static_cast<long double>(here[at]) + step.shifted[k] + side * step.moved[k] / 2);
    }
    long double sum = 0;
    for (const Tensor& output : oracle_values(forward)) {
      const Tensor& upstream = upstream_of(draw.problem, output.name);
      for (std::size_t k = 0; k < output.values.size(); ++k) {
        sum += static_cast<long double>(upstream.values[k]) * static_cast<long double>(output.values[k]);
      }
    }
    return sum;
  };
  long double off = 0;
  for (const auto& [step, weight] : estimate.steps) {
    long double rise = sum_at(*step, 1) - sum_at(*step, -1);
    for (std::size_t k = 0; k < slope.elements.size(); ++k) {
      rise -= static_cast<long double>(gradient.values[slope.elements[k]]) * step->moved[k];
    }
    off += weight * rise;
  }
  return off;
}

// The largest error of the forward at one end of a step, before it is stored.
long double forward_error(const Problem& problem, const MaskFreeReference& reference) {
  long double error = 0;
  for (std::size_t t = 0; t < reference.forward.size(); ++t) {
    const Tensor& upstream = upstream_of(problem, reference.forward[t].name);
    for (std::size_t k = 0; k < upstream.values.size(); ++k) {
      if (upstream.values[k] == 0) continue;
      error += std::fabs(static_cast<long double>(upstream.values[k]) *
                         static_cast<long double>(reference.forward_errors[t][k]));
    }
  }
  return error;
}

// Compares both sides of the identity for one slope.
class SlopeComparison {
 public:
  SlopeComparison(const Slope& slope, const Problem& problem, const std::vector<Output>& gradient,
                  const MaskFreeReference& reference, RoundingErrors roundings)
      : slope_(slope),
        problem_(problem),
        reference_(reference),
        roundings_(roundings),
        at_(place_of(gradient, slope.gradient)),
        got_(gradient[at_].values),
        forward_error_(forward_error(problem, reference)) {
    for (const Step& step : slope.steps) {
      long double rise = 0;
      for (std::size_t k = 0; k < slope.elements.size(); ++k) rise += got(k) * step.moved[k];
      differences_.push_back(step.rise - rise);
    }
  }

  AlongSlope result() const {
    const bool kinks = problem_.attributes.rnn_mode == BACKGAUGE_RNN_RELU;
    std::vector<AlongSlope> all;
    for (const Estimate& estimate : estimates(slope_, kinks, differences_)) all.push_back(compared(estimate));
    // The slope disagrees only if all estimates disagree. Its resolution is the lowest of theirs.
    AlongSlope result = *std::ranges::min_element(all, {}, &AlongSlope::ratio);
    result.resolution = std::ranges::min_element(all, {}, &AlongSlope::resolution)->resolution;
    const std::vector<double>& zero = reference_.gradient[at_].allowed;
    result.determined = std::ranges::all_of(slope_.elements, [&](std::size_t k) { return zero[k] == 0; });
    if (wrongly_infinite()) result.ratio = result.resolution = kInfinity;
    return result;
  }

 private:
  long double got(std::size_t k) const { return static_cast<long double>(got_[slope_.elements[k]]); }

  // True if a gradient is not finite although with other masks it is far from overflow: farther than masks can move it.
  bool wrongly_infinite() const {
    constexpr long double kFar = 0x1p-10L;
    const long double far = kFar * static_cast<long double>(float_format(problem_.dtype).largest);
    return std::ranges::any_of(slope_.elements, [&](std::size_t k) {
      return !std::isfinite(got_[k]) && std::fabs(reference_.gradient[at_].value[k]) < far;
    });
  }

  AlongSlope compared(const Estimate& estimate) const {
    long double difference = 0, forward = 0, tolerance = estimate.remaining;
    Roundings shifted, stored_gradient;
    long double last_sum = 0, last_squares = 0;
    std::vector<long double> direction(slope_.elements.size());
    for (const auto& [step, weight] : estimate.steps) {
      difference += weight * differences_[static_cast<std::size_t>(step - slope_.steps.data())];
      forward += weight * step->rise;
      tolerance += 2 * std::fabs(weight) * forward_error_;
      last_sum += std::fabs(weight) * step->last_roundings;
      last_squares += weight * weight * step->last_squares;
      for (std::size_t k = 0; k < direction.size(); ++k) {
        direction[k] += weight * step->moved[k];
        // If the middle of a step is not x, the gradient there differs, at most as much as if it changed by its own
        // size from end to end.
        shifted.add(weight * step->shifted[k] * got(k));
      }
    }
    long double squares = 0;
    for (std::size_t k = 0; k < direction.size(); ++k) {
      const std::size_t at = slope_.elements[k];
      // The larger of both sizes, because a gradient that is wrongly 0 would otherwise count as small.
      const long double size = std::max(std::fabs(got(k)), std::fabs(reference_.gradient[at_].value[at]));
      squares += direction[k] * size * direction[k] * size;
      stored_gradient.add(direction[k] * static_cast<long double>(bound_when_stored(got_[at], 0, problem_.dtype)));
      tolerance += std::fabs(direction[k]) * static_cast<long double>(reference_.gradient_errors[at_][at]);
    }
    tolerance += Roundings{last_sum, last_squares}.together(roundings_) + shifted.together(roundings_) +
                 stored_gradient.together(roundings_);
    const auto resolution = [&] { return tolerance > 0 ? std::sqrt(squares) / tolerance : 0; };
    const auto disagrees = [&] { return std::fabs(difference) > tolerance; };
    const auto conclusive = [&] { return resolution() >= kLeastResolution; };
    const long double known = tolerance;
    if (reference_.long_steps && (disagrees() || conclusive())) tolerance = known + left_out(estimate, kDraws);
    if (disagrees() && conclusive()) tolerance = known + left_out(estimate, draws_before_failing(problem_));

    AlongSlope result;
    result.forward = static_cast<double>(forward);
    result.gradient = static_cast<double>(forward - difference);
    result.tolerance = kInfinity;
    if (!std::isfinite(tolerance) || !std::isfinite(forward)) return result;
    result.tolerance = static_cast<double>(tolerance);
    result.ratio = difference == 0 ? 0 : static_cast<double>(std::fabs(difference) / tolerance);
    result.resolution = static_cast<double>(resolution());
    return result;
  }

  // The error of the estimate, measured with draws of the masks.
  long double left_out(const Estimate& estimate, int draws) const {
    long double squares = 0, largest = 0;
    for (int k = 0; k < draws; ++k) {
      const long double off = std::fabs(off_by(estimate, slope_, reference_.draw(k)));
      squares += off * off / draws;
      largest = std::max(largest, off);
    }
    return std::max(static_cast<long double>(kDeviations) * std::sqrt(squares), largest);
  }

  const Slope& slope_;
  const Problem& problem_;
  const MaskFreeReference& reference_;
  const RoundingErrors roundings_;
  const std::size_t at_;
  const std::vector<double>& got_;
  const long double forward_error_;
  std::vector<long double> differences_;  // rise of the forward minus that from the gradient, for each step
};

}  // namespace

bool AlongSlope::conclusive() const { return determined || resolution >= kLeastResolution; }

AlongSlope along(const Slope& slope, const Problem& problem, const std::vector<Output>& gradient,
                 const MaskFreeReference& reference, RoundingErrors roundings) {
  return SlopeComparison(slope, problem, gradient, reference, roundings).result();
}

std::string changed(const RunResult& first, const RunResult& second, const MaskFreeReference& reference, bool bitwise,
                    backgauge_dtype dtype) {
  if (bitwise) return first_difference(first.outputs, second.outputs);
  for (std::size_t t = 0; t < reference.forward.size(); ++t) {
    const std::string& name = reference.forward[t].name;
    const Output &a = first.outputs[place_of(first.outputs, name)], &b = second.outputs[place_of(second.outputs, name)];
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      const double error = reference.forward_errors[t][k];
      const double most = bound_when_stored(a.values[k], error, dtype) + bound_when_stored(b.values[k], error, dtype);
      if (!(std::fabs(a.values[k] - b.values[k]) > most)) continue;
      return fmt::format("{}{}: {:.17g}, then {:.17g}", name, index_text(a.raw.shape, static_cast<std::int64_t>(k)),
                         a.values[k], b.values[k]);
    }
  }
  return "";
}

Verdict judge_along(const Slopes& slopes, const Problem& problem, const std::vector<Output>& gradient,
                    const MaskFreeReference& reference, RoundingErrors roundings, const Declared& declared,
                    std::vector<TensorReport> forward_reports) {
  std::vector<TensorReport> reports = compare_outputs(gradient, reference.gradient, problem, declared);
  std::size_t conclusive = 0;
  double worst = 0;
  std::vector<bool> seen(reports.size());
  for (const Slope& slope : slopes.slopes) {
    const std::size_t at = place_of(gradient, slope.gradient);
    TensorReport& report = reports[at];
    const AlongSlope found = along(slope, problem, gradient, reference, roundings);
    if (found.ratio > 1 && found.conclusive() && report.bad == 0) {
      report.worst = -1;
      report.bad = static_cast<std::int64_t>(slope.elements.size());
      report.got = found.gradient;
      report.want = found.forward;
      report.max_ratio = found.ratio;
      report.allowed = found.tolerance;
      report.where = "along random signs" + (slope.part.empty() ? "" : " of " + slope.part) +
                     ": the slope from the gradient (got) and from the forward (want)";
    }
    if (!found.determined)
      report.resolution = seen[at] ? std::min(report.resolution, found.resolution) : found.resolution;
    seen[at] = true;
    if (!found.conclusive()) continue;
    ++conclusive;
    worst = std::max(worst, found.ratio);
    report.max_ratio = std::max(report.max_ratio, found.ratio);
    if (!found.determined) report.judged += static_cast<std::int64_t>(slope.elements.size());
  }
  for (TensorReport& report : reports) report.judged = std::min(report.judged, report.elements);
  for (std::vector<TensorReport>* some : {&forward_reports, &reports}) {
    for (TensorReport& report : *some) report.vacuous = false;
  }
  forward_reports.insert(forward_reports.end(), reports.begin(), reports.end());
  Verdict verdict = conclude(std::move(forward_reports));
  verdict.note = fmt::format("{}: adjoint identity along {} directions, {} of them conclusive, worst ratio {:.3g}",
                             kMasksUnavailable, slopes.slopes.size(), conclusive, worst);
  if (verdict.status != Status::kFailed && conclusive == 0) {
    verdict.status = Status::kMistrusted;
    verdict.reason = "masks not available, and no direction is conclusive";
  }
  return verdict;
}

}  // namespace backgauge
