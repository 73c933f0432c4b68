# SPDX-License-Identifier: Apache-2.0
"""What the adapters of JAX share: stacked RNNs by lax.scan and their gradients, compiled. JAX_PLATFORMS is set before."""
import functools

import backgauge
import jax
import jax.numpy as jnp
from jax.experimental.compilation_cache import compilation_cache

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
# Starts JAX's threads, so that no call is seen to leave them behind. Those that compile start only if this is compiled: it must not be
# found in a persistent cache (JAX_COMPILATION_CACHE_DIR).
jax.config.update("jax_enable_compilation_cache", False)
jax.jit(jnp.tanh)(1.0).block_until_ready()
jax.config.update("jax_enable_compilation_cache", True)
compilation_cache.reset_cache()


def step(rnn_mode, R, bR, states, a):
    """One step of one direction. a: x W^T + bW of the step."""
    h = states[0]
    r = h @ R.T + bR
    if rnn_mode == "gru":
        (a_r, a_z, a_n), (r_r, r_z, r_n) = jnp.split(a, 3, axis=1), jnp.split(r, 3, axis=1)
        z, n = jax.nn.sigmoid(a_z + r_z), jnp.tanh(a_n + jax.nn.sigmoid(a_r + r_r) * r_n)
        states = ((1 - z) * n + z * h,)
    elif rnn_mode == "lstm":
        i, f, n, o = jnp.split(a + r, 4, axis=1)
        c = jax.nn.sigmoid(f) * states[1] + jax.nn.sigmoid(i) * jnp.tanh(n)
        states = (jax.nn.sigmoid(o) * jnp.tanh(c), c)
    else:
        states = ((jnp.tanh if rnn_mode == "rnn_tanh" else jax.nn.relu)(a + r),)
    return states, states[0]


def forward(rnn_mode, D, masks, x, first, params):
    """output, and the last states of all layers and directions. first: (input_h,) or (input_h, input_c)."""
    L, last = first[0].shape[0] // D, []
    layout = backgauge.params_layout(rnn_mode, x.shape[2], first[0].shape[2], L, D)
    for layer in range(L):
        sides = []
        for d in range(D):
            block = layout[layer * D + d]
            W, R, bW, bR = (params[at].reshape(shape) for at, shape in (block.W, block.R, block.bW, block.bR))
            states, y = jax.lax.scan(functools.partial(step, rnn_mode, R, bR), tuple(s[layer * D + d] for s in first),
                                     x @ W.T + bW, reverse=d == 1)
            sides.append(y)
            last.append(states)
        x = jnp.concatenate(sides, axis=2)
        if masks is not None and layer < L - 1:
            x = x * masks[layer]
    return x, *(jnp.stack(states) for states in zip(*last))


# Linux lets a process have 65,530 memory mappings (vm.max_map_count). The gradient of one layer keeps 47 of them when it is compiled, by
# the lines of /proc/self/maps; once none is left, the compiler gets no memory and the process ends, here after some 600 functions.
MOST_COMPILED = 100
compiled = set()


def keep_few(signature):
    """Forgets what was compiled, before there is too much of it."""
    if len(compiled) >= MOST_COMPILED and signature not in compiled:
        compiled.clear()
        jax.clear_caches()
    compiled.add(signature)


@functools.partial(jax.jit, static_argnums=(0, 1))
def gradient(rnn_mode, D, masks, given, upstream):
    return jax.vjp(lambda x, params, *first: forward(rnn_mode, D, masks, x, first, params), *given)[1](upstream)


def on_jax(input, input_h, input_c, params, output_backprop, output_h_backprop, output_c_backprop, direction, dropout, dropout_keep):
    """The number of directions, the masks, the inputs by name, and the upstream gradients, as arrays of JAX."""
    masks = None
    if dropout_keep is not None:
        masks = jnp.asarray(dropout_keep * (0 if dropout == 1 else 1 / (1 - float(dropout)))).astype(input.dtype)
    given = {"input": input, "params": params, "input_h": input_h, "input_c": input_c}
    given = {name: jnp.asarray(value) for name, value in given.items() if value is not None}
    upstream = tuple(jnp.asarray(value) for value in (output_backprop, output_h_backprop, output_c_backprop) if value is not None)
    return 2 if direction == "bidirectional" else 1, masks, given, upstream


def gradients_of(rnn_mode, D, masks, given, upstream):
    """By name of the output; compiled for each shape."""
    keep_few((rnn_mode, D, masks is None, given["input"].dtype, given["input"].shape, given["input_h"].shape))
    gradients = gradient(rnn_mode, D, masks, tuple(given.values()), upstream)
    return {f"{name}_backprop": value for name, value in zip(given, gradients)}


def staged(prepared, compute):
    """What a staged function returns on a device, of whose work none is left when the timed part ends; the copies to the host come after."""
    found = {}

    def on_device():
        found.update(jax.block_until_ready(compute(prepared)))

    jax.block_until_ready(prepared)
    return on_device, lambda _: found
