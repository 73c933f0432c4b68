# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library on a device, as DLPack or __cuda_array_interface__ describe them."""
import dataclasses
from typing import Any

from backgauge.arrays.device_array import CUDA, CUDA_MANAGED, OF_INTERFACE, TO_HOST, item_bytes, name_of_dlpack
from backgauge.native import native


@dataclasses.dataclass(frozen=True)
class Seen:
    """An array, ready on the stream for which it was seen, as long as this exists."""

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: in elements
    dtype: str
    owner: Any

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def nbytes(self) -> int:
        return self.elements * item_bytes(self.dtype)

    def require_contiguous(self) -> None:
        """Raises ValueError unless the elements are next to each other, in row-major order."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected and self.elements:
                raise ValueError(f"{self.name}: expected contiguous memory in row-major order, got shape {list(self.shape)} with strides "
                                 f"{list(self.strides)}")
            expected *= extent


def is_on_device(value):
    """Whether somebody's array says that it is on a CUDA device."""
    device = getattr(value, "__dlpack_device__", None)
    if device is None:
        return hasattr(value, "__cuda_array_interface__")
    try:
        return device()[0] in (CUDA, CUDA_MANAGED)
    except Exception:  # what a library raises for memory that DLPack has no number for
        return False


def seen(name, value, stream):
    """A Seen, in the order of `stream`, a handle. Raises ValueError or TypeError, which begin with `name`."""
    if not hasattr(value, "__dlpack_device__") and not hasattr(value, "__cuda_array_interface__"):
        raise TypeError(f"{name}: expected an array on the device, with __dlpack__ or __cuda_array_interface__, got {type(value).__name__}")
    if not is_on_device(value):
        raise ValueError(f"{name}: expected an array on the device, got one in other memory: {type(value).__module__}."
                         f"{type(value).__name__}")
    return _by_dlpack(name, value, stream) if hasattr(value, "__dlpack_device__") else _by_interface(name, value, stream)


def _by_dlpack(name, value, stream):
    try:
        capsule = value.__dlpack__(stream=stream)
    except Exception as error:  # whatever another library raises, for a tensor that needs a gradient for example
        raise TypeError(f"{name}: {type(error).__name__}: {error}") from None
    address, shape, strides, code, bits, lanes, owner = native().described_by_dlpack(capsule)
    return Seen(name, address, shape, strides, name_of_dlpack(code, bits, lanes), (value, owner))


def _by_interface(name, value, stream):
    given = value.__cuda_array_interface__
    dtype, shape, strides = OF_INTERFACE.get(given["typestr"], given["typestr"]), tuple(given["shape"]), given.get("strides")
    theirs = given.get("stream")
    if theirs not in (None, stream):
        native().device_synchronize(theirs)
    if strides is None:
        strides, after = [], 1
        for extent in reversed(shape):
            strides.insert(0, after)
            after *= extent
    elif dtype in OF_INTERFACE.values():
        strides = [stride // item_bytes(dtype) for stride in strides]
    return Seen(name, given["data"][0], shape, tuple(strides), dtype, value)


def bits_on_host(name, value):
    """(name of the dtype, a copy as an array of NumPy; of bfloat16 the bits, uint16). Raises ValueError or TypeError, which begin
    with `name`, and RuntimeError with an error of the device."""
    import numpy
    stream = native().device_stream()
    here = seen(name, value, stream)
    if here.dtype not in (*OF_INTERFACE.values(), "bfloat16"):
        raise ValueError(f"{name}: expected one of {', '.join(OF_INTERFACE.values())}, bfloat16, got {here.dtype}")
    here.require_contiguous()
    out = numpy.empty(here.shape, "uint16" if here.dtype == "bfloat16" else here.dtype)
    native().device_copy(out.ctypes.data, here.address, here.nbytes, TO_HOST, stream)
    native().device_synchronize(stream)
    return here.dtype, out
