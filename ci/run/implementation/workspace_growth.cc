// SPDX-License-Identifier: Apache-2.0
#include "ci/run/implementation/workspace_growth.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "ci/options/cli_options.h"
#include "ci/options/command_error.h"
#include "reference/contract/owned_call.h"

namespace backgauge::cli {
namespace {

int first_of(std::uint32_t set) { return std::countr_zero(set); }

std::size_t bytes_for(const backgauge_implementation& implementation, const CallSetup& setup) {
  if (implementation.prepare == nullptr) return 0;
  try {
    return DescribedCall(setup, implementation.prepare).plan.workspace_bytes;
  } catch (const std::runtime_error& refused) {
    throw CommandError{kNotLoaded, fmt::format("{}: prepare: {}", implementation.name, refused.what())};
  }
}

}  // namespace

WorkspaceNeed workspace_need(const backgauge_implementation& implementation, const Claims& claims) {
  const OpSpec& spec = claims.spec();
  CallSetup setup;
  setup.op = spec.op;
  setup.dtype = claims.takes(BACKGAUGE_FLOAT32) ? BACKGAUGE_FLOAT32
                                                : static_cast<backgauge_dtype>(first_of(claims.dtypes[kEveryDtype]));
  setup.extents = {.T = 25, .B = 64, .I = 512, .H = 512, .S = 25};
  WorkspaceNeed need;
  const std::string dtype(dtype_word(setup.dtype));
  std::string modes;
  for (const AttributeSpec& attribute : spec.attributes()) {
    if (attribute.choice == nullptr) continue;
    const auto set = static_cast<std::uint32_t>(find_property(attribute.set)->get(claims, setup.dtype));
    const bool usual = (set & BACKGAUGE_BIT(attribute.usual)) != 0;
    const std::int32_t value = usual ? attribute.usual : first_of(set);
    setup.attributes.*attribute.choice = value;
    if (attribute.choice == &backgauge_attributes::rnn_mode) modes.append(" ").append(attribute.word(value));
  }
  apply_attributes(spec, setup.attributes, setup.extents);
  need.bytes = bytes_for(implementation, setup);
  std::string dims;
  for (const SizeSpec& size : spec.sizes()) {
    if (!size.is_dim()) continue;
    dims += fmt::format("{}{}", size.key, setup.extents.*size.extent);
    CallSetup larger = setup;
    larger.extents.*size.extent *= 2;
    larger.extents.S = larger.extents.T;
    need.with_twice.emplace_back(size.letter, bytes_for(implementation, larger));
  }
  need.of = fmt::format("{} {}{}", dtype, dims, modes);
  return need;
}

std::string text_of(const WorkspaceNeed& need) {
  if (need.bytes == 0) return "no workspace for " + need.of;
  std::string out = fmt::format("{:.3g} MiB of workspace for {}; doubling a dimension multiplies it:",
                                static_cast<double>(need.bytes) / (1 << 20), need.of);
  const char* separator = "";
  for (const auto& [name, bytes] : need.with_twice) {
    out += fmt::format("{} {} {:.2f}", separator, name, static_cast<double>(bytes) / static_cast<double>(need.bytes));
    separator = ",";
  }
  return out;
}

}  // namespace backgauge::cli
