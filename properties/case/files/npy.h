// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy: read in versions 1 and 2, written in 1 (2 if the header needs it). Little endian, C order; other orders
// are refused with a message that says so. Any shape of rank 0 to 8, including empty ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reference/contract/op_spec.h"

namespace backgauge {

enum class NpyType { kBool, kUint8, kInt32, kInt64, kFloat16, kFloat32, kFloat64, kBfloat16 };
std::string_view npy_descr(NpyType type);  // "|b1", "|u1", "<i4", "<i8", "<f2", "<f4", "<f8", "<V2"
std::string_view npy_word(NpyType type);   // NumPy's name: "bool" ... "float64", "bfloat16"

// The type of a dtype's elements in memory, and back: BACKGAUGE_INT64 for types that no floating-point dtype has.
NpyType npy_type(backgauge_dtype dtype);
backgauge_dtype npy_dtype(NpyType type);

// An array. Every type is exact in double except int64 beyond 2^53, which is refused.
struct NpyArray {
  NpyType type = NpyType::kFloat64;
  Shape shape;
  std::vector<double> values;
};

// Parses the bytes of a file. Returns false, with the reason in `error`, on failure. Whatever the bytes, it reads
// nothing beyond them and allocates no memory for elements that they do not contain.
bool parse_npy(std::string_view bytes, NpyArray& array, std::string& error);

// The bytes of a file with these values, which must fit type and shape. The data starts at a multiple of 64 bytes.
std::string format_npy(const NpyArray& array);

// The same with a file; errors begin with its path.
bool read_npy(const std::filesystem::path& path, NpyArray& array, std::string& error);
bool write_npy(const std::filesystem::path& path, const NpyArray& array, std::string& error);

// Whole files as bytes; errors begin with the path.
bool read_file(const std::filesystem::path& path, std::string& bytes, std::string& error);
bool write_file(const std::filesystem::path& path, std::string_view bytes, std::string& error);

}  // namespace backgauge
