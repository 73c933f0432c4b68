// SPDX-License-Identifier: Apache-2.0
// Decides from records which mustpass lists an implementation conforms to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ci/conform/mustpass.h"
#include "ci/run/implementation/terms.h"
#include "ci/run/outcome/verdict_matrix.h"
#include "properties/judge/record/record.h"

namespace backgauge::cli {

// A waiver that covers failures of a list. A certificate names it.
struct NamedWaiver {
  std::string kind;
  Waived waived;
  std::size_t lines = 0;
};

struct ListResult {
  std::string op, dtype, file, sha256;
  std::size_t lines = 0, missing = 0;
  VerdictCounts counts{};

  // Every line passed, or its failure is waived.
  bool conforms() const { return counts[Status::kPassed] > 0 && counts[Status::kPassed] + counts.waived == lines; }
};

struct Conformance {
  std::vector<ListResult> lists;
  std::vector<NamedWaiver> waivers;
  std::vector<std::string> obstacles;  // of each list, the first line that did not pass: "cudnn… : FAILED: …"

  bool conforms() const;
};

// Each line counts once; a record of another line, or a second one of the same, is an obstacle.
Conformance conformance_of(const std::vector<MustpassList>& lists, const std::vector<Record>& records);

// A part of conformance.json: {"conforms", "lists", "waivers"}.
nlohmann::ordered_json to_json(const Conformance& conformance);

std::string text_of(const ListResult& list);             // "lstm_block_cell_grad f32: 301 of 302 passed, 1 failed"
std::string verdict_of(const Conformance& conformance);  // "conforms", "conforms, with waivers", "does not conform"

// "CudnnRNNBackprop float32, LSTMBlockCellGrad half and float32".
std::string scope_of(const Conformance& conformance);

// The terms on which the lists were judged.
Terms terms_about(const Terms& terms, const Conformance& conformance);
std::string allowances(const Terms& terms, const Conformance& conformance);

}  // namespace backgauge::cli
