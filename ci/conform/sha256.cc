// SPDX-License-Identifier: Apache-2.0
#include "ci/conform/sha256.h"

#include <fmt/format.h>
#include <sodium/crypto_hash_sha256.h>

#include "ci/options/command_error.h"
#include "properties/case/files/npy.h"

namespace backgauge::cli {

std::string sha256(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string out;
  for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::string bytes, error;
  if (!read_file(path, bytes, error)) throw CommandError{kUsage, error};
  return sha256(bytes);
}

}  // namespace backgauge::cli
