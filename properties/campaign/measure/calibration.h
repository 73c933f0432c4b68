// SPDX-License-Identifier: Apache-2.0
// Measures how close correct implementations come to the allowed error. Nothing is fitted to the result: a ratio above
// its limit means an error in the rounding model, the generator or the oracle.
//
// The last rounding of a half result is exact in the model and reaches its limit by construction. For half of class A
// and A' it is therefore subtracted from the error, and the rest is compared with the bound and the deviation before
// that rounding.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/case/line/case.h"
#include "reference/oracle.h"

namespace backgauge {

struct CalibrationSubject {
  std::string name;
  const backgauge_implementation* implementation;
};

struct CalibrationRow {
  std::string op, dtype, mode;  // words; dtype with the accuracy class and the numerical contract
  std::int64_t runs = 0;        // of one implementation on one case
  std::int64_t elements = 0;    // compared
  double few_ratio = 0;    // largest error / rigorous bound where few roundings contribute; these may reach the bound
  std::string few_where;   // "implementation: case, tensor[element]"
  double bound_ratio = 0;  // largest error / rigorous bound where many roundings contribute
  std::string bound_where;
  double deviation_ratio = 0;  // largest error / standard deviation, on random data
  std::string deviation_where;
  // Largest error / allowed error expected among 1e9 elements that only the deviation limits; where the bound is the
  // limit, no extrapolation is needed. 0: too few runs have such elements.
  double extrapolated = 0;
  int resolution = 0;  // the smallest relative error, 2^-k, that half of the injections detect

  bool acceptable() const;
};

// Many independent roundings stay far below their bound, and 1e9 results far below 8 deviations.
inline constexpr double kMostBoundRatio = 0.6, kMostDeviationRatio = 4, kMostExtrapolated = 0.8;

class Calibration {
 public:
  explicit Calibration(std::vector<CalibrationSubject> subjects) : subjects_(std::move(subjects)) {}

  // Runs the case on every subject that claims it. Values that are not finite do not count as errors here.
  void add(const Case& c);

  // By op, dtype and mode.
  std::vector<CalibrationRow> rows() const;

  // "implementation: case: reason" for each subject that broke a rule of the contract or returned an error.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  struct Cell {
    CalibrationRow row;
    std::vector<double> worst;     // error / allowed error of each run
    std::vector<int> resolutions;  // one for each injection
  };

  void compare(const CalibrationSubject& subject, const Case& c, const ErrorModel& model, const Declared& declared,
               const std::vector<double>& got, bool random, Cell& cell, double& worst) const;

  std::vector<CalibrationSubject> subjects_;
  std::map<std::string, Cell> cells_;
  std::vector<std::string> troubles_;
};

// A header line, and one line for each row.
std::string calibration_table(const std::vector<CalibrationRow>& rows);

}  // namespace backgauge
