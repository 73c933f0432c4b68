// SPDX-License-Identifier: Apache-2.0
#include "perf/call/output_block.h"

#include "perf/call/placing.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

// Above the numbers of the inputs.
constexpr std::size_t kFirstNumber = 40;

std::size_t room_of(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage + kPage; }

}  // namespace

std::vector<OutputPlace> output_places(const Problem& problem, std::size_t shift) {
  std::vector<OutputPlace> out;
  std::size_t room = 0;
  for (const TensorSpec& spec : find_op(problem.op)->outputs) {
    if (!spec.present(problem.extents)) continue;
    OutputPlace place{spec.name, spec.shape(problem.extents)};
    const auto elements = static_cast<std::size_t>(element_count(place.shape).value_or(0));
    place.bytes = elements * backgauge_dtype_bytes(problem.dtype);
    place.offset = room + place_in_page(kFirstNumber + out.size(), shift);
    room += room_of(place.bytes);
    out.push_back(std::move(place));
  }
  return out;
}

std::size_t output_block_bytes(const Problem& problem) {
  std::size_t room = kPage;  // not empty
  for (const OutputPlace& place : output_places(problem, 0)) room += room_of(place.bytes);
  return room;
}

}  // namespace backgauge
