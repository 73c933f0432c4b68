# SPDX-License-Identifier: Apache-2.0
"""The parts of what --impl=onednn does in BlockLSTMGradV2, for adapters that time some of them: calls the plug-in by ctypes.

The plug-in is BACKGAUGE_ONEDNN_PLUGIN, or the one that belongs to the program that started this one.
"""
import ctypes
import os
import pathlib

import numpy as np

FILL, LOAD_WEIGHTS, COMPUTE, STORE = 1, 2, 4, 8  # impl/onednn/ops.h
MAX_RANK, MESSAGE_BYTES = 8, 512
BLOCK_LSTM_GRAD_V2, FLOAT32, INT64, HOST, OK = 2, 2, 4, 1, 0
INPUTS = ("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b", "i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32), ("memory_space", ctypes.c_int32),
                ("reserved", ctypes.c_int32)]


class Attributes(ctypes.Structure):
    _fields_ = [("use_peephole", ctypes.c_int32), ("rnn_mode", ctypes.c_int32), ("input_mode", ctypes.c_int32),
                ("direction", ctypes.c_int32), ("seed", ctypes.c_int64), ("seed2", ctypes.c_int64),
                ("dropout", ctypes.c_float), ("reserved", ctypes.c_int32)]


class Call(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("op", ctypes.c_int32), ("dtype", ctypes.c_int32),
                ("memory_space", ctypes.c_int32), ("attributes", Attributes), ("inputs", ctypes.POINTER(Tensor)),
                ("outputs", ctypes.POINTER(Tensor)), ("num_inputs", ctypes.c_int32), ("num_outputs", ctypes.c_int32),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_uint64), ("num_threads", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("stream", ctypes.c_void_p)]


class Plan(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("workspace_alignment", ctypes.c_uint32),
                ("workspace_bytes", ctypes.c_uint64), ("reserve_space_length", ctypes.c_int64)]


class Message(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * MESSAGE_BYTES)]


PREPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Call), ctypes.POINTER(Plan), ctypes.POINTER(Message))


class Table(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("version", ctypes.c_char_p), ("description", ctypes.c_char_p), ("memory_space", ctypes.c_int32),
                ("num_claims", ctypes.c_int32), ("claims", ctypes.c_void_p), ("prepare", PREPARE)]


class Host(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("struct_size", ctypes.c_uint32), ("validate", ctypes.c_void_p)]


def plugin_path():
    if chosen := os.environ.get("BACKGAUGE_ONEDNN_PLUGIN"):
        return chosen
    program = pathlib.Path(os.readlink(f"/proc/{os.getppid()}/exe"))
    for folder in (program.parent.parent / "impl/onednn", program.parent.parent / "lib/backgauge"):
        found = folder / "libbackgauge_onednn.so"
        if found.exists():
            return str(found)
    raise OSError("no libbackgauge_onednn.so next to the program; BACKGAUGE_ONEDNN_PLUGIN may name one")


LIBRARY = ctypes.CDLL(plugin_path())
LIBRARY.backgauge_entry.restype = ctypes.POINTER(Table)
LIBRARY.backgauge_onednn_phases.argtypes = [ctypes.POINTER(Call), ctypes.c_uint, ctypes.POINTER(Message)]
HOST_TABLE = Host(abi=2, struct_size=ctypes.sizeof(Host))
TABLE = LIBRARY.backgauge_entry(ctypes.byref(HOST_TABLE)).contents
VERSION = TABLE.version.decode()


def described(arrays):
    tensors = (Tensor * len(arrays))()
    for tensor, (name, array) in zip(tensors, arrays.items()):
        tensor.name, tensor.data, tensor.rank, tensor.memory_space = name.encode(), array.ctypes.data, array.ndim, HOST
        tensor.shape[:array.ndim] = array.shape
        tensor.dtype = INT64 if name == "seq_len_max" else FLOAT32
    return tensors


def staged(before, timed, after, arguments):
    """What a staged function returns that runs the phases `before` at once, `timed` in the time, and `after` it the rest."""
    given = {name: np.asarray(arguments[name], order="C") for name in INPUTS}
    outputs, message = arguments["out"], Message()
    call = Call(struct_size=ctypes.sizeof(Call), op=BLOCK_LSTM_GRAD_V2, dtype=FLOAT32, memory_space=HOST,
                attributes=Attributes(use_peephole=int(arguments["use_peephole"])), inputs=described(given),
                outputs=described(outputs), num_inputs=len(given), num_outputs=len(outputs), num_threads=arguments["num_threads"])

    def check(status):
        if status != OK:
            raise RuntimeError(message.text.decode())

    plan = Plan(struct_size=ctypes.sizeof(Plan))
    check(TABLE.prepare(ctypes.byref(call), ctypes.byref(plan), ctypes.byref(message)))
    alignment = max(plan.workspace_alignment, 1)
    memory = np.empty(plan.workspace_bytes + alignment, np.uint8)
    call.workspace = memory.ctypes.data + -memory.ctypes.data % alignment
    call.workspace_bytes = plan.workspace_bytes

    def run(phases, _memory=(memory, given)):  # which must live as long
        check(LIBRARY.backgauge_onednn_phases(ctypes.byref(call), phases, ctypes.byref(message)))

    run(before)
    return lambda: run(timed), lambda _: run(after) if after else None
