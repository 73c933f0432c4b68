# SPDX-License-Identifier: Apache-2.0
"""Reproduces the findings about TensorFlow's LSTMBlockCellGrad and BlockLSTMGradV2 without backgauge."""
import multiprocessing
import os
import signal

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from report import say, say_class

T, I, H = 3, 5, 7
HIDDEN = range(2, 34)  # w_grad of many sizes: what memory holds depends on the size
LEFT = 12345.0  # what freed tensors leave behind


def arguments(B, dtype, H=H):
    """Those of BlockLSTMGradV2, from the op's own forward in half: values that both types have."""
    draw = np.random.default_rng(1)
    half = {name: tf.constant(draw.standard_normal(shape), tf.float16) for name, shape in {
        "x": (T, B, I), "cs_prev": (B, H), "h_prev": (B, H), "w": (I + H, 4 * H), "wci": (H,), "wcf": (H,), "wco": (H,), "b": (4 * H,)}.items()}
    forward = tf.raw_ops.BlockLSTMV2(seq_len_max=tf.constant(T, tf.int64), **half, cell_clip=0.0, use_peephole=True)
    saved = {name: getattr(forward, name) for name in ("i", "cs", "f", "o", "ci", "co", "h")}
    upstream = {name: tf.constant(draw.standard_normal((T, B, H)), tf.float16) for name in ("cs_grad", "h_grad")}
    return {name: tf.cast(value, dtype) for name, value in {**half, **saved, **upstream}.items()}


def op(**given):
    return tf.raw_ops.BlockLSTMGradV2(seq_len_max=tf.constant(T, tf.int64), **given, use_peephole=True)


def empty_batches(call):
    """Calls w_grad of which must be 0, until one is not, in rounds of all sizes: the number of calls, and the first wrong element of each."""
    calls, wrong = 0, []
    while not wrong and calls < 50 * len(HIDDEN):
        for hidden in HIDDEN:
            given = arguments(0, tf.float32, hidden)
            before = [tf.fill([I + hidden, 4 * hidden], LEFT) for _ in range(20)]
            del before
            w_grad = call(**given).w_grad.numpy()
            wrong += [w_grad[w_grad != 0][0]] if w_grad.any() else []
        calls += len(HIDDEN)
    return calls, wrong


def malformed(op, changed):
    """One call with one input of another shape; exit code 0: it returned outputs. A process of its own makes it."""
    given = arguments(2, tf.float32)
    if op == "LSTMBlockCellGrad":
        given = {name: value[0] if name in ("x", "i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad") else value
                 for name, value in given.items() if name != "h"}
    else:
        given["seq_len_max"] = tf.constant(T, tf.int64)
    given |= {name: tf.zeros(shape) for name, shape in changed.items()}
    getattr(tf.raw_ops, op)(**given, use_peephole=True)


def endings(op, changed):
    process = multiprocessing.get_context("spawn").Process(target=malformed, args=(op, changed))
    process.start()
    process.join()
    return process.exitcode


def say_malformed(what, op, changed, want):
    exit_code = endings(op, changed)
    ended = "returned outputs" if exit_code == 0 else signal.Signals(-exit_code).name if exit_code < 0 else "raised an exception"
    said = ", ".join(f"{name} of shape {list(shape)}" for name, shape in changed.items())
    say(what, want(exit_code), f"tf.raw_ops.{op}, T = {T}, B = 2, I = {I}, H = {H}, but {said}: {ended}")


def main():
    seen = {name: empty_batches(call) for name, call in {"eager": op, "in a tf.function": tf.function(op)}.items()}
    say("w_grad is not written if B = 0", all(wrong for _, wrong in seen.values()),
        f"tf.raw_ops.BlockLSTMGradV2 with B = 0 and H of {HIDDEN[0]} to {HIDDEN[-1]}: w_grad is not 0 in " + ", ".join(
            f"{len(wrong)} of {calls} calls ({name}{f'; one value is {wrong[0]:g}' if wrong else ''})" for name, (calls, wrong) in seen.items()))
    narrow, wide = (op(**arguments(4, dtype)) for dtype in (tf.float16, tf.float32))
    say_class("tf.raw_ops.BlockLSTMGradV2", "float16", *([getattr(each, name).numpy() for name in each._fields] for each in (narrow, wide)))
    say_malformed("block_lstm_grad_v2 accepted", "BlockLSTMGradV2", {"wcf": (H + 1,)}, lambda code: code == 0)
    say_malformed("block_lstm_grad_v2 BROKEN crash", "BlockLSTMGradV2", {"x": (T, 400, I)}, lambda code: code < 0)
    say_malformed("lstm_block_cell_grad accepted", "LSTMBlockCellGrad", {"wco": (H + 1,)}, lambda code: code == 0)
    say_malformed("lstm_block_cell_grad BROKEN crash", "LSTMBlockCellGrad", {"w": (I + H, 4 * H, 1)}, lambda code: code < 0)


if __name__ == "__main__":
    main()
