// SPDX-License-Identifier: Apache-2.0
#include "ci/run/plan/preflight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ci/options/command_error.h"
#include "properties/case/draw/inputs.h"
#include "properties/case/files/memory_budget.h"
#include "properties/judge/call/printable.h"
#include "properties/judge/runner/refusals.h"
#include "reference/memory.h"

namespace backgauge::cli {
namespace {

double elements(const Shape& shape, std::int64_t rows) {
  double count = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] < 0) return 0;  // too large for an int64; making the case reports it
    count *= static_cast<double>(k == 0 ? std::clamp<std::int64_t>(rows, 0, shape[0]) : shape[k]);
  }
  return count;
}

// The memory that the oracle needs at least: half of the estimate for the bound, which is right within a factor of two.
double least_of_oracle(const Case& c, const Extents& e) {
  Problem described;
  described.op = c.op;
  described.dtype = c.dtype;
  described.attributes = attributes_of(c);
  described.extents = e;
  return bound_bytes(described) / 2;
}

// The memory that judging a case needs at least: for the elements of inputs that are read, a double and the call's
// copy; for outputs the call's copy, doubles, expected and allowed values (24 bytes); and the memory of the oracle.
double least_memory(const Case& c) {
  constexpr double kDouble = 8, kWanted = 24;
  const Extents e = extents_of(c);
  const OpSpec& spec = *find_op(c.op);
  const auto in_call = static_cast<double>(backgauge_dtype_bytes(c.dtype));
  double bytes = least_of_oracle(c, e);
  for (const TensorSpec& tensor : spec.inputs) {
    if (tensor.present(e)) bytes += elements(tensor.shape(e), tensor.rows(e)) * (kDouble + in_call);
  }
  for (const TensorSpec& tensor : spec.outputs) {
    if (tensor.present(e)) bytes += elements(tensor.shape(e), tensor.shape(e)[0]) * (kDouble + in_call + kWanted);
  }
  return bytes;
}

}  // namespace

void require_writable(const std::string& option, const std::filesystem::path& file) {
  std::error_code error;
  const bool existed = std::filesystem::exists(file, error);
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("{}: {}: {}", option, file.string(), why)};
  };
  if (existed && !std::filesystem::is_regular_file(file, error)) refuse("expected a file, got something else");
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(fmt::format("cannot be written: {}", std::strerror(errno)));
  close(descriptor);
  if (!existed) unlink(file.c_str());
}

std::string lack_of_memory(const Case& c) {
  // Any machine that runs the command has this much memory, so the system is not asked for less.
  constexpr double kSurelyThere = 1 << 26;
  const double needed = c.data == DataProfile::kMalformed ? 0 : least_memory(c);
  if (needed <= kSurelyThere) return "";
  const std::uint64_t there = available_memory();
  if (needed <= static_cast<double>(there)) return "";
  return fmt::format("needs at least {:.3g} GiB of memory, {} are available", needed / 0x1p30, bytes_text(there));
}

void require_makeable(const Case& c) {
  const auto refuse = [&](const std::string& why) {
    throw CommandError{kUsage, fmt::format("case \"{}\": {}", to_string(c), printable(why))};
  };
  if (c.data == DataProfile::kMalformed) {
    const std::uint64_t count = malformed_case_count(c.op, c.dtype);
    if (c.seed < count) return;
    refuse(fmt::format("data=malformed:{:#x}: {} {} has {:#x} malformed calls", c.seed, find_op(c.op)->word,
                       dtype_word(c.dtype), count));
  }
  if (const std::string why = lack_of_memory(c); !why.empty()) refuse(why);
  if (const std::string why = fill(c).error; !why.empty()) refuse(why);
}

}  // namespace backgauge::cli
