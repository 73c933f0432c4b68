// SPDX-License-Identifier: Apache-2.0
// A variant: one implementation of this folder, as its difference from a direct transcription of the equations. This is
// a fault of the catalogue, one changed operation, or a style, which is equally correct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/contract/claims.h"

namespace backgauge::saboteurs {

// Rows of the catalogue, described in faults.inc.
enum class Fault : std::uint16_t {
  kNone,
#define BACKGAUGE_FAULT(id, ...) k##id,
#include "properties/saboteurs/faults.inc"
#undef BACKGAUGE_FAULT
};

// Operations of the equations, described in sites.inc. Each can be changed by itself.
enum class Site : std::uint16_t {
  kNone,
#define BACKGAUGE_SITE(name, ...) k_##name,
#include "properties/saboteurs/sites.inc"
#undef BACKGAUGE_SITE
};

// How an operation, or its operand number `operand`, is changed.
enum class Change : std::uint8_t {
  kDrop,      // sum: the term is missing; product: the factor is 1; dot: the first or last term is missing
  kNegate,    // the operand has the wrong sign
  kTwice,     // the operand counts twice in a sum, is squared in a product
  kNext,      // the next operand is used in its place
  kConstant,  // slopes: the constant 1 is 2
  kUp,        // index: one up, wrapping around
  kDown
};

enum class SumOrder : std::uint8_t { kForward, kReverse, kPairwise, kLanes8, kLanes16, kShuffled, kKahan, kWide };
enum class SigmoidSlope : std::uint8_t { kProduct, kDifference };              // s (1 - s), s - s s
enum class TanhSlope : std::uint8_t { kSquare, kProduct, kFusedMultiplyAdd };  // 1 - t t, (1 - t)(1 + t), fma(-t, t, 1)

// How a gradient g passes through an activation whose result is s (sigmoid) or t (tanh).
enum class ThroughSlope : std::uint8_t {
  kSlope,       // the slope first, then all factors
  kFactors,     // g (1 - s) s and (g + g t)(1 - t), as automatic differentiation multiplies
  kDifferences  // g s - g s s and g - g t t, multiplied out
};

// GRU: h computed from z, n and h_prev; the gradients of n and z computed from dh.
enum class Blend : std::uint8_t {
  kWeighted,      // (1 - z) n + z h_prev, dh (1 - z), dh (h_prev - n)
  kInterpolated,  // n + z (h_prev - n), dh - dh z, dh (h_prev - n)
  kMultipliedOut  // (1 - z) n + z h_prev, dh - dh z, dh h_prev - dh n
};

// Choices that the equations leave open. Every combination is correct, within the allowed error of what it claims.
struct Style {
  SumOrder order = SumOrder::kForward;
  bool fma = false;  // dots
  SigmoidSlope sigmoid_slope = SigmoidSlope::kProduct;
  TanhSlope tanh_slope = TanhSlope::kSquare;
  ThroughSlope through_slope = ThroughSlope::kSlope;
  Blend blend = Blend::kWeighted;
  bool factors_from_the_right = false;
  bool merged_weight_sums = false;  // weight gradients as one sum over all steps and examples
  int time_block = 0;               // > 0: weight gradients in blocks of this many steps
  int threads = 0;                  // > 0: partial sums over this many shares of the batch
  bool flush_subnormals = false;    // results and operands, as FTZ and DAZ do
  bool sigmoid_by_tanh = false;     // 0.5 tanh(x / 2) + 0.5
  bool tanh_by_exp = false;
  bool in_place = false;  // intermediate results are kept in the outputs
  bool written_twice = false;
  bool wide = false;          // computed in double, rounded once
  bool padded_gates = false;  // the gates of a unit are adjacent in memory, rows are padded
  bool saves_parts =
      false;            // class S: W x is saved with the biases added, and of dx each direction before they are added
  Declared declared{};  // computed so, and claimed
};

enum class Kind : std::uint8_t {
  kSaboteur,
  kEquivalent,  // looks wrong, but gives the same results for every call: `argument` says why
  kCorrect
};

struct Variant {
  std::string id;     // A1.cell, dcs_drop2.block, pairwise_sums
  std::string group;  // A to K, operator, correct
  std::string what;   // one line
  backgauge_op op;    // the gradient op that it claims; correct variants claim all
  Kind kind = Kind::kSaboteur;
  std::string argument{};

  Fault fault = Fault::kNone;
  Site site = Site::kNone;
  Change change = Change::kDrop;
  int operand = 0;
  Style style{};
};

// All of them, in a fixed order: catalogue rows, operator faults, correct variants.
const std::vector<Variant>& variants();

// Each variant as an implementation of its own. Its functions may be called concurrently.
const backgauge_implementation& implementation(std::size_t variant);

// By id; nullptr if there is none.
const backgauge_implementation* find_implementation(const std::string& id);

// A row of the catalogue that no variant expresses, and the reason.
struct Unexpressed {
  std::string id, reason;
};
const std::vector<Unexpressed>& unexpressed();

}  // namespace backgauge::saboteurs
