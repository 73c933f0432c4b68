# SPDX-License-Identifier: Apache-2.0
"""oneDNN's LSTM backward with the reorders of weights and their gradients, on a workspace that its own forward might
have left: what --impl=onednn costs if that workspace need not be filled from saved tensors."""

import sys

import onednn_phases
import protocol

PHASES = onednn_phases.LOAD_WEIGHTS | onednn_phases.COMPUTE | onednn_phases.STORE

if __name__ == "__main__":
    protocol.have_numpy()
    sys.exit(protocol.serve("onednn-reorders", onednn_phases.peer_of(PHASES)))
