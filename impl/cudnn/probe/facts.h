// SPDX-License-Identifier: Apache-2.0
// Questions to cuDNN and their answers. A question that cuDNN refuses has its status as the answer: no question ends
// another.
#pragma once

#include <cstdio>
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

// Collects facts, and prints each as soon as it is known.
class Findings {
 public:
  // The answer is what `body` returns, or the text of the CallError it throws.
  void ask(const std::string& question, const std::string& subject, const std::function<std::string()>& body) {
    Fact& fact = facts.emplace_back(Fact{question, subject, ""});
    try {
      fact.answer = body();
    } catch (const CallError& failure) {
      fact.answer = failure.what();
    }
    std::printf("%-3s %-58s %s\n", question.c_str(), subject.c_str(), fact.answer.c_str());
    std::fflush(stdout);
  }

  std::vector<Fact> facts;
};

void probe_layout(Findings& findings);    // 1
void probe_reserve(Findings& findings);   // 2, 3
void probe_refusals(Findings& findings);  // 4
void probe_variants(Findings& findings);  // 5, 8, 9
void probe_dropout(Findings& findings);   // 6
void probe_repeats(Findings& findings);   // 7

}  // namespace backgauge::cudnn
