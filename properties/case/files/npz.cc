// SPDX-License-Identifier: Apache-2.0
#include "properties/case/files/npz.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "properties/case/files/memory_budget.h"

namespace backgauge {
namespace {

struct Closer {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Closer>;
using Member = std::unique_ptr<zip_file_t, Closer>;

// The memory that the members need, inflated and then as doubles, by the sizes that the archive states. An element of
// half needs 2 bytes, and then 8 more.
double stated_memory(zip_t* archive) {
  constexpr double kTimes = 5;
  double bytes = 0;
  for (zip_int64_t k = 0; k < zip_get_num_entries(archive, 0); ++k) {
    zip_stat_t member;
    if (zip_stat_index(archive, static_cast<zip_uint64_t>(k), 0, &member) == 0 && (member.valid & ZIP_STAT_SIZE) != 0) {
      bytes += kTimes * static_cast<double>(member.size);
    }
  }
  return bytes;
}

// Inflates at most as many bytes as the archive states, and allocates only what is really there: the stated size may be
// wrong.
std::string inflate(zip_t* archive, zip_uint64_t index, std::string& bytes) {
  zip_stat_t stated;
  if (zip_stat_index(archive, index, 0, &stated) != 0 || (stated.valid & ZIP_STAT_SIZE) == 0)
    return "has no size in the archive";
  const Member member(zip_fopen_index(archive, index, 0));
  if (member == nullptr) return zip_strerror(archive);
  constexpr std::size_t kBlock = 1 << 16;
  bytes.clear();
  while (true) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + kBlock);
    const zip_int64_t got = zip_fread(member.get(), bytes.data() + filled, kBlock);
    bytes.resize(filled + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0) return zip_file_strerror(member.get());
    if (got == 0) return "";
    if (bytes.size() > stated.size) return "is larger than its size in the archive";
  }
}

}  // namespace

bool read_npz(const std::filesystem::path& path, std::map<std::string, NpyArray>& arrays, std::string& error) {
  arrays.clear();
  int code = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive == nullptr) {
    zip_error_t problem;
    zip_error_init_with_code(&problem, code);
    error = path.string() + ": " + zip_error_strerror(&problem);
    zip_error_fini(&problem);
    return false;
  }
  const auto there = static_cast<double>(available_memory());
  if (const double needed = stated_memory(archive.get()); needed > there) {
    error = fmt::format("{}: needs {:.3g} GiB of memory, {:.3g} GiB are available", path.string(), needed / 0x1p30,
                        there / 0x1p30);
    return false;
  }
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const zip_uint64_t index = static_cast<zip_uint64_t>(k);
    const char* stored_name = zip_get_name(archive.get(), index, 0);
    std::string name = stored_name == nullptr ? "" : stored_name;
    const auto refuse = [&](const std::string& why) {
      error = path.string() + ": " + name + ": " + why;
      return false;
    };
    if (!name.ends_with(".npy")) return refuse("not an .npy file");
    std::string bytes, why;
    if (why = inflate(archive.get(), index, bytes); !why.empty()) return refuse(why);
    NpyArray array;
    if (!parse_npy(bytes, array, why)) return refuse(why);
    name.resize(name.size() - 4);
    if (!arrays.emplace(name, std::move(array)).second) return refuse("occurs twice");
  }
  return true;
}

}  // namespace backgauge
