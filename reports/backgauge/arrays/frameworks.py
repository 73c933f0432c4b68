# SPDX-License-Identifier: Apache-2.0
"""The libraries whose arrays a function may ask for: `arrays` of backgauge.implements."""
import contextlib

from backgauge.arrays.device_array import DeviceArray


class Plain:
    """NumPy's arrays in host memory, DeviceArrays on a device."""

    exact = False  # whether results in host memory must have the dtypes of the op: NumPy's own operations widen some

    def given(self, array):
        """What the function gets for an array of NumPy, or a DeviceArray."""
        return array

    def to_fill(self, array):
        """The same for an output that the function fills."""
        return array

    def within(self, stream):
        """A context in which the library's work is put on a stream, given by its handle."""
        return contextlib.nullcontext()


class Torch(Plain):
    """PyTorch's tensors, which share the memory of the call."""

    exact = True

    def __init__(self):
        import torch
        self._torch = torch

    def given(self, array):
        torch = self._torch
        if isinstance(array, DeviceArray):
            return torch.from_dlpack(array)
        if array.dtype.kind == "V":  # bfloat16: to ask for its name takes a microsecond
            return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
        return torch.from_numpy(array)

    def to_fill(self, array):
        return self.given(array)

    def within(self, stream):
        return self._torch.cuda.stream(self._torch.cuda.ExternalStream(stream))


class Jax(Plain):
    """JAX's arrays. They have copies: XLA needs memory that is aligned, and keeps it for as long as it likes. Since they cannot be
    written, an output to be filled is as for Plain."""

    exact = True

    def __init__(self):
        import jax
        import jax.dlpack
        self._jax = jax

    def given(self, array):
        if isinstance(array, DeviceArray):
            return self._jax.dlpack.from_dlpack(array.copy())
        return self._jax.numpy.array(array)


FRAMEWORKS = {None: Plain, "torch": Torch, "jax": Jax}
