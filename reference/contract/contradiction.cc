// SPDX-License-Identifier: Apache-2.0
// The candidates of a size are the values that the tensors imply. The combination that the fewest tensors contradict
// wins, and among equals the one that earlier tensors imply.
#include "reference/contract/contradiction.h"

#include <algorithm>
#include <array>
#include <vector>

namespace backgauge {
namespace {

constexpr std::string_view kGateColumns = "4 * H", kBothDirections = "D * H", kStates = "L * D", kRows = "I + H";

// Candidates of one size, the most frequent first. More than three are never needed: three tensors would have to be
// wrong in three ways about the same size, and each candidate multiplies the number of combinations.
class Candidates {
 public:
  void add(std::int64_t value) {
    const auto found = std::ranges::find(said_, value, &Said::value);
    if (found == said_.end()) {
      said_.push_back({value, 1});
    } else {
      ++found->times;
    }
  }
  std::vector<std::int64_t> best() const {
    constexpr std::size_t kMost = 3;
    std::vector<Said> ranked = said_;
    std::ranges::stable_sort(ranked, std::ranges::greater(), &Said::times);
    std::vector<std::int64_t> values;
    for (const Said& said : ranked) {
      if (values.size() < kMost) values.push_back(said.value);
    }
    if (values.empty()) values.push_back(0);  // a size that this op does not have
    return values;
  }

 private:
  struct Said {
    std::int64_t value;
    int times;
  };
  std::vector<Said> said_;
};

// The value of a size that one dimension implies by itself.
std::optional<std::int64_t> said_of(char letter, std::string_view dimension, std::int64_t value, std::int64_t D) {
  if (dimension.size() == 1 && dimension[0] == letter) return value;
  std::int64_t factor = 0;
  if (letter == 'H' && dimension == kGateColumns) factor = 4;
  if ((letter == 'H' && dimension == kBothDirections) || (letter == 'L' && dimension == kStates)) factor = D;
  if (factor == 0 || value % factor != 0) return std::nullopt;
  return value / factor;
}

class Search {
 public:
  Search(const OpSpec& op, const backgauge_attributes& attributes, const Extents& known,
         std::span<const GivenShape> tensors)
      : op_(op), attributes_(attributes), known_(known), tensors_(tensors) {}

  std::optional<Contradiction> run() {
    for (const std::int64_t T : candidates('T').best()) {
      for (const std::int64_t B : candidates('B').best()) {
        for (const std::int64_t H : candidates('H').best()) {
          for (const std::int64_t L : candidates('L').best()) {
            for (const std::int64_t I : inputs(H).best()) {
              Extents extents = known_;
              extents.T = T, extents.B = B, extents.H = H, extents.L = L, extents.I = I;
              consider(extents);
            }
          }
        }
      }
    }
    if (!best_ || fewest_ == 0) return std::nullopt;
    const auto first =
        std::ranges::find_if(tensors_, [this](const GivenShape& tensor) { return !fits(tensor, *best_); });
    return Contradiction{*first, *best_, origin(*first)};
  }

 private:
  Candidates candidates(char letter) const {
    Candidates out;
    for (const GivenShape& tensor : tensors_) {
      for (std::size_t k = 0; k < tensor.shape.size(); ++k) {
        const auto said = said_of(letter, tensor.spec->dimensions[k], tensor.shape[k], known_.D);
        if (said) out.add(*said);
      }
    }
    return out;
  }

  // I, which the rows of w imply only together with H.
  Candidates inputs(std::int64_t H) const {
    Candidates out = candidates('I');
    for (const GivenShape& tensor : tensors_) {
      for (std::size_t k = 0; k < tensor.shape.size(); ++k) {
        if (tensor.spec->dimensions[k] == kRows && tensor.shape[k] >= H) out.add(tensor.shape[k] - H);
      }
    }
    return out;
  }

  static bool fits(const GivenShape& tensor, const Extents& extents) {
    return tensor.spec->has_shape(extents, tensor.shape);
  }

  void consider(Extents extents) {
    if (extents.H < 1 || extents.T < op_.traits.least_steps) return;
    if (extents.skips_input && extents.I != extents.H) return;
    const auto length = params_length(op_, attributes_, extents);
    if (!length) return;
    extents.params_length = *length;
    const auto misfits =
        std::ranges::count_if(tensors_, [&](const GivenShape& tensor) { return !fits(tensor, extents); });
    if (best_ && misfits >= fewest_) return;
    best_ = extents;
    fewest_ = misfits;
  }

  std::string origin(const GivenShape& wrong) const {
    std::string letters;
    const Shape wanted = wrong.spec->shape(*best_);
    for (std::size_t k = 0; k < wrong.shape.size(); ++k) {
      if (wrong.shape[k] == wanted[k]) continue;
      const std::string_view dimension = wrong.spec->dimensions[k];
      letters += dimension == "params_length" ? "IHL" : dimension;
    }
    std::string out;
    for (const char letter : std::string_view("TBHLI")) {
      if (letters.find(letter) == letters.npos) continue;
      const std::string_view source = who_says(letter, wrong);
      if (source.empty()) continue;
      const SizeSpec& size = *std::ranges::find(size_specs(), letter, &SizeSpec::letter);
      out += (out.empty() ? "" : ", ") + std::string(1, letter) + " = " + std::to_string((*best_).*size.extent) +
             " from " + std::string(source);
    }
    return out;
  }

  // The first tensor that fits and has this size as a dimension, or as a part of one.
  std::string_view who_says(char letter, const GivenShape& wrong) const {
    for (const bool alone : {true, false}) {
      for (const GivenShape& tensor : tensors_) {
        if (tensor.spec == wrong.spec || !fits(tensor, *best_)) continue;
        for (const std::string_view dimension : tensor.spec->dimensions) {
          const bool says = alone ? dimension == std::string_view(&letter, 1)
                                  : dimension.find(' ') != dimension.npos && dimension.find(letter) != dimension.npos;
          if (says) return tensor.spec->name;
        }
      }
    }
    return "";
  }

  const OpSpec& op_;
  const backgauge_attributes& attributes_;
  const Extents known_;
  const std::span<const GivenShape> tensors_;
  std::optional<Extents> best_;
  std::ptrdiff_t fewest_ = 0;
};

}  // namespace

std::optional<Contradiction> find_contradiction(const OpSpec& op, const backgauge_attributes& attributes, Extents known,
                                                std::span<const GivenShape> tensors) {
  return Search(op, attributes, known, tensors).run();
}

}  // namespace backgauge
