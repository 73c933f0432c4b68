# SPDX-License-Identifier: Apache-2.0
"""Arrays on a device where somebody judges inputs and outputs of their own, and a campaign of a function on a device; the device is the
stand-in of properties/device/testing, whose memory the host cannot touch. Runs under the interpreter of the native module."""

import os
import pathlib
import sys
import unittest

# Read when the library is loaded, at the first use of the device.
os.environ |= {"BACKGAUGE_CUDART": os.environ["BACKGAUGE_TEST_CUDART"], "FAKE_CUDA_APART": "1"}
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernels"))

import backgauge
import device_cell
import numpy
from _backgauge import device_stream
from backgauge.arrays.device_array import DeviceArray
from cells import gradient
from stand_in import Array, Interface, launch, memory

LINE = "lstm_block_cell_grad b3i5h7 peep=1 dt=f32 data=strat:0x9e37"


def on_device(arrays):
    return {name: DeviceArray.of(value, device_stream()) if isinstance(value, numpy.ndarray) else value for name, value in arrays.items()}


def computed_on(stream, value):
    """An array of the stand-in with these numbers, once `stream` has been waited for."""
    out = Array(value.shape, value.dtype, stream)

    def kernel():
        memory(out)[...] = value
    launch(stream, kernel)
    return out


class OwnArrays(unittest.TestCase):
    def setUp(self):
        self.case = backgauge.case(LINE)
        names = "cs_prev wci wcf wco i cs f o ci co cs_grad h_grad".split()
        self.outputs = gradient(*(self.case.inputs[name] for name in names), True)

    def conform(self, outputs):
        backgauge.assert_conforms(self.case.op, on_device(self.case.inputs), outputs, independent_roundings=True, **self.case.attributes)

    def test_right_ones_pass_and_wrong_ones_are_named(self):
        self.conform(on_device(self.outputs))
        self.case.assert_conforms(on_device(self.outputs))
        self.outputs["dicfo"][1, 2] += 1
        with self.assertRaisesRegex(AssertionError, r"FAILED\n  tensor dicfo\[1,2\]"):
            self.conform(on_device(self.outputs))

    def test_work_that_is_not_done_is_waited_for(self):
        other = device_cell.stand_in.new_stream()
        for kind in (lambda array: array, Interface):
            self.conform({name: kind(computed_on(other, value)) for name, value in self.outputs.items()})

    def test_bfloat16_has_no_type_in_numpy_of_its_own(self):
        case = backgauge.case("cudnn_rnn_backprop t2b2i2h2 mode=gru layers=1 dt=bf16 data=strat:0x1")
        want, _ = backgauge.oracle(case.op, on_device(case.inputs), **case.attributes)
        self.assertEqual(want.keys(), case.oracle()[0].keys())
        for name, value in case.oracle()[0].items():
            numpy.testing.assert_array_equal(want[name], value)

    def test_what_cannot_be_read_is_named(self):
        stream = device_stream()
        for array, expected in ((Array((3, 28), "uint8", stream), "dicfo: expected one of float16, bfloat16, float32, float64, got uint8"),
                                (Array((3, 28), "int64", stream), "dicfo: BufferError: int64 cannot be exported"),
                                (Array((3, 28), "float32", stream, strides=(1, 3)), "dicfo: expected contiguous memory in row-major order")):
            with self.subTest(expected=expected), self.assertRaises(backgauge.InputError) as raised:
                self.conform({**self.outputs, "dicfo": array})
            self.assertTrue(str(raised.exception).startswith(expected), raised.exception)

    def test_the_interface_describes_what_dlpack_does(self):
        array = on_device({"x": numpy.zeros((2, 3), "f4")})["x"]
        given = array.__cuda_array_interface__
        self.assertEqual((given["shape"], given["typestr"], given["data"], given["stream"]), ((2, 3), "<f4", (array.address, False), array.stream))
        bfloat16 = DeviceArray.new((2,), "bfloat16", device_stream())
        self.assertFalse(hasattr(bfloat16, "__cuda_array_interface__"))
        with self.assertRaises(BufferError):
            array.__dlpack__(copy=True)


class Campaign(unittest.TestCase):
    def test_a_function_on_a_device_is_verified(self):
        result = backgauge.verify(device_cell.cell, cases=LINE)
        self.assertTrue(result, result)
        result = backgauge.verify(device_cell.cell.function, op="LSTMBlockCellGrad", device="cuda", cases=LINE)
        self.assertTrue(result, result)
        self.assertEqual(result.counts["passed"], 1)


if __name__ == "__main__":
    unittest.main()
