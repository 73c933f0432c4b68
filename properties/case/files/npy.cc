// SPDX-License-Identifier: Apache-2.0
#include "properties/case/files/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "properties/case/files/memory_budget.h"
#include "reference/contract/storage.h"

namespace backgauge {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the data within a file, as in files that NumPy writes

struct TypeRow {
  NpyType type;
  std::string_view descr, word;
  std::size_t bytes;
};
constexpr TypeRow kTypes[] = {
    {NpyType::kBool, "|b1", "bool", 1},       {NpyType::kUint8, "|u1", "uint8", 1},
    {NpyType::kInt32, "<i4", "int32", 4},     {NpyType::kInt64, "<i8", "int64", 8},
    {NpyType::kFloat16, "<f2", "float16", 2}, {NpyType::kFloat32, "<f4", "float32", 4},
    {NpyType::kFloat64, "<f8", "float64", 8}, {NpyType::kBfloat16, "<V2", "bfloat16", 2},
};

const TypeRow& row_of(NpyType type) { return kTypes[static_cast<int>(type)]; }

// The header, a Python dictionary literal with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  std::string run(NpyArray& array) {
    if (!take("{")) return "the header does not start with {";
    bool descr = false, order = false, shape = false;
    while (!take("}")) {
      std::string_view key;
      if (!take_string(key) || !take(":")) return "the header is not a dictionary";
      std::string why;
      if (key == "descr" && !descr) {
        descr = true;
        why = parse_descr(array);
      } else if (key == "fortran_order" && !order) {
        order = true;
        why = parse_order();
      } else if (key == "shape" && !shape) {
        shape = true;
        why = parse_shape(array);
      } else {
        why = "the header has an unexpected key \"" + printable(key) + "\"";
      }
      if (!why.empty()) return why;
      if (!take(",") && !rest_.starts_with("}")) return "the header is not a dictionary";
    }
    if (!descr || !order || !shape) return "descr, fortran_order or shape is missing in the header";
    return rest_.empty() ? "" : "the header has text after its dictionary";
  }

 private:
  static std::string printable(std::string_view text) {
    std::string result(text.substr(0, 40));
    for (char& c : result) {
      if (c < ' ' || c > '~') c = '?';
    }
    return result;
  }

  void skip_space() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(begin == rest_.npos ? rest_.size() : begin);
  }

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    skip_space();
    return true;
  }

  bool take_string(std::string_view& text) {
    const char quote = rest_.empty() ? ' ' : rest_.front();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t end = rest_.find(quote, 1);
    if (end == rest_.npos) return false;
    text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }

  std::string parse_descr(NpyArray& array) {
    std::string_view descr;
    if (!take_string(descr)) return "descr is not a string; structured types are not supported";
    if (descr == "|V2") descr = "<V2";  // 2 bytes of any kind have no byte order
    for (const TypeRow& row : kTypes) {
      if (row.descr == descr) {
        array.type = row.type;
        return "";
      }
      if (descr.starts_with('>') && descr.substr(1) == row.descr.substr(1)) {
        return "the elements are big endian (" + std::string(descr) + "); expected little endian";
      }
    }
    return "elements of type " + printable(descr) +
           " are not supported; expected bool, uint8, int32, int64, float16, float32, float64 "
           "or bfloat16";
  }

  std::string parse_order() {
    if (take("False")) return "";
    return take("True") ? "the array is in Fortran order; expected C order" : "fortran_order is neither True nor False";
  }

  std::string parse_shape(NpyArray& array) {
    array.shape.clear();
    if (!take("(")) return "shape is not a tuple";
    while (!take(")")) {
      std::int64_t dimension = 0;
      const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
      if (problem != std::errc() || dimension < 0) return "shape has an invalid dimension";
      if (array.shape.size() == BACKGAUGE_MAX_RANK) return "shape has more than 8 dimensions";
      rest_.remove_prefix(end - rest_.data());
      array.shape.push_back(dimension);
      if (!take(",") && !rest_.starts_with(")")) return "shape is not a tuple";
    }
    return "";
  }

  std::string_view rest_;
};

template <class Element>
void decode_whole(std::string_view bytes, std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    Element element;
    std::memcpy(&element, bytes.data() + k * sizeof element, sizeof element);
    values[k] = static_cast<double>(element);
  }
}

template <class Element>
void encode_whole(const std::vector<double>& values, char* bytes) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Element element = static_cast<Element>(values[k]);
    std::memcpy(bytes + k * sizeof element, &element, sizeof element);
  }
}

void decode_elements(NpyType type, std::string_view bytes, std::vector<double>& values) {
  switch (type) {
    case NpyType::kBool:
    case NpyType::kUint8: return decode_whole<std::uint8_t>(bytes, values);
    case NpyType::kInt32: return decode_whole<std::int32_t>(bytes, values);
    case NpyType::kInt64: return decode(BACKGAUGE_INT64, bytes.data(), values);
    case NpyType::kFloat16: return decode(BACKGAUGE_HALF, bytes.data(), values);
    case NpyType::kFloat32: return decode(BACKGAUGE_FLOAT32, bytes.data(), values);
    case NpyType::kFloat64: return decode(BACKGAUGE_FLOAT64, bytes.data(), values);
    case NpyType::kBfloat16: return decode(BACKGAUGE_BFLOAT16, bytes.data(), values);
  }
}

void encode_elements(NpyType type, const std::vector<double>& values, char* bytes) {
  switch (type) {
    case NpyType::kBool:
    case NpyType::kUint8: return encode_whole<std::uint8_t>(values, bytes);
    case NpyType::kInt32: return encode_whole<std::int32_t>(values, bytes);
    case NpyType::kInt64: return encode(BACKGAUGE_INT64, values, bytes);
    case NpyType::kFloat16: return encode(BACKGAUGE_HALF, values, bytes);
    case NpyType::kFloat32: return encode(BACKGAUGE_FLOAT32, values, bytes);
    case NpyType::kFloat64: return encode(BACKGAUGE_FLOAT64, values, bytes);
    case NpyType::kBfloat16: return encode(BACKGAUGE_BFLOAT16, values, bytes);
  }
}

std::string parse(std::string_view bytes, NpyArray& array) {
  if (!bytes.starts_with(kMagic)) return "it does not start like an .npy file";
  if (bytes.size() < 8) return "it ends within its header";
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version != 1 && version != 2) return "version " + std::to_string(version) + " is not supported; expected 1 or 2";
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) return "it ends within its header";
  std::uint32_t header = 0;
  std::memcpy(&header, bytes.data() + 8, length_bytes);
  bytes.remove_prefix(8 + length_bytes);
  if (header > bytes.size()) return "it ends within its header";
  if (const std::string why = HeaderParser(bytes.substr(0, header)).run(array); !why.empty()) return why;
  bytes.remove_prefix(header);

  const auto count = element_count(array.shape);
  const std::size_t element = row_of(array.type).bytes;
  if (!count || bytes.size() / element != static_cast<std::size_t>(*count) || bytes.size() % element != 0) {
    return "shape " + to_string(array.shape) + " of " + std::string(npy_word(array.type)) + " does not fit the " +
           std::to_string(bytes.size()) + " bytes of data";
  }
  array.values.assign(static_cast<std::size_t>(*count), 0.0);
  decode_elements(array.type, bytes, array.values);
  if (array.type == NpyType::kInt64) {
    for (const double value : array.values) {
      if (std::fabs(value) > 0x1p53) return "an int64 beyond 2^53 is not exact in double";
    }
  }
  return "";
}

}  // namespace

std::string_view npy_descr(NpyType type) { return row_of(type).descr; }
std::string_view npy_word(NpyType type) { return row_of(type).word; }

NpyType npy_type(backgauge_dtype dtype) {
  const DtypeSpec* spec = find_dtype(dtype);
  if (spec == nullptr) return NpyType::kInt64;
  return std::ranges::find(kTypes, spec->numpy, &TypeRow::descr)->type;
}

backgauge_dtype npy_dtype(NpyType type) {
  for (const backgauge_dtype dtype : kFloatDtypes) {
    if (npy_type(dtype) == type) return dtype;
  }
  return BACKGAUGE_INT64;
}

bool parse_npy(std::string_view bytes, NpyArray& array, std::string& error) {
  error = parse(bytes, array);
  return error.empty();
}

std::string format_npy(const NpyArray& array) {
  std::string header = "{'descr': '" + std::string(npy_descr(array.type)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dimension : array.shape) header += std::to_string(dimension) + ", ";
  header += "), }";
  // 6 bytes of magic, 2 of version, 2 of length; at rank 8 the header has at most 240 characters, so version 1 does.
  const std::size_t unpadded = 10 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  const std::size_t data = bytes.size();
  bytes.resize(data + array.values.size() * row_of(array.type).bytes);
  encode_elements(array.type, array.values, bytes.data() + data);
  return bytes;
}

bool read_npy(const std::filesystem::path& path, NpyArray& array, std::string& error) {
  std::string bytes;
  if (!read_file(path, bytes, error)) return false;
  if (parse_npy(bytes, array, error)) return true;
  error = path.string() + ": " + error;
  return false;
}

bool write_npy(const std::filesystem::path& path, const NpyArray& array, std::string& error) {
  return write_file(path, format_npy(array), error);
}

bool read_file(const std::filesystem::path& path, std::string& bytes, std::string& error) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    error = path.string() + (std::filesystem::exists(path, problem) ? ": not a regular file" : ": no such file");
    return false;
  }
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (!problem && size > available_memory()) {
    error =
        fmt::format("{}: has {}, {} are available", path.string(), bytes_text(size), bytes_text(available_memory()));
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  if (!problem && file.good()) {
    bytes.resize(size);
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    if (file.good()) return true;
  }
  error = path.string() + ": cannot be read";
  return false;
}

bool write_file(const std::filesystem::path& path, std::string_view bytes, std::string& error) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) return true;
  error = path.string() + ": cannot be written";
  return false;
}

}  // namespace backgauge
