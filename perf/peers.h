// SPDX-License-Identifier: Apache-2.0
// Where peers are found: peer_<name>.py in perf/peers of the source tree, or of the installation, or in
// BACKGAUGE_PEERS. Each runs under the interpreter of its own virtual environment, <home>/<name>/bin/python, if
// there is one (home is BACKGAUGE_PEERS_HOME, ~/.cache/backgauge-peers or /opt/backgauge-peers), otherwise under
// python3.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace backgauge {

// In alphabetical order.
std::vector<std::string> peer_names();

// The command that starts a peer; nullopt if no peer has that name.
std::optional<std::vector<std::string>> peer_command(const std::string& name);

}  // namespace backgauge
