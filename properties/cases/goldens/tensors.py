"""The tensors of a golden case: how they are drawn from the seed, and how they are stored."""
import io
import zipfile
import zlib

import numpy as np

# bfloat16, which NumPy does not have, is computed with as float32 of 8 significant bits, and stored as 2 bytes ("V2").
DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": np.float32}

# Default fills. A case overrides single tensors with its "fill" member.
FILL = {
    "x": {"dist": "normal", "scale": 1.0},
    "cs_prev": {"dist": "normal", "scale": 1.0},
    "h_prev": {"dist": "uniform", "low": -1.0, "high": 1.0},
    "w": {"dist": "normal", "scale": 1.5, "per_sqrt": "rows"},
    "wci": {"dist": "normal", "scale": 0.7},
    "wcf": {"dist": "normal", "scale": 0.7},
    "wco": {"dist": "normal", "scale": 0.7},
    "b": {"dist": "normal", "scale": 0.5},
    "i": {"dist": "uniform", "low": 0.02, "high": 0.98},
    "f": {"dist": "uniform", "low": 0.02, "high": 0.98},
    "o": {"dist": "uniform", "low": 0.02, "high": 0.98},
    "ci": {"dist": "uniform", "low": -0.98, "high": 0.98},
    "co": {"dist": "uniform", "low": -0.98, "high": 0.98},
    "cs": {"dist": "normal", "scale": 1.5},
    "h": {"dist": "uniform", "low": -1.0, "high": 1.0},
    "cs_grad": {"dist": "normal", "scale": 1.0},
    "h_grad": {"dist": "normal", "scale": 1.0},
    "input": {"dist": "normal", "scale": 1.0},
    "input_h": {"dist": "uniform", "low": -1.0, "high": 1.0},
    "input_c": {"dist": "normal", "scale": 1.0},
    "W": {"dist": "normal", "scale": 1.0, "per_sqrt": "cols"},
    "R": {"dist": "normal", "scale": 0.8, "per_sqrt": "cols"},
    "bW": {"dist": "normal", "scale": 0.4},
    "bR": {"dist": "normal", "scale": 0.4},
    "output_backprop": {"dist": "normal", "scale": 1.0},
    "output_h_backprop": {"dist": "normal", "scale": 1.0},
    "output_c_backprop": {"dist": "normal", "scale": 1.0},
}


class Filler:
    """Draws the tensors of one case, each from a stream keyed by seed, case name and tensor name."""

    def __init__(self, seed, case):
        self.seed, self.case = seed, case
        self.dtype = DTYPES[case["dtype"]]

    def stream(self, tensor):
        return np.random.default_rng([self.seed, zlib.crc32(self.case["name"].encode()), zlib.crc32(tensor.encode())])

    def __call__(self, tensor, shape, like=None):
        spec = self.case.get("fill", {}).get(like or tensor, FILL[like or tensor])
        rng = self.stream(tensor)
        dist = spec["dist"]
        if dist == "normal":
            values = rng.standard_normal(shape)
        elif dist == "uniform":
            values = rng.uniform(spec["low"], spec["high"], shape)
        elif dist == "magnitudes":  # random sign, magnitude 2^u with u uniform
            values = np.exp2(rng.uniform(spec["low"], spec["high"], shape)) * rng.choice([-1.0, 1.0], shape)
        elif dist == "choice":
            values = rng.choice(np.array(spec["values"], np.float64), shape)
        elif dist == "sparse":  # normal, but zero with the given probability
            values = rng.standard_normal(shape) * (rng.random(shape) >= spec["zero"])
        else:
            raise ValueError(f"unknown distribution {dist}")
        scale = spec.get("scale", 1.0)
        if spec.get("per_sqrt") == "rows":
            scale /= np.sqrt(shape[-2])
        elif spec.get("per_sqrt") == "cols":
            scale /= np.sqrt(shape[-1])
        values = (values * scale + spec.get("offset", 0.0)).astype(self.dtype)
        return to_bfloat16(values) if self.case["dtype"] == "bfloat16" else values


def to_bfloat16(values):
    """The nearest values with 8 significant bits, ties to even, as float32."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype(np.uint32).view(np.float32).reshape(np.shape(values))


def as_stored(values, dtype):
    if dtype != "bfloat16":
        return values
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    assert not (bits & 0xFFFF).any(), "a value is not a bfloat16"
    return (bits >> 16).astype("<u2").view("V2").reshape(np.shape(values))


def write_npz(path, tensors):
    """An ordinary .npz of stored (not compressed) members with fixed time stamps: the same values give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, value in tensors.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, np.asarray(value, order="C"), version=(1, 0))
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data.getvalue())
