// SPDX-License-Identifier: Apache-2.0
// A proof as text and as the tables of properties/README.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ci/proof/proof.h"
#include "reference/contract/op_spec.h"

namespace backgauge::cli {
namespace {

constexpr std::pair<const char*, const char*> kGroups[] = {
    {"A", "equations of the LSTM cell"},
    {"B", "from step to step"},
    {"C", "seq_len_max and empty dimensions"},
    {"D", "sums over steps and batch"},
    {"E", "GRU"},
    {"F", "rnn_relu, rnn_tanh"},
    {"G", "directions, layers, params, dropout"},
    {"H", "memory and indices"},
    {"I", "vectors, threads, state"},
    {"J", "precision"},
    {"K", "what must be refused"},
    {"operator", "one operator changed by rule"},
};

struct Tally {
  std::size_t total = 0, killed = 0;
  void add(const SaboteurResult& result) {
    ++total;
    killed += !result.killed_by.empty();
  }
  std::string text() const { return total == 0 ? "-" : fmt::format("{}/{}", killed, total); }
};

struct GroupRow {
  std::string group, title;
  std::map<backgauge_op, Tally> by_op;
  Tally all;
  double least_margin = INFINITY, least_probability = 1;  // of the killed saboteurs
};

std::vector<GroupRow> rows_of(const Proof& proof) {
  std::vector<GroupRow> rows;
  for (const auto& [group, title] : kGroups) {
    GroupRow row{group, title, {}, {}};
    for (const SaboteurResult& result : proof.saboteurs) {
      if (result.variant->group != group) continue;
      row.by_op[result.variant->op].add(result);
      row.all.add(result);
      if (result.killed_by.empty()) continue;
      row.least_margin = std::min(row.least_margin, result.margin);
      row.least_probability = std::min(row.least_probability, result.least_probability);
    }
    if (row.all.total > 0) rows.push_back(std::move(row));
  }
  return rows;
}

Tally total_of(const Proof& proof) {
  Tally all;
  for (const SaboteurResult& result : proof.saboteurs) all.add(result);
  return all;
}

std::int64_t correct_runs(const Proof& proof) {
  std::int64_t runs = 0;
  for (const CorrectResult& each : proof.correct) runs += each.runs;
  return runs;
}

double worst_correct_ratio(const Proof& proof) {
  double worst = 0;
  for (const CorrectResult& each : proof.correct) worst = std::max(worst, each.worst_ratio);
  return worst;
}

// The rarest kills: one more case that shows these faults would help most.
std::vector<const SaboteurResult*> weakest(const Proof& proof, std::size_t count) {
  std::vector<const SaboteurResult*> out;
  for (const SaboteurResult& result : proof.saboteurs) {
    if (!result.killed_by.empty()) out.push_back(&result);
  }
  std::ranges::stable_sort(out, {}, [](const SaboteurResult* result) { return result->margin; });
  out.resize(std::min(count, out.size()));
  return out;
}

std::string number(double value) {
  return std::isinf(value) ? "inf" : value >= 1000 ? fmt::format("{:.0e}", value) : fmt::format("{:.3g}", value);
}

std::string share(const SaboteurResult& result) { return fmt::format("{}/{}", result.kills, result.common); }

std::string_view brief_of(backgauge_op op) { return traits_of(op).brief; }

std::string kills_in(const GroupRow& row, backgauge_op op) {
  return row.by_op.contains(op) ? row.by_op.at(op).text() : "-";
}

// A cell of a table for every op under test.
template <class Cell>
std::string op_columns(std::string_view format, Cell cell) {
  std::string out;
  for (const backgauge_op op : gradient_ops()) out += fmt::format(fmt::runtime(format), cell(op));
  return out;
}

}  // namespace

std::string proof_text(const Proof& proof) {
  std::string out;
  const auto line = [&out]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    out += fmt::format(format, std::forward<Args>(args)...) + "\n";
  };
  line("{:<46}{} {:>9}   least margin", "saboteurs killed", op_columns(" {:>9}", brief_of), "all");
  for (const GroupRow& row : rows_of(proof)) {
    line("  {:<8} {:<35.35}{} {:>9}   {}", row.group, row.title,
         op_columns(" {:>9}", [&](backgauge_op op) { return kills_in(row, op); }), row.all.text(),
         number(row.least_margin));
  }
  line("weakest kills");
  for (const SaboteurResult* result : weakest(proof, 5)) {
    line("  {:<22} margin {:>8}, next {:>8}, fails {} cases   {}", result->variant->id, number(result->margin),
         number(result->next_margin), share(*result), result->killed_by);
  }
  for (const SaboteurResult& result : proof.saboteurs) {
    if (result.killed_by.empty()) line("SURVIVED {}: {}", result.variant->id, result.variant->what);
  }
  if (!proof.laws.empty()) {
    line("laws                                        broken by   alone");
    for (const LawResult& law : proof.laws) {
      line("  {:<4} {:<38} {:>6}   {}", law.id, law.name, law.killed, fmt::join(law.alone, " "));
    }
  }
  for (const CorrectResult& each : proof.correct) {
    for (const std::string& alarm : each.false_alarms) line("FALSE ALARM {}: {}", each.name, alarm);
  }
  for (const std::string& alarm : proof.law_false_alarms) line("FALSE ALARM of a law: {}", alarm);
  for (const ScaleResult& scale : proof.scales) {
    line("gradients times 2^{}: {} saboteur-case pairs, verdicts on saboteurs changed: {}", scale.scale, scale.pairs,
         scale.changed.empty() ? "none" : fmt::format("{}", fmt::join(scale.changed, " ")));
  }
  std::size_t detected = 0;
  for (const HostileResult& each : proof.hostile) {
    detected += each.detected;
    if (!each.detected) line("NOT DETECTED hostile:{}: expected {}, got {}", each.id, each.expected, each.verdict);
  }
  if (!proof.hostile.empty()) line("hostile implementations: {} of {} detected", detected, proof.hostile.size());
  const Tally all = total_of(proof);
  line(
      "proof: {} of {} saboteurs killed, {} equivalent; {} false alarms in {} runs of {} correct implementations, "
      "worst "
      "ratio {:.3f}; {:.0f} s{}",
      all.killed, all.total, proof.equivalent.size(), proof.false_alarms(), correct_runs(proof), proof.correct.size(),
      worst_correct_ratio(proof), proof.seconds, proof.interrupted ? "; INTERRUPTED" : "");
  return out;
}

std::string proof_markdown(const Proof& proof) {
  std::string out;
  const auto line = [&out]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    out += fmt::format(format, std::forward<Args>(args)...) + "\n";
  };
  const Tally all = total_of(proof);
  line(
      "`backgauge self --full`, seed {}: {} of {} saboteurs killed ({} more are equivalent to a correct "
      "implementation); "
      "{} false alarms in {:L} judged runs of {} correct implementations, whose largest error / allowed was {:.3f}.\n",
      proof.seed, all.killed, all.total, proof.equivalent.size(), proof.false_alarms(), correct_runs(proof),
      proof.correct.size(), worst_correct_ratio(proof));
  line("| group | what |{} all | least margin |", op_columns(" {} |", brief_of));
  line("|---|---|{}---|---|", op_columns("{}", [](backgauge_op) { return "---|"; }));
  for (const GroupRow& row : rows_of(proof)) {
    line("| {} | {} |{} {} | {} |", row.group, row.title,
         op_columns(" {} |", [&](backgauge_op op) { return kills_in(row, op); }), row.all.text(),
         number(row.least_margin));
  }
  line("\nMargin: largest error / allowed of a saboteur; least: of the group. The weakest ten:\n");
  line("| saboteur | what is wrong | margin | next | fails | killed by |");
  line("|---|---|---|---|---|---|");
  for (const SaboteurResult* result : weakest(proof, 10)) {
    line("| {} | {} | {} | {} | {} | `{}` |", result->variant->id, result->variant->what, number(result->margin),
         number(result->next_margin), share(*result), result->killed_by);
  }
  line("\n| law | name | broken by | alone |");
  line("|---|---|---|---|");
  for (const LawResult& law : proof.laws) {
    line("| {} | {} | {} | {} |", law.id, law.name, law.killed, fmt::join(law.alone, " "));
  }
  line("\nAlone: saboteurs that no other law catches, MatchesTheReference aside. Not expressed as saboteurs:\n");
  for (const saboteurs::Unexpressed& row : saboteurs::unexpressed()) line("- {}: {}", row.id, row.reason);
  return out;
}

}  // namespace backgauge::cli
