# SPDX-License-Identifier: Apache-2.0
"""LSTMBlockCellGrad as a staged function that is right, and what BACKGAUGE_TEST_KERNEL says is wrong with it."""
import ctypes
import os
import time

import backgauge
from cells import gradient

WRONG = os.environ.get("BACKGAUGE_TEST_KERNEL", "")
kept = []
answers = {}


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"], staged=True)
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, out):
    given = [value.copy() for value in (cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad)]
    called = []
    if WRONG == "raises before":
        raise ValueError("not prepared")
    if WRONG == "sleeps before":
        time.sleep(0.03)
    if WRONG == "returns its outputs":
        return gradient(*given, use_peephole)
    if WRONG == "writes its input":
        ctypes.memset(h_grad.ctypes.data, 0, h_grad.nbytes)

    def backward():
        assert not called, "this call has been timed before"
        called.append(True)
        if WRONG == "raises in the time":
            raise ValueError("not computed")
        result = gradient(*given, use_peephole)
        if WRONG == "answers from a cache":
            result = answers.setdefault((cs.shape, use_peephole), result)
        if WRONG == "keeps its outputs" and cs.size:
            kept.append(out["dicfo"])
            kept[0][...] = 0
        return result

    def named(result):
        if WRONG == "raises after":
            raise ValueError("not named")
        return result

    return backward, named
