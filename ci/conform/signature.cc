// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/signature.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium/utils.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <vector>

#include "properties/judge/worker/child_process.h"

namespace backgauge::cli {
namespace {

constexpr const char* kNamespace = "backgauge";

// ssh-keygen ignores blanks and some bits of the armour. What it ignores could be edited, so that the text must be the
// one that it writes for these bytes: lines of 70 letters.
bool is_canonical(const std::string& text) {
  constexpr std::string_view kBegin = "-----BEGIN SSH SIGNATURE-----\n", kEnd = "-----END SSH SIGNATURE-----\n";
  constexpr std::size_t kWidth = 70;
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || text.size() < kBegin.size() + kEnd.size()) return false;
  const std::string body = text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size());
  std::string letters;
  for (std::size_t at = 0; at < body.size(); at += kWidth + 1) {
    const std::string line = body.substr(at, kWidth + 1);
    if (!line.ends_with('\n') || (line.size() <= kWidth && at + line.size() != body.size())) return false;
    letters += line.substr(0, line.size() - 1);
  }
  std::vector<unsigned char> bytes(letters.size());
  std::size_t length = 0;
  return sodium_base642bin(bytes.data(), bytes.size(), letters.data(), letters.size(), nullptr, &length, nullptr,
                           sodium_base64_VARIANT_ORIGINAL) == 0;
}

// "" if ssh-keygen accepts the signature, else why not.
std::string refusal(const std::filesystem::path& folder, std::vector<std::string> arguments) try {
  const Descriptor sums(open((folder / kSums).c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  arguments.insert(arguments.begin(), {"ssh-keygen", "-q", "-Y"});
  arguments.insert(arguments.end(), {"-n", kNamespace, "-s", (folder / kSignature).string()});
  ChildProcess process({.program = "ssh-keygen",
                        .arguments = arguments,
                        .descriptors = {{sums.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}},
                        .ends_with_thread = true});
  const auto& ending = process.ending_by(std::chrono::steady_clock::time_point::max());
  return ending && !ending->by_signal && ending->number == 0 ? "" : "ssh-keygen refuses the signature";
} catch (const std::system_error& error) {
  return fmt::format("ssh-keygen cannot be started: {}", error.code().message());
}

}  // namespace

SignatureCheck check_signature(const std::filesystem::path& folder, const PackageFiles& files, const Signer& signer) {
  const auto signature = files.find(kSignature);
  const bool demanded = !signer.file.empty();
  if (signature == files.end()) {
    if (demanded) return {fmt::format("{}: missing", kSignature), ""};
    return {"", "not signed: a person who edits a package can write its checksums again"};
  }
  if (!is_canonical(signature->second)) return {fmt::format("{}: its form was changed", kSignature), ""};
  const std::string why = demanded ? refusal(folder, {"verify", "-f", signer.file, "-I", signer.identity})
                                   : refusal(folder, {"check-novalidate"});
  if (!why.empty()) return {fmt::format("{}: {}", kSignature, why), ""};
  return {"", demanded ? "signed by " + signer.identity : "signed; --signers checks the identity"};
}

}  // namespace backgauge::cli
