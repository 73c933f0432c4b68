"""LSTMBlockCellGrad and BlockLSTMGradV2: the kernels of TensorFlow for the CPU, called through tf.raw_ops."""
import importlib.metadata
import os

import numpy as np
from tensors import Filler

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

FORWARD_RESULTS = ["i", "cs", "f", "o", "ci", "co", "h"]


def tensorflow():
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for name in ("tensorflow-cpu", "tensorflow"):
        try:
            return tf, f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            pass
    return tf, f"tensorflow {tf.__version__}"


def as_numpy(result):
    return {name: getattr(result, name).numpy() for name in result._fields}


def lstm_block_cell(case, seed):
    tf, producer = tensorflow()
    fill, dims = Filler(seed, case), case["dims"]
    B, I, H = dims["B"], dims["I"], dims["H"]
    peephole = case["use_peephole"]
    tensors = {"x": fill("x", (B, I)), "cs_prev": fill("cs_prev", (B, H)), "h_prev": fill("h_prev", (B, H)),
               "w": fill("w", (I + H, 4 * H)), "wci": fill("wci", (H,)), "wcf": fill("wcf", (H,)),
               "wco": fill("wco", (H,)), "b": fill("b", (4 * H,))}
    forward = None
    if case["saved"] == "forward":
        attributes = dict(case["forward"], use_peephole=peephole)
        result = tf.raw_ops.LSTMBlockCell(**{k: tf.constant(v) for k, v in tensors.items()}, **attributes)
        tensors.update(as_numpy(result))
        forward = {"op": "LSTMBlockCell", "attributes": attributes, "outputs": list(FORWARD_RESULTS)}
    else:
        for name in FORWARD_RESULTS[:-1]:
            tensors[name] = fill(name, (B, H))
    tensors["cs_grad"], tensors["h_grad"] = fill("cs_grad", (B, H)), fill("h_grad", (B, H))
    extra = {name: tensors.pop(name) for name in ("h",) if name in tensors}

    planted = {}
    if case.get("unread") == "nan":
        names = ["x", "h_prev", "w", "b"] + ([] if peephole else ["cs", "wci", "wcf", "wco"])
        for name in names:
            tensors[name] = np.full_like(tensors[name], np.nan)
            planted[name] = "all"
        forward, extra = None, {}
    result = tf.raw_ops.LSTMBlockCellGrad(**{k: tf.constant(v) for k, v in tensors.items()}, use_peephole=peephole)
    outputs = as_numpy(result)
    method = "tf.raw_ops.LSTMBlockCellGrad on CPU; saved tensors " + (
        "from tf.raw_ops.LSTMBlockCell" if case["saved"] == "forward" else "drawn independently of the other inputs")
    return tensors, outputs, extra, {"attributes": {"use_peephole": peephole}, "forward": forward, "producer": producer,
                                     "method": method, "nan": planted}


def block_lstm(case, seed):
    tf, producer = tensorflow()
    fill, dims = Filler(seed, case), case["dims"]
    T, B, I, H, S = (dims[k] for k in ("T", "B", "I", "H", "S"))
    peephole = case["use_peephole"]
    tensors = {"seq_len_max": np.array(S, np.int64), "x": fill("x", (T, B, I)), "cs_prev": fill("cs_prev", (B, H)),
               "h_prev": fill("h_prev", (B, H)), "w": fill("w", (I + H, 4 * H)), "wci": fill("wci", (H,)),
               "wcf": fill("wcf", (H,)), "wco": fill("wco", (H,)), "b": fill("b", (4 * H,))}
    forward = None
    if case["saved"] == "forward":
        attributes = dict(case["forward"], use_peephole=peephole)
        result = tf.raw_ops.BlockLSTMV2(**{k: tf.constant(v) for k, v in tensors.items()}, **attributes)
        saved = as_numpy(result)
        for name in ("i", "f", "o", "ci", "co"):  # the op leaves steps t >= S of these unwritten
            saved[name] = saved[name].copy()
            saved[name][S:] = 0
        tensors.update(saved)
        forward = {"op": "BlockLSTMV2", "attributes": attributes, "outputs": list(FORWARD_RESULTS), "steps": S}
    else:
        for name in FORWARD_RESULTS:
            tensors[name] = fill(name, (T, B, H))
    tensors["cs_grad"], tensors["h_grad"] = fill("cs_grad", (T, B, H)), fill("h_grad", (T, B, H))

    planted = {}

    def plant(name, where, index):
        tensors[name] = tensors[name].copy()
        if tensors[name][index].size:
            tensors[name][index] = np.nan
            planted[name] = where

    if case.get("unread") in ("tail", "nan"):
        for name in ["x", "cs_grad", "h_grad"] + FORWARD_RESULTS:
            plant(name, "t >= seq_len_max", slice(S, None))
    if case.get("unread") == "nan":
        plant("b", "all", slice(None))
        plant("h", "t >= seq_len_max - 1", slice(max(S - 1, 0), None))
        if not peephole:
            plant("cs", "t >= seq_len_max - 1", slice(max(S - 1, 0), None))
            for name in ("wci", "wcf", "wco"):
                plant(name, "all", slice(None))
        if S == 0:
            for name in ("cs_prev", "h_prev", "w", "wci", "wcf", "wco"):
                plant(name, "all", slice(None))
        forward = None
    result = tf.raw_ops.BlockLSTMGradV2(**{k: tf.constant(v) for k, v in tensors.items()}, use_peephole=peephole)
    outputs = as_numpy(result)
    method = "tf.raw_ops.BlockLSTMGradV2 on CPU; saved tensors " + (
        "from tf.raw_ops.BlockLSTMV2" if case["saved"] == "forward" else "drawn independently of the other inputs")
    return tensors, outputs, {}, {"attributes": {"use_peephole": peephole}, "forward": forward, "producer": producer,
                                  "method": method, "nan": planted}
