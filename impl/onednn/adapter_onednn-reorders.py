# SPDX-License-Identifier: Apache-2.0
"""oneDNN's LSTM backward, float32, with the reorders of weights and their gradients, on a workspace that its own forward might
have left: what --impl=onednn costs if that workspace need not be filled from saved tensors.

    backgauge bench --impl=cpu,onednn,onednn-reorders
"""
import backgauge
import onednn_phases as phases

__version__ = phases.VERSION


@backgauge.implements("BlockLSTMGradV2", dtypes=["f32"], determinism="bitwise_per_thread_count", recomputes_co=True, staged=True)
def sequence(**arguments):
    return phases.staged(phases.FILL, phases.LOAD_WEIGHTS | phases.COMPUTE | phases.STORE, 0, arguments)
