// SPDX-License-Identifier: Apache-2.0
#include "properties/explain/hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/explain/wrong_parts.h"

namespace backgauge {
namespace {

// One bound of the element itself, and at most two of the added term.
constexpr double kBounds = 3;

// The least error, in units of these bounds, that can be explained: agreement to three digits.
constexpr double kLeastError = 1e3;

// What can be made of the correct values of an output.
class WrongOutputs {
 public:
  WrongOutputs(const Problem& problem, const Wanted& wanted, const Consider& consider)
      : problem_(problem), wanted_(wanted), consider_(consider) {
    for (const long double value : wanted_.value) want_.push_back(static_cast<double>(value));
  }

  void for_each() const {
    factors();
    orders();
  }

 private:
  void add(const std::string& text, const auto& value_of) const {
    Values64 values;
    for (std::size_t k = 0; k < want_.size(); ++k) values.push_back(value_of(k));
    consider_(text, values);
  }

  void factors() const {
    const auto times = [this](const std::string& text, double factor) {
      if (factor != 1) add(text, [&](std::size_t k) { return factor * want_[k]; });
    };
    times("it is 0", 0);
    times("it has the other sign", -1);
    times("it is twice as large", 2);
    times("it is half as large", 0.5);
    const auto B = static_cast<double>(problem_.extents.B);
    if (B > 2) times("it is divided by the batch size: a mean instead of a sum?", 1 / B);
    if (B > 2) times("it is multiplied by the batch size", B);
    const auto kept = 1 - static_cast<double>(problem_.attributes.dropout);
    if (kept > 0 && kept < 1 && kept != 0.5)
      times("it is multiplied by 1 - dropout: not scaled by 1 / (1 - dropout)?", kept);
  }

  // The correct values in another order.
  void orders() const {
    const Shape& shape = wanted_.shape;
    if (shape.size() == 2 && shape[0] == shape[1]) {
      const auto n = static_cast<std::size_t>(shape[0]);
      add("it is transposed", [&](std::size_t k) { return want_[k % n * n + k / n]; });
    }
    if (shape.size() > 1 && shape[0] > 1) {
      const std::size_t row = want_.size() / static_cast<std::size_t>(shape[0]), size = want_.size();
      const bool steps = shape.size() == 3;
      add(steps ? "its steps are in reverse order" : "its rows are in reverse order",
          [&](std::size_t k) { return want_[size - row - k / row * row + k % row]; });
      add(steps ? "each step holds the values of the step before" : "each row holds the values of the row before",
          [&](std::size_t k) { return k < row ? 0 : want_[k - row]; });
      add(steps ? "each step holds the values of the next step" : "each row holds the values of the next row",
          [&](std::size_t k) { return k + row < size ? want_[k + row] : 0; });
    }
    const auto H = static_cast<std::size_t>(problem_.extents.H);
    if (!output_of(problem_, wanted_).has_gate_blocks()) return;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) {
        add(fmt::format("its gates {} and {} are exchanged", a, b), [&](std::size_t k) {
          const std::size_t gate = k / H % 4, other = gate == a ? b : gate == b ? a : gate;
          return want_[k - gate * H + other * H];
        });
      }
    }
  }

  const Problem& problem_;
  const Wanted& wanted_;
  const Consider& consider_;
  Values64 want_;
};

void for_each_other_output(const std::vector<Wanted>& all, std::size_t which, const Consider& consider) {
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k == which || all[k].shape != all[which].shape) continue;
    consider("it holds the values of " + all[k].name, {all[k].value.begin(), all[k].value.end()});
  }
}

}  // namespace

Explained explain(const Wanted& wanted, std::span<const double> got, std::span<const double> values) {
  if (values.size() != got.size()) return {};
  double largest = 0, missed = 0;  // the largest error in units of its bound; the largest unexplained part of an error
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double allowed = kBounds * wanted.allowed[k];
    if (std::isinf(allowed)) continue;  // the element may have any value
    const double error = std::fabs(got[k] - static_cast<double>(wanted.value[k]));
    const double rest = std::fabs(got[k] - values[k]);
    if (!(rest <= allowed)) return {};
    largest = std::max(largest, allowed > 0 ? error / allowed : error > 0 ? HUGE_VAL : 0);
    if (error > allowed) missed = std::max(missed, rest / error);
  }
  const int digits = missed > 0 ? static_cast<int>(-std::log10(missed)) : kMostDigits;
  return {true, largest >= kLeastError, std::min(digits, kMostDigits)};
}

void Matches::add(const std::string& text, const Explained& explained) {
  if (!explained.met || !explained.conclusive) return;
  ++count_;
  text_ += fmt::format("{}{} (to {} digits)", text_.empty() ? "" : ", or ", text, explained.digits);
}

std::string Matches::text() const {
  constexpr int kMost = 2;  // three explanations explain nothing
  return count_ <= kMost ? text_ : "";
}

std::string hint(const Problem& problem, const std::vector<Wanted>& wanted, std::size_t which,
                 std::span<const double> got) {
  if (got.size() != wanted[which].value.size()) return "";
  Matches matches;
  const Consider consider = [&](const std::string& text, const Values64& values) {
    matches.add(text, explain(wanted[which], got, values));
  };
  WrongOutputs(problem, wanted[which], consider).for_each();
  for_each_wrong_part(problem, wanted[which], consider);
  for_each_other_output(wanted, which, consider);
  return matches.text();
}

}  // namespace backgauge
