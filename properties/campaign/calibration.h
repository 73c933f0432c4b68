// SPDX-License-Identifier: Apache-2.0
// How close correct implementations come to what the model of roundings allows them. Nothing is fitted to it: a ratio
// above its limit is a fault of the model, the generator or the oracle, to be found.
//
// The last rounding of a half result is exact in the model and reaches its limit by construction, so for half of class
// A and A' only what an error exceeds it by is compared, with the bound and the deviation before that rounding.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/case/case.h"
#include "reference/oracle.h"

namespace backgauge {

struct CalibrationSubject {
  std::string name;
  const backgauge_implementation* implementation;
};

struct CalibrationRow {
  std::string op, dtype, mode;  // words; dtype with the accuracy class of half, and the numerical contract
  std::int64_t runs = 0;        // of one implementation on one case
  std::int64_t elements = 0;    // compared
  double few_ratio = 0;         // largest error / rigorous bound where few roundings matter; they may reach it
  std::string few_where;        // "implementation: case, tensor[element]" of it
  double bound_ratio = 0;       // largest error / rigorous bound where many do
  std::string bound_where;
  double deviation_ratio = 0;  // largest error / standard deviation, on random data
  std::string deviation_where;
  // Largest error / allowed to be expected among 1e9 elements, of those that only the deviation limits: what the bound
  // limits needs no extrapolation. 0: too few runs have such elements.
  double extrapolated = 0;
  int resolution = 0;  // 2^-k of an element: the smallest error that half of the injections show

  bool acceptable() const;
};

// Many independent roundings stay far from their bound, and 1e9 results from 8 deviations.
inline constexpr double kMostBoundRatio = 0.6, kMostDeviationRatio = 4, kMostExtrapolated = 0.8;

class Calibration {
 public:
  explicit Calibration(std::vector<CalibrationSubject> subjects) : subjects_(std::move(subjects)) {}

  // Runs the case on every subject that claims it. Values that are not finite are not counted as errors here.
  void add(const Case& c);

  // By op, dtype and mode.
  std::vector<CalibrationRow> rows() const;

  // "implementation: case: reason" where a subject broke a rule or did not answer.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  struct Cell {
    CalibrationRow row;
    std::vector<double> worst;     // of each run, error / allowed
    std::vector<int> resolutions;  // of each injection
  };

  void compare(const CalibrationSubject& subject, const Case& c, const ErrorModel& model, const Declared& declared,
               const std::vector<double>& got, bool random, Cell& cell, double& worst) const;

  std::vector<CalibrationSubject> subjects_;
  std::map<std::string, Cell> cells_;
  std::vector<std::string> troubles_;
};

// One line a row, with a head.
std::string calibration_table(const std::vector<CalibrationRow>& rows);

}  // namespace backgauge
