# SPDX-License-Identifier: Apache-2.0
"""Parts of what --impl=onednn does in BlockLSTMGradV2, timed without the rest: calls the plug-in through ctypes.

The plug-in is BACKGAUGE_ONEDNN_PLUGIN, or the one that belongs to the program that started this one.
"""

import ctypes
import os
import pathlib

import protocol

FILL, LOAD_WEIGHTS, COMPUTE, STORE = 1, 2, 4, 8  # impl/onednn/ops.h
MAX_RANK, MESSAGE_BYTES = 8, 512
BLOCK_LSTM_GRAD_V2, FLOAT32, INT64, HOST, OK = 2, 2, 4, 1, 0
OUTPUTS = ("x_grad", "cs_prev_grad", "h_prev_grad", "w_grad", "wci_grad", "wcf_grad", "wco_grad", "b_grad")
SHAPE_OF = {"x_grad": "x", "cs_prev_grad": "cs_prev", "h_prev_grad": "h_prev", "w_grad": "w", "wci_grad": "wci",
            "wcf_grad": "wcf", "wco_grad": "wco", "b_grad": "b"}


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


class Loaded:
    outputs = list(OUTPUTS)

    def __init__(self, library, table, case, threads, phases):
        import numpy
        self._run_phases, self._phases = library.backgauge_onednn_phases, phases
        given = {name: numpy.array(array, order="C") for name, array in case.inputs.items()}
        self._made = {name: numpy.empty_like(given[SHAPE_OF[name]]) for name in OUTPUTS}
        self._kept = given
        self._tensors = [self._describe(given), self._describe(self._made)]
        self._call = Call(struct_size=ctypes.sizeof(Call), op=BLOCK_LSTM_GRAD_V2, dtype=FLOAT32, memory_space=HOST,
                          attributes=Attributes(use_peephole=int(case.attributes["use_peephole"])),
                          inputs=self._tensors[0], outputs=self._tensors[1], num_inputs=len(given),
                          num_outputs=len(self._made), num_threads=threads)
        plan, self._message = Plan(struct_size=ctypes.sizeof(Plan)), Message()
        self._check(table.prepare(ctypes.byref(self._call), ctypes.byref(plan), ctypes.byref(self._message)))
        alignment = max(plan.workspace_alignment, 1)
        self._memory = ctypes.create_string_buffer(plan.workspace_bytes + alignment)
        start = ctypes.addressof(self._memory)
        self._call.workspace = start + -start % alignment
        self._call.workspace_bytes = plan.workspace_bytes
        self._do(FILL | LOAD_WEIGHTS | COMPUTE | STORE)

    @staticmethod
    def _describe(arrays):
        tensors = (Tensor * len(arrays))()
        for tensor, (name, array) in zip(tensors, arrays.items()):
            tensor.name, tensor.data, tensor.rank, tensor.memory_space = name.encode(), array.ctypes.data, array.ndim, HOST
            tensor.shape[:array.ndim] = array.shape
            tensor.dtype = INT64 if name == "seq_len_max" else FLOAT32
        return tensors

    def _check(self, status):
        if status != OK:
            raise RuntimeError(self._message.text.decode())

    def _do(self, phases):
        self._check(self._run_phases(ctypes.byref(self._call), phases, ctypes.byref(self._message)))

    def run(self):
        self._do(self._phases)

    def results(self):
        """Of all phases: gradients that are added to have grown while only some were timed."""
        self._do(FILL | LOAD_WEIGHTS | COMPUTE | STORE)
        return self._made


def peer_of(phases):
    class Peer:
        def __init__(self, threads):
            import numpy  # noqa: F401  absent peers say so at once
            self._threads = threads
            self._library = ctypes.CDLL(plugin_path())
            self._library.backgauge_entry.restype = ctypes.POINTER(Table)
            self._library.backgauge_onednn_phases.argtypes = [ctypes.POINTER(Call), ctypes.c_uint, ctypes.POINTER(Message)]
            self._host = Host(abi=1, struct_size=ctypes.sizeof(Host))
            self._table = self._library.backgauge_entry(ctypes.byref(self._host)).contents
            self.version = self._table.version.decode()

        def load(self, case):
            if case.op != "block_lstm_grad_v2" or case.dtype != "float32":
                raise protocol.Skip("has phases of BlockLSTMGradV2 in float32 only")
            protocol.takes_last_cs_grad(case)
            return Loaded(self._library, self._table, case, self._threads, phases)

    return Peer
