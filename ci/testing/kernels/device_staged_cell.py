# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad on the stand-in of a CUDA device, as a staged function."""
import backgauge
import stand_in
from device_cell import computed


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], device="cuda", staged=True)
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, stream, out):
    results = {name: stand_in.Array(array.shape, array.dtype, stream) for name, array in out.items()}
    inputs = [cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad]

    def backward():
        stand_in.launch(stream, lambda: computed(inputs, use_peephole, {name: stand_in.memory(array) for name, array in results.items()}))
        return list(results.values())

    return backward, lambda given: dict(zip(results, given))
