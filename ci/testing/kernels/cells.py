# SPDX-License-Identifier: Apache-2.0
"""A correct implementation of LSTMBlockCellGrad, and the faults that BACKGAUGE_TEST_KERNEL puts into it."""
import ctypes
import os
import time

import backgauge
import numpy as np

WRONG = os.environ.get("BACKGAUGE_TEST_KERNEL", "")
kept = []
answers = {}


class Lazy:
    """An array that is computed when somebody looks at it."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        time.sleep(0.01)
        return self.value


def gradient(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole):
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad + (do * wco if use_peephole else 0)
    dci, df, di = (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev, i * (1 - i) * dcs * ci
    out = {"cs_prev_grad": dcs * f, "dicfo": np.concatenate([di, dci, df, do], axis=1)}
    for name, gate, state in (("wci_grad", di, cs_prev), ("wcf_grad", df, cs_prev), ("wco_grad", do, cs)):
        out[name] = (gate * state).sum(0) if use_peephole else np.zeros(cs.shape[1], cs.dtype)
    if use_peephole:
        out["cs_prev_grad"] = out["cs_prev_grad"] + di * wci + df * wcf
    return out


@backgauge.implements("LSTMBlockCellGrad", dtypes=["f32"])
def cell(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole, out):
    result = gradient(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, use_peephole)
    if WRONG == "factor":
        result["cs_prev_grad"] = result["cs_prev_grad"] * np.float32(1.001)
    if WRONG == "raises":
        raise ValueError("this kernel\nhas two lines")
    if WRONG == "exits":
        os._exit(7)
    if WRONG == "crashes":
        ctypes.string_at(8)
    if WRONG == "hangs":
        time.sleep(60)
    if WRONG == "keeps 16 KiB":
        kept.append(np.ones(4096, np.float32))
    if WRONG == "prints":
        print("hello")
    if WRONG == "shape":
        result["dicfo"] = result["dicfo"][:, 1:]
    if WRONG == "forgets":
        del result["wco_grad"]
    if WRONG == "writes its input":
        ctypes.memset(h_grad.ctypes.data, 0, h_grad.nbytes)
    if WRONG == "keeps its outputs" and cs.size:
        kept.append(out["dicfo"])
        kept[0][...] = 0
    if WRONG == "leaks":
        kept.append(np.ones(1 << 24))
    if WRONG == "is lazy" and cs.size:
        return {name: Lazy(value) for name, value in result.items()}
    if WRONG == "patches the clock":
        time.perf_counter = time.monotonic = time.time = lambda: 0.0
        time.sleep(0.02)
    if WRONG == "never optimizes" and cs.size > 10**12:
        return fast_path(cs)  # noqa: F821  the name is never looked up
    if WRONG == "looks at files":
        try:
            open("/etc/passwd").close()
        except PermissionError:
            return result
        result["dicfo"] = -result["dicfo"]
    if WRONG == "answers from a cache":
        return answers.setdefault((cs.shape, use_peephole), result)
    return result
