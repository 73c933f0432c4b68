// SPDX-License-Identifier: Apache-2.0
#include "impl/cudnn/probe/facts.h"

namespace backgauge::cudnn {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

void Findings::ask(const std::string& question, const std::string& subject, const std::function<std::string()>& body) {
  Fact fact{question, subject, ""};
  try {
    fact.answer = body();
  } catch (const CallError& failure) {
    fact.answer = failure.what();
  }
  tell_(fact);
  facts.push_back(std::move(fact));
}

Facts probe_all(const Tell& tell) {
  Findings findings(tell);
  probe_layout(findings);
  probe_reserve(findings);
  probe_refusals(findings);
  probe_variants(findings);
  probe_dropout(findings);
  probe_repeats(findings);
  return std::move(findings.facts);
}

std::string to_json(const Facts& facts) {
  std::string out =
      "{\"schema\": \"backgauge.cudnn-probe/1\", \"version\": " + quoted(library_version()) + ", \"facts\": [";
  const char* separator = "\n";
  for (const Fact& fact : facts) {
    out += separator + std::string("{\"question\": ") + quoted(fact.question) +
           ", \"subject\": " + quoted(fact.subject) + ", \"answer\": " + quoted(fact.answer) + "}";
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace backgauge::cudnn
