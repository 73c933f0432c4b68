// SPDX-License-Identifier: Apache-2.0
// The signature of a package: SHA256SUMS.sig, as `ssh-keygen -Y sign -n backgauge` writes it.
#pragma once

#include <filesystem>
#include <string>

#include "ci/conform/package.h"

namespace backgauge::cli {

// The accepted signer: an identity of a file of allowed signers (ssh-keygen(1)). Both "": anybody.
struct Signer {
  std::string file, identity;
};

struct SignatureCheck {
  std::string fault;   // why it is not the signer's signature on this package; "" if it is
  std::string remark;  // "not signed", "signed by …, whose identity was not checked"
};

// Runs ssh-keygen. A package that is not signed is a fault only if a signer is given.
SignatureCheck check_signature(const std::filesystem::path& folder, const PackageFiles& files, const Signer& signer);

}  // namespace backgauge::cli
