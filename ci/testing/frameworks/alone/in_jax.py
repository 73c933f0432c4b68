# SPDX-License-Identifier: Apache-2.0
"""Reproduces the findings about JAX on the CPU without backgauge."""
import os
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from report import say, say_class

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
T, B, I, H = 5, 4, 16, 16


def lstm(x, W, R, b):
    def step(state, a):
        h, c = state
        i, f, n, o = jnp.split(a + h @ R.T, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(n)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((x.shape[1], R.shape[1]), x.dtype)
    return jax.lax.scan(step, (zeros, zeros), x @ W.T + b)[1]


gradient = jax.jit(lambda given, upstream: jax.vjp(lstm, *given)[1](upstream))


def arguments(dtype, narrow, T=T, B=B, I=I, H=H):
    """Values that the narrow type has."""
    draw = np.random.default_rng(1)
    *given, upstream = (jnp.asarray(draw.standard_normal(shape)).astype(narrow).astype(dtype)
                        for shape in ((T, B, I), (4 * H, I), (4 * H, H), (4 * H,), (T, B, H)))
    return given, upstream


def busy_threads():
    """Seconds of processor time of all threads but the one that calls, and of that one, while it makes one call after another."""
    given = arguments(jnp.float32, jnp.float32, 8, 64, 256, 256)
    jax.block_until_ready(gradient(*given))
    end, total, own = time.monotonic() + 3, time.process_time(), time.thread_time()
    while time.monotonic() < end:
        jax.block_until_ready(gradient(*given))
    own = time.thread_time() - own
    return time.process_time() - total - own, own


others, own = busy_threads()
say("num_threads is not kept", others > own / 10, f"while one thread calls a compiled gradient again and again, it takes {own:.1f} s of processor time, "
    f"and the threads of JAX {others:.1f} s; no argument of a call limits them")
for narrow in ("float16", "bfloat16"):
    say_class("a compiled jax.lax.scan of LSTM cells", narrow, *([np.asarray(each, np.float64) for each in gradient(*arguments(dtype, narrow))]
                                                               for dtype in (narrow, jnp.float64)))
