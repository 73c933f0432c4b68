// SPDX-License-Identifier: Apache-2.0
// The drawn inputs of a case, addressed by the meaning of an element instead of its index, so that parts of tensors can
// be made special in the same way for every op.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"
#include "properties/case/line/random.h"
#include "reference/contract/call.h"

namespace backgauge {

// kStates: every tensor of states, gates or gradients. The rows of w for x are kW, those for h_prev kR; b is kBW.
enum class Part { kStates, kW, kR, kBW, kBR, kPeephole };

// The meaning of an element; 0 for fields that its tensor does not have. `unit` counts the columns of a state and the
// features of x and input; `column` is the input or the state that a weight multiplies.
struct Place {
  Part part = Part::kStates;
  std::int64_t step = 0, sample = 0, layer = 0, direction = 0, gate = 0, unit = 0, column = 0;

  auto operator<=>(const Place&) const = default;
};

// The part of a tensor that a case makes special, if there are several: drawn from its seed.
struct Chosen {
  std::int64_t step, last_step, sample, layer, direction, gate, unit;
};

using Names = std::vector<std::string_view>;  // names of tensors

class Draft {
 public:
  using Where = bool (*)(const Place&, const Chosen&);

  Draft(const Case& c, Problem& problem);

  double clip() const { return c_.cell_clip > 0 ? c_.cell_clip : 1; }
  double subnormal() const;  // input_ranges.h
  double outlying() const;

  // All of these ignore tensors that the op does not have.
  void set(const Names& names, Where where, double value);
  void set(const Names& names, double (*value)(const Place&, const Chosen&));
  void zero(const Names& names, Where where) { set(names, where, zero_); }  // -0 in a quarter of the cases
  void scale(const Names& names, Where where, double factor);
  void stand_out(std::string_view name);  // one element: outlying() times the largest

  // Every element gets the value of the element at source(its place), if there is one. source(source(p)) must be
  // source(p).
  void alike(const Names& names, Place (*source)(Place));
  // Every element of `to` gets the value of `from` at the same place, or at that place of the first step.
  void copy(std::string_view to, std::string_view from);

 private:
  Tensor* find(std::string_view name);
  const std::vector<Place>& places(const Tensor& tensor);
  std::vector<Place> params_places() const;
  std::map<Place, std::size_t> index_of(const Tensor& tensor);

  const Case& c_;
  Problem& problem_;
  const RandomStream stream_;
  Chosen chosen_;
  double zero_;
  std::map<std::string_view, std::vector<Place>> places_;
};

}  // namespace backgauge
