// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/mustpass.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "ci/conform/sha256.h"
#include "ci/options/command_error.h"
#include "properties/case/files/data_files.h"
#include "properties/case/files/npy.h"
#include "properties/judge/runner/refusals.h"

namespace backgauge::cli {
namespace {

namespace fs = std::filesystem;

CommandError not_the_version(const std::string& why) { return {kSelfCheck, "mustpass lists: " + why}; }

std::string text_of(const fs::path& path) {
  std::string text, error;
  if (!read_file(path, text, error)) throw not_the_version(error);
  return text;
}

fs::path folder_of(const std::string& version) {
  const std::vector<fs::path> places = data_places("mustpass/" + version, "properties/cases/mustpass/" + version);
  const auto found = std::ranges::find_if(places, [](const fs::path& place) { return fs::exists(place / kSums); });
  if (found == places.end()) throw not_the_version("no " + places_text(places));
  return *found;
}

// The malformed call with this number must be the one that the list describes: the table of malformed calls may grow.
void require_same_call(const std::string& where, const Case& c, const std::string& note) {
  const bool exists = c.seed < malformed_case_count(c.op, c.dtype);
  const std::string here =
      exists ? malformed_description(malformed_of_case(c.op, c.dtype, c.seed)) : "no malformed call";
  if (here != note) {
    throw not_the_version(fmt::format("{}: data=malformed:{:#x} is \"{}\" in this build, and \"{}\" in the list", where,
                                      c.seed, here, note));
  }
}

}  // namespace

const std::vector<MustpassRelease>& mustpass_releases() {
  static const std::vector<MustpassRelease> releases = {
      {"1.0", "5b51d746b9e2238f4c8aa9bd658aeefa4fed3a83d4ec0b21ec08d432b567f6ad"}};
  return releases;
}

std::string mustpass_versions() {
  std::vector<std::string_view> words;
  for (const MustpassRelease& release : mustpass_releases()) words.push_back(release.version);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string mustpass_file_name(backgauge_op op, backgauge_dtype dtype) {
  return fmt::format("{}_{}.txt", find_op(op)->word, dtype_word(dtype));
}

std::string checksum_line(const std::string& digest, const std::string& file) {
  return fmt::format("{}  {}\n", digest, file);
}

MustpassList parse_mustpass_list(const std::string& where, const std::string& file, const std::string& text) {
  MustpassList out{.op = kFirstOp, .dtype = BACKGAUGE_FLOAT32, .file = file, .text = text, .sha256 = sha256(text)};
  std::istringstream stream(text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    const std::string place = fmt::format("{}:{}", where, ++number);
    const std::size_t hash = line.find('#');
    if (line.empty() || hash == 0) continue;
    const bool noted = hash != line.npos && hash >= 2;
    std::string error;
    const std::string words = noted ? line.substr(0, hash - 2) : line;
    const std::optional<Case> c = parse_case(words, error);
    if (!c) throw not_the_version(place + ": " + error);
    if (c->data == DataProfile::kMalformed) {
      require_same_call(place, *c, noted ? line.substr(hash + 2) : "");
    } else if (!c->checksum) {
      throw not_the_version(place + ": a line without chk");
    }
    out.cases.push_back(*c);
    out.lines.push_back(to_string(*c));
  }
  if (out.cases.empty()) throw not_the_version(where + ": no case");
  out.op = out.cases.front().op;
  out.dtype = out.cases.front().dtype;
  return out;
}

std::vector<MustpassList> mustpass_lists(const std::string& version) {
  const auto release = std::ranges::find(mustpass_releases(), version, &MustpassRelease::version);
  if (release == mustpass_releases().end()) {
    throw CommandError{kUsage, fmt::format("--mustpass={}: expected {}", version, mustpass_versions())};
  }
  const fs::path folder = folder_of(version);
  const std::string sums = text_of(folder / kSums);
  if (sha256(sums) != release->digest) {
    throw not_the_version(
        fmt::format("{}: SHA-256 {}, expected {}", (folder / kSums).string(), sha256(sums), release->digest));
  }
  std::vector<MustpassList> out;
  std::istringstream stream(sums);
  for (std::string line; std::getline(stream, line);) {
    const std::string file = line.substr(std::min<std::size_t>(line.size(), 66));
    const fs::path path = folder / file;
    out.push_back(parse_mustpass_list(path.string(), file, text_of(path)));
    if (checksum_line(out.back().sha256, file) != line + "\n") {
      throw not_the_version(fmt::format("{}: SHA-256 {}, expected {}", path.string(), out.back().sha256, line));
    }
  }
  return out;
}

}  // namespace backgauge::cli
