# SPDX-License-Identifier: Apache-2.0
"""Has JAX compute on a CUDA device; imported before jax_rnn, which computes something. Raises RuntimeError where there is none."""
import jax

jax.config.update("jax_platforms", "cuda")
try:
    VERSION = f"{jax.__version__}, {jax.devices()[0].device_kind}"
except (AssertionError, RuntimeError) as error:  # the first where jaxlib has no CUDA
    raise RuntimeError(" ".join(f"no CUDA device {error}".split())) from None
