// SPDX-License-Identifier: Apache-2.0
#include "properties/case/line/case_list.h"

#include <algorithm>
#include <string_view>

#include "properties/case/files/npy.h"

namespace backgauge {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

class ListReader {
 public:
  explicit ListReader(std::string& error) : error_(error) {}

  bool read(const fs::path& path, const std::string& from) {
    const fs::path file = fs::weakly_canonical(path);
    if (std::ranges::find(open_, file) != open_.end()) return fail(from + path.string() + " includes itself");
    std::string bytes;
    if (!read_file(path, bytes, error_)) return fail(from + error_);
    open_.push_back(file);
    std::string note;
    std::size_t number = 0;
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = trimmed(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      if (!read_line(path, path.string() + ":" + std::to_string(++number), line, note)) return false;
    }
    open_.pop_back();
    return true;
  }

  std::vector<ListedCase> cases;

 private:
  bool read_line(const fs::path& path, const std::string& where, std::string_view line, std::string& note) {
    if (line.empty()) {
      note.clear();
      return true;
    }
    if (line.front() == '@') {
      note.clear();
      return read(path.parent_path() / trimmed(line.substr(1)), where + ": ");
    }
    const std::size_t hash = line.find('#');
    const std::string_view comment = hash == std::string_view::npos ? "" : trimmed(line.substr(hash + 1));
    if (hash == 0) {
      if (!note.empty() && !comment.empty()) note += ' ';
      note += comment;
      return true;
    }
    std::string reason;
    const auto c = parse_case(trimmed(line.substr(0, hash)), reason);
    if (!c) return fail(where + ": " + reason);
    cases.push_back({*c, comment.empty() ? note : std::string(comment), where});
    return true;
  }

  bool fail(std::string reason) {
    error_ = std::move(reason);
    return false;
  }

  std::string& error_;
  std::vector<fs::path> open_;
};

}  // namespace

std::vector<ListedCase> read_case_list(const fs::path& path, std::string& error) {
  error.clear();
  ListReader reader(error);
  if (!reader.read(path, "")) return {};
  return std::move(reader.cases);
}

}  // namespace backgauge
