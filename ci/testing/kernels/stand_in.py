# SPDX-License-Identifier: Apache-2.0
"""Kernels in NumPy for the stand-in of a CUDA device (properties/device/testing), whose memory only work on a stream can touch.

DLPack is written and read here without the package's own code.
"""
import collections
import ctypes
import os

import numpy as np

LIBRARY = ctypes.CDLL(os.environ["BACKGAUGE_CUDART"])
LIBRARY.fake_cuda_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CUDA = 2
CODES = {(2, 16): "float16", (4, 16): "bfloat16", (2, 32): "float32", (2, 64): "float64", (1, 8): "uint8"}


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    """DLManagedTensor."""


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]
NO_DELETER = DELETER()
NEW, POINTER = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
NEW.restype, NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
POINTER.restype, POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
kept = collections.deque(maxlen=10000)  # what work that is not done yet needs


def checked(error):
    if error:
        raise RuntimeError(f"the stand-in reported error {error}")


def new_stream():
    stream = ctypes.c_void_p()
    checked(LIBRARY.cudaStreamCreateWithFlags(ctypes.byref(stream), 1))
    return stream.value


def synchronize(stream):
    checked(LIBRARY.cudaStreamSynchronize(ctypes.c_void_p(stream)))


class Array:
    """Memory of the stand-in, computed on `stream`."""

    def __init__(self, shape, dtype, stream, strides=None):
        self.shape, self.dtype, self.stream, self.strides = tuple(shape), np.dtype(dtype), stream, strides
        address = ctypes.c_void_p()
        checked(LIBRARY.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(self.dtype.itemsize * max(1, int(np.prod(self.shape))))))
        self.address = address.value

    def __del__(self):
        LIBRARY.cudaFree(ctypes.c_void_p(self.address))

    def __dlpack_device__(self):
        return (CUDA, 0)

    def __dlpack__(self, *, stream=None):
        if stream != self.stream:
            synchronize(self.stream)
        if self.dtype.name not in CODES.values():
            raise BufferError(f"{self.dtype} cannot be exported")
        code, bits = next(key for key, name in CODES.items() if name == self.dtype.name)
        numbers = ctypes.c_int64 * max(1, len(self.shape))
        shape, strides = numbers(*self.shape), numbers(*self.strides) if self.strides else None
        managed = Managed(Tensor(self.address, CUDA, 0, len(self.shape), code, bits, 1, shape, strides, 0), None, NO_DELETER)
        kept.append((managed, shape, strides))
        return NEW(ctypes.addressof(managed), b"dltensor", None)


class Interface:
    """The same, which only __cuda_array_interface__ describes."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "data": (array.address, False), "strides": None,
                                         "version": 3, "stream": array.stream}


def memory(array):
    """An array of NumPy in the memory of an array on the stand-in, for kernels."""
    capsule = array.__dlpack__(stream=array.stream)  # which has the description
    tensor = Managed.from_address(POINTER(capsule, b"dltensor")).tensor
    assert (tensor.device_type, tensor.device_id, tensor.lanes, tensor.offset) == (CUDA, 0, 1, 0)
    shape = tensor.shape[:tensor.ndim]
    dtype = np.dtype(CODES[tensor.code, tensor.bits] if tensor.code != 4 else "uint16")
    bytes_of = (ctypes.c_char * (dtype.itemsize * int(np.prod(shape)))).from_address(tensor.data or 0)
    return np.frombuffer(bytes_of, dtype).reshape(shape) if all(shape) else np.empty(shape, dtype)


def launch(stream, kernel):
    """Puts a function on the stream, which waits for nobody."""
    callback = KERNEL(lambda _: kernel())
    kept.append(callback)
    LIBRARY.fake_cuda_launch(stream, ctypes.cast(callback, ctypes.c_void_p), None)
