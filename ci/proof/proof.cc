// SPDX-License-Identifier: Apache-2.0
#include "ci/proof/proof.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "ci/proof/correct.h"
#include "ci/proof/grid.h"
#include "ci/proof/hostile_trial.h"
#include "ci/proof/proof_cases.h"
#include "ci/proof/statistics.h"
#include "ci/run/process/in_parallel.h"
#include "ci/run/process/interrupt.h"
#include "impl/registry.h"
#include "properties/campaign/calls/walk.h"
#include "properties/judge/runner/refusals.h"
#include "properties/judge/runner/runner.h"
#include "properties/laws/law.h"

namespace backgauge::cli {
namespace {

// How much is tested. Short: for every change; full: for the published results.
struct Sizes {
  std::size_t common;          // cases of the tier that every saboteur of an op is judged on
  std::size_t batch;           // further cases until the survivors are counted again
  std::size_t small;           // the first cases of the tier, small ones, come before walks and laws
  std::size_t correct;         // cases of an op for every correct implementation
  int law;                     // cases of a law for every saboteur
  std::size_t scaled;          // cases judged at every scale
  std::size_t malformed_step;  // correct implementations get every n-th malformed call
};
// Short: few cases for correct implementations, since `backgauge self --correct` judges them on whole tiers.
constexpr Sizes kShort{24, 16, 600, 20, 0, 0, 49};
// 240 cases of each op for 36 correct implementations are more than 20,000 runs, not counting SKIPPED ones.
constexpr Sizes kFull{80, 16, 1104, 240, 4, 16, 7};

// 150 calls miss a fault that one call in 25 shows with a probability of 1 / 450.
constexpr int kLawCasesForLiving = 150;

constexpr int kScales[] = {-80, -40, 30, 60};

class Prover {
 public:
  explicit Prover(const ProofOptions& options) : options_(options), sizes_(options.full ? kFull : kShort) {
    proof_.seed = options.seed;
    proof_.full = options.full;
  }

  Proof run() {
    const auto start = std::chrono::steady_clock::now();
    for (const backgauge_op op : options_.ops) prove_op(op);
    if (sizes_.law > 0) check_laws();
    try_hostile_ones();
    proof_.interrupted = interrupted();
    proof_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(proof_);
  }

 private:
  // One saboteur that is being judged.
  struct Suspect {
    const backgauge_implementation* implementation;
    std::size_t place;  // its place in proof_.saboteurs
  };

  void prove_op(backgauge_op op) {
    const std::vector<Case> cases =
        proof_cases(op, options_.seed, std::max({sizes_.common, sizes_.small, sizes_.correct, sizes_.scaled}));
    const std::string word(find_op(op)->word);
    std::vector<Suspect> suspects = suspects_of(op);
    judge_common(word, first(cases, sizes_.common), suspects);
    refuse_malformed(op, suspects);
    const std::span<const Case> all(cases);
    const std::size_t common = std::min(sizes_.common, all.size());
    const std::size_t small = std::clamp(sizes_.small, common, all.size());
    const std::size_t first_large = std::min(small + sizes_.batch, all.size());
    judge_further(word, all.subspan(common, small - common), suspects);
    // In this order because the large cases take 18 minutes for one saboteur that only several calls betray, and laws a
    // minute for one that only a dimension of 65,537 betrays.
    walk_living(word, op, suspects);
    judge_further(word, all.subspan(small, first_large - small), suspects);
    const auto compares_calls = [](const Law& law) {
      return law.name == "ConcurrentCallsAgree" || law.name == "RepeatsBitwise";
    };
    try_laws_on_living(word, op, suspects, compares_calls);
    judge_further(word, all.subspan(first_large), suspects);
    try_laws_on_living(word, op, suspects, std::not_fn(compares_calls));
    judge_correct(word, op, first(cases, sizes_.correct));
    if (sizes_.scaled > 0) judge_scaled(word, cases, suspects_of(op, false));
  }

  // Creates the results of the saboteurs of an op, unless they exist.
  std::vector<Suspect> suspects_of(backgauge_op op, bool fresh = true) {
    std::vector<Suspect> out;
    const auto& variants = saboteurs::variants();
    for (std::size_t n = 0; n < variants.size(); ++n) {
      const saboteurs::Variant& variant = variants[n];
      if (variant.op != op || variant.kind == saboteurs::Kind::kCorrect || !variant.id.starts_with(options_.only)) {
        continue;
      }
      if (variant.kind == saboteurs::Kind::kEquivalent) {
        if (fresh) proof_.equivalent.push_back(&variant);
        continue;
      }
      if (fresh) {
        places_[&variant] = proof_.saboteurs.size();
        proof_.saboteurs.push_back({.variant = &variant});
      }
      out.push_back({&saboteurs::implementation(n), places_.at(&variant)});
    }
    return out;
  }

  static std::vector<Case> first(const std::vector<Case>& cases, std::size_t count) {
    return {cases.begin(), cases.begin() + static_cast<std::ptrdiff_t>(std::min(count, cases.size()))};
  }

  static std::vector<const backgauge_implementation*> tables(const std::vector<Suspect>& suspects) {
    std::vector<const backgauge_implementation*> out;
    for (const Suspect& suspect : suspects) out.push_back(suspect.implementation);
    return out;
  }

  GridOptions grid_options(const std::string& phase, std::size_t total, int scale = 0) const {
    return {options_.workers, scale, [this, phase, total](std::size_t done) {
              if (options_.progress) options_.progress(phase, done, total);
            }};
  }

  void note(SaboteurResult& result, const Case& c, const Judged& judged) const {
    if (judged.margin > result.margin) {
      result.next_margin = result.margin;
      result.margin = judged.margin;
    } else {
      result.next_margin = std::max(result.next_margin, judged.margin);
    }
    if (!judged.killed() || !result.killed_by.empty()) return;
    result.killed_by = to_string(c);
    result.evidence = judged.evidence;
  }

  void judge_common(const std::string& word, const std::vector<Case>& cases, std::vector<Suspect>& suspects) {
    const Grid grid = judge_grid(cases, tables(suspects), grid_options(word + ": saboteurs", cases.size()));
    for (std::size_t k = 0; k < suspects.size(); ++k) {
      SaboteurResult& result = proof_.saboteurs[suspects[k].place];
      for (std::size_t c = 0; c < grid.size(); ++c) {
        if (grid[c][k].status == Status::kSkipped) continue;
        ++result.common;
        result.kills += grid[c][k].killed();
        note(result, cases[c], grid[c][k]);
      }
      result.least_probability = lower_limit_of_share(result.kills, result.common);
    }
    drop_killed(suspects);
  }

  // Named if there are few: judging the last ones takes longest, and the name says what the user is waiting for.
  std::string living(const std::vector<Suspect>& suspects) const {
    if (suspects.size() > 3) return std::to_string(suspects.size()) + " living saboteurs";
    std::string out = "living";
    for (const Suspect& suspect : suspects) out += " " + proof_.saboteurs[suspect.place].variant->id;
    return out;
  }

  // Survivors are judged in batches.
  void judge_further(const std::string& word, std::span<const Case> cases, std::vector<Suspect>& suspects) {
    while (!cases.empty() && !suspects.empty() && !interrupted()) {
      const std::span<const Case> next = cases.first(std::min(sizes_.batch, cases.size()));
      const std::vector<Case> batch(next.begin(), next.end());
      const std::string phase = word + ": " + living(suspects);
      const Grid grid = judge_grid(batch, tables(suspects), grid_options(phase, batch.size()));
      for (std::size_t c = 0; c < grid.size(); ++c) {
        for (std::size_t k = 0; k < suspects.size(); ++k)
          note(proof_.saboteurs[suspects[k].place], batch[c], grid[c][k]);
      }
      drop_killed(suspects);
      cases = cases.subspan(batch.size());
    }
  }

  void drop_killed(std::vector<Suspect>& suspects) const {
    std::erase_if(suspects, [&](const Suspect& each) { return !proof_.saboteurs[each.place].killed_by.empty(); });
  }

  static std::vector<backgauge_op> calls_of(backgauge_op op) {
    if (const auto forward = traits_of(op).forward) return {op, *forward};
    return {op};
  }

  void refuse_malformed(backgauge_op op, std::vector<Suspect>& suspects) {
    for (const Suspect& suspect : suspects) {
      SaboteurResult& result = proof_.saboteurs[suspect.place];
      for (const backgauge_op called : calls_of(op)) {
        const Refusals answers = refusals(*suspect.implementation, called, BACKGAUGE_FLOAT32, 1);
        if (answers.wrong.empty() || !result.killed_by.empty()) continue;
        accuse(result, "malformed call " + answers.wrong.front().call, answers.wrong.front().fault);
      }
    }
    drop_killed(suspects);
  }

  // State kept from call to call shows when a configuration is repeated.
  void walk_living(const std::string& word, backgauge_op op, std::vector<Suspect>& suspects) {
    for (std::size_t k = 0; k < suspects.size(); ++k) {
      if (interrupted()) return;
      if (options_.progress) options_.progress(word + ": walks of living saboteurs", k, suspects.size());
      const Suspect& suspect = suspects[k];
      InProcessRunner runner(*suspect.implementation);
      WalkOptions options;
      options.ops = {op};
      options.seed = options_.seed;
      const Walk walked = walk(runner, options);
      if (walked.failure.empty() || !walked.failed) continue;
      accuse(proof_.saboteurs[suspect.place], "state walk: " + to_string(*walked.failed), walked.failure);
    }
    drop_killed(suspects);
  }

  // Faults that no single case shows: concurrent calls, masks that change.
  void try_laws_on_living(const std::string& word, backgauge_op op, std::vector<Suspect>& suspects,
                          const std::function<bool(const Law&)>& chosen) {
    for (std::size_t k = 0; k < suspects.size(); ++k) {
      if (options_.progress) options_.progress(word + ": laws on living saboteurs", k, suspects.size());
      const Suspect& suspect = suspects[k];
      SaboteurResult& result = proof_.saboteurs[suspect.place];
      for (const Law& law : laws()) {
        if (!chosen(law) || !law.holds_for(traits_of(op)) || !result.killed_by.empty()) continue;
        for (const Case& c : law_cases(law, op, kLawCasesForLiving, options_.seed)) {
          const Finding finding = check_law(law, *suspect.implementation, c);
          if (interrupted()) return;
          if (finding.outcome != Outcome::kBroken) continue;
          accuse(result, "law " + std::string(law.id) + " on " + to_string(c), finding.text);
          break;
        }
      }
    }
    drop_killed(suspects);
  }

  static void accuse(SaboteurResult& result, std::string by, std::string evidence) {
    result.killed_by = std::move(by);
    result.evidence = std::move(evidence);
    result.margin = std::numeric_limits<double>::infinity();
  }

  void judge_correct(const std::string& word, backgauge_op op, const std::vector<Case>& cases) {
    const std::vector<Correct> all = correct_implementations();
    if (proof_.correct.empty()) {
      for (const Correct& each : all) proof_.correct.push_back({.name = each.name, .what = each.what});
    }
    std::vector<const backgauge_implementation*> implementations;
    for (const Correct& each : all) implementations.push_back(each.implementation);
    const Grid grid =
        judge_grid(cases, implementations, grid_options(word + ": correct implementations", cases.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
      CorrectResult& result = proof_.correct[k];
      for (std::size_t c = 0; c < grid.size(); ++c) count(result, cases[c], grid[c][k]);
      for (const backgauge_op called : calls_of(op)) {
        count_refusals(result, *all[k].implementation, op, called, sizes_.malformed_step);
      }
    }
  }

  // Faults must not hide behind small or large gradients: the same cases with all upstream gradients times a power of
  // two. Only if nothing leaves the range of the dtype, and for faults that do not concern that range.
  void judge_scaled(const std::string& word, const std::vector<Case>& cases, const std::vector<Suspect>& suspects) {
    std::vector<Case> chosen;
    for (const Case& c : cases) {
      const bool in_range = c.data == DataProfile::kStratified && c.dtype != BACKGAUGE_HALF && c.B > 0 && c.H > 0 &&
                            c.layers <= 2 && c.T <= 3;
      if (in_range && chosen.size() < sizes_.scaled) chosen.push_back(c);
    }
    const auto kills = [&](int scale) {
      const std::string phase = word + ": gradients times 2^" + std::to_string(scale);
      return judge_grid(chosen, tables(suspects), grid_options(phase, chosen.size(), scale));
    };
    const Grid plain = kills(0);
    for (const int scale : kScales) {
      const Grid scaled = kills(scale);
      ScaleResult result{.scale = scale, .cases = static_cast<int>(chosen.size())};
      for (std::size_t k = 0; k < suspects.size() && !interrupted(); ++k) {
        bool killed = false, killed_scaled = false;
        for (std::size_t c = 0; c < chosen.size(); ++c) {
          ++result.pairs;
          killed |= plain[c][k].killed();
          killed_scaled |= scaled[c][k].killed();
        }
        if (killed != killed_scaled) result.changed.push_back(proof_.saboteurs[suspects[k].place].variant->id);
      }
      merge(result);
    }
  }

  // One line per scale, over all ops.
  void merge(const ScaleResult& result) {
    for (ScaleResult& each : proof_.scales) {
      if (each.scale != result.scale) continue;
      each.cases += result.cases;
      each.pairs += result.pairs;
      each.changed.insert(each.changed.end(), result.changed.begin(), result.changed.end());
      return;
    }
    proof_.scales.push_back(result);
  }

  void try_hostile_ones() {
    const std::vector<saboteurs::Hostile>& all = hostile_ones();
    for (std::size_t k = 0; k < all.size() && !interrupted(); ++k) {
      if (options_.progress) options_.progress("hostile implementations", k, all.size());
      const HostileOutcome outcome = try_hostile(all[k]);
      if (interrupted()) return;
      const bool broken = all[k].verdict == saboteurs::Hostile::Verdict::kBroken;
      proof_.hostile.push_back({all[k].id, all[k].what, std::string(broken ? "BROKEN " : "FAILED ") + all[k].reason,
                                outcome.verdict, outcome.detected});
    }
  }

  // Checks every law on every saboteur of its ops, and on the correct implementations.
  void check_laws() {
    std::map<std::size_t, std::vector<std::size_t>> broken_by;  // place of a saboteur -> laws
    const std::vector<Law> all = laws();
    for (std::size_t l = 0; l < all.size(); ++l) {
      const Law& law = all[l];
      LawResult result{.id = std::string(law.id), .name = std::string(law.name), .claim = std::string(law.claim)};
      for (const backgauge_op op : options_.ops) {
        if (!law.holds_for(traits_of(op))) continue;
        const std::vector<Case> cases = law_cases(law, op, sizes_.law, options_.seed);
        for (const std::size_t place : broken(law, cases, suspects_of(op, false))) broken_by[place].push_back(l);
        for (const char* name : {"plain", "cpu"}) {
          std::string error;
          const backgauge_implementation* correct = open_implementation(name, error);
          for (const Case& c : cases) {
            const Finding finding = check_law(law, *correct, c);
            if (finding.outcome != Outcome::kBroken) continue;
            proof_.law_false_alarms.push_back(std::string(law.name) + ", " + name + ": " + to_string(c) + ": " +
                                              finding.text);
          }
        }
      }
      proof_.laws.push_back(std::move(result));
    }
    for (const auto& [place, by] : broken_by) {
      const std::string& id = proof_.saboteurs[place].variant->id;
      std::vector<std::size_t> metamorphic;
      for (const std::size_t l : by) {
        proof_.saboteurs[place].laws.push_back(proof_.laws[l].id);
        ++proof_.laws[l].killed;
        if (all[l].name != "MatchesTheReference") metamorphic.push_back(l);
      }
      if (metamorphic.size() == 1) proof_.laws[metamorphic.front()].alone.push_back(id);
    }
  }

  // The places of the saboteurs that break the law in one of the cases.
  std::set<std::size_t> broken(const Law& law, const std::vector<Case>& cases,
                               const std::vector<Suspect>& suspects) const {
    std::set<std::size_t> out;
    std::mutex mutex;
    in_parallel(suspects.size(), options_.workers, [&](std::size_t turn, std::size_t) {
      for (const Case& c : cases) {
        if (check_law(law, *suspects[turn].implementation, c).outcome != Outcome::kBroken) continue;
        const std::lock_guard lock(mutex);
        out.insert(suspects[turn].place);
        break;
      }
      if (options_.progress) options_.progress("law " + std::string(law.name), turn, suspects.size());
    });
    return out;
  }

  const ProofOptions& options_;
  const Sizes sizes_;
  Proof proof_;
  std::map<const saboteurs::Variant*, std::size_t> places_;
};

}  // namespace

Proof prove(const ProofOptions& options) { return Prover(options).run(); }

}  // namespace backgauge::cli
