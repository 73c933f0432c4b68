# SPDX-License-Identifier: Apache-2.0
"""One call of a function in the memory of a device."""
from backgauge.arrays.device_array import WITHIN, DeviceArray
from backgauge.arrays.results import by_name, each, require_dtype, require_shape
from backgauge.arrays.seen import seen
from backgauge.native import native


class OnDevice:
    """
    arguments   as the function takes them
    outputs     dict of DeviceArrays by name, the memory that is to be filled
    """

    def __init__(self, framework, dtype, arguments, outputs):
        """arguments, outputs: with the memory of the call as DeviceArrays; arrays of NumPy are masks, which are copied."""
        import numpy
        self.outputs, self._written, self._framework = outputs, "out" in arguments, framework
        self._stream = next(iter(outputs.values())).stream

        def given(value):
            if isinstance(value, numpy.ndarray):
                value = DeviceArray.of(value, self._stream)
            return framework.given(value) if isinstance(value, DeviceArray) else value

        with self.within():
            self.arguments = {name: given(value) for name, value in arguments.items()}
            if self._written:
                self.arguments["out"] = {name: framework.to_fill(value) for name, value in outputs.items()}

    def within(self):
        return self._framework.within(self._stream)

    def looked_at(self, results):
        """The results, once their computation is in the order of the stream, also where the library is lazy."""
        each(results, lambda name, value: seen(name, value, self._stream))
        return results

    def store(self, results):
        """Copies what a function returned into the outputs, once all of it is as it must be, and waits for that: then a library may
        use the memory of the results again. None where the function has filled `out` itself, which needs no waiting."""
        if results is None and self._written:
            return
        results = by_name(results, self.outputs)
        ready = {name: self._ready(name, results[name], to) for name, to in self.outputs.items()}
        for name, to in self.outputs.items():
            if ready[name].address != to.address:
                native().device_copy(to.address, ready[name].address, to.nbytes, WITHIN, self._stream)
        native().device_synchronize(self._stream)

    def _ready(self, name, value, to):
        here = seen(name, value, self._stream)
        require_dtype(name, here.dtype, to.dtype)
        require_shape(name, here.shape, to.shape)
        here.require_contiguous()
        return here
