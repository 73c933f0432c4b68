# SPDX-License-Identifier: Apache-2.0
"""oneDNN's LSTM backward alone: weights are in its layout before, and gradients of weights stay in it."""

import sys

import onednn_phases
import protocol

if __name__ == "__main__":
    protocol.have_numpy()
    sys.exit(protocol.serve("onednn-primitive", onednn_phases.peer_of(onednn_phases.COMPUTE)))
