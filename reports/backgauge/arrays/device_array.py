# SPDX-License-Identifier: Apache-2.0
"""Arrays of this package in the memory of a CUDA device."""
import math

from backgauge.native import native

# The name of a dtype: its word, the code and bits of DLPack, and what __cuda_array_interface__ calls it.
_TYPES = {"float16": ("f16", 2, 16, "<f2"), "bfloat16": ("bf16", 4, 16, None), "float32": ("f32", 2, 32, "<f4"),
          "float64": ("f64", 2, 64, "<f8"), "uint8": ("u8", 1, 8, "|u1")}
_OF_WORD = {word: name for name, (word, *_) in _TYPES.items()}
_OF_DLPACK = {(code, bits): name for name, (_, code, bits, _) in _TYPES.items()}
OF_INTERFACE = {letters: name for name, (*_, letters) in _TYPES.items() if letters}
CUDA, CUDA_MANAGED = 2, 13  # DLDeviceType
TO_DEVICE, TO_HOST, WITHIN = 1, 2, 3  # cudaMemcpyKind


def item_bytes(dtype):
    return _TYPES[dtype][2] // 8


def name_of_dlpack(code, bits, lanes):
    """float32, ...; of types that no op has, the numbers."""
    return _OF_DLPACK.get((code, bits), f"type {code} of {bits} bits") if lanes == 1 else f"vectors of {lanes}"


class DeviceArray:
    """Contiguous memory on the device, which any library can use that knows DLPack or __cuda_array_interface__.

    address, shape, dtype   a number; a tuple; float16, bfloat16, float32, float64, or uint8 for masks
    stream                  the handle of the stream on which its contents are ready

    What belongs to a call ends with it. The memory of inputs is not marked as read-only, which PyTorch would refuse; that it has not
    changed is checked after the call.
    """

    def __init__(self, address, shape, word, stream, owner=None):
        """owner: what frees the memory; None: a call has it."""
        self.address, self.shape, self.dtype, self.stream, self._owner = address, shape, _OF_WORD[word], stream, owner

    @classmethod
    def new(cls, shape, dtype, stream):
        """Memory of its own, aligned to 256 bytes, with any contents."""
        address, owner = native().device_memory(math.prod(shape) * item_bytes(dtype))
        return cls(address, tuple(shape), _TYPES[dtype][0], stream, owner)

    @classmethod
    def of(cls, array, stream):
        """A copy of an array of NumPy."""
        out = cls.new(array.shape, array.dtype.name, stream)
        native().device_copy(out.address, array.ctypes.data, out.nbytes, TO_DEVICE, stream)
        native().device_synchronize(stream)
        return out

    def copy(self):
        """Aligned memory of its own with the same contents, in order on the stream."""
        out = DeviceArray.new(self.shape, self.dtype, self.stream)
        native().device_copy(out.address, self.address, self.nbytes, WITHIN, self.stream)
        return out

    def __repr__(self):
        return f"<backgauge.DeviceArray: {self.dtype} {list(self.shape)} at {self.address:#x}>"

    @property
    def nbytes(self):
        return math.prod(self.shape) * item_bytes(self.dtype)

    def __dlpack_device__(self):
        return (CUDA, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule without a version, which every consumer takes. `stream` is the consumer's, as DLPack numbers them; -1 asks for
        no order."""
        if copy or dl_device not in (None, (CUDA, 0)):
            raise BufferError("memory of a call can only be used where it is")
        if stream not in (-1, self.stream):
            native().device_synchronize(self.stream)
        _, code, bits, _ = _TYPES[self.dtype]
        return native().dlpack_of(self.address, self.shape, code, bits, self._owner)

    @property
    def __cuda_array_interface__(self):
        letters = _TYPES[self.dtype][3]
        if letters is None:
            raise AttributeError("__cuda_array_interface__ has no bfloat16: DLPack has it")
        return {"shape": self.shape, "typestr": letters, "data": (self.address if self.nbytes else 0, False), "strides": None,
                "version": 3, "stream": self.stream}
