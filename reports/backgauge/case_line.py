# SPDX-License-Identifier: Apache-2.0
"""The case line of properties/README.md as fields, and short names of it for axes and tables."""

import re
from dataclasses import dataclass, field

_DIMS = re.compile(r"(?:t(\d+))?b(\d+)i(\d+)h(\d+)")

# Words that choose values, not work: two lines that differ only in these have the same shape.
_VALUE_WORDS = ("data", "chk")

# Values of settings that a line leaves out; only settings with other values are shown.
_DEFAULTS = {"peep": "0", "clip": "0", "order": "ifco", "mode": "lstm", "dir": "uni", "layers": "1", "in": "linear",
             "drop": "0", "dt": "f32"}

OP_NAMES = {"lstm_block_cell_grad": "LSTMBlockCellGrad", "block_lstm_grad_v2": "BlockLSTMGradV2",
            "cudnn_rnn_backprop": "CudnnRNNBackprop"}


@dataclass(frozen=True)
class CaseLine:
    """On input any case line; `T` is 1 for the cell."""

    op: str
    T: int
    B: int
    I: int
    H: int
    settings: dict = field(hash=False)
    has_steps: bool = True

    @property
    def dtype(self):
        return self.settings.get("dt", "f32")

    @property
    def dims(self):
        steps = f"T{self.T} " if self.has_steps else ""
        return f"{steps}B{self.B} I{self.I} H{self.H}"

    @property
    def shown_settings(self):
        """The settings that are not the usual ones, dtype aside, e.g. `peep=1 mode=gru`."""
        shown = []
        for key, value in self.settings.items():
            is_full_length = key == "seq" and value == str(self.T)
            if key not in _VALUE_WORDS and key != "dt" and value != _DEFAULTS.get(key) and not is_full_length:
                shown.append(f"{key}={value}")
        return " ".join(shown)

    @property
    def label(self):
        return " ".join(filter(None, [self.dims, self.shown_settings]))

    @property
    def name(self):
        """The case as people call it: LSTMBlockCellGrad B3 I5 H7 peep=1 f32."""
        return f"{OP_NAMES.get(self.op, self.op)} {self.label} {self.dtype}"

    @property
    def family(self):
        """What rows of one chart share: op, dtype."""
        return (self.op, self.dtype)

    def shape_without(self, *dims):
        """Everything that determines the work, except the named sizes."""
        rest = tuple((dim, getattr(self, dim)) for dim in "TBIH" if dim not in dims)
        settings = tuple(sorted((k, v) for k, v in self.settings.items() if k not in _VALUE_WORDS and k != "seq"))
        return (self.op, rest, settings)


def parse_case_line(line):
    """Raises ValueError if the line has no op or no sizes."""
    words = line.split()
    dims = _DIMS.fullmatch(words[1]) if len(words) > 1 else None
    if not dims:
        raise ValueError(f"not a case line: {line!r}")
    T, B, I, H = dims.groups()
    settings = dict(word.split("=", 1) for word in words[2:] if "=" in word)
    return CaseLine(words[0], int(T or 1), int(B), int(I), int(H), settings, T is not None)


def workload_key(line):
    """The line without its checksum: the name of the workload in every run."""
    return " ".join(word for word in line.split() if not word.startswith("chk="))
