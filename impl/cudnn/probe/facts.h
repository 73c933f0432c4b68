// SPDX-License-Identifier: Apache-2.0
// Questions to cuDNN and their answers. A question that cuDNN refuses has its status as the answer: no question ends
// another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "impl/cudnn/ops.h"

namespace backgauge::cudnn {

struct Fact {
  std::string question;  // its number
  std::string subject;
  std::string answer;
};
using Facts = std::vector<Fact>;

using Tell = std::function<void(const Fact&)>;

// All facts in order; each is reported as soon as it is known.
Facts probe_all(const Tell& tell);

// {"schema": "backgauge.cudnn-probe/1", "version": ..., "facts": [{"question", "subject", "answer"}, ...]}
std::string to_json(const Facts& facts);

// Collects facts.
class Findings {
 public:
  explicit Findings(Tell tell) : tell_(std::move(tell)) {}

  // The answer is what `body` returns, or the text of the CallError it throws.
  void ask(const std::string& question, const std::string& subject, const std::function<std::string()>& body);

  Facts facts;

 private:
  Tell tell_;
};

void probe_layout(Findings& findings);    // 1
void probe_reserve(Findings& findings);   // 2, 3
void probe_refusals(Findings& findings);  // 4
void probe_variants(Findings& findings);  // 5, 8, 9
void probe_dropout(Findings& findings);   // 6
void probe_repeats(Findings& findings);   // 7

}  // namespace backgauge::cudnn
