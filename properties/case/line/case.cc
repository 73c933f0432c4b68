// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case.h"

#include "properties/case/line/case_attributes.h"
#include "properties/case/line/random.h"
#include "properties/case/line/words.h"

namespace backgauge {
namespace {

std::string dims(const Case& c) {
  std::string text;
  for (const CaseSize& size : case_sizes(traits_of(c.op))) {
    if (size.spec->is_dim()) text.append(size.spec->key).append(std::to_string(c.*size.value));
  }
  return text;
}

}  // namespace

std::string to_string(const Case& c) {
  const OpSpec& spec = spec_of(c.op);
  std::string line = std::string(spec.word) + " " + dims(c);
  for (const WordRule& rule : word_rules()) {
    if (!rule.belongs_to(spec.traits)) continue;
    if (const std::string value = rule.print(c); !value.empty())
      line.append(" ").append(rule.key).append("=").append(value);
  }
  return line;
}

backgauge_attributes attributes_of(const Case& c) {
  const OpSpec& spec = spec_of(c.op);
  backgauge_attributes attributes{};
  for (const CaseAttribute& each : case_attributes(spec.traits)) {
    if (each.spec->choice != nullptr) attributes.*each.spec->choice = static_cast<std::int32_t>(each.get(c));
    if (each.spec->real != nullptr) attributes.*each.spec->real = static_cast<float>(each.get(c));
  }
  const RandomStream stream(c.seed, "attributes");
  std::int64_t drawn = 0;
  for (const AttributeSpec& each : spec.attributes()) {
    if (each.integer == nullptr) continue;
    attributes.*each.integer = static_cast<std::int32_t>(stream.bits(drawn++) >> 32);
  }
  return attributes;
}

Extents extents_of(const Case& c) {
  const OpSpec& op = spec_of(c.op);
  Extents extents;
  for (const CaseSize& size : case_sizes(op.traits)) extents.*size.spec->extent = c.*size.value;
  const backgauge_attributes attributes = attributes_of(c);
  apply_attributes(op, attributes, extents);
  extents.params_length = params_length(op, attributes, extents).value_or(-1);
  return extents;
}

std::int64_t steps_taken(const Case& c) {
  std::int64_t steps = 1;
  for (const CaseSize& size : case_sizes(traits_of(c.op))) {
    // The row of S comes after that of T.
    if (size.spec->letter == 'T' || size.spec->letter == 'S') steps = c.*size.value;
  }
  return steps;
}

void set_steps(Case& c, std::int64_t T, std::int64_t seq_len_max) {
  for (const CaseSize& size : case_sizes(traits_of(c.op))) {
    if (size.spec->letter == 'T') c.T = T;
    if (size.spec->letter == 'S') c.seq_len_max = seq_len_max;
  }
}

}  // namespace backgauge
