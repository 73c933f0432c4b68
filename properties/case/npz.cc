// SPDX-License-Identifier: Apache-2.0
#include "properties/case/npz.h"

#include <zip.h>

#include <memory>

namespace backgauge {
namespace {

struct Closer {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Closer>;
using Member = std::unique_ptr<zip_file_t, Closer>;

// Inflates as much as there is and no more: the size that the archive states is a claim of the file, not yet memory.
std::string inflate(zip_t* archive, zip_uint64_t index, std::string& bytes) {
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
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const zip_uint64_t index = static_cast<zip_uint64_t>(k);
    const char* stored_name = zip_get_name(archive.get(), index, 0);
    std::string name = stored_name == nullptr ? "" : stored_name;
    const auto refuse = [&](const std::string& why) {
      error = path.string() + ": " + name + ": " + why;
      return false;
    };
    if (!name.ends_with(".npy")) return refuse("no .npy member");
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
