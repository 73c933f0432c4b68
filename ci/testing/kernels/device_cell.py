# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad on the stand-in of a CUDA device, right, and the faults that BACKGAUGE_TEST_KERNEL puts into it."""
import ctypes
import os

import backgauge
import numpy as np
import stand_in
from cells import gradient

WRONG = os.environ.get("BACKGAUGE_TEST_KERNEL", "")
other_stream = None


def computed(inputs, use_peephole, to):
    """What a kernel does: fills the arrays of NumPy `to`."""
    result = gradient(*map(stand_in.memory, inputs), use_peephole)
    for name, memory in to.items():
        memory[...] = result[name]


def beyond(array, elements):
    """An element next to those of an array, of which address it is so far away."""
    return ctypes.c_float.from_address(array.address + 4 * elements)


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], device="cuda")
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, stream, out):
    global other_stream
    inputs = [cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad]
    other_stream = other_stream or stand_in.new_stream()
    on = other_stream if WRONG in ("uses another stream", "forgets its stream") else stream
    if WRONG == "touches its input":
        return np.array(stand_in.memory(cs)).sum()
    if WRONG in ("fills its outputs", "forgets its stream"):
        stand_in.launch(on, lambda: computed(inputs, use_peephole, {name: stand_in.memory(array) for name, array in out.items()}))
        return None
    made = {name: stand_in.Array(array.shape, array.dtype, on) for name, array in out.items()}

    def kernel():
        computed(inputs, use_peephole, {name: stand_in.memory(array) for name, array in made.items()})
        if WRONG == "factor":
            memory = stand_in.memory(made["cs_prev_grad"])
            memory *= np.float32(1.001)
        if WRONG == "writes its input":
            stand_in.memory(h_grad)[...] = 0
        if WRONG == "writes past the end":
            beyond(out["dicfo"], int(np.prod(out["dicfo"].shape))).value = 1
        if WRONG == "writes before":
            beyond(out["dicfo"], -1).value = 1

    stand_in.launch(on, kernel)
    if WRONG == "raises":
        raise ValueError("this kernel cannot be launched")
    results, (B, columns) = dict(made), made["dicfo"].shape
    if WRONG == "forgets an output":
        del results["wco_grad"]
    if WRONG == "returns host memory":
        results["dicfo"] = np.zeros((B, columns), "float32")
    if WRONG == "returns a list":
        results["dicfo"] = [1.0]
    if WRONG == "returns another dtype":
        results["dicfo"] = stand_in.Array((B, columns), "float64", on)
    if WRONG == "returns another shape":
        results["dicfo"] = stand_in.Array((columns, B), "float32", on)
    if WRONG == "returns a transposed array":
        results["dicfo"] = stand_in.Array((B, columns), "float32", on, strides=(1, B))
    if WRONG == "cannot be exported":
        results["dicfo"] = stand_in.Array((B, columns), "int64", on)
    if WRONG == "has an interface alone":
        results = {name: stand_in.Interface(array) for name, array in results.items()}
    return list(results.values()) if WRONG == "returns a list of outputs" else results
