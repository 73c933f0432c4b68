// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case.h"

#include "properties/case/line/case_attributes.h"
#include "properties/case/line/random.h"
#include "properties/case/line/words.h"

namespace backgauge {
namespace {

std::string dims(const Case& c) {
  std::string text;
  for (const SizeSpec& size : spec_of(c.op).sizes()) {
    if (size.is_dim()) text.append(size.key).append(std::to_string(c.*case_member(size)));
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
  for (const SizeSpec& size : op.sizes()) extents.*size.extent = c.*case_member(size);
  const backgauge_attributes attributes = attributes_of(c);
  apply_attributes(op, attributes, extents);
  extents.params_length = params_length(op, attributes, extents).value_or(-1);
  return extents;
}

std::int64_t steps_taken(const Case& c) {
  std::int64_t steps = 1;
  for (const SizeSpec& size : spec_of(c.op).sizes()) {
    if (size.letter == 'T' || size.letter == 'S') steps = c.*case_member(size);  // the row of S is the later one
  }
  return steps;
}

void set_steps(Case& c, std::int64_t T, std::int64_t seq_len_max) {
  for (const SizeSpec& size : spec_of(c.op).sizes()) {
    if (size.letter == 'T') c.T = T;
    if (size.letter == 'S') c.seq_len_max = seq_len_max;
  }
}

}  // namespace backgauge
