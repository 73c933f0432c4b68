# SPDX-License-Identifier: Apache-2.0
"""oneDNN's LSTM backward primitive alone, float32: it finds saved tensors and weights in its layout, and leaves gradients in it.

    backgauge bench --impl=cpu,onednn,onednn-primitive
"""
import backgauge
import onednn_phases as phases

__version__ = phases.VERSION


@backgauge.implements("BlockLSTMGradV2", dtypes=["f32"], determinism="bitwise_per_thread_count", recomputes_co=True, staged=True)
def sequence(**arguments):
    return phases.staged(phases.FILL | phases.LOAD_WEIGHTS, phases.COMPUTE, phases.STORE, arguments)
