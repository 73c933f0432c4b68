// SPDX-License-Identifier: Apache-2.0
#include "properties/campaign/measure/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "properties/case/draw/inputs.h"
#include "properties/case/line/random.h"
#include "properties/judge/runner/case_session.h"
#include "reference/contract/storage.h"
#include "reference/deviation.h"
#include "reference/rounding_model.h"

namespace backgauge {
namespace {

std::string mode_of(const Case& c) {
  if (spec_of(c.op).has(Role::kPeephole)) return c.use_peephole ? "peephole" : "no peephole";
  return std::string(rnn_mode_word(c.rnn_mode));
}

std::string dtype_of(const Case& c, const Declared& declared) {
  std::string word(dtype_word(c.dtype));
  if (is_narrow(c.dtype)) word += fmt::format(" {}", accuracy_class_word(declared.accuracy_class));
  // An op that returns the gradients of its gates leaves the matrix products to its caller.
  if (c.dtype == BACKGAUGE_FLOAT64 || spec_of(c.op).has(Role::kGates)) return word;
  switch (declared.numerical_contract) {
    case BACKGAUGE_FP32_STRICT: break;
    case BACKGAUGE_FP32_TF32: word += " tf32"; break;
    case BACKGAUGE_BF16_ACC32: word += " bf16"; break;
    case BACKGAUGE_FP16_ACC32: word += " fp16"; break;
    case BACKGAUGE_FP32_3XTF32: word += " 3xtf32"; break;
    case BACKGAUGE_FP32_3XBF16: word += " 3xbf16"; break;
    case BACKGAUGE_FP32_6XBF16: word += " 6xbf16"; break;
    case BACKGAUGE_FP32_9XBF16: word += " 9xbf16"; break;
  }
  return word;
}

// The model that results of one set of declared properties are compared with. The implementation draws the masks.
struct Truth {
  Declared declared;
  std::vector<std::vector<std::uint8_t>> keep;
  std::vector<ErrorModel> models;

  bool holds_for(const Declared& other, const Problem& problem) const {
    return declared == other && keep == problem.keep;
  }
};

Truth truth_of(const Problem& problem, const Declared& declared) {
  Truth truth{declared, problem.keep, {}};
  if (traits_of(problem.op).forward) truth.models = error_model(forward_problem(problem), declared);
  std::ranges::move(error_model(problem, declared), std::back_inserter(truth.models));
  return truth;
}

// The value exceeded once in `runs` by a Gumbel distribution with the observed mean and deviation.
double gumbel_extreme(const std::vector<double>& worst, double runs) {
  constexpr std::size_t kFewest = 30;  // with fewer, the deviation of the maxima is known less well than to a fifth
  if (worst.size() < kFewest) return 0;
  double mean = 0, square = 0;
  for (const double value : worst) mean += value;
  mean /= static_cast<double>(worst.size());
  for (const double value : worst) square += (value - mean) * (value - mean);
  const double beta = std::sqrt(6 * square / static_cast<double>(worst.size() - 1)) / std::numbers::pi;
  return mean + beta * (std::log(runs) - std::numbers::egamma);
}

// The smallest relative error that is detected when it is added to this element.
int resolution_at(double got, double value, double allowed) {
  constexpr int kFinest = 60;
  for (int k = kFinest; k >= 0; --k) {
    if (!(std::fabs(got * (1 + std::ldexp(1.0, -k)) - value) / allowed <= 1)) return k;
  }
  return 0;
}

}  // namespace

// By the Cauchy-Schwarz inequality the bound of n roundings is at most sqrt(n) deviations, so here at least 16 of them
// contribute. Their sum exceeds 0.6 of their bound with probability below 1e-8; the sum of two or three does now and
// then.
constexpr double kManyRoundings = 4;

bool CalibrationRow::acceptable() const {
  return few_ratio <= 1 && bound_ratio < kMostBoundRatio && deviation_ratio < kMostDeviationRatio &&
         extrapolated < kMostExtrapolated;
}

void Calibration::compare(const CalibrationSubject& subject, const Case& c, const ErrorModel& model,
                          const Declared& declared, const std::vector<double>& got, bool random, Cell& cell,
                          double& worst) const {
  const FloatFormat storage = float_format(c.dtype);
  const bool rounded_apart = is_narrow(c.dtype) && declared.accuracy_class != BACKGAUGE_CLASS_B;
  std::int64_t judged = 0;
  for (std::size_t k = 0; k < model.value.size(); ++k) {
    const double value = static_cast<double>(model.value[k]), bound = model.bound[k];
    const double rigorous = bound_when_stored(value, bound, c.dtype);
    if (!std::isfinite(value) || !(rigorous > 0) || !std::isfinite(rigorous)) continue;
    if (std::fabs(value) + rigorous > storage.largest || !std::isfinite(got[k])) continue;
    ++judged;
    const double off = static_cast<double>(std::fabs(static_cast<long double>(got[k]) - model.value[k]));
    const double error = rounded_apart ? std::max(0.0, off - (rigorous - bound)) : off;
    const auto take = [&](double ratio, double& largest, std::string& where) {
      if (!(ratio > largest)) return;
      largest = ratio;
      where = fmt::format("{}: {}, {}[{}]", subject.name, to_string(c), model.name, k);
    };
    const bool many = bound >= kManyRoundings * model.deviation[k];
    const double ratio = error / (rounded_apart ? bound : rigorous);
    many ? take(ratio, cell.row.bound_ratio, cell.row.bound_where)
         : take(ratio, cell.row.few_ratio, cell.row.few_where);
    if (!random) continue;
    if (error > 0) take(error / model.deviation[k], cell.row.deviation_ratio, cell.row.deviation_where);
    const double eight = kDeviations * model.deviation[k];
    const double likely = rounded_apart ? eight : bound_when_stored(value, eight, c.dtype);
    if (likely < (rounded_apart ? bound : rigorous)) worst = std::max(worst, error / likely);
  }
  cell.row.elements += judged;
  if (judged == 0) return;
  constexpr int kInjections = 4;
  const RandomStream stream(c.seed, "injection/" + model.name);
  for (int injection = 0; injection < kInjections; ++injection) {
    const auto k = static_cast<std::size_t>(stream.choice(injection, static_cast<std::int64_t>(model.value.size())));
    const double value = static_cast<double>(model.value[k]);
    double allowed = bound_when_stored(value, model.bound[k], c.dtype);
    if (random) allowed = std::min(allowed, bound_when_stored(value, kDeviations * model.deviation[k], c.dtype));
    if (value == 0 || !std::isfinite(value) || !(allowed > 0) || !std::isfinite(got[k])) continue;
    cell.resolutions.push_back(resolution_at(got[k], value, allowed));
  }
}

void Calibration::add(const Case& c) {
  const Filled filled = fill(c);
  if (!filled.error.empty()) {
    troubles_.push_back(to_string(c) + ": " + filled.error);
    return;
  }
  const bool random = !filled.facts.structured && !filled.facts.nonfinite;
  std::vector<Truth> truths;
  for (const CalibrationSubject& subject : subjects_) {
    InProcessRunner runner(*subject.implementation);
    CaseSession session(runner, filled.problem, filled.facts);
    if (!session.unclaimed().empty()) continue;
    try {
      const Declared declaration = session.declared();
      const CaseOutputs given = session.run_all({});
      if (given.masks_unavailable) continue;
      if (given.failure) throw std::runtime_error(given.failure->reason);
      const Problem& problem = session.problem();
      auto truth =
          std::ranges::find_if(truths, [&](const Truth& each) { return each.holds_for(declaration, problem); });
      if (truth == truths.end()) truth = truths.insert(truths.end(), truth_of(problem, declaration));
      Cell& cell = cells_[std::string(find_op(c.op)->word) + "\t" + dtype_of(c, declaration) + "\t" + mode_of(c)];
      cell.row.op = find_op(c.op)->word;
      cell.row.dtype = dtype_of(c, declaration);
      cell.row.mode = mode_of(c);
      ++cell.row.runs;
      double worst = 0;
      for (const ErrorModel& model : truth->models) {
        const auto output =
            std::ranges::find_if(given.outputs, [&](const Output& each) { return each.raw.name == model.name; });
        if (output == given.outputs.end()) throw std::runtime_error("no output " + model.name);
        compare(subject, c, model, declaration, output->values, random, cell, worst);
      }
      if (worst > 0) cell.worst.push_back(worst);
    } catch (const std::runtime_error& error) {
      troubles_.push_back(subject.name + ": " + to_string(c) + ": " + error.what());
    }
  }
}

std::vector<CalibrationRow> Calibration::rows() const {
  std::vector<CalibrationRow> out;
  for (const auto& [key, cell] : cells_) {
    CalibrationRow row = cell.row;
    constexpr double kElements = 1e9;
    const double each = static_cast<double>(std::max<std::int64_t>(row.elements, 1)) / static_cast<double>(row.runs);
    row.extrapolated = gumbel_extreme(cell.worst, kElements / each);
    std::vector<int> resolutions = cell.resolutions;
    if (!resolutions.empty()) {
      const auto middle = resolutions.begin() + static_cast<std::ptrdiff_t>(resolutions.size() / 2);
      std::ranges::nth_element(resolutions, middle);
      row.resolution = *middle;
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string calibration_table(const std::vector<CalibrationRow>& rows) {
  std::string out = fmt::format("{:<22}{:<14}{:<13}{:>7}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "op", "dtype", "mode",
                                "runs", "elements", "few/bound", "err/bound", "err/sigma", "at 1e9", "resolution");
  for (const CalibrationRow& row : rows) {
    out += fmt::format("{:<22}{:<14}{:<13}{:>7}{:>12}{:>12.3f}{:>12.3f}{:>12.2f}{:>12.3f}{:>12}{}\n", row.op, row.dtype,
                       row.mode, row.runs, row.elements, row.few_ratio, row.bound_ratio, row.deviation_ratio,
                       row.extrapolated, fmt::format("2^-{}", row.resolution),
                       row.acceptable() ? "" : "  <- above its limit");
  }
  return out;
}

}  // namespace backgauge
