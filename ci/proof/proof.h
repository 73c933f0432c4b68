// SPDX-License-Identifier: Apache-2.0
// The proof of the checker: every implementation that is known to be wrong is caught, and no correct one fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "properties/saboteurs/variant.h"

namespace backgauge::cli {

struct ProofOptions {
  bool full = false;
  std::uint64_t seed = 1;
  int workers = 2;
  std::vector<backgauge_op> ops;
  std::string only{};  // only saboteurs whose ids begin with this; "": all
  std::function<void(const std::string& phase, std::size_t done, std::size_t total)> progress;
};

// The result of one saboteur.
struct SaboteurResult {
  const saboteurs::Variant* variant = nullptr;
  std::string killed_by{};          // the first case line or malformed call of the tier that it fails; "": it survived
  std::string evidence{};           // how it failed there
  double margin = 0;                // largest error / allowed over the common cases and the killing one
  double next_margin = 0;           // the same without its largest case
  int common = 0, kills = 0;        // cases of the tier on which every saboteur of its op is judged; how many it fails
  double least_probability = 0;     // 95 % lower limit of the share of cases that it fails
  std::vector<std::string> laws{};  // that it breaks
};

struct LawResult {
  std::string id{}, name{}, claim{};
  int killed = 0;                    // saboteurs that break it
  std::vector<std::string> alone{};  // that no other law catches, MatchesTheReference aside
};

// One correct implementation on many cases.
struct CorrectResult {
  std::string name{}, what{};
  std::int64_t runs = 0, passed = 0, skipped = 0, mistrusted = 0;
  double worst_ratio = 0;
  std::vector<std::string> false_alarms{};  // case line and evidence
};

// The same saboteurs and cases with scaled upstream gradients.
struct ScaleResult {
  int scale = 0;                       // a power of two
  int cases = 0, pairs = 0;            // judged; saboteur and case
  std::vector<std::string> changed{};  // saboteurs that fail at one scale only
};

struct HostileResult {
  std::string id{}, what{}, expected{}, verdict{};
  bool detected = false;
};

struct Proof {
  std::uint64_t seed = 1;
  bool full = false, interrupted = false;
  std::vector<SaboteurResult> saboteurs;
  std::vector<const saboteurs::Variant*> equivalent;
  std::vector<LawResult> laws;
  std::vector<CorrectResult> correct;
  std::vector<std::string> law_false_alarms{};
  std::vector<ScaleResult> scales;
  std::vector<HostileResult> hostile;
  double seconds = 0;

  std::size_t survivors() const;
  std::size_t false_alarms() const;
  bool holds() const;  // all killed, no false alarm, nothing depends on the scale, every hostile one detected
};

Proof prove(const ProofOptions& options);

// As text, as JSON, and as the tables of properties/README.md.
std::string proof_text(const Proof& proof);
std::string proof_json(const Proof& proof);
std::string proof_markdown(const Proof& proof);

}  // namespace backgauge::cli
