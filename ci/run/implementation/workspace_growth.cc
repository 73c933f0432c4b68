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
  if (!spec.traits.has_steps) setup.extents.T = setup.extents.S = 1;
  WorkspaceNeed need;
  const std::string dtype(dtype_word(setup.dtype));
  if (spec.traits.is_stacked) {
    const std::uint32_t modes = claims.rnn_modes[setup.dtype];
    const bool lstm = (modes & BACKGAUGE_BIT(BACKGAUGE_LSTM)) != 0;
    setup.attributes.rnn_mode = lstm ? BACKGAUGE_LSTM : static_cast<backgauge_rnn_mode>(first_of(modes));
    setup.attributes.input_mode = static_cast<backgauge_input_mode>(first_of(claims.input_modes[setup.dtype]));
    setup.attributes.direction = static_cast<backgauge_direction>(first_of(claims.directions[setup.dtype]));
    setup.extents.lstm = setup.attributes.rnn_mode == BACKGAUGE_LSTM;
    setup.extents.D = setup.attributes.direction == BACKGAUGE_BIDIRECTIONAL ? 2 : 1;
  }
  const Extents& e = setup.extents;
  const std::string steps = spec.traits.has_steps ? fmt::format("t{}", e.T) : "";
  need.of = fmt::format("{} {}b{}i{}h{}", dtype, steps, e.B, e.I, e.H);
  if (spec.traits.is_stacked) need.of += fmt::format(" {}", rnn_mode_word(setup.attributes.rnn_mode));
  need.bytes = bytes_for(implementation, setup);
  for (const auto& [name, size] : {std::pair{'T', &Extents::T}, std::pair{'B', &Extents::B},
                                   std::pair{'I', &Extents::I}, std::pair{'H', &Extents::H}}) {
    if (name == 'T' && !spec.traits.has_steps) continue;
    CallSetup larger = setup;
    larger.extents.*size *= 2;
    larger.extents.S = larger.extents.T;
    need.with_twice.emplace_back(name, bytes_for(implementation, larger));
  }
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
