# SPDX-License-Identifier: Apache-2.0
"""One call of a function in host memory."""
import contextlib
import sys

from backgauge.arrays.results import by_name, each, require_dtype, require_shape


class OnHost:
    """
    arguments   as the function takes them
    outputs     dict of NumPy's arrays by name, the memory that is to be filled
    """

    def __init__(self, framework, dtype, arguments, outputs):
        """arguments, outputs: with the memory of the call as arrays of NumPy; bfloat16 as uint16."""
        import numpy
        if dtype == "bf16":
            arguments = {name: _as_bfloat16(value) for name, value in arguments.items()}
            outputs = {name: _as_bfloat16(value) for name, value in outputs.items()}
        self.outputs, self._written = outputs, "out" in arguments
        self._exact = framework.exact
        self.arguments = {name: framework.given(value) if isinstance(value, numpy.ndarray) else value
                          for name, value in arguments.items()}
        if self._written:
            self.arguments["out"] = {name: framework.to_fill(value) for name, value in outputs.items()}

    def within(self):
        return contextlib.nullcontext()

    def looked_at(self, results):
        """Results of any structure as NumPy has them, without a copy where their memory can be read."""
        return each(results, as_numpy)

    def store(self, results):
        """Copies what a function returned into the outputs; None where it has filled `out` itself."""
        import numpy
        if results is None and self._written:
            return
        results = by_name(results, self.outputs)
        for name, to in self.outputs.items():
            value = as_numpy(name, results[name])
            require_shape(name, value.shape, to.shape)
            if self._exact:
                require_dtype(name, value.dtype, to.dtype)
            # bfloat16 is a kind of its own, to which NumPy thinks nothing can be cast.
            numpy.copyto(to, value, casting="same_kind" if to.dtype.kind == "f" else "unsafe")


def as_numpy(name, value):
    """An array of any library in host memory. Raises ValueError for a tensor of PyTorch that is elsewhere, else what NumPy raises."""
    import numpy
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach()
        if value.device.type != "cpu":
            raise ValueError(f"{name}: expected an array in host memory, got one on {value.device}")
        if value.dtype == torch.bfloat16:
            import ml_dtypes
            return value.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return value.numpy()
    return numpy.from_dlpack(value) if not hasattr(value, "__array__") and hasattr(value, "__dlpack__") else numpy.asarray(value)


def _as_bfloat16(value):
    import ml_dtypes
    return value.view(ml_dtypes.bfloat16) if getattr(value, "dtype", None) == "uint16" else value
