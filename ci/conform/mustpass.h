// SPDX-License-Identifier: Apache-2.0
// The lists of cases that conformance means, one for each op and dtype, in properties/cases/mustpass/<version>. A
// version never changes: its digest is in this program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/line/case.h"

namespace backgauge::cli {

// Names of files in a folder of lists, and in a package.
inline constexpr const char *kSums = "SHA256SUMS", *kSignature = "SHA256SUMS.sig";

struct MustpassRelease {
  std::string_view version;
  std::string_view digest;  // SHA-256 of its file SHA256SUMS, which has those of the lists
};
const std::vector<MustpassRelease>& mustpass_releases();  // the newest is the last
std::string mustpass_versions();                          // "1.0, 1.1", for messages

struct MustpassList {
  backgauge_op op;
  backgauge_dtype dtype;
  std::string file;    // "cudnn_rnn_backprop_f32.txt"
  std::string text;    // of the file
  std::string sha256;  // of the text
  std::vector<Case> cases{};
  std::vector<std::string> lines{};  // of these cases, as records have them
};

std::string mustpass_file_name(backgauge_op op, backgauge_dtype dtype);

// All lists of a version, checked against its digest. Throws CommandError: kUsage for an unknown version, kSelfCheck if
// the files are not there or are not those of the version, or if a malformed call has another number in this build.
std::vector<MustpassList> mustpass_lists(const std::string& version);

// The same from a folder of lists, without a digest that is known; and one from its text. `where`: for messages.
MustpassList parse_mustpass_list(const std::string& where, const std::string& file, const std::string& text);

// Lines of sha256sum: "<digest>  <file>".
std::string checksum_line(const std::string& digest, const std::string& file);

}  // namespace backgauge::cli
