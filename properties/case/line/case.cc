// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case.h"

#include "properties/case/line/case_attributes.h"
#include "properties/case/line/random.h"
#include "properties/case/line/words.h"
#include "reference/contract/rnn_params.h"

namespace backgauge {
namespace {

std::string dims(const Case& c) {
  std::string text;
  if (traits_of(c.op).has_steps) text.append("t").append(std::to_string(c.T));
  text.append("b").append(std::to_string(c.B));
  text.append("i").append(std::to_string(c.I));
  return text.append("h").append(std::to_string(c.H));
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
  if (op.traits.has_steps) extents.T = c.T;
  extents.B = c.B;
  extents.I = c.I;
  extents.H = c.H;
  if (op.traits.has_layers) extents.L = c.layers;
  if (op.traits.has_seq_len_max) extents.S = c.seq_len_max;
  const backgauge_attributes attributes = attributes_of(c);
  apply_attributes(op, attributes, extents);
  if (op.traits.flat_params) {
    extents.params_length = checked_size(rnn_params(attributes, c.I, c.H, c.layers)).value_or(-1);
  }
  return extents;
}

std::int64_t steps_taken(const Case& c) {
  const OpTraits& op = traits_of(c.op);
  return op.has_seq_len_max ? c.seq_len_max : op.has_steps ? c.T : 1;
}

void set_steps(Case& c, std::int64_t T, std::int64_t seq_len_max) {
  const OpTraits& op = traits_of(c.op);
  if (op.has_steps) c.T = T;
  if (op.has_seq_len_max) c.seq_len_max = seq_len_max;
}

}  // namespace backgauge
