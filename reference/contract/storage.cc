// SPDX-License-Identifier: Apache-2.0
// Elements are copied with memcpy: the memory of a call is aligned to its elements, golden files are to nothing.
#include "reference/contract/storage.h"

#include <cstring>

#include "reference/contract/narrow.h"

namespace backgauge {
namespace {

template <class Element, class Convert>
void encode_as(std::span<const double> values, void* bytes, Convert convert) {
  auto* out = static_cast<unsigned char*>(bytes);
  for (const double value : values) {
    const Element element = convert(value);
    std::memcpy(out, &element, sizeof element);
    out += sizeof element;
  }
}

template <class Element>
void decode_as(const void* bytes, std::span<double> values) {
  const auto* in = static_cast<const unsigned char*>(bytes);
  for (double& value : values) {
    Element element;
    std::memcpy(&element, in, sizeof element);
    value = static_cast<double>(element);
    in += sizeof element;
  }
}

}  // namespace

void encode(backgauge_dtype dtype, std::span<const double> values, void* bytes) {
  switch (dtype) {
    case BACKGAUGE_HALF: return encode_as<Half>(values, bytes, narrowed<Half>);
    case BACKGAUGE_BFLOAT16: return encode_as<Bfloat16>(values, bytes, narrowed<Bfloat16>);
    case BACKGAUGE_FLOAT32:
      return encode_as<float>(values, bytes, [](double value) { return static_cast<float>(value); });
    case BACKGAUGE_FLOAT64: return encode_as<double>(values, bytes, [](double value) { return value; });
    case BACKGAUGE_INT64:
      return encode_as<std::int64_t>(values, bytes, [](double value) { return static_cast<std::int64_t>(value); });
  }
}

void decode(backgauge_dtype dtype, const void* bytes, std::span<double> values) {
  switch (dtype) {
    case BACKGAUGE_HALF: return decode_as<Half>(bytes, values);
    case BACKGAUGE_BFLOAT16: return decode_as<Bfloat16>(bytes, values);
    case BACKGAUGE_FLOAT32: return decode_as<float>(bytes, values);
    case BACKGAUGE_FLOAT64: return decode_as<double>(bytes, values);
    case BACKGAUGE_INT64: return decode_as<std::int64_t>(bytes, values);
  }
}

double round_to(backgauge_dtype dtype, double value) {
  std::uint64_t element = 0;
  encode(dtype, {&value, 1}, &element);
  decode(dtype, &element, {&value, 1});
  return value;
}

}  // namespace backgauge
