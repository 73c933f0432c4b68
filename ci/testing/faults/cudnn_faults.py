#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the plug-in cudnn: each is put into a copy of one of its sources, and `backgauge verify` must fail the plug-in that
has a stand-in for cuDNN (impl/cudnn/testing).

    cudnn_faults.py SOURCE_DIR BUILD_DIR [ID...]

BUILD_DIR is made by ninja and holds backgauge and that plug-in; nothing in either folder changes. Exit code 1 if a fault goes
unnoticed.
"""
import os
import pathlib
import subprocess
import sys

from fault_runner import Build, Fault, Product, run

PLUGIN = Product("backgauge_cudnn_on_standin", "impl/cudnn/testing/libbackgauge_cudnn_on_standin.so", "impl/cudnn",
                 r"impl/cudnn/testing/CMakeFiles/backgauge_cudnn(_ops)?_on_standin\.dir/", "-O0")
CALLS = "impl/cudnn/cudnn_rnn.cc"
MASKS = "impl/cudnn/dropout_mask.cc"
NETWORK = "impl/cudnn/network.cc"
PASSES = "impl/cudnn/passes.cc"
SESSION = "impl/cudnn/session.cc"
TABLE = "impl/cudnn/plugin.cc"
WORKSPACE = "impl/cudnn/workspace.h"

# id, what is wrong, file, and for each change the text as it is and the text as it becomes
FAULTS = [
    ("W1", "reserve_space is counted in the shape of the call, which prepare does not know", WORKSPACE,
     ('if (std::strcmp(tensor.name, "reserve_space") == 0) return reserve_bytes_;', "")),
    ("W2", "an output that is not aligned is not copied back", WORKSPACE, ("back_.push_back({&tensor, from});", "")),
    ("W3", "a tensor that is not aligned is passed as it is", WORKSPACE,
     ("return reinterpret_cast<std::uintptr_t>(data) % Workspace::kAlignment == 0;", "return true;")),
    ("N1", "without dropout there are states of 0 bytes", NETWORK,
     ("shape.dropout, nullptr, 0, 0)", "shape.dropout, reinterpret_cast<void*>(256), 0, 0)")),
    ("N2", "bfloat16 is called half", NETWORK, ("return CUDNN_DATA_BFLOAT16;", "return CUDNN_DATA_HALF;")),
    ("N3", "dropout goes on with the random numbers of the call before", CALLS,
     ("network.draw_masks_anew(dropout_seed(call.attributes));", "")),
    ("P1", "gradients of the weights are added to what is there", PASSES,
     ('check(cudaMemsetAsync(b.dw, 0, sizes.weights, stream), "cudaMemsetAsync");', "")),
    ("P2", "the weights of a call without inputs are not taken back", CALLS,
     ("if (p.no_input) p.widened.narrow(p.backward.dw, params_backprop.data);", "")),
    ("S1", "any graph is replayed", SESSION, ("auto found = graphs_.find(key);", "auto found = graphs_.begin();")),
    ("S2", "a graph is captured and not launched", SESSION,
     ('check(cudaGraphLaunch(found->second, stream_), "cudaGraphLaunch");', "")),
    ("C1", "relu has slope 1 at 0, which is not claimed", TABLE, ("claims.relu_slope_at_zero = true;", "")),
    ("C2", "one mask is told for both directions", TABLE, ("claims.masks_per_direction = true;", "")),
    ("C3", "reserve_space is changed, which is not claimed", TABLE, ("claims.changes_reserve_space = true;", "")),
    ("M1", "the mask of the other direction is told", MASKS, ("{mask / D, mask % D, from, keep}", "{mask / D, D - 1 - mask % D, from, keep}")),
    ("M2", "masks are told in the order in which the direction above reads", MASKS,
     ("const std::int64_t t = wanted.from == 0 ? s : shape.T - 1 - s;", "const std::int64_t t = s;")),
]


def verify_passes(build: Build, plugin: pathlib.Path, fault: Fault | None) -> bool:
    lines = [f"--case={line}" for line in (build.source / "impl/cudnn/testing/cases.txt").read_text().splitlines()
             if line and not line.startswith("#")]
    for graph in ("off", "on"):
        environment = {**os.environ, "BACKGAUGE_CUDART": str(build.build / "properties/device/libbackgauge_fake_cudart.so"),
                       "BACKGAUGE_CUDNN_GRAPH": graph, "CUBLAS_WORKSPACE_CONFIG": ":16:8"}
        done = subprocess.run([build.build / "ci/backgauge", "verify", f"--impl={plugin}", "--no-shrink", "--fail-fast", "--jobs=1",
                               "--timeout=60s", *lines], capture_output=True, cwd=build.source, env=environment)
        if done.returncode == 1:
            return False
        if done.returncode != 0:
            raise RuntimeError(f"verify: exit code {done.returncode}: {done.stdout.decode()[-1500:]}{done.stderr.decode()}")
    return True


if __name__ == "__main__":
    sys.exit(run(__doc__, PLUGIN, FAULTS, verify_passes))
