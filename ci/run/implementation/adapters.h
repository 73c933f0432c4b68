// SPDX-License-Identifier: Apache-2.0
// The frameworks that can be judged and timed by name: `torch` is impl/torch/adapter_torch.py, or the file of that name
// below share/backgauge/adapters of the installation, or below BACKGAUGE_ADAPTERS. Each runs in the virtual environment
// with the name of its folder, <home>/torch, if there is one; home is BACKGAUGE_PEERS_HOME, ~/.cache/backgauge-peers or
// /opt/backgauge-peers (ci/install-deps --peers).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backgauge::cli {

struct Adapter {
  std::string name;
  std::string file;
  std::string python;  // interpreter of its environment; "": it has none, and runs as any Python file does
};

// In alphabetical order.
std::vector<Adapter> adapters();

std::optional<Adapter> find_adapter(const std::string& name);

}  // namespace backgauge::cli
