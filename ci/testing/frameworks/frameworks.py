# SPDX-License-Identifier: Apache-2.0
"""The frameworks that ci/findings judges through their adapters in impl/, with their known limits and bugs."""
import collections
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]

# Infinite upstream gradients that PyTorch, Keras and JAX turn into NaN where the forms of the equations do not.
INFINITE = [f"cudnn_rnn_backprop {line}" for line in (
    "t1b5i7h7 mode=gru dir=bi layers=1 in=linear dt=f32 data=inf:0xf054d9a7",
    "t2b3i3h5 mode=gru dir=uni layers=1 in=linear dt=f64 data=inf:0x29aa576e",
    "t2b3i3h5 mode=lstm dir=uni layers=1 in=linear dt=f32 data=inf:0xc5912cad")]

# What PyTorch computes of BlockLSTMGradV2.
TRAINING = [f"block_lstm_grad_v2 {line} dt=f32 data=training:0x1" for line in
            ("t6b5i3h9 peep=0 seq=4", "t4b2i3h5 peep=0", "t1b1i1h1 peep=0")]


def unwritten_w_grad(record):
    """TensorFlow returns before it sets the gradients summed over the batch to 0 if B = 0 (semantics.md, section 7)."""
    dims = re.match(r"block_lstm_grad_v2 t(\d+)b0i", record["id"])
    steps = re.search(r" seq=(\d+)", record["id"])
    wrong = [tensor for tensor in record["tensors"].values() if tensor["bad"] > 0]
    return bool(dims and (steps is None or int(steps[1]) > 0) and wrong and
                all(tensor.get("want", 0) == 0 for tensor in wrong))


def empty_input(record):
    """nn.RNN, nn.GRU and nn.LSTM refuse an input size of 0."""
    return "input_size must be greater than zero" in record.get("reason", "")


def own_threads(record):
    """XLA has a pool of threads that no call can limit."""
    return record["id"] == "check: threads" and "threads busy" in record.get("reason", "")


def empty_batch(record):
    """Keras adds the bias of an LSTM by BiasAdd, which then takes the empty matrix for the bias."""
    return "Biases must be 1D: [0," in record.get("reason", "")


# lines: cases beyond the tiers. known: words for a limit or bug of the framework, and whether a record is an instance of it.
Framework = collections.namedtuple("Framework", "ops lines known")
CELL, BLOCK, BACKPROP = "lstm_block_cell_grad", "block_lstm_grad_v2", "cudnn_rnn_backprop"
FRAMEWORKS = {
    "tensorflow": Framework([CELL, BLOCK], [], {"w_grad is not written if B = 0": unwritten_w_grad}),
    "tensorflow-function": Framework([CELL, BLOCK], [], {"w_grad is not written if B = 0": unwritten_w_grad}),
    "torch": Framework([BACKPROP], [*INFINITE, *TRAINING], {"refuses I = 0": empty_input}),
    "torch-cuda": Framework([BACKPROP], INFINITE, {"refuses I = 0": empty_input}),
    "torch-cuda-tf32": Framework([BACKPROP], [], {"refuses I = 0": empty_input}),
    "keras": Framework([BACKPROP], INFINITE, {"an LSTM fails if B = 0": empty_batch}),
    "jax": Framework([BACKPROP], INFINITE, {"num_threads is not kept": own_threads}),
    "jax-cuda": Framework([BACKPROP], INFINITE, {}),
    "jax-cudnn": Framework([BACKPROP], [], {}),
    "triton": Framework([CELL], [], {}),
    "triton-cuda": Framework([CELL], [], {}),
    "onednn-primitive": Framework([BLOCK], [], {}),
    "onednn-reorders": Framework([BLOCK], [], {}),
}


def keep_compiled():
    """Has JAX, which spends nine tenths of its time on compiling for each shape, keep what it has compiled for later processes and runs.
    It is the same code: JAX looks it up by the program, the versions, the options and the processor."""
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / "build/jax-compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def absence(command, name):
    """Why an adapter cannot be judged; "" if it can."""
    asked = subprocess.run([command, "list", f"--impl={name}"], capture_output=True, text=True)
    return asked.stderr.strip() if asked.returncode else ""
