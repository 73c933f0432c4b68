// SPDX-License-Identifier: Apache-2.0
#include "properties/case/files/npy.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <cmath>
#include <limits>

#include "properties/case/files/npz.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

// Removed with its contents at the end of the test.
struct Folder {
  fs::path path = fs::path(testing::TempDir()) /
                  (std::string("backgauge_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
};

std::string with_header(std::string header, const std::string& data, int version = 1) {
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0', static_cast<char>(header.size()), '\0'};
  if (version == 2) bytes += {'\0', '\0'};
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  NpyArray array;
  std::string error;
  EXPECT_FALSE(parse_npy(bytes, array, error));
  return error;
}

const NpyArray kArrays[] = {
    {NpyType::kBool, {2, 2}, {0, 1, 1, 0}},
    {NpyType::kUint8, {3}, {0, 255, 7}},
    {NpyType::kInt32, {}, {-2147483648.0}},
    {NpyType::kInt64, {}, {9007199254740992.0}},
    {NpyType::kFloat16, {2, 1}, {65504, 0x1p-24}},
    {NpyType::kFloat32, {1, 2, 1}, {0x1p-149, -0.0}},
    {NpyType::kFloat64, {4}, {0x1p-1074, -1e308, std::numeric_limits<double>::infinity(), 0.1}},
    {NpyType::kFloat32, {3, 0, 5}, {}},
    {NpyType::kFloat64, {1, 1, 1, 1, 1, 1, 1, 1}, {3}},
};

TEST(Npy, ReadsBackWhatItWrites) {
  for (const NpyArray& array : kArrays) {
    const std::string bytes = format_npy(array);
    EXPECT_EQ(bytes.find('\n') % 64, 63u) << "data begins at a multiple of 64";
    NpyArray again;
    std::string error;
    ASSERT_TRUE(parse_npy(bytes, again, error)) << error;
    EXPECT_EQ(again.type, array.type);
    EXPECT_EQ(again.shape, array.shape);
    EXPECT_EQ(again.values, array.values);
  }
}

TEST(Npy, KeepsSignsAndNans) {
  NpyArray array{NpyType::kFloat16, {2}, {-0.0, std::numeric_limits<double>::quiet_NaN()}}, again;
  std::string error;
  ASSERT_TRUE(parse_npy(format_npy(array), again, error)) << error;
  EXPECT_TRUE(std::signbit(again.values[0]));
  EXPECT_TRUE(std::isnan(again.values[1]));
}

TEST(Npy, ReadsVersionTwoAndOtherSpellings) {
  NpyArray array;
  std::string error;
  ASSERT_TRUE(
      parse_npy(with_header("{\"shape\":(2,),\"descr\":\"|u1\",\"fortran_order\":False}", "\x01\x02", 2), array, error))
      << error;
  EXPECT_EQ(array.shape, Shape{2});
  EXPECT_EQ(array.values, (std::vector<double>{1, 2}));
}

TEST(Npy, MalformedFilesSayWhatIsWrong) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  const auto shaped = [](const std::string& shape) {
    return with_header("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }", "12345678");
  };
  EXPECT_EQ(error_of(""), "it does not start like an .npy file");
  EXPECT_EQ(error_of("\x93NUMPY"), "it ends within its header");
  EXPECT_EQ(error_of(with_header(good, "12", 3)), "version 3 is not supported; expected 1 or 2");
  EXPECT_EQ(error_of(with_header(good, "12").substr(0, 30)), "it ends within its header");
  EXPECT_EQ(error_of(with_header("[1]", "")), "the header does not start with {");
  EXPECT_EQ(error_of(with_header("{'descr'", "")), "the header is not a dictionary");
  EXPECT_EQ(error_of(with_header("{'descr': '|u1'", "")), "the header is not a dictionary");
  EXPECT_EQ(error_of(with_header("{'descr': '|u1', }", "")), "descr, fortran_order or shape is missing in the header");
  EXPECT_EQ(error_of(with_header("{'color': 1}", "")), "the header has an unexpected key \"color\"");
  EXPECT_EQ(error_of(with_header(good + "x", "12")), "the header has text after its dictionary");
  EXPECT_EQ(error_of(with_header("{'descr': [('a', '<f4')], }", "")),
            "descr is not a string; structured types are not supported");
  EXPECT_EQ(error_of(with_header("{'descr': '<c8', }", "")),
            "elements of type <c8 are not supported; expected bool, uint8, int32, int64, float16, float32, float64 or "
            "bfloat16");
  EXPECT_EQ(error_of(with_header("{'descr': '>f4', }", "")),
            "the elements are big endian (>f4); expected little endian");
  EXPECT_EQ(error_of(with_header("{'fortran_order': True, }", "")), "the array is in Fortran order; expected C order");
  EXPECT_EQ(error_of(with_header("{'fortran_order': 1, }", "")), "fortran_order is neither True nor False");
  EXPECT_EQ(error_of(shaped("2")), "shape is not a tuple");
  EXPECT_EQ(error_of(shaped("(1 1)")), "shape is not a tuple");
  EXPECT_EQ(error_of(shaped("(-1,)")), "shape has an invalid dimension");
  EXPECT_EQ(error_of(shaped("(99999999999999999999,)")), "shape has an invalid dimension");
  EXPECT_EQ(error_of(shaped("(1,1,1,1,1,1,1,1,1)")), "shape has more than 8 dimensions");
  EXPECT_EQ(error_of(shaped("(2,)")), "shape [2] of float64 does not fit the 8 bytes of data");
  EXPECT_EQ(error_of(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", "123456789")),
            "shape [1] of float64 does not fit the 9 bytes of data");
  EXPECT_EQ(error_of(shaped("(0,)")), "shape [0] of float64 does not fit the 8 bytes of data");
  EXPECT_EQ(error_of(shaped("(4611686018427387904, 4)")),
            "shape [4611686018427387904, 4] of float64 does not fit the 8 bytes of data");
  EXPECT_EQ(error_of(with_header(good, "123")), "shape [2] of uint8 does not fit the 3 bytes of data");
  EXPECT_EQ(error_of(with_header("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", "\1\1\1\1\1\1\1\1")),
            "an int64 beyond 2^53 is not exact in double");
}

// Every truncated file, and every header with one byte changed, gives a result or an error, never a crash (sanitizers).
TEST(Npy, DamagedFilesAreAnsweredWithoutACrash) {
  const std::string bytes = format_npy(kArrays[4]);
  NpyArray array;
  std::string error;
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(parse_npy(bytes.substr(0, size), array, error));
  int refused = 0;
  for (std::size_t at = 0; at < 60; ++at) {
    for (const char c : {'\0', '\xff', '9', '(', '\'', ' '}) {
      std::string damaged = bytes;
      damaged[at] = c;
      refused += !parse_npy(damaged, array, error);
    }
  }
  EXPECT_GT(refused, 200);
}

TEST(Npy, FilesThatCannotBeReadOrWrittenAreNamed) {
  const Folder folder;
  NpyArray array;
  std::string error;
  EXPECT_FALSE(read_npy(folder.path / "none.npy", array, error));
  EXPECT_EQ(error, (folder.path / "none.npy").string() + ": no such file");
  EXPECT_FALSE(write_npy(folder.path / "no" / "where.npy", kArrays[0], error));
  EXPECT_EQ(error, (folder.path / "no" / "where.npy").string() + ": cannot be written");
  ASSERT_TRUE(write_npy(folder.path / "a.npy", kArrays[0], error)) << error;
  ASSERT_TRUE(read_npy(folder.path / "a.npy", array, error)) << error;
  EXPECT_EQ(array.values, kArrays[0].values);
}

void write_archive(const fs::path& path, const std::vector<std::pair<std::string, std::string>>& members,
                   zip_int32_t method) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    ASSERT_GE(index, 0);
    ASSERT_EQ(zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0), 0);
  }
  ASSERT_EQ(zip_close(archive), 0);
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const Folder folder;
  const fs::path path = folder.path / "a.npz";
  const NpyArray long_array{NpyType::kFloat32, {50000}, std::vector<double>(50000, 0.5)};
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    write_archive(path, {{"x.npy", format_npy(long_array)}, {"empty.npy", format_npy(kArrays[7])}}, method);
    std::map<std::string, NpyArray> arrays;
    std::string error;
    ASSERT_TRUE(read_npz(path, arrays, error)) << error;
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays["x"].values, long_array.values);
    EXPECT_EQ(arrays["empty"].shape, (Shape{3, 0, 5}));
  }
}

TEST(Npz, BadArchivesSayWhatIsWrong) {
  const Folder folder;
  const fs::path path = folder.path / "a.npz";
  std::map<std::string, NpyArray> arrays;
  std::string error;
  EXPECT_FALSE(read_npz(path, arrays, error));
  EXPECT_EQ(error, path.string() + ": No such file");
  ASSERT_TRUE(write_file(path, "no archive", error));
  EXPECT_FALSE(read_npz(path, arrays, error));
  EXPECT_EQ(error, path.string() + ": Not a zip archive");
  write_archive(path, {{"readme.txt", "hello"}}, ZIP_CM_STORE);
  EXPECT_FALSE(read_npz(path, arrays, error));
  EXPECT_EQ(error, path.string() + ": readme.txt: not an .npy file");
  write_archive(path, {{"x.npy", "hello"}}, ZIP_CM_STORE);
  EXPECT_FALSE(read_npz(path, arrays, error));
  EXPECT_EQ(error, path.string() + ": x.npy: it does not start like an .npy file");

  write_archive(path, {{"x.npy", format_npy(kArrays[6])}}, ZIP_CM_STORE);
  std::string bytes;
  ASSERT_TRUE(read_file(path, bytes, error));
  bytes[100] ^= 1;  // within the stored member: its CRC no longer fits
  ASSERT_TRUE(write_file(path, bytes, error));
  EXPECT_FALSE(read_npz(path, arrays, error));
  EXPECT_EQ(error, path.string() + ": x.npy: CRC error");
}

}  // namespace
}  // namespace backgauge
